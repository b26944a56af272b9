/**
 * A REST client that keeps working while its server restarts: each write carries an Idempotency-Key and is repeated
 * unchanged until it gets an answer. A refusal is an answer. Only a lost connection and 503 are not.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface RestClient {
  call<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer<Body>>;
  /** Returns the same client with the header of a credential. */
  as(credential: Readonly<Record<string, string>>): RestClient;
}

/** Long enough for several kills and starts of a server. */
const patienceMs = 60_000;

export function createRestClient(baseUrl: string, credential: Readonly<Record<string, string>> = {}): RestClient {
  async function attempt(method: string, path: string, idempotencyKey: string, body: unknown): Promise<Response | undefined> {
    const headers: Record<string, string> = { ...credential, "idempotency-key": idempotencyKey };
    if (body !== undefined) headers["content-type"] = "application/json";
    try {
      const answer = await fetch(baseUrl + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      const whole = await answer.arrayBuffer();
      if (answer.status === 503) return undefined;
      return new Response(whole.byteLength === 0 ? null : whole, { status: answer.status, headers: answer.headers });
    } catch {
      return undefined;
    }
  }

  return {
    as: (held) => createRestClient(baseUrl, held),
    async call<Body>(method: string, path: string, body?: unknown) {
      const idempotencyKey = randomUUID();
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const answer = await attempt(method, path, idempotencyKey, body);
        // With 409 idempotency_in_progress, the interrupted attempt still holds its lease.
        if (answer !== undefined && !(answer.status === 409 && (await answer.clone().text()).includes("idempotency_in_progress"))) {
          const text = await answer.text();
          const isJson = answer.headers.get("content-type")?.includes("json") === true;
          return { status: answer.status, headers: answer.headers, body: (isJson ? JSON.parse(text) : text) as Body };
        }
        if (Date.now() > deadline) throw new Error(`no answer to ${method} ${path} within ${patienceMs / 1000} s`);
        await pause(50);
      }
    },
  };
}
