/**
 * Runs in a private network in which every address leads to this machine: the real server, a name server, and listeners
 * on every address that record their callers. The one argument is a folder for the files that replace resolv.conf and
 * hosts. The last line on stdout is the report, as JSON.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { createCertificateAuthority } from "../support/certificateAuthority.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { startServer } from "../support/server.ts";
import { untilReturns } from "../support/untilReturns.ts";
import { badUrls, certifiedHosts, goodUrls, listenedPorts, rebinding, zone } from "./ssrfCases.ts";
import { startDns } from "./ssrfDns.ts";

export interface SsrfReport {
  readonly badAccepted: readonly string[];
  readonly badTried: number;
  readonly goodRefused: readonly string[];
  readonly goodTried: number;
  /** Refusals with a status other than 422 or without a field name. */
  readonly oddRefusals: readonly string[];
  readonly changedByRefusal: readonly string[];
  readonly undelivered: readonly string[];
  readonly refusedAtDelivery: number;
  readonly rebindingTried: number;
  /** Called addresses, each once, in the spelling of `goodAddresses`. */
  readonly called: readonly string[];
}

const [folder = ""] = process.argv.slice(2);
const nameServer = "127.0.0.1";
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "resolv.conf"), `nameserver ${nameServer}\n`);
writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
const setUp = [
  "ip link set lo up",
  "ip route add local 0.0.0.0/0 dev lo",
  "ip -6 route add local ::/0 dev lo",
  ...["resolv.conf", "hosts"].map((file) => `mount --bind "$0/${file}" /etc/${file}`),
];
execFileSync("sh", ["-e", "-c", setUp.join("\n"), folder]);

const answers = new Map(zone);
const dns = await startDns(answers, nameServer);
const authority = await createCertificateAuthority();
const called = new Set<string>();
const receivers: Receiver[] = [];
const paths = new Map<string, number>();
for (const port of listenedPorts) {
  receivers.push(
    await startReceiver({
      authority,
      hosts: certifiedHosts,
      listen: { host: "::", port },
      onConnection: ({ localAddress = "" }) => void called.add(ipaddr.process(localAddress).toString()),
      answer({ path }) {
        paths.set(path, (paths.get(path) ?? 0) + 1);
        return { status: 204 };
      },
    }),
  );
}

const server = await startServer({ LIMITS: "off", NODE_EXTRA_CA_CERTS: authority.file, WEBHOOK_RETRY_SCHEDULE: "0,0.1,0.1" });
let token = "";
async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as any };
}

const { username, password } = server.operator;
token = (await call("POST", "/auth/token", { grantType: "password", username, password })).body.accessToken;
const workspaceId = (await call("GET", "/workspaces")).body.workspaces[0].workspaceId;
const webhooks = `/workspaces/${workspaceId}/webhooks`;

const oddRefusals: string[] = [];
/** True if the server accepted the URL. */
async function put(method: string, path: string, url: string): Promise<boolean> {
  const { status, body } = await call(method, path, { url });
  if (status < 300) return true;
  const complete = status === 422 && body.errors?.[0]?.pointer === "/url" && body.errors[0].code === body.code;
  if (!complete) oddRefusals.push(`${method} ${url}: ${status} ${body?.code}`);
  return false;
}

const first = (await call("POST", webhooks, { url: goodUrls[0] })).body;
const badAccepted: string[] = [];
const changedByRefusal: string[] = [];
for (const url of badUrls) {
  if (await put("POST", webhooks, url)) badAccepted.push(`POST ${url}`);
  if (await put("PATCH", `${webhooks}/${first.webhookId}`, url)) badAccepted.push(`PATCH ${url}`);
}
const { secret: _, ...unchanged } = first;
const listed = (await call("GET", `${webhooks}?limit=100`)).body.webhooks;
if (JSON.stringify(listed) !== JSON.stringify([unchanged])) changedByRefusal.push(JSON.stringify(listed));

const goodRefused: string[] = [];
for (const url of goodUrls) {
  if (!(await put("PATCH", `${webhooks}/${first.webhookId}`, url))) goodRefused.push(`PATCH ${url}`);
}
await call("DELETE", `${webhooks}/${first.webhookId}`);
/** Each good webhook has its own path, so that the test knows which one was called. */
const marked = goodUrls.map((text, n) => {
  const url = new URL(text);
  return { text: `https://${url.host}/good-${n}`, path: `/good-${n}` };
});
for (const { text } of marked) if (!(await put("POST", webhooks, text))) goodRefused.push(`POST ${text}`);
for (const { name } of rebinding) if (!(await put("POST", webhooks, `https://${name}/rebound`))) goodRefused.push(`POST ${name}`);
await put("POST", webhooks, "https://flip.bad.example/flip");

// From here on, the names have other addresses.
for (const { name, later } of rebinding) answers.set(name, later);
const { articleId } = (await call("POST", "/articles", { workspaceId, title: "Told to all", content: "Text." })).body;
await call("POST", `/articles/${articleId}/commits`, {});

const attempts = () => server.logLines.filter((line) => line.error === "url_not_public").length;
const undelivered = () => marked.filter(({ path }) => !paths.has(path)).map(({ text }) => text);
// Each refused webhook is tried three times, and the server logs each attempt. The report lists what is missing.
await untilReturns(() => {
  if (undelivered().length > 0 || attempts() < rebinding.length * 3 || !paths.has("/flip")) throw new Error("not all of them yet");
}, 60_000).catch(() => {});

const report: SsrfReport = {
  badAccepted,
  badTried: badUrls.length * 2,
  goodRefused,
  goodTried: goodUrls.length * 2,
  oddRefusals,
  changedByRefusal,
  undelivered: undelivered(),
  refusedAtDelivery: attempts(),
  rebindingTried: rebinding.length * 3,
  called: [...called].sort(),
};
await server.remove();
for (const receiver of receivers) await receiver.close();
await authority.remove();
dns.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
