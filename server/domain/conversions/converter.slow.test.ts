import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import { makeLongDocument } from "../../../test/support/documents.ts";
import { createConverter } from "./converter.ts";

const log = pino({ level: "silent" });
const limits = defaultLimits;
const converter = createConverter({ limits, log });
/** A process that has ended may stay in the table of processes until it is collected. */
function isRunning(processId: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${processId}/status`, "utf8"));
  } catch {
    return false;
  }
}

const utf8 = (text: string) => Buffer.from(text, "utf8");
const longDocument = utf8(makeLongDocument(1_000_000));

/** A server that must not be called. */
const requests: string[] = [];
const server = createServer(({ url = "" }, response) => {
  requests.push(url);
  response.end();
});
let address: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await converter.close();
});

test("[CV28] the process is reused for the next document, and its outputs are those of the engine", async () => {
  const first = await converter.convert({ from: "markdown", to: "html", bytes: utf8("# One\n"), title: "Two" });
  expect(first).toMatchObject({ ok: true, contentType: "text/html; charset=utf-8", fidelity: { score: 1, losses: [] } });
  expect(first.ok && Buffer.from(first.bytes).toString("utf8")).toContain("<title>Two</title>");
  const processId = converter.processId();
  expect(processId).toBeGreaterThan(0);
  await converter.convert({ from: "markdown", to: "txt", bytes: utf8("# One\n") });
  expect(converter.processId()).toBe(processId);
});

test("[CV21] addresses of networks and files in a document are never opened", async () => {
  const file = pathToFileURL(import.meta.filename).href;
  const markdown = `![a](${address}/md.png) ![b](${file}) ![c](/etc/hostname) [d](${address}/link)\n\n<img src="${address}/raw.png">\n`;
  const html = `<img src="${address}/img.png"><link rel="stylesheet" href="${address}/a.css"><iframe src="${address}/frame"></iframe><img src="${file}">`;
  for (const to of ["html", "docx", "pdf"] as const) {
    for (const [from, text] of [
      ["markdown", markdown],
      ["html", html],
    ] as const) {
      const outcome = await converter.convert({ from, to, bytes: utf8(text) });
      expect(outcome, `${from} → ${to}`).toMatchObject({ ok: true });
      expect(outcome.ok && Buffer.from(outcome.bytes).includes("never opened"), `${from} → ${to}`).toBe(false);
    }
  }
  expect(requests).toEqual([]);
});

test("[CV25] files that are not what they are said to be are refused with the reason", async () => {
  const refused = async (from: "markdown" | "pdf" | "json", bytes: Uint8Array) => {
    const outcome = await converter.convert({ from, to: "txt", bytes });
    return outcome.ok ? "converted" : outcome.detail;
  };
  expect(await refused("markdown", new Uint8Array([0xff, 0xfe, 0x00]))).toBe(
    "The document is not UTF-8 text; save it as UTF-8, or name the format that it has.",
  );
  expect(await refused("pdf", utf8("no PDF"))).toMatch(/^The document is not a PDF: /);
  expect(await refused("json", utf8("[]"))).toMatch(/^The syntax tree is wrong at "": /);
});

test("[CV11] a Markdown document of 1 MB becomes a syntax tree within the limit of memory", async () => {
  // The time that it takes is in docs/conversionFormats.md; here it only ends what hangs.
  const patient = createConverter({ limits: { ...limits, "conversion.ms": 120_000 }, log });
  try {
    const outcome = await patient.convert({ from: "markdown", to: "json", bytes: longDocument });
    expect(outcome.ok ? outcome.fidelity : outcome.detail).toEqual({ score: 1, losses: [] });
  } finally {
    await patient.close();
  }
}, 240_000);

test("[CV27] a conversion that exceeds its time or memory is stopped with the reason, and the next one runs", async () => {
  const strict = createConverter({ limits: { ...limits, "conversion.ms": 2500 }, log });
  const small = createConverter({ limits: { ...limits, "conversion.memory": 150 * 1024 * 1024 }, log });
  try {
    const [slow, large] = await Promise.all([
      strict.convert({ from: "markdown", to: "pdf", bytes: longDocument }),
      small.convert({ from: "markdown", to: "docx", bytes: longDocument }),
    ]);
    expect(slow).toMatchObject({
      ok: false,
      code: "conversion_failed",
      detail: expect.stringMatching(/^The conversion took more than 2500 ms/),
    });
    expect(large).toMatchObject({ ok: false, detail: expect.stringMatching(/^The conversion needed more than \d+ bytes of memory/) });
    expect(await strict.convert({ from: "markdown", to: "txt", bytes: utf8("next\n") })).toMatchObject({ ok: true });
  } finally {
    await Promise.all([strict.close(), small.close()]);
  }
});

test("[CV28] the process ends with the process that started it, even while it works", async () => {
  const program = `
    const { createConverter } = await import(${JSON.stringify(new URL("./converter.ts", import.meta.url).href)});
    const { defaultLimits } = await import(${JSON.stringify(new URL("../../../api/limits.ts", import.meta.url).href)});
    const converter = createConverter({ limits: defaultLimits, log: console });
    await converter.convert({ from: "txt", to: "txt", bytes: Buffer.from("a") });
    void converter.convert({ from: "markdown", to: "txt", bytes: Buffer.from("*a* ".repeat(400_000)) });
    console.log(converter.processId());
  `;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const parent = spawn(process.execPath, ["--import", loader, "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = (await once(parent.stdout, "data")) as [Buffer];
  const processId = Number(printed.toString("utf8"));
  expect(existsSync(`/proc/${processId}/status`)).toBe(true);
  parent.kill("SIGKILL");
  await vi.waitFor(() => expect(isRunning(processId)).toBe(false), 20_000);
});

test("[CV29][CV111] a document that waits begins when the process is free, or ends at once if it is cancelled", async () => {
  const [cancelRunning, cancelWaiting] = [new AbortController(), new AbortController()];
  const order: string[] = [];
  const begin = (name: string, isWanted = true) => ({
    bytes: longDocument,
    from: "markdown" as const,
    to: "txt" as const,
    begin: async () => {
      order.push(name);
      return isWanted;
    },
  });
  const running = converter.convert({ ...begin("first"), signal: cancelRunning.signal });
  const waiting = converter.convert({ ...begin("second"), signal: cancelWaiting.signal });
  const unwanted = converter.convert(begin("third", false));
  cancelWaiting.abort();
  expect(await waiting).toMatchObject({ ok: false, detail: "The conversion was cancelled." });
  expect(order).toEqual(["first"]);
  cancelRunning.abort();
  await running;
  expect(await unwanted).toMatchObject({ ok: false });
  expect(order).toEqual(["first", "third"]);
});

test("[CV29] a cancelled conversion ends at once, whether it runs or waits", async () => {
  const cancel = new AbortController();
  const bytes = longDocument;
  const running = converter.convert({ from: "markdown", to: "pdf", bytes, signal: cancel.signal });
  const waiting = converter.convert({ from: "markdown", to: "txt", bytes, signal: cancel.signal });
  cancel.abort();
  const cancelled = { ok: false, code: "conversion_failed", detail: "The conversion was cancelled." };
  expect(await Promise.all([running, waiting])).toEqual([cancelled, cancelled]);
  expect(await converter.convert({ from: "markdown", to: "txt", bytes: utf8("next\n") })).toMatchObject({ ok: true });
});
