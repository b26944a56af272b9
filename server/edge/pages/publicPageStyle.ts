/** PublicPageStyle holds the CSS of public pages. It is served as one file whose name contains its hash. */
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
main { hyphens: auto; hyphenate-limit-chars: 9 4 4; }
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
ul, ol { padding: 0; }
/* The space for the marker is on the side where the text of the item begins. */
li { margin-block: 0.3em; margin-inline-start: 1.5em; }
li::marker { color: var(--quiet); }
li > ul, li > ol { margin: 0.3em 0; }
.task-list-item { list-style: none; }
.task-list-item > input, .task-list-item > p > input { width: 1em; margin-block: 0; margin-inline: -1.5em 0.5em; vertical-align: -0.05em; }
dt { font-weight: 650; }
dd { margin-block: 0 0.6em; margin-inline: 1.5em 0; }
blockquote { margin-inline: 0; padding-block: 0.1em; padding-inline: 1.2em 0; border-inline-start: 0.2rem solid var(--line); color: var(--quiet); }
blockquote > :last-child, details > :last-child { margin-bottom: 0; }
hr { width: 6rem; margin: 2.6em auto; border: 0; border-top: 1px solid var(--line); }
img { max-width: 100%; height: auto; border-radius: 0.3rem; }
figure { margin-inline: 0; }
figcaption { margin-top: 0.5em; font: 0.85em/1.5 var(--sans); color: var(--quiet); }
pre, code, kbd, samp { hyphens: none; }
code, kbd, samp { font-family: var(--mono); font-size: 0.87em; font-variant-ligatures: none; }
code { padding: 0.12em 0.32em; border-radius: 0.25em; background: var(--shade); }
kbd { padding: 0.1em 0.4em; border: 1px solid var(--line); border-radius: 0.3em; }
pre { padding: 1em 1.15em; border-radius: 0.45rem; background: var(--shade); line-height: 1.5; overflow-x: auto; tab-size: 4; }
pre code { padding: 0; background: none; }
pre.plain { padding: 0; background: none; font-family: inherit; white-space: pre-wrap; unicode-bidi: plaintext; text-align: start; }
.table { margin: 0 0 1.15em; overflow-x: auto; }
table { margin: 0; hyphens: manual; border-collapse: collapse; font: 0.9em/1.45 var(--sans); font-variant-numeric: tabular-nums; }
th, td { padding-block: 0.45em; padding-inline: 0.6em; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
/* A cell is aligned by the direction of the table, not of its own text. An alignment by the author (the attribute align) stays. */
:is(th, td):not([align]) { text-align: -webkit-match-parent; text-align: match-parent; }
th { font-weight: 650; }
.prose { min-width: 9em; white-space: normal; }
mark { background: #ffe98a; color: #1c1e21; }
summary { cursor: pointer; font-weight: 650; }
sup, sub { line-height: 0; }
.anchor { margin-inline-start: 0.35em; color: var(--quiet); font-weight: 400; text-decoration: none; opacity: 0; transition: opacity 0.12s; }
.anchor::before { content: "#"; }
:is(h1, h2, h3, h4, h5, h6):hover > .anchor, .anchor:focus-visible { opacity: 1; }
@media (hover: none) { .anchor { opacity: 0.55; } }
:target { scroll-margin-block-start: 1.5rem; }
.footnotes { margin-top: 3em; padding-top: 1.2em; border-top: 1px solid var(--line); font-size: 0.88em; color: var(--quiet); }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.empty { color: var(--quiet); font-style: italic; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); font: 0.8rem/1.5 var(--sans); color: var(--quiet); }
footer a { color: inherit; }
@media print {
  body { padding: 0; background: none; color: #000; font-size: 11pt; }
  a { color: inherit; }
  pre, blockquote, table, img { break-inside: avoid; }
  .anchor { display: none; }
  .table { overflow: visible; }
}
`;
