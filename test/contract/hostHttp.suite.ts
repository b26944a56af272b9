/** Tests requests, their bodies and their answers on every host over real sockets. A part of host.suite.ts. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { ClientGone, type HttpReply, type HttpRequest, type StartHost, type StreamedBody } from "../../server/edge/host/port.ts";
import { streamOf } from "../support/streamOf.ts";
import { hostFixture, ok, roomy } from "./hostFixture.ts";

export function hostHttpSuite(name: string, start: StartHost): void {
  describe(`${name}: HTTP`, () => {
    const on = hostFixture(start);

    describe("requests", () => {
      it("[HO4] method, raw path and raw query arrive unchanged", async () => {
        on.handle = ({ method, path, query }) => ok(JSON.stringify([method, path, query]));
        const seen = async (target: string) => JSON.parse((await on.request(`PATCH ${target} HTTP/1.1`)).body.toString());
        expect(await seen("/a%2Fb/%zz/%C3%A9?x=%ff&y=&&x=1?2")).toEqual(["PATCH", "/a%2Fb/%zz/%C3%A9", "x=%ff&y=&&x=1?2"]);
        expect(await seen("/plain")).toEqual(["PATCH", "/plain", ""]);
        expect(await seen("/?")).toEqual(["PATCH", "/", ""]);
      });

      it("[HO4] bytes that are not ASCII in path or query do not end the process", async () => {
        on.handle = () => ok("still here");
        const client = await on.connection();
        client.write(Buffer.from("GET /\xff\xfe?\xe9 HTTP/1.1\r\nhost: test\r\nx-bytes: \xff\r\n\r\n", "latin1"));
        await client.response().catch(() => undefined);
        expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("still here");
        expect(on.errors).toEqual([]);
      });

      it("[HO5] header names are in lower case, and a repeated header is joined", async () => {
        on.handle = (request) =>
          ok(JSON.stringify((["x-api-key", "if-match", "authorization"] as const).map((name) => request.header(name) ?? null)));
        const response = await on.request("GET / HTTP/1.1\r\nX-ApI-KeY: One\r\nAUTHORIZATION: Bearer a\r\nauthorization: Bearer b");
        expect(JSON.parse(response.body.toString())).toEqual(["One", null, "Bearer a, Bearer b"]);
      });

      it("[HO5] headers and body stay readable after an await", async () => {
        on.handle = async (request) => {
          const body = request.body(roomy).read(1000);
          await new Promise((resolve) => setImmediate(resolve));
          return ok(`${request.header("if-match")} ${request.path} ${request.query} ${Buffer.from((await body) as Uint8Array).toString()}`);
        };
        expect((await on.request("POST /late?q=1 HTTP/1.1\r\nif-match: yes", "text")).body.toString()).toBe("yes /late q=1 text");
      });

      it("[HO5] a long URL and a long header are accepted", async () => {
        on.handle = (request) => ok(`${request.query.length} ${request.header("if-match")?.length}`);
        const response = await on.request(`GET /?${"q".repeat(20_000)} HTTP/1.1\r\nif-match: ${"h".repeat(10_000)}`);
        expect(response.body.toString()).toBe("20000 10000");
      });

      it("[HO4] the peer's address is available as text", async () => {
        on.handle = async (request) => ok(request.remoteAddress);
        expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("127.0.0.1");
      });

      it("[HO6] a connection answers one request after the other", async () => {
        on.handle = async ({ path }) => ok(path);
        const client = await on.connection();
        for (const path of ["/1", "/2", "/3"]) {
          client.write(`GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`);
          expect((await client.response()).body.toString()).toBe(path);
        }
      });

      it("[HO6] pipelined requests are answered in order", async () => {
        on.handle = ({ path }) => ok(path);
        const client = await on.connection();
        client.write(["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`).join(""));
        for (const path of ["/1", "/2", "/3"]) expect((await client.response()).body.toString()).toBe(path);
      });

      it("[HO6] pipelined requests never overtake an answer that is still pending", async () => {
        let release: () => void = () => undefined;
        const first = new Promise<void>((resolve) => {
          release = resolve;
        });
        on.handle = async ({ path }) => {
          if (path === "/1") await first;
          return ok(path);
        };
        const client = await on.connection();
        client.write("GET /1 HTTP/1.1\r\nhost: test\r\n\r\nGET /2 HTTP/1.1\r\nhost: test\r\n\r\n");
        await on.request("GET /3 HTTP/1.1");
        release();
        const bodies: string[] = [];
        for (let at = 0; at < 2; at += 1) {
          const body = await client.response().then(
            (response) => response.body.toString(),
            () => "closed",
          );
          bodies.push(body);
        }
        expect([
          ["/1", "/2"],
          ["closed", "closed"],
        ]).toContainEqual(bodies);
      });
    });

    describe("bodies", () => {
      it("[HO7] a large body arrives whole", async () => {
        const sent = Buffer.alloc(5_000_000, "0123456789abcdef-");
        on.handle = async (request) => ok(String(Buffer.from((await request.body(roomy).read(6_000_000)) as Uint8Array).equals(sent)));
        expect((await on.request("POST / HTTP/1.1", sent)).body.toString()).toBe("true");
      });

      it("[HO7] a chunked body arrives whole, a missing one is empty", async () => {
        on.handle = async (request) => ok(`<${Buffer.from((await request.body(roomy).read(100)) as Uint8Array).toString()}>`);
        const client = await on.connection();
        client.write("POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
        client.write("2\r\nde\r\n0\r\n\r\n");
        expect((await client.response()).body.toString()).toBe("<abcde>");
        expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("<>");
      });

      it("[HO7] a client that expects 100-continue receives it", async () => {
        on.handle = async (request) => ok(Buffer.from((await request.body(roomy).read(100)) as Uint8Array).toString());
        const client = await on.connection();
        client.write("POST / HTTP/1.1\r\nhost: test\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
        await once(client.socket, "data");
        client.write("hi");
        expect((await client.response()).body.toString()).toBe("hi");
      });

      const limited = async (request: HttpRequest): Promise<HttpReply> => {
        const body = await request.body(roomy).read(1000);
        return body === "too_large" ? { status: 413, headers: {}, body: "too large" } : ok(String(body.length));
      };

      it("[HO8] a body declared too large is refused before it is sent", async () => {
        on.handle = limited;
        const client = await on.connection();
        client.write("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1001\r\n\r\n");
        expect((await client.response()).status).toBe(413);
      });

      it("[HO8] a chunked body is refused as soon as it is too large", async () => {
        on.handle = limited;
        const client = await on.connection();
        client.write("POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n");
        client.write(`3e8\r\n${"x".repeat(1000)}\r\n`);
        client.write("1\r\nx\r\n");
        expect((await client.response()).status).toBe(413);
      });

      it("[HO8] the refusal reaches a client that sends everything first, and the connection stays open", async () => {
        on.handle = limited;
        const client = await on.connection();
        client.write("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 20000000\r\n\r\n");
        client.write(Buffer.alloc(20_000_000));
        expect((await client.response()).status).toBe(413);
        client.write("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 3\r\n\r\nabc");
        expect((await client.response()).body.toString()).toBe("3");
      });

      it("[HO9] a truncated body rejects with ClientGone and is no error of the server", async () => {
        const outcome = new Promise<unknown>((resolve) => {
          on.handle = async (request) => {
            await request.body(roomy).read(1000).then(resolve, resolve);
            throw new ClientGone();
          };
        });
        const client = await on.connection();
        client.write("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 50\r\n\r\nonly this");
        client.socket.end();
        expect(await outcome).toBeInstanceOf(ClientGone);
        on.handle = () => ok("next");
        expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("next");
        expect(on.errors).toEqual([]);
      });
    });

    describe("answers", () => {
      it("[HO10] HEAD returns the headers of GET and no body", async () => {
        on.handle = () => ok("twelve bytes");
        const client = await on.connection();
        client.write("HEAD / HTTP/1.1\r\nhost: test\r\n\r\n");
        const response = await client.response({ head: true });
        expect(response.headers.get("content-length")).toBe("12");
        client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
        expect((await client.response()).body.toString()).toBe("twelve bytes");
      });

      it("[HO10] 204 and 304 have no body", async () => {
        for (const status of [204, 304]) {
          on.handle = () => ({ status, headers: { etag: '"r1"' } });
          const response = await on.request("GET / HTTP/1.1");
          expect([response.status, response.headers.get("etag"), response.headers.has("transfer-encoding")]).toEqual([
            status,
            '"r1"',
            false,
          ]);
        }
      });

      it("[HO10] bytes go out unchanged", async () => {
        const sent = Uint8Array.from({ length: 256 }, (_, at) => at);
        on.handle = async () => ({ status: 200, headers: {}, body: sent });
        expect(new Uint8Array((await on.request("GET / HTTP/1.1")).body)).toEqual(sent);
      });

      it("[HO10] a reply may close its connection", async () => {
        on.handle = () => ({ ...ok("bye"), close: true });
        const client = await on.connection();
        client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
        expect((await client.response()).headers.get("connection")?.toLowerCase()).toBe("close");
        expect((await client.ended()).length).toBe(0);
      });

      it("[OP79] every answer forbids browsers to guess its media type, once", async () => {
        const headers = { "content-type": "text/plain" };
        async function* pieces() {
          yield "piece";
        }
        const replies: readonly HttpReply[] = [
          ok("text"),
          { status: 204, headers: {} },
          { status: 304, headers: {} },
          { status: 422, headers: { "content-type": "application/problem+json" }, body: "{}" },
          { status: 200, headers, body: streamOf(pieces()) },
          { status: 200, headers: { "x-fault": "\n" } },
        ];
        for (const reply of replies) {
          on.handle = async () => reply;
          expect((await on.request("GET / HTTP/1.1")).headers.get("x-content-type-options"), String(reply.status)).toBe("nosniff");
        }
        on.handle = async () => ok("text");
        expect((await on.request("HEAD / HTTP/1.1")).headers.get("x-content-type-options")).toBe("nosniff");
        const upgrade = "GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13";
        const refused = await on.request(`${upgrade}\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==`);
        expect([refused.status, refused.headers.get("x-content-type-options")]).toEqual([404, "nosniff"]);
      });

      it("[HO11] an error thrown by a handler is a 500 and never ends the process", async () => {
        for (const broken of [
          () => {
            throw new Error("in turn");
          },
          async () => {
            await Promise.resolve();
            throw new Error("later");
          },
          () => ({ status: 200, headers: { location: "/x\r\nset-cookie: a=b" } }),
        ]) {
          on.handle = broken;
          const response = await on.request("GET / HTTP/1.1");
          expect(response.headers.has("set-cookie")).toBe(false);
          expect(response.status).toBe(500);
        }
        expect(on.errors).toHaveLength(3);
        on.handle = () => ok("alive");
        expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("alive");
      });

      it("[HO11] the source of a stream ends when a fault in its headers makes the answer a 500", async () => {
        let returned = 0;
        const body: StreamedBody = {
          open: (sink) => void sink.write(Buffer.from("never sent")),
          drain() {},
          close() {
            returned += 1;
          },
        };
        on.handle = () => ({ status: 200, headers: { location: "/x\r\nset-cookie: a=b" }, body });
        expect((await on.request("GET / HTTP/1.1")).status).toBe(500);
        expect([returned, on.errors.length]).toEqual([1, 1]);
      });

      it("[HO12] the signal aborts when the client leaves, and the late answer is ignored", async () => {
        const aborted = new Promise<void>((resolve) => {
          on.handle = async ({ signal }) => {
            await new Promise((seen) => signal.addEventListener("abort", seen));
            resolve();
            return ok("too late");
          };
        });
        const client = await on.connection();
        client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
        client.socket.end();
        client.destroy();
        await aborted;
        on.handle = () => ok("alive");
        expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("alive");
        expect(on.errors).toEqual([]);
      });
    });
  });
}
