/**
 * AccessLease ends what a credential keeps open, a socket or a stream, when the credential loses access to its resource.
 *
 * Requests read the records and need no lease. The holder of a lease takes it before its credential is checked: facts
 * that arrive during the check are queued and applied after it, so that no fact is lost in between. The lease then
 * applies each fact, resolves the access again if its fact may have changed it, and ends when the API key expires.
 * It fails closed: if the access cannot be resolved, or if facts were missed, the lease ends (AU60 to AU65).
 * This module knows no close codes and no events. The holder decides what the end of its lease means.
 */
import type { ResourceKind } from "../../../../api/contract/operation.ts";
import type { Clock } from "../../../../realtime/ports.ts";
import type { Access, Principal } from "../../call/call.ts";
import type { AccessResolver } from "../../call/ports.ts";
import type { AccessFact, AccessWatch } from "./accessFacts.ts";

/** Result of a successful check: the principal and its access to the resource. */
export interface ProvenAccess {
  readonly principal: Principal;
  readonly access: Access;
}

export interface LeasedResource {
  readonly kind: ResourceKind;
  readonly id: string;
}

/** Reasons that come from the records of the credential or of the resource. */
export type LostReason = "key_revoked" | "key_expired" | "session_ended" | "account_disabled" | "access_lost" | "article_deleted";

export type LeaseEnd =
  | { readonly reason: LostReason }
  /** Facts were trimmed before this node read them, so the access is unknown. */
  | { readonly reason: "facts_missed" }
  /** The access could not be resolved, for example because the store did not answer. */
  | { readonly reason: "review_failed"; readonly error: unknown };

export interface LeaseHolder {
  /** The access was resolved again or the account was renamed. The lease continues with these values. */
  changed(proven: ProvenAccess): void;
  /** The lease has ended. Called at most once, and never after `release`. */
  ended(end: LeaseEnd): void;
}

export interface AccessLease {
  /** Queues the facts from now on. Call it directly before the credential is checked. Does nothing after the end. */
  begin(): void;
  /** Applies the queued facts to the checked credential, and then every new fact. Does nothing after the end. */
  hold(proven: ProvenAccess): void;
  /** Ends the lease without a call of the holder. May be called more than once. */
  release(): void;
}

export interface AccessLeases {
  /** Takes a lease. Before `begin` it ends only with `facts_missed`. */
  take(resource: LeasedResource, holder: LeaseHolder): AccessLease;
  /** Ends the subscription to access facts. The leases do not end. */
  stop(): void;
}

export interface AccessLeasesOptions {
  readonly access: AccessResolver;
  readonly accessWatch: Pick<AccessWatch, "subscribe">;
  readonly clock: Clock;
}

export function createAccessLeases({ access, accessWatch, clock }: AccessLeasesOptions): AccessLeases {
  const leases = new Set<Lease>();
  const stop = accessWatch.subscribe(
    (fact) => {
      for (const lease of [...leases]) lease.apply(fact);
    },
    () => {
      for (const lease of [...leases]) lease.end({ reason: "facts_missed" });
    },
  );
  const shared: LeaseOptions = { access, clock, onEnd: (lease) => leases.delete(lease) };
  return {
    take(resource, holder) {
      const lease = new Lease(resource, holder, shared);
      leases.add(lease);
      return lease;
    },
    stop,
  };
}

type State =
  | { readonly kind: "taken" }
  | { readonly kind: "checking"; readonly facts: AccessFact[] }
  | { readonly kind: "held"; proven: ProvenAccess }
  | { readonly kind: "ended" };

/** One day in ms. A Node timer cannot exceed 2^31 ms, so a later expiry is awaited in steps. */
const longestTimerMs = 24 * 60 * 60 * 1000;

/** What all leases share. */
interface LeaseOptions extends Pick<AccessLeasesOptions, "access" | "clock"> {
  readonly onEnd: (lease: Lease) => void;
}

class Lease implements AccessLease {
  readonly #resource: LeasedResource;
  readonly #holder: LeaseHolder;
  readonly #options: LeaseOptions;
  #state: State = { kind: "taken" };
  #reviews = 0;
  /** Undefined unless the credential expires. */
  #cancelExpiry: (() => void) | undefined;

  constructor(resource: LeasedResource, holder: LeaseHolder, options: LeaseOptions) {
    this.#resource = resource;
    this.#holder = holder;
    this.#options = options;
  }

  begin(): void {
    if (this.#state.kind === "taken") this.#state = { kind: "checking", facts: [] };
  }

  hold(proven: ProvenAccess): void {
    const state = this.#state;
    if (state.kind === "ended") return;
    if (state.kind !== "checking") throw new Error(`a lease is held only after its check has begun, not when it is ${state.kind}`);
    this.#state = { kind: "held", proven };
    this.#watchExpiry(proven.principal);
    for (const fact of state.facts) this.apply(fact);
  }

  release(): void {
    this.#state = { kind: "ended" };
    this.#cancelExpiry?.();
    this.#options.onEnd(this);
  }

  end(end: LeaseEnd): void {
    if (this.#state.kind === "ended") return;
    this.release();
    this.#holder.ended(end);
  }

  apply(fact: AccessFact): void {
    const state = this.#state;
    if (state.kind === "checking") state.facts.push(fact);
    if (state.kind !== "held") return;
    const { principal, access } = state.proven;
    switch (fact.kind) {
      case "key.revoked":
        if (principal.kind === "key" && principal.keyId === fact.keyId) this.end({ reason: "key_revoked" });
        break;
      case "session.ended":
        if (principal.kind === "session" && principal.sessionId === fact.sessionId) this.end({ reason: "session_ended" });
        break;
      case "account.disabled":
        if (principal.accountId === fact.accountId) this.end({ reason: "account_disabled" });
        break;
      case "account.renamed":
        if (principal.accountId !== fact.accountId) break;
        state.proven = { principal: { ...principal, displayName: fact.displayName }, access };
        this.#holder.changed(state.proven);
        break;
      case "membership.changed":
        if (principal.accountId === fact.accountId && access.workspaceId === fact.workspaceId) this.#review();
        break;
      case "article.deleted":
        if (this.#resource.kind === "article" && this.#resource.id === fact.articleId) this.end({ reason: "article_deleted" });
        break;
      case "link.unpublished":
        break;
    }
  }

  /**
   * Resolves the access again. A review reads the records after its fact, so only the latest review has seen all facts:
   * the result of an earlier one is ignored, whether it succeeds or fails.
   */
  #review(): void {
    const state = this.#state;
    if (state.kind !== "held") return;
    this.#reviews += 1;
    const review = this.#reviews;
    const isLatest = () => this.#state === state && this.#reviews === review;
    const { kind, id } = this.#resource;
    this.#options.access.resolve(state.proven.principal, kind, id, { deleted: false }).then(
      (access) => {
        if (!isLatest()) return;
        if (access === undefined) return this.end({ reason: "access_lost" });
        state.proven = { principal: state.proven.principal, access };
        this.#holder.changed(state.proven);
      },
      (error: unknown) => {
        if (isLatest()) this.end({ reason: "review_failed", error });
      },
    );
  }

  #watchExpiry(principal: Principal): void {
    if (principal.kind !== "key" || principal.expiresAtMs === undefined) return;
    const { clock } = this.#options;
    const leftMs = principal.expiresAtMs - clock.now();
    if (leftMs <= 0) this.end({ reason: "key_expired" });
    else this.#cancelExpiry = clock.after(Math.min(leftMs, longestTimerMs), () => this.#watchExpiry(principal));
  }
}
