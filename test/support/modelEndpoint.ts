/**
 * An OpenAI-compatible chat endpoint on this machine. A test decides its answers, piece by piece, and its failures. It
 * records the requests.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface ModelAsked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens: number | undefined;
  /** Unix milliseconds. */
  readonly askedAtMs: number;
}

export type ModelAnswer =
  /** Pieces of the text; `pieceMs` is the time between two pieces. */
  | {
      readonly kind: "text";
      readonly text: string;
      readonly pieceCharacters?: number;
      readonly pieceMs?: number;
      readonly finishReason?: string;
      /** `null` sends no usage. */
      readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly cost?: number } | null;
    }
  | { readonly kind: "status"; readonly status: number; readonly message?: string; readonly headers?: OutgoingHttpHeaders }
  /** Sends `text` and then nothing more, with the connection open. */
  | { readonly kind: "hang"; readonly text?: string }
  /** Sends `text` and closes without a finish reason; `reset` resets the connection instead. */
  | { readonly kind: "breakOff"; readonly text: string; readonly reset?: boolean }
  | { readonly kind: "garbage" }
  /** Any other behaviour of an endpoint. */
  | { readonly kind: "script"; readonly play: (response: ServerResponse, say: (text: string) => void) => Promise<void> | void };

export interface ModelEndpoint {
  readonly baseUrl: string;
  readonly asked: readonly ModelAsked[];
  /** Number of unfinished answers whose reader is still connected. */
  readonly talking: number;
  /** Sets the next answers. The last one repeats. */
  answer(...answers: readonly (ModelAnswer | ((asked: ModelAsked) => ModelAnswer))[]): void;
  close(): Promise<void>;
}

/** Returns one event of a stream. */
function toChunk(delta: object, rest: object = {}): string {
  const choices = [{ index: 0, delta, ...rest }];
  return `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "stand-in", choices })}\n\n`;
}

/** With `port` 0, a free port is chosen. */
export async function startModelEndpoint(port = 0): Promise<ModelEndpoint> {
  const asked: ModelAsked[] = [];
  let talking = 0;
  let answers: (ModelAnswer | ((asked: ModelAsked) => ModelAnswer))[] = [{ kind: "text", text: "Hello." }];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString() || "{}") as {
      messages?: { role: string; content: string | { text: string }[] }[];
      max_tokens?: number;
    };
    const said = (role: string) =>
      (body.messages ?? [])
        .filter((message) => message.role === role)
        .map(({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text).join("")))
        .join("\n");
    const question: ModelAsked = {
      path: request.url ?? "",
      headers: request.headers,
      system: said("system"),
      prompt: said("user"),
      maxTokens: body.max_tokens,
      askedAtMs: Date.now(),
    };
    asked.push(question);
    talking += 1;
    response.once("close", () => {
      talking -= 1;
    });
    const next = answers.length > 1 ? answers.shift() : answers[0];
    const decided = typeof next === "function" ? next(question) : next;
    if (decided !== undefined) await give(response, decided);
  }

  async function give(response: ServerResponse, answer: ModelAnswer): Promise<void> {
    if (answer.kind === "status") {
      const { status, message = "no", headers = {} } = answer;
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ error: { message } }));
      return;
    }
    if (answer.kind === "script") {
      await answer.play(response, (text) => response.write(toChunk({ content: text })));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (answer.kind === "garbage") {
      response.end("data: {not json}\n\n");
      return;
    }
    const say = (delta: object, rest?: object) => response.write(toChunk(delta, rest));
    say({ role: "assistant", content: "" });
    const { text = "" } = answer;
    const size = answer.kind === "text" ? (answer.pieceCharacters ?? 40) : 40;
    for (let at = 0; at < text.length && !response.destroyed; at += size) {
      say({ content: text.slice(at, at + size) });
      if (answer.kind === "text" && answer.pieceMs !== undefined) await pause(answer.pieceMs);
    }
    if (answer.kind === "hang") return;
    if (answer.kind === "breakOff") {
      if (answer.reset === true) response.destroy();
      else response.end();
      return;
    }
    say({}, { finish_reason: answer.finishReason ?? "stop" });
    const usage = answer.usage === undefined ? { prompt_tokens: 10, completion_tokens: Math.ceil(text.length / 4) } : answer.usage;
    response.write(
      `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "stand-in", choices: [], usage })}\n\n`,
    );
    response.end("data: [DONE]\n\n");
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    get talking() {
      return talking;
    },
    answer(...next) {
      answers = [...next];
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
