/** The style of the setup page, as text; served as a file of its own. */
export const setupStyle = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f7, #14161a);
  --sheet: light-dark(#ffffff, #1d2026);
  --ink: light-dark(#1a1d23, #e8eaee);
  --quiet: light-dark(#565d6b, #a3abb9);
  --line: light-dark(#c9ced8, #3c424e);
  --accent: light-dark(#2f5bd8, #8fadff);
  --onAccent: light-dark(#ffffff, #10131a);
  --wrong: light-dark(#b3261e, #ff9d94);
  --wrongGround: light-dark(#fdecea, #3a1d1b);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0;
  min-height: 100vh;
  display: grid;
  place-items: center;
  padding: 1.5rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
main {
  width: 100%;
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
#lead { margin: .4rem 0 1.5rem; color: var(--quiet); }
.field { margin-bottom: 1.25rem; }
label { display: block; margin-bottom: .35rem; font-weight: 600; }
.optional { font-weight: 400; color: var(--quiet); }
input {
  width: 100%;
  padding: .6rem .7rem;
  font: inherit;
  color: inherit;
  background: transparent;
  border: 1px solid var(--line);
  border-radius: .4rem;
}
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
input[aria-invalid] { border-color: var(--wrong); }
.withButton { display: flex; gap: .5rem; }
.hint { margin: .35rem 0 0; font-size: .875rem; color: var(--quiet); }
.error { margin: .35rem 0 0; font-size: .875rem; color: var(--wrong); }
.error:empty { display: none; }
.notice {
  margin: 0 0 1.25rem;
  padding: .7rem .8rem;
  border-radius: .4rem;
  background: var(--wrongGround);
  color: var(--wrong);
}
.notice:focus { outline: none; }
button { padding: .6rem .9rem; font: inherit; border-radius: .4rem; cursor: pointer; }
#show { flex: none; width: 4.5rem; color: inherit; background: transparent; border: 1px solid var(--line); }
#submit { width: 100%; font-weight: 600; color: var(--onAccent); background: var(--accent); border: 1px solid transparent; }
#submit:disabled { opacity: .6; cursor: progress; }
#done:focus { outline: none; }
ol { margin: 1rem 0 0; padding-left: 1.25rem; }
li p { margin: 0 0 .5rem; }
pre {
  margin: 0 0 1rem;
  padding: .75rem;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  font-size: .8125rem;
  background: var(--ground);
  border-radius: .4rem;
}
a { color: var(--accent); }
`;
