import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { readForm } from "./formBody.ts";

const rules = { jsonFields: ["target"], maxFileBytes: 1000, limits: defaultLimits };
const contentType = "multipart/form-data; boundary=x-1";
const read = (body: string | Uint8Array, type = contentType) => readForm(Buffer.from(body as string), type, rules);
const part = (head: string, content: string) => `--x-1\r\n${head}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content);
const file = part('Content-Disposition: form-data; name="file"; filename="a.md"\r\nContent-Type: text/markdown; charset=utf-8', "# A\n");
const end = "--x-1--\r\n";

const refusalOf = (body: string, type?: string) => {
  try {
    read(body, type);
  } catch (reason) {
    if (reason instanceof AppError) return [reason.code, reason.facts.errors?.[0]?.pointer, reason.message] as const;
    throw reason;
  }
  return ["no refusal"] as const;
};

test("[CV60] a form is read as a standard client writes it, whatever bytes the file has", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 900 }),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
      async (bytes, text) => {
        const form = new FormData();
        form.set("to", text);
        form.set("file", new Blob([Uint8Array.from(bytes)], { type: "application/pdf" }), 'a "b".pdf');
        const request = new Request("http://localhost", { method: "POST", body: form });
        const sent = new Uint8Array(await request.arrayBuffer());
        const { file: found, fields } = readForm(sent, request.headers.get("content-type") ?? "", rules);
        expect([found.name, found.mediaType]).toEqual(['a "b".pdf', "application/pdf"]);
        expect(Buffer.from(found.bytes).equals(Buffer.from(bytes))).toBe(true);
        // The standard says that line ends of a field are written as CRLF.
        expect(fields).toEqual({ to: text.replace(/\r\n|\r|\n/g, "\r\n") });
      },
    ),
    { numRuns: 200 },
  );
});

test("[CV60] fields may precede or follow the file, and a field that is an object is JSON", () => {
  const both = `preamble\r\n${field("to", "html")}${file}${field("target", '{"workspaceId":"ws_1"}')}${end}epilogue`;
  expect(read(both)).toMatchObject({
    file: { name: "a.md", mediaType: "text/markdown" },
    fields: { to: "html", target: { workspaceId: "ws_1" } },
  });
  expect(read(`${file}${end}`, 'Multipart/Form-Data; charset=utf-8; boundary="x-1"').fields).toEqual({});
  expect(read(part('content-disposition: form-data; filename="C:\\\\dir\\\\é.md"; name="file"', "") + end).file).toMatchObject({
    name: "é.md",
  });
});

test("[CV60] a malformed form is refused with what is wrong, and never read in part", () => {
  const cases: readonly (readonly [string, string, string | undefined, RegExp, string?])[] = [
    [file + end, "bad_request", undefined, /names no boundary/, "multipart/form-data"],
    ["", "bad_request", undefined, /before its closing boundary/],
    [file, "bad_request", undefined, /before its closing boundary/],
    [`${file}--x-1`, "bad_request", undefined, /line end/],
    [`--x-1junk\r\n${end}`, "bad_request", undefined, /line end/],
    [`--x-1\r\nContent-Disposition: form-data${end}`, "bad_request", undefined, /no end/],
    [part("Content-Type: text/plain", "a") + end, "bad_request", undefined, /no content-disposition/],
    [
      part('Content-Disposition: form-data; name="file"\r\nContent-Transfer-Encoding: base64', "YQ==") + end,
      "bad_request",
      undefined,
      /encoding/,
    ],
    [field("a", "b").repeat(21) + end, "validation_failed", "/a", /once/],
    [Array.from({ length: 21 }, (_, at) => field(`f${at}`, "")).join("") + end, "bad_request", undefined, /more than 20 parts/],
    [file + file + end, "validation_failed", "/file", /once/],
    [field("to", "html") + end, "validation_failed", "/file", /required/],
    [part('Content-Disposition: form-data; name="other"; filename="b.md"', "b") + end, "unknown_field", "/other", /not a known file/],
    [part('Content-Disposition: form-data; name="file"', "a".repeat(1001)) + end, "payload_too_large", undefined, /1000 bytes/],
    [file + field("target", "{") + end, "malformed_json", undefined, /part target/],
    [file + field("to", "a".repeat(256 * 1024 + 1)) + end, "validation_failed", "/to", /at most/],
  ];
  for (const [body, code, pointer, message, type] of cases) {
    const [found, at, text] = refusalOf(body, type);
    expect([found, at]).toEqual([code, pointer]);
    expect(text).toMatch(message);
  }
});
