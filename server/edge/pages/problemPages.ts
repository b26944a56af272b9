/**
 * ProblemPages serves the list of all error codes and one page per code. The `type` of a problem links to that page.
 *
 * Status and codes come from the error table (api/schema/error.ts), the sentences from api/schema/errorTexts.ts.
 */
import { type ErrorRow, errorTable, toTitle } from "../../../api/schema/error.ts";
import { type ErrorText, errorTexts, resultCodes } from "../../../api/schema/errorTexts.ts";
import type { Route } from "../host/router.ts";
import { toStatusLine } from "../host/statusLine.ts";
import { escapeHtml } from "./escapeHtml.ts";
import { mark, servicePageHeaders, toServicePage } from "./servicePage.ts";

const headers = { ...servicePageHeaders, "cache-control": "public, max-age=3600" };

interface ProblemPage extends ErrorText {
  readonly code: string;
  readonly title: string;
  /** Absent for codes that occur only inside results and are never the error of a whole request. */
  readonly row?: ErrorRow;
}

const problemPages: readonly ProblemPage[] = [
  ...[...errorTable.values()].map((row) => ({ code: row.code, title: row.title, row, ...errorTexts[row.code] })),
  ...resultCodes.map((code) => ({ code, title: toTitle(code), ...errorTexts[code] })),
];
const htmlOfCode = new Map(problemPages.map((page) => [page.code, toProblemHtml(page)]));
const listHtml = toListHtml();
const missingHtml = toServicePage({
  title: "No such problem",
  toRoot: "../",
  body: `${mark}
<h1>No such problem</h1>
<p class="lead">This server has no error code of that name.</p>
<footer><a href="../problems">All problems</a></footer>`,
});

export const problemRoutes: readonly Route[] = [
  { method: "GET", path: "/problems", publicCors: true, handle: () => ({ status: 200, headers, body: listHtml }) },
  {
    method: "GET",
    path: "/problems/{code}",
    publicCors: true,
    handle(_request, { code = "" }) {
      const html = htmlOfCode.get(code);
      return html === undefined ? { status: 404, headers, body: missingHtml } : { status: 200, headers, body: html };
    },
  },
];

/** Converts a sentence to HTML: text between backticks becomes a `code` element. */
function toHtml(sentence: string): string {
  return escapeHtml(sentence).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function toStatusText(row: ErrorRow | undefined): string {
  return row === undefined ? "only inside results" : toStatusLine(row.status);
}

function toProblemHtml({ code, title, row, happened, remedy }: ProblemPage): string {
  const facts: [string, string | number | undefined][] = [
    ["code", code],
    ["HTTP status", toStatusText(row)],
    ["tRPC error", row?.trpc],
    ["socket close", row?.close],
  ];
  const list = facts.map(([name, value]) => (value === undefined ? "" : `<dt>${name}</dt><dd><code>${value}</code></dd>\n`)).join("");
  return toServicePage({
    title,
    toRoot: "../",
    isWide: true,
    body: `${mark}
<h1>${title}</h1>
<h2>What happened</h2>
<p>${toHtml(happened)}</p>
<h2>What to do</h2>
<p>${toHtml(remedy)}</p>
<h2>Where it shows</h2>
<dl>
${list}</dl>
<footer><a href="../problems">All problems</a> · <a href="../">Start</a></footer>`,
  });
}

function toListHtml(): string {
  const groups = new Map<string, string>();
  for (const { code, row, happened } of problemPages) {
    const status = toStatusText(row);
    const entry = `<dt><a href="problems/${code}"><code>${code}</code></a></dt><dd>${toHtml(happened)}</dd>\n`;
    groups.set(status, (groups.get(status) ?? "") + entry);
  }
  const sections = [...groups].map(([status, entries]) => `<h2>${status}</h2>\n<dl class="codes">\n${entries}</dl>`);
  return toServicePage({
    title: "Problems",
    toRoot: "",
    isWide: true,
    body: `${mark}
<h1>Problems</h1>
<p class="lead">Every refusal is <code>application/problem+json</code> with one of these codes. Its <code>detail</code> names the value or
limit, and its <code>requestId</code> finds the request in the server's log.</p>
${sections.join("\n")}
<footer><a href="./">Start</a> · <a href="openapi.json">openapi.json</a></footer>`,
  });
}
