import { describe, expect, test } from "vitest";
import { createLog } from "./log.ts";
import { maskSecrets } from "./maskSecrets.ts";

function capture(level = "info") {
  const lines: string[] = [];
  const { log } = createLog(level, { write: (line) => lines.push(line), flushSync() {} });
  return { log, lines };
}

const key = "svc_Ab12Cd34_0123456789abcdefghijABCDEFGHIJ01Zz9Yy8";
const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq=";
const jwt = `eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbGV4In0.${"x".repeat(86)}`;
const refreshToken = `WyJzZXNfMDEiLDEsIngiXQ.${"q".repeat(43)}`;
const setupToken = `first.${"Z-_9".repeat(10)}abc`;

describe("log lines", () => {
  test("[OP4] a line is JSON with the level as a word and the time in UTC", () => {
    const { log, lines } = capture();
    log.info({ requestId: "r1", op: "articles.get", status: 200 }, "request");
    log.debug("not shown");
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0] ?? "");
    expect(line).toMatchObject({ level: "info", requestId: "r1", op: "articles.get", status: 200, msg: "request" });
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test("[OP4] a field with a secret's name is masked at any depth", () => {
    const { log, lines } = capture();
    log.info({
      password: "hunter2hunter2",
      body: { secret: "hunter2hunter2", deep: { token: "hunter2hunter2" } },
      headers: { authorization: "hunter2hunter2" },
    });
    expect(lines.join()).not.toContain("hunter2");
    expect(JSON.parse(lines[0] ?? "").body.secret).toBe("…");
  });

  test.each([key, webhookSecret, jwt, refreshToken, setupToken])(
    "[OP4] %s does not appear in a line, not even inside a text or an error",
    (secret) => {
      const { log, lines } = capture();
      log.info({ note: `it was ${secret}.` }, `message with ${secret}`);
      log.error({ err: new Error(`failed on ${secret}`) }, "failed");
      expect(lines).toHaveLength(2);
      expect(lines.join()).not.toContain(secret.slice(-12));
    },
  );
});

test("[OP4] the mask does not change ordinary text", () => {
  for (const text of [
    "art_01JDABCDEFGHJKMNPQRSTVWXYZ moved to revision 12",
    "key_01JDABCDEFGHJKMNPQRSTVWXYZ",
    "at serve (file:///app/dist/svc-server.js:120:14)",
    `sha256 ${"ab".repeat(32)}`,
    "https://write.example.com/problems/not_found",
    "svc_http_seconds",
  ]) {
    expect(maskSecrets(text)).toBe(text);
  }
});
