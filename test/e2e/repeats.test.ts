/**
 * Tests that every operation that accepts an Idempotency-Key answers a repeat with its first answer.
 *
 * The tour of the whole API is taken with a key on every request, and each success is requested once more. An operation of the
 * contract that is neither repeated here nor excused fails the test.
 */
import { afterEach, expect, test } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { tourEverything } from "../support/apiTour.ts";
import { createRest } from "../support/clients.ts";
import { createDocumentClient } from "../support/prismProxy.ts";
import { type RunningServer, startServer, withoutCheckpoints } from "../support/server.ts";

/** Operations whose success ends the credential that a repeat would need. */
const excused = new Set(["auth.logout"]);

const keyed = Object.entries(contract).flatMap(([resource, group]) =>
  Object.entries(group as Record<string, OperationSpec>)
    .filter(([, { method, credential }]) => (method === "POST" || method === "PATCH") && credential !== "none")
    .map(([name]) => `${resource}.${name}`),
);

let server: RunningServer | undefined;
afterEach(() => server?.remove());

test("[API14] every operation that accepts a key answers a repeat with its first answer", async () => {
  // The tour asks for the blame of a revision that no commit has, so no checkpoint may come in between.
  server = await startServer({ OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8", LIMITS: "off", ...withoutCheckpoints });
  const { url, operator } = server;
  const accepts = new Set(keyed.filter((operationId) => !excused.has(operationId)));
  const repeated = new Set<string>();
  let requests = 0;
  let carried: Readonly<Record<string, string>> = {};
  const client = createDocumentClient(url, () => carried, {
    toHeaders: (operationId) => (accepts.has(operationId) ? { "idempotency-key": `request ${++requests}` } : {}),
    async succeeded({ operationId, method, path, body, headers, answer }) {
      if (!accepts.has(operationId)) return;
      const again = await createRest(url, headers).request(method, path, body);
      const seen = [operationId, again.status, again.headers.get("idempotency-replayed"), again.body];
      expect(seen).toEqual([operationId, answer.status, "true", answer.body]);
      repeated.add(operationId);
    },
  });
  await tourEverything({
    send: client.send,
    operator,
    origin: url,
    cookie: () => client.cookie,
    carry: (headers) => {
      carried = headers;
    },
  });
  expect([...accepts].filter((operationId) => !repeated.has(operationId))).toEqual([]);
});
