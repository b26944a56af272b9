/** Tests the real server behind Prism: every answer matches the OpenAPI document. */
import { afterEach, expect, test } from "vitest";
import { tourEverything } from "../support/apiTour.ts";
import { createDocumentClient, readOperations, startValidatingProxy, type ValidatingProxy } from "../support/prismProxy.ts";
import { type RunningServer, startServer, withoutCheckpoints } from "../support/server.ts";

let server: RunningServer | undefined;
let proxy: ValidatingProxy | undefined;
afterEach(async () => {
  await proxy?.close();
  await server?.remove();
});

test("[API44] a validating proxy finds no answer of any operation that violates the OpenAPI document", async () => {
  // The tour asks for the blame of a revision that no commit has, so no checkpoint may come in between.
  server = await startServer({ OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8", ...withoutCheckpoints });
  proxy = await startValidatingProxy(server.url);
  let carried: Readonly<Record<string, string>> = {};
  const client = createDocumentClient(proxy.url, () => carried);
  await tourEverything({
    send: client.send,
    operator: server.operator,
    origin: server.url,
    cookie: () => client.cookie,
    carry: (headers) => {
      carried = headers;
    },
  });
  const missed = [...readOperations().keys()].filter((operationId) => !client.succeeded.has(operationId));
  expect(missed, "operations of docs/openapi.json that test/support/apiTour.ts does not visit").toEqual([]);
  expect(client.requests).toBeGreaterThan(100);
});
