/**
 * SharedAccess gives the sockets of one credential and the sockets of one article the same objects.
 *
 * Each access check returns a new object with a new identity, and each upgrade makes a new object for its article. Without
 * this module each idle socket would keep objects that are equal to those of other sockets.
 */
import { LRUCache } from "lru-cache";
import type { ConnectionIdentity } from "../../../realtime/ports.ts";
import type { LeasedResource, ProvenAccess } from "../../domain/identity/access/accessLease.ts";
import { toIdentity } from "./socketAdmission.ts";

/** Results and articles, each, that are kept for later sockets. */
const maxShared = 1000;

export class SharedAccess {
  readonly #results = new LRUCache<string, ProvenAccess>({ max: maxShared });
  readonly #articles = new LRUCache<string, LeasedResource>({ max: maxShared });
  readonly #identities = new WeakMap<ProvenAccess, ConnectionIdentity>();

  /** Returns the first result that is equal to this one. */
  share(proven: ProvenAccess): ProvenAccess {
    const key = JSON.stringify(proven);
    const shared = this.#results.get(key) ?? proven;
    this.#results.set(key, shared);
    return shared;
  }

  articleOf(id: string): LeasedResource {
    const shared = this.#articles.get(id) ?? { kind: "article", id };
    this.#articles.set(shared.id, shared);
    return shared;
  }

  identityOf(proven: ProvenAccess): ConnectionIdentity {
    const shared = this.share(proven);
    const identity = this.#identities.get(shared) ?? toIdentity(shared);
    this.#identities.set(shared, identity);
    return identity;
  }
}
