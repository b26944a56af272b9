/**
 * BodyBudget bounds the bytes of request bodies that the process holds in memory at one time.
 *
 * A body counts from its first byte until its request is answered, or no longer needs it. Before the credential is known, the bytes count
 * against the process only. Afterwards they also count against an owner: the account, for all its credentials together,
 * or the client's address on public operations.
 * This module knows no HTTP: a share reports whether there is room, and the caller refuses the request.
 */
import type { Limits } from "../../../api/limits.ts";
import type { ByteAllowance } from "../host/port.ts";

export type BodyOwner =
  | { readonly kind: "account"; readonly id: string }
  /** `id` is a result of `toAddressSubject`. */
  | { readonly kind: "address"; readonly id: string };

/** Part of the budget that one request uses. */
export interface BodyShare extends ByteAllowance {
  /** Counts the bytes of this share against the owner too. Returns false if the owner has no room for them. */
  assign(owner: BodyOwner): boolean;
  /** Returns all bytes to the budget. Afterwards `take` always returns false. */
  release(): void;
}

export interface BodyBudget {
  open(): BodyShare;
  bytesInFlight(): number;
}

export function createBodyBudget(limits: Pick<Limits, "body.inFlight" | "body.inFlightAccount" | "body.inFlightAddress">): BodyBudget {
  const maxBytesOf = { account: limits["body.inFlightAccount"], address: limits["body.inFlightAddress"] };
  const byOwner = new Map<string, number>();
  let total = 0;

  function addTo(ownerId: string, bytes: number): void {
    const held = (byOwner.get(ownerId) ?? 0) + bytes;
    if (held > 0) byOwner.set(ownerId, held);
    else byOwner.delete(ownerId);
  }

  class Share implements BodyShare {
    private taken = 0;
    private owner: BodyOwner | undefined;
    private released = false;

    take(bytes: number): boolean {
      const { owner } = this;
      if (this.released || total + bytes > limits["body.inFlight"]) return false;
      if (owner !== undefined) {
        if ((byOwner.get(owner.id) ?? 0) + bytes > maxBytesOf[owner.kind]) return false;
        addTo(owner.id, bytes);
      }
      total += bytes;
      this.taken += bytes;
      return true;
    }

    assign(owner: BodyOwner): boolean {
      if (this.released || this.owner !== undefined) return this.owner !== undefined;
      if ((byOwner.get(owner.id) ?? 0) + this.taken > maxBytesOf[owner.kind]) return false;
      this.owner = owner;
      addTo(owner.id, this.taken);
      return true;
    }

    release(): void {
      if (this.released) return;
      this.released = true;
      total -= this.taken;
      if (this.owner !== undefined) addTo(this.owner.id, -this.taken);
    }
  }

  return { open: () => new Share(), bytesInFlight: () => total };
}
