/**
 * Creates values that expire at a moment of store time: a key, a ticket, a page token, a request's Idempotency-Key, a
 * session's token. Each is created at one node and used repeatedly at one, so that an observer that knows store time
 * can say whether the expiry came early or late.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createRest, type Rest, signIn } from "../../support/clients.ts";
import type { RigNode } from "./node.ts";

/** "unknown": there was no conclusive answer. */
export type Use = "allowed" | "refused" | "unknown";

export interface Expiring {
  readonly name: string;
  /** The expiry in store time is between these two. */
  readonly endsMs: { readonly least: number; readonly most: number };
  use(): Promise<Use>;
}

/** The observer's estimate of store time. */
export type StoreNow = () => number;

export interface ExpiryMaking {
  readonly made: RigNode;
  readonly used: RigNode;
  readonly now: StoreNow;
  readonly key: string;
  readonly workspaceId: string;
  /** A unique name. */
  readonly name: string;
}

/** Life of the values, as in the settings of a scenario. */
export const lifeMs = 1500;
const leewayMs = 30_000;

async function judge(answer: Promise<{ readonly status: number; readonly body: { readonly code?: string } }>, code: string): Promise<Use> {
  const { status, body } = await answer.catch(() => ({ status: 0, body: { code: undefined } }));
  if (status >= 200 && status < 300) return "allowed";
  if (body.code === code) return "refused";
  if (status === 0 || status === 503) return "unknown";
  throw new Error(`${status} ${JSON.stringify(body)}`);
}

const at = ({ url }: RigNode, key: string): Rest => createRest(url, { "x-api-key": key });

export async function makeKey({ made, used, now, key, name }: ExpiryMaking): Promise<Expiring> {
  const endMs = now() + lifeMs;
  const expiresAt = new Date(endMs).toISOString();
  const own = await at(made, key).expect(201, "POST", "/api-keys", { name, scopes: ["workspaces:read"], expiresAt });
  const rest = at(used, own.key);
  return { name: "key", endsMs: { least: endMs, most: endMs }, use: () => judge(rest.request("GET", "/api-keys/self"), "key_expired") };
}

export async function makeTicket({ made, used, now, key, workspaceId }: ExpiryMaking): Promise<Expiring> {
  const fromMs = now();
  const { ticket } = await at(made, key).expect(201, "POST", "/auth/stream-ticket", { resource: `workspace:${workspaceId}` });
  const path = `${used.url}/workspaces/${workspaceId}/timeline/stream?ticket=${ticket}`;
  return {
    name: "ticket",
    endsMs: { least: fromMs + lifeMs, most: now() + lifeMs },
    async use() {
      const leave = new AbortController();
      const answer = await fetch(path, { signal: leave.signal }).catch(() => undefined);
      if (answer === undefined) return "unknown";
      if (answer.status === 200) {
        leave.abort();
        return "allowed";
      }
      return judge(
        answer.json().then((body) => ({ status: answer.status, body })),
        "token_expired",
      );
    },
  };
}

/** The list must have more than one item. */
export async function makePlace({ made, used, now, key, workspaceId }: ExpiryMaking): Promise<Expiring> {
  const path = `/articles?workspaceId=${workspaceId}&limit=1`;
  const fromMs = now();
  const { nextToken } = await at(made, key).expect(200, "GET", path);
  const rest = at(used, key);
  const next = `${path}&nextToken=${encodeURIComponent(nextToken)}`;
  return {
    name: "place in a list",
    endsMs: { least: fromMs + lifeMs, most: now() + lifeMs },
    use: () => judge(rest.request("GET", next), "invalid_next_token"),
  };
}

/** "allowed": the answer is replayed. "refused": the key is forgotten, so the request was executed again. */
export async function makeIdempotencyKey({ made, used, now, key, workspaceId, name }: ExpiryMaking): Promise<Expiring> {
  const make = (node: RigNode) => at(node, key).request("POST", "/articles", { workspaceId, title: name }, { "idempotency-key": name });
  const fromMs = now();
  const first = await make(made);
  if (first.status !== 201) throw new Error(`${name}: ${first.status}`);
  const untilMs = now();
  return {
    name: "Idempotency-Key",
    endsMs: { least: fromMs + lifeMs, most: untilMs + lifeMs },
    async use() {
      const answer = await make(used).catch(() => undefined);
      if (answer === undefined || answer.status !== 201) return "unknown";
      return answer.headers.get("idempotency-replayed") === "true" ? "allowed" : "refused";
    },
  };
}

export async function makeToken(
  { made, used, now }: ExpiryMaking,
  account: { readonly username: string; readonly password: string },
): Promise<Expiring> {
  const fromMs = now();
  const { headers } = await signIn(made.url, account);
  const rest = createRest(used.url, headers);
  // The token has whole seconds.
  const toEndMs = (madeMs: number) => (Math.floor(madeMs / 1000) + Math.ceil(lifeMs / 1000)) * 1000 + leewayMs;
  const endsMs = { least: toEndMs(fromMs), most: toEndMs(now()) };
  return { name: "token of a session", endsMs, use: () => judge(rest.request("GET", "/workspaces"), "token_expired") };
}

const betweenUsesMs = 20;
const patienceMs = 60_000;

export interface Expiry {
  /** Milliseconds between the expiry and the first refusal. */
  readonly offMs: number;
  readonly uses: number;
  readonly bad: readonly string[];
}

/** Uses the value until it is refused. `toleranceMs` is the allowed error of the expiry. */
export async function watchExpiry({ name, endsMs, use }: Expiring, now: StoreNow, toleranceMs: number): Promise<Expiry> {
  const bad: string[] = [];
  for (let uses = 1; ; uses += 1) {
    const begunMs = now();
    const found = await use();
    const endedMs = now();
    if (found === "refused") {
      if (endedMs < endsMs.least - toleranceMs) bad.push(`${name} was refused ${endsMs.least - endedMs} ms before its end`);
      return { offMs: Math.max(0, endsMs.least - endedMs, endedMs - endsMs.most), uses, bad };
    }
    if (found === "allowed" && begunMs > endsMs.most + toleranceMs) {
      bad.push(`${name} was allowed ${begunMs - endsMs.most} ms after its end`);
      return { offMs: begunMs - endsMs.most, uses, bad };
    }
    if (begunMs > endsMs.most + patienceMs) return { offMs: begunMs - endsMs.most, uses, bad: [`${name}: nobody says that it ended`] };
    await pause(endsMs.least - now() > 2 * toleranceMs ? 5 * betweenUsesMs : betweenUsesMs);
  }
}
