/** ServiceStyle holds the CSS of the pages about problems. It is served as one file named by its hash. */
export const serviceStyle = `:root {
  color-scheme: light dark;
  --ground: #f4f5f7;
  --sheet: #ffffff;
  --ink: #1a1d23;
  --quiet: #565d6b;
  --line: #c9ced8;
  --accent: #2f5bd8;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14161a;
    --sheet: #1d2026;
    --ink: #e8eaee;
    --quiet: #a3abb9;
    --line: #3c424e;
    --accent: #8fadff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  min-height: 100vh;
  display: grid;
  place-items: center;
  padding: 1.5rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: break-word;
}
main {
  width: 100%;
  min-width: 0;
  max-width: 27rem;
  padding: 2rem;
  background: var(--sheet);
  border: 1px solid var(--line);
  border-radius: .75rem;
}
.mark { display: flex; gap: .3rem; margin: 0 0 1.25rem; }
.mark span { height: .5rem; border-radius: .25rem; background: var(--accent); }
.mark span:nth-child(1) { width: 1.75rem; }
.mark span:nth-child(2) { width: 1rem; opacity: .65; }
.mark span:nth-child(3) { width: .5rem; opacity: .35; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
a { color: var(--accent); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main.wide { max-width: 44rem; }
h2 + p { margin-top: 0; }
.lead { margin: .4rem 0 0; color: var(--quiet); }
h2 { margin: 2rem 0 .5rem; font-size: 1rem; line-height: 1.35; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); align-items: baseline; gap: .5rem 1.25rem; margin: 0; }
dt { color: var(--quiet); overflow-wrap: anywhere; }
dd { margin: 0; }
dl.codes { grid-template-columns: 1fr; gap: 0; }
dl.codes dt { margin-top: .35rem; }
dl.codes dd { margin-bottom: .75rem; color: var(--quiet); }
footer { margin-top: 2rem; font-size: .875rem; color: var(--quiet); }
@media (max-width: 34rem) {
  body { padding: .75rem; }
  main { padding: 1.25rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .75rem; }
}
`;
