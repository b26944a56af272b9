/**
 * `createKeyHandlers` connects the operations of `api/contract/keys.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CreatedApiKey } from "../../../api/schema/apiKey.ts";
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
    create: {
      serve: ({ body }, call) => createKey(call, body),
      reply: (body: CreatedApiKey) => ({
        status: 201,
        headers: { location: `/api-keys/${body.keyId}` },
        body,
      }),
    },
    list: {
      serve: ({ query }, call) => keys.list(call, query),
      reply: (body) => ({ status: 200, body }),
    },
    self: { serve: (_request, call) => keys.self(call), reply: toReply },
    get: { serve: ({ params }, call) => keys.get(call, params.keyId), reply: toReply },
    update: { serve: ({ params, body }, call) => keys.update(call, params.keyId, body), reply: toReply },
    revoke: { serve: ({ params }, call) => keys.revoke(call, params.keyId), reply: toReply },
    delete: {
      serve: ({ params }, call) => keys.delete(call, params.keyId),
      reply: () => ({ status: 204 }),
    },
  };
}
