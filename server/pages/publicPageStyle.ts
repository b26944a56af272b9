/** The style of public pages, as text; served as a file of its own, named by its hash. */
export const publicPageStyle = `:root {
  color-scheme: light dark;
  --paper: #fdfdfb;
  --ink: #1c1e21;
  --quiet: #5d6470;
  --line: #dcdfe4;
  --shade: #f1f2f0;
  --link: #1f55b5;
  --serif: ui-serif, "Iowan Old Style", "Palatino Linotype", Palatino, Charter, Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a;
    --ink: #dfe2e6;
    --quiet: #9aa2ae;
    --line: #343941;
    --shade: #1f2227;
    --link: #8db4ff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  padding: clamp(1.5rem, 6vw, 5rem) clamp(1.125rem, 5vw, 2rem) 3rem;
  background: var(--paper);
  color: var(--ink);
  font: clamp(1.0625rem, 0.98rem + 0.4vw, 1.1875rem)/1.65 var(--serif);
  overflow-wrap: break-word;
  text-rendering: optimizeLegibility;
}
main, footer { max-width: 42rem; margin: 0 auto; }
h1, h2, h3, h4, h5, h6 {
  margin: 2.2em 0 0.6em;
  font-family: var(--sans);
  font-weight: 650;
  line-height: 1.25;
  letter-spacing: -0.012em;
  text-wrap: balance;
}
h1 { margin-top: 0; font-size: clamp(1.9rem, 1.4rem + 2.4vw, 2.7rem); line-height: 1.12; letter-spacing: -0.022em; }
main > :not(h1:first-child) ~ h1 { margin-top: 2.2em; font-size: 1.7em; }
h2 { font-size: 1.4em; }
h3 { font-size: 1.16em; }
h4, h5, h6 { font-size: 1em; }
h5, h6 { color: var(--quiet); }
h1 + h2, h2 + h3, h3 + h4 { margin-top: 1em; }
p, ul, ol, dl, pre, table, blockquote, figure, details { margin: 0 0 1.15em; }
a { color: var(--link); text-decoration-thickness: 0.06em; text-underline-offset: 0.16em; }
a:hover { text-decoration-thickness: 0.12em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
ul, ol { padding-left: 1.5em; }
li { margin: 0.3em 0; }
li::marker { color: var(--quiet); }
li > ul, li > ol { margin: 0.3em 0; }
.task-list-item { list-style: none; }
.task-list-item > input, .task-list-item > p > input { width: 1em; margin: 0 0.5em 0 -1.5em; vertical-align: -0.05em; }
dt { font-weight: 650; }
dd { margin: 0 0 0.6em 1.5em; }
blockquote { margin-left: 0; padding: 0.1em 0 0.1em 1.2em; border-left: 0.2rem solid var(--line); color: var(--quiet); }
blockquote > :last-child, details > :last-child { margin-bottom: 0; }
hr { width: 6rem; margin: 2.6em auto; border: 0; border-top: 1px solid var(--line); }
img { max-width: 100%; height: auto; border-radius: 0.3rem; }
figure { margin-left: 0; margin-right: 0; }
figcaption { margin-top: 0.5em; font: 0.85em/1.5 var(--sans); color: var(--quiet); }
code, kbd, samp { font-family: var(--mono); font-size: 0.87em; font-variant-ligatures: none; }
code { padding: 0.12em 0.32em; border-radius: 0.25em; background: var(--shade); }
kbd { padding: 0.1em 0.4em; border: 1px solid var(--line); border-radius: 0.3em; }
pre { padding: 1em 1.15em; border-radius: 0.45rem; background: var(--shade); line-height: 1.5; overflow-x: auto; tab-size: 4; }
pre code { padding: 0; background: none; }
pre.plain { padding: 0; background: none; font-family: inherit; white-space: pre-wrap; }
table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse; font: 0.9em/1.45 var(--sans); font-variant-numeric: tabular-nums; }
th, td { padding: 0.45em 0.9em 0.45em 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; }
th { font-weight: 650; }
[align="right"] { text-align: end; }
[align="center"] { text-align: center; }
mark { background: #ffe98a; color: #1c1e21; }
summary { cursor: pointer; font-weight: 650; }
sup, sub { line-height: 0; }
.footnotes { margin-top: 3em; padding-top: 1.2em; border-top: 1px solid var(--line); font-size: 0.88em; color: var(--quiet); }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.empty { color: var(--quiet); font-style: italic; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); font: 0.8rem/1.5 var(--sans); color: var(--quiet); }
footer a { color: inherit; }
@media print {
  body { padding: 0; background: none; color: #000; font-size: 11pt; }
  a { color: inherit; }
  pre, blockquote, table, img { break-inside: avoid; }
}
`;
