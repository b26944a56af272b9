/**
 * `createKeyHandlers` connects the operations of `api/contract/keys.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { ApiKeys, KeyView } from "../../domain/identity/auth/apiKeys.ts";
import type { CreateApiKey } from "../../domain/identity/auth/keyCreation.ts";

export interface KeyServices {
  readonly createKey: CreateApiKey;
  readonly keys: ApiKeys;
}

function toReply({ apiKey, revision }: KeyView): CallReply {
  return { status: 200, headers: { etag: recordEtag(revision) }, body: apiKey };
}

export function createKeyHandlers({ createKey, keys }: KeyServices): Handlers<AppContract>["keys"] {
  return {
    create: ({ body }, call) => createKey(call, body),
    list: ({ query }, call) => keys.list(call, query),
    self: { serve: (_request, call) => keys.self(call), reply: toReply },
    get: { serve: ({ params }, call) => keys.get(call, params.keyId), reply: toReply },
    update: { serve: ({ params, body }, call) => keys.update(call, params.keyId, body), reply: toReply },
    revoke: { serve: ({ params }, call) => keys.revoke(call, params.keyId), reply: toReply },
    delete: ({ params }, call) => keys.delete(call, params.keyId),
  };
}
