/** SocketQuota counts the open connections of this node and of each credential. */
import { AppError } from "../../api/schema/error.ts";
import type { RoomLimits } from "../ports.ts";

export class SocketQuota {
  private readonly limits: Pick<RoomLimits, "sockets.article" | "sockets.credential">;
  private readonly ofCredential = new Map<string, number>();
  private total = 0;

  constructor(limits: Pick<RoomLimits, "sockets.article" | "sockets.credential">) {
    this.limits = limits;
  }

  get connections(): number {
    return this.total;
  }

  /** Throws `rate_limited` when the article or the credential has as many sockets as it may have (RT20). */
  check(articleSockets: number, credentialId: string): void {
    if (articleSockets >= this.limits["sockets.article"]) {
      throw new AppError("rate_limited", "The article has too many open sockets.");
    }
    if ((this.ofCredential.get(credentialId) ?? 0) >= this.limits["sockets.credential"]) {
      throw new AppError("rate_limited", "The credential has too many open sockets.");
    }
  }

  add(credentialId: string): void {
    this.ofCredential.set(credentialId, (this.ofCredential.get(credentialId) ?? 0) + 1);
    this.total += 1;
  }

  remove(credentialId: string): void {
    const remaining = (this.ofCredential.get(credentialId) ?? 1) - 1;
    if (remaining > 0) this.ofCredential.set(credentialId, remaining);
    else this.ofCredential.delete(credentialId);
    this.total -= 1;
  }
}
