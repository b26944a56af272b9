/**
 * SharedAccess keeps one object for equal results of access checks, one identity for each of them, and one for each article.
 *
 * Each check creates its result anew, and each upgrade names its article anew. Sockets of one credential, and sockets of
 * one article, share these objects.
 */
import { LRUCache } from "lru-cache";
import type { ConnectionIdentity } from "../../../realtime/ports.ts";
import type { LeasedResource, ProvenAccess } from "../../domain/identity/access/accessLease.ts";
import { toIdentity } from "./socketAdmission.ts";

/** Objects of each sort that later sockets can share. */
const maxShared = 1000;

export class SharedAccess {
  readonly #results = new LRUCache<string, ProvenAccess>({ max: maxShared });
  readonly #articles = new LRUCache<string, LeasedResource>({ max: maxShared });
  readonly #identities = new WeakMap<ProvenAccess, ConnectionIdentity>();

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
