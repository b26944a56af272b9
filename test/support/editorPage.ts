/** Opens two editors of one document in a page, without a server: the left one belongs to Ada, the right one to an agent. */
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

const light = `--bg:#fff;--bg-raised:#fff;--bg-hover:#efefed;--line:#e4e4e1;--text:#1d1f22;--text-muted:#5b6068;--text-faint:#6e737b;
--accent:#3556c8;--accent-soft:#e9edfb;--danger:#b3261e;--warn:#8a5a00;--ok:#1d6b3d;--code-bg:#f4f4f2;--mark-comment:#fdeeb5;
--mark-suggestion:#d9f0df;--author-1:#3556c8;--author-2:#a83279;--author-5:#6a3fb5`;
const dark = `--bg:#17181b;--bg-raised:#212327;--bg-hover:#282b30;--line:#2e3136;--text:#e7e8ea;--text-muted:#a9aeb7;--text-faint:#979ca6;
--accent:#93abff;--accent-soft:#262e4a;--danger:#ff9d94;--warn:#e6b65c;--ok:#7ecb98;--code-bg:#202226;--mark-comment:#4d4218;
--mark-suggestion:#1f4630;--author-1:#4a68d8;--author-2:#b5468a;--author-5:#7a52c4`;
const fonts = `--font-ui:system-ui,sans-serif;--font-prose:Georgia,"DejaVu Serif",serif;--font-mono:"DejaVu Sans Mono",monospace;--measure:70ch`;

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
    <style>:root{color-scheme:${theme};${theme === "dark" ? dark : light};${fonts}}
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
