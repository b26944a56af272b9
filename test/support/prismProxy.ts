/**
 * Starts Prism as a validating proxy, with a client that calls operations by their ids in the OpenAPI document.
 *
 * Prism compares every request and answer with docs/openapi.json and shares no code with the server. It reports
 * violations in the header `sl-violations` or, with `--errors`, as its own answer 500.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Answer, createRest } from "./clients.ts";
import { freePort } from "./server.ts";
import { cookieIn } from "./webPage.ts";

const documentFile = "docs/openapi.json";
const prismFile = "node_modules/@stoplight/prism-cli/dist/index.js";
const hangMs = 60_000;

export interface ValidatingProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function startValidatingProxy(serverUrl: string): Promise<ValidatingProxy> {
  const port = await freePort();
  const args = [prismFile, "proxy", documentFile, serverUrl, "--errors", "--port", String(port)];
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH ?? "" }, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const said: string[] = [];
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        // Prism logs every request, and nothing reads that output.
        if (said.length < 100) said.push(line);
        if (line.includes("Prism is listening")) resolve();
      });
    }
  });
  const failed = exited.then(() => Promise.reject(new Error(`Prism ended before it listened:\n${said.join("\n")}`)));
  failed.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Prism did not listen within ${hangMs} ms:\n${said.join("\n")}`)), hangMs);
  });
  const close = async () => {
    process.off("exit", kill);
    child.kill("SIGTERM");
    await exited;
  };
  try {
    await Promise.race([ready, failed, hung]);
  } catch (reason) {
    child.kill("SIGKILL");
    throw reason;
  } finally {
    clearTimeout(timer);
  }
  return { url: `http://127.0.0.1:${port}`, close };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

/** Every operation of the document by its id. */
export function readOperations(): ReadonlyMap<string, { readonly method: string; readonly path: string }> {
  const { paths } = JSON.parse(readFileSync(documentFile, "utf8")) as Document;
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, { method: method.toUpperCase(), path }] as const),
    ),
  );
}

export interface Given {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Credential for this request, instead of the carried one. */
  readonly as?: Readonly<Record<string, string>>;
}

/** Sends an operation. Throws unless the answer has this status and matches the document. */
// biome-ignore lint/suspicious/noExplicitAny: a tour reads bodies of any shape
export type Send = (status: number, operationId: string, given?: Given) => Promise<any>;

export interface DocumentClient {
  readonly send: Send;
  /** Operations that were answered with a success. */
  readonly succeeded: ReadonlySet<string>;
  readonly requests: number;
  /** Value of the session cookie that an answer has set. */
  readonly cookie: string | undefined;
}

/** A request as it was sent, with its answer. */
export interface Sent {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: Answer<unknown>;
}

export interface ClientOptions {
  /** Further headers of a request. Those of the request itself replace them. */
  readonly toHeaders?: (operationId: string) => Readonly<Record<string, string>>;
  /** Called after each success. */
  readonly succeeded?: (sent: Sent) => Promise<void>;
}

/** `carried` returns the credential for requests without their own. */
export function createDocumentClient(
  url: string,
  carried: () => Readonly<Record<string, string>>,
  { toHeaders = () => ({}), succeeded: report = async () => {} }: ClientOptions = {},
): DocumentClient {
  const operations = readOperations();
  const succeeded = new Set<string>();
  let requests = 0;
  let cookie: string | undefined;
  return {
    succeeded,
    get cookie() {
      return cookie;
    },
    get requests() {
      return requests;
    },
    async send(status, operationId, { params = {}, query = {}, body, headers = {}, as = carried() } = {}) {
      const operation = operations.get(operationId);
      if (operation === undefined) throw new Error(`${documentFile} has no operation ${operationId}`);
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
      const search = new URLSearchParams(query).toString();
      const sent = {
        operationId,
        method: operation.method,
        path: search === "" ? path : `${path}?${search}`,
        body,
        headers: { ...as, ...toHeaders(operationId), ...headers },
      };
      const answer: Answer<unknown> = await createRest(url, sent.headers).request(sent.method, sent.path, body);
      requests += 1;
      cookie = cookieIn(answer) ?? cookie;
      const violations = answer.headers.get("sl-violations");
      if (answer.status !== status || violations !== null) {
        const found = violations ?? JSON.stringify(answer.body);
        throw new Error(`${operationId}: answered ${answer.status} instead of ${status}, or broke the document: ${found}`);
      }
      if (status >= 300) return answer.body;
      succeeded.add(operationId);
      await report({ ...sent, answer });
      return answer.body;
    },
  };
}
