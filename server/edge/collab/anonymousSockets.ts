/**
 * AnonymousSockets limits the sockets without a proven credential, per address and per process (RT54).
 *
 * A host buffers an unfinished message, up to twice `frame.bytes`, and cannot report its current size. Therefore only
 * the number of such sockets bounds the memory they use. After the server closes a socket, its place stays taken for
 * `socketLingerMs`, until the host has certainly ended the connection.
 */
import type { Limits } from "../../../api/limits.ts";
import type { Clock } from "../../../realtime/ports.ts";
import { socketLingerMs } from "../host/port.ts";

export interface AnonymousPlace {
  /** Frees the place at once: the credential is proven, or the client has disconnected. */
  free(): void;
  /** Frees the place after `socketLingerMs`: the server closed the socket, but the connection may still be open. */
  freeLater(): void;
}

export interface AnonymousSockets {
  /** Takes a place. Returns undefined if the address or the process has reached its limit. */
  take(address: string): AnonymousPlace | undefined;
}

export function createAnonymousSockets({ limits, clock }: { readonly limits: Limits; readonly clock: Clock }): AnonymousSockets {
  const byAddress = new Map<string, number>();
  let total = 0;

  return {
    take(address) {
      const ofAddress = byAddress.get(address) ?? 0;
      if (total >= limits["sockets.anonymous"] || ofAddress >= limits["sockets.anonymousAddress"]) return undefined;
      total += 1;
      byAddress.set(address, ofAddress + 1);
      let isTaken = true;
      const free = () => {
        if (!isTaken) return;
        isTaken = false;
        total -= 1;
        const left = (byAddress.get(address) ?? 0) - 1;
        if (left > 0) byAddress.set(address, left);
        else byAddress.delete(address);
      };
      return { free, freeLater: () => void clock.after(socketLingerMs, free) };
    },
  };
}
