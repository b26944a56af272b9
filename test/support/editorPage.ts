/** Opens two editors of one document in a page, without a server: the left one belongs to Ada, the right one to an agent. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { BrowserContext, Page } from "playwright-core";

/** The parts of an editor that tests use in the page. */
interface PageEditor {
  readonly view: {
    readonly state: {
      readonly doc: { toString(): string };
      readonly selection: { readonly main: { readonly from: number; readonly to: number } };
    };
    dispatch(spec: { readonly selection: { readonly anchor: number; readonly head?: number } }): void;
    focus(): void;
  };
  runCommand(name: string): boolean;
  isActive(name: string): boolean;
  setReadOnly(readOnly: boolean): void;
  goTo(position: number): void;
  setMarks(marks: readonly object[]): void;
  positionOf(id: string): { readonly from: number; readonly to: number } | undefined;
  marginTop(id: string): number | undefined;
  setBlame(spans: readonly object[] | undefined): void;
  destroy(): void;
}

interface PageAwareness {
  getLocalState(): Record<string, unknown> | null;
  setLocalStateField(name: string, value: unknown): void;
}

declare global {
  var editorPage: {
    readonly editors: readonly [PageEditor, PageEditor];
    readonly texts: readonly [{ toString(): string; insert(index: number, text: string): void }, { toString(): string }];
    readonly awareness: readonly [PageAwareness, PageAwareness];
    /** What the editors reported, the newest last. */
    readonly reports: { readonly statistics: unknown[]; readonly outline: unknown[]; readonly marks: string[] };
  };
}

const entry = `
  import * as Y from "yjs";
  import { applyAwarenessUpdate, Awareness, encodeAwarenessUpdate } from "y-protocols/awareness";
  import { createEditor } from "./web/src/editor/index.ts";
  const docs = [new Y.Doc(), new Y.Doc()];
  const awareness = docs.map((doc) => new Awareness(doc));
  const relay = (from, to) => {
    docs[from].on("update", (update, origin) => origin !== "relay" && Y.applyUpdate(docs[to], update, "relay"));
    awareness[from].on("update", ({ added, updated, removed }, origin) => {
      if (origin === "relay") return;
      applyAwarenessUpdate(awareness[to], encodeAwarenessUpdate(awareness[from], [...added, ...updated, ...removed]), "relay");
    });
  };
  relay(0, 1);
  relay(1, 0);
  const texts = docs.map((doc) => doc.getText("content.md"));
  texts[0].insert(0, startText);
  awareness[0].setLocalStateField("user", { name: "Ada Lovelace", username: "ada", kind: "user" });
  awareness[1].setLocalStateField("user", { name: "Outline writer", username: "writer", kind: "agent" });
  const reports = { statistics: [], outline: [], marks: [] };
  const editors = [0, 1].map((index) =>
    createEditor({
      parent: document.getElementById("editor" + index),
      text: texts[index],
      awareness: awareness[index],
      readOnly: false,
      placeholder: "Write here",
      ariaLabel: "Text of editor " + (index + 1),
      colourOf: (username) => (username === "ada" ? 1 : 5),
      onStatistics: (statistics) => index === 0 && reports.statistics.push(statistics),
      onOutline: (outline) => index === 0 && reports.outline.push(outline),
      onMark: (id) => reports.marks.push(id),
    }),
  );
  globalThis.editorPage = { editors, texts, awareness, reports };
`;

const theme = readFileSync(join(import.meta.dirname, "../../web/src/theme.css"), "utf8");

/** The declarations of all rules of the app's style sheet that have this selector. */
function tokensOf(selector: string): string {
  const rules = theme.split(`\n${selector} {`).slice(1);
  return rules.map((rule) => rule.slice(0, rule.indexOf("\n}"))).join("");
}

const light = tokensOf(":root");
const dark = tokensOf('[data-theme="dark"]');

export interface EditorBundle {
  readonly script: string;
  readonly style: string;
}

export async function bundleEditor(): Promise<EditorBundle> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    outdir: "unwritten",
    target: "es2023",
  });
  const read = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  return { script: read(".js"), style: read(".css") };
}

export const editorOrigin = "http://editor.invalid";

export async function openEditorPage(
  context: BrowserContext,
  { script, style }: EditorBundle,
  text: string,
  theme = "light",
): Promise<Page> {
  const html = `<!doctype html><html lang="en" data-theme="${theme}"><meta charset="utf-8"><title>Editors</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <style>:root{${light}${theme === "dark" ? dark : ""}}
    body{margin:0;background:var(--bg);font:14px/1.5 var(--font-ui)}main{display:grid}
    @media(min-width:1200px){main{grid-template-columns:1fr 1fr}}section{height:100vh;overflow-y:auto}</style><style>${style}</style>
    <main><section id="editor0" aria-label="One"></section><section id="editor1" aria-label="Two"></section></main>
    <script>const startText=${JSON.stringify(text).replaceAll("<", "\\u003c")}</script><script src="/editor.js"></script></html>`;
  await context.route(`${editorOrigin}/**`, (route) =>
    route.request().url().endsWith(".js")
      ? route.fulfill({ contentType: "text/javascript", body: script })
      : route.fulfill({ contentType: "text/html", body: html }),
  );
  const page = await context.newPage();
  await page.goto(`${editorOrigin}/`);
  await page.waitForFunction(() => globalThis.editorPage !== undefined);
  return page;
}
