/** Tests when a request body is read and how much of it the server keeps: the whole app on each host, with raw bytes. */
import { afterEach, describe, expect, it } from "vitest";
import { Problem } from "../../api/schema/error.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import type { StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { type RawConnection, rawConnection } from "./rawHttp.ts";
import { articleId, credentials, useSurface, workspaceId } from "./surfaceFixture.ts";

const KiB = 1024;
const limits = {
  "body.inFlight": 2048 * KiB,
  "body.inFlightAccount": 1536 * KiB,
  "body.inFlightAddress": 24 * KiB,
  "body.text": 1024 * KiB,
};

const hosts: readonly (readonly [string, StartHost])[] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
];
for (const [name, startHost] of hosts) {
  describe(`${name}: bodies`, () => {
    const surface = useSurface({ startHost, limits });
    const open: RawConnection[] = [];

    afterEach(() => {
      for (const connection of open.splice(0)) connection.destroy();
    });

    /** Sends a head that declares `declaredBytes`, and only the start of the body. */
    async function begin(
      line: string,
      declaredBytes: number,
      headers: Readonly<Record<string, string>>,
      sentBytes: number,
    ): Promise<RawConnection> {
      const client = await rawConnection(surface.host.port);
      open.push(client);
      const all = { host: "test", "content-type": "application/json", "content-length": String(declaredBytes), ...headers };
      client.write(
        `${line} HTTP/1.1\r\n${Object.entries(all)
          .map(([header, value]) => `${header}: ${value}\r\n`)
          .join("")}\r\n`,
      );
      client.write(Buffer.alloc(sentBytes, " "));
      return client;
    }

    async function problemOf(client: RawConnection): Promise<Problem & { readonly retryAfterHeader: string | undefined }> {
      const { body, headers } = await client.response();
      const parsed = JSON.parse(body.toString());
      // tRPC puts the problem into its envelope.
      const [first = parsed] = Array.isArray(parsed) ? parsed : [parsed];
      return { ...Problem.parse(first.error?.data.problem ?? first), retryAfterHeader: headers.get("retry-after") };
    }

    const article = `PATCH /articles/${articleId}/content`;
    const unauthenticated = [
      ["REST", article, {}],
      ["REST, bad key", article, { "x-api-key": "unknown" }],
      ["REST, workspace in the body", "POST /articles", {}],
      ["tRPC", "POST /trpc/articles.create", {}],
      ["tRPC batch", "POST /trpc/articles.create,content.edit?batch=1", {}],
      ["tRPC lines", "POST /trpc/articles.create,content.edit?batch=1", { "trpc-accept": "application/jsonl" }],
    ] as const;

    it("[API30] a request without a credential is answered 401 before most of its body arrived", async () => {
      for (const [what, line, headers] of unauthenticated.slice(0, 5)) {
        const client = await begin(line, 900 * KiB, headers, 700 * KiB);
        expect({ what, ...(await problemOf(client)) }).toMatchObject({ what, status: 401 });
        await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(0);
      }
    });

    it("[API30] a tRPC batch without a credential is answered before its body arrived", async () => {
      const [, line, headers] = unauthenticated[5];
      const client = await begin(line, 900 * KiB, headers, 700 * KiB);
      const { body } = await client.response();
      expect(body.toString().match(/"code":"unauthenticated"/g)).toHaveLength(2);
    });

    it("[API30] a body declared too large is 413 before the credential is checked", async () => {
      expect(await problemOf(await begin(article, limits["body.text"] + 1, {}, 0))).toMatchObject({ code: "payload_too_large" });
      expect(await problemOf(await begin("POST /trpc/content.edit", limits["body.text"] + 1, {}, 0))).toMatchObject({
        code: "payload_too_large",
      });
    });

    it("[API30] a refusal for scope, visibility or role is sent before the body arrived", async () => {
      const foreign = "PATCH /articles/art_01KAHX00000V0123456789ABCD/content";
      expect(await problemOf(await begin(foreign, 900 * KiB, credentials.session, 10))).toMatchObject({ code: "not_found" });
      expect(await problemOf(await begin(article, 900 * KiB, credentials.key("articles:read"), 10))).toMatchObject({
        code: "insufficient_scope",
      });
      expect(await problemOf(await begin(article, 900 * KiB, credentials.role("read"), 10))).toMatchObject({
        code: "insufficient_permission",
      });
    });

    it("[API31] account and process have a limit of body bytes, and beyond it is 503 with Retry-After", async () => {
      const [second, third] = credentials.otherAccounts;
      const waiting = [await begin(article, 1000 * KiB, credentials.session, 900 * KiB)];
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(900 * KiB);
      // The account has 636 KiB left for each of its credentials; the process has 1148 KiB left.
      for (const credential of [credentials.session, credentials.fullKey]) {
        const refused = await begin(article, 1000 * KiB, credential, 900 * KiB);
        expect(await problemOf(refused)).toMatchObject({ code: "unavailable", status: 503, retryAfterHeader: "1" });
      }
      waiting.push(await begin(article, 1000 * KiB, second, 900 * KiB));
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(1800 * KiB);
      // A third account has room, but the process does not.
      expect(await problemOf(await begin(article, 1000 * KiB, third, 900 * KiB))).toMatchObject({ code: "unavailable" });
      for (const client of waiting) client.destroy();
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(0);
      expect(
        (
          await surface.fetch("PATCH", `/articles/${articleId}`, {
            headers: { ...credentials.session, "content-type": "application/json" },
            body: `{"title":"T"}`,
          })
        ).status,
      ).toBe(200);
      expect(surface.app.bodyBytesInFlight()).toBe(0);
    });

    it("[API31] a chunked body counts as it arrives, and a client that leaves frees its bytes", async () => {
      const client = await begin("GET /", 0, {}, 0);
      await client.response();
      const piece = Buffer.alloc(100 * KiB, " ");
      const head = { host: "test", "content-type": "application/json", "transfer-encoding": "chunked", ...credentials.session };
      client.write(
        `${article} HTTP/1.1\r\n${Object.entries(head)
          .map(([header, value]) => `${header}: ${value}\r\n`)
          .join("")}\r\n`,
      );
      client.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]));
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(100 * KiB);
      client.destroy();
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(0);
      expect(surface.logged.filter((line) => line.includes("bug"))).toEqual([]);
    });

    it("[API31][CV73] the body of a call that waits is released, and the wait ends when the client leaves", async () => {
      const waits: { readonly signal: AbortSignal | undefined; readonly body: unknown }[] = [];
      surface.on("conversions.create", (request, call) => {
        call.releaseBody?.();
        waits.push({ signal: call.signal, body: request.body });
        return new Promise((_, reject) => call.signal?.addEventListener("abort", () => reject(call.signal?.reason)));
      });
      const content = "x".repeat(800 * KiB);
      const json = JSON.stringify({ source: { content, format: "txt" }, to: "markdown" });
      const form = `--b\r\ncontent-disposition: form-data; name="to"\r\n\r\nmarkdown\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${content}\r\n--b--\r\n`;
      const requests = [
        ["/conversions", json, { "content-type": "application/json" }],
        ["/conversions", json, { "content-type": "application/json", "idempotency-key": "k1" }],
        ["/conversions", form, { "content-type": "multipart/form-data; boundary=b" }],
        ["/trpc/conversions.create", json, { "content-type": "application/json" }],
        [
          "/trpc/conversions.create,conversions.create?batch=1",
          `{"0":${json.replace(content, "x")},"1":${json}}`,
          { "content-type": "application/json" },
        ],
      ] as const;
      for (const [path, body, headers] of requests) {
        waits.length = 0;
        const client = await rawConnection(surface.host.port);
        open.push(client);
        const head = { host: "test", "content-length": String(Buffer.byteLength(body)), ...credentials.session, ...headers };
        client.write(
          `POST ${path} HTTP/1.1\r\n${Object.entries(head)
            .map(([header, value]) => `${header}: ${value}\r\n`)
            .join("")}\r\n${body}`,
        );
        const calls = path.includes(",") ? 2 : 1;
        await expect.poll(() => waits.length).toBe(calls);
        expect([surface.app.bodyBytesInFlight(), waits.map((wait) => wait.body)], path).toEqual([0, Array(calls).fill(undefined)]);
        client.destroy();
        await expect.poll(() => waits.every(({ signal }) => signal?.aborted)).toBe(true);
      }
      expect(surface.logged.filter((line) => line.includes("bug"))).toEqual([]);
    });

    it("[API32] bodies without a credential are small, and one address may have only a few at once", async () => {
      for (const line of [
        "POST /auth/token",
        "POST /auth/setup",
        "POST /trpc/auth.token",
        "POST /trpc/auth.token,articles.create?batch=1",
      ]) {
        expect({ line, ...(await problemOf(await begin(line, 17 * KiB, {}, 10))) }).toMatchObject({ line, code: "payload_too_large" });
      }
      await begin("POST /auth/token", 16 * KiB, {}, 15 * KiB);
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(15 * KiB);
      expect(await problemOf(await begin("POST /auth/setup", 16 * KiB, {}, 15 * KiB))).toMatchObject({ code: "unavailable" });
    });

    it("[API33] a fault in the request head is a problem that names the header, and no handler runs", async () => {
      const body = { workspaceId, title: "T" };
      const text = JSON.stringify(body);
      for (const [header, value] of [
        ["idempotency-key", "k\xc3\xa9y"],
        ["last-event-id", "1\xe92"],
      ]) {
        const raw = await rawConnection(surface.host.port);
        open.push(raw);
        const head = `POST /articles HTTP/1.1\r\nhost: t\r\nauthorization: Bearer session\r\n${header}: ${value}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
        raw.write(Buffer.from(head, "latin1"));
        const problem = await problemOf(raw);
        expect(problem).toMatchObject({ code: "bad_request", status: 400 });
        expect(problem.detail).toBe(`The header ${header} must be printable ASCII.`);
      }
      expect(surface.serve).not.toHaveBeenCalled();
    });
  });
}
