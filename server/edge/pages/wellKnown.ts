/** WellKnown serves the public keys for access tokens (RFC 7517) and the metadata of the protected resource (RFC 9728). */
import { scopeNames } from "../../../api/scopes.ts";
import type { AccessTokens } from "../../domain/identity/auth/accessTokens.ts";
import type { HttpReply } from "../host/port.ts";
import type { Route } from "../host/router.ts";

function toReply(document: object): HttpReply {
  return {
    status: 200,
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "public, max-age=300" },
    body: JSON.stringify(document),
  };
}

export interface WellKnownOptions {
  readonly jwks: AccessTokens["jwks"];
  readonly baseUrl: string;
}

export function createWellKnownRoutes({ jwks, baseUrl }: WellKnownOptions): readonly Route[] {
  const keySet = toReply(jwks);
  const resource = toReply({
    resource: baseUrl,
    resource_name: "Content Workspace Service",
    resource_documentation: `${baseUrl}/openapi.json`,
    bearer_methods_supported: ["header"],
    scopes_supported: scopeNames,
  });
  return [
    { method: "GET", path: "/.well-known/jwks.json", publicCors: true, handle: () => keySet },
    { method: "GET", path: "/.well-known/oauth-protected-resource", publicCors: true, handle: () => resource },
  ];
}
