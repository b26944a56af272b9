/**
 * PublicPageStyle holds the CSS of public pages. It is served as one file whose name contains its hash.
 *
 * No font is downloaded: the text appears at once and never moves. All sides are logical, because a page may be written from
 * right to left (PL20).
 */
import { publicPageTokenStyle } from "./publicPageTokenStyle.ts";

const scheme = `:root {
  color-scheme: light dark;
  --paper: #fdfcfa;
  --ink: #1d1e20;
  --quiet: #5a606a;
  --line: #dfddd7;
  --shade: #f4f2ee;
  --link: #1c4fa8;
  --glow: #fff3c4;
  --live: #1b7f4b;
  --measure: 34em;
  --serif: ui-serif, "Iowan Old Style", "Palatino Linotype", Palatino, P052, "Source Serif 4", Charter, Georgia, "Noto Naskh Arabic", "Noto Serif Hebrew", serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  --cjk: "PingFang SC", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans CJK SC", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181b;
    --ink: #dcdfe3;
    --quiet: #9ba3ae;
    --line: #363b42;
    --shade: #1f2226;
    --link: #94b8ff;
    --glow: #3d3717;
    --live: #6ccf9a;
  }
}
`;

const frame = `* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-block-start: 1.5rem; }
body {
  margin: 0;
  padding-block: clamp(1.75rem, 7vw, 5.5rem) 3rem;
  padding-inline: clamp(1.25rem, 5vw, 2rem);
  background: var(--paper);
  color: var(--ink);
  font: clamp(1.0625rem, 1rem + 0.32vw, 1.25rem)/1.62 var(--serif);
  font-kerning: normal;
  font-variant-ligatures: common-ligatures;
  overflow-wrap: break-word;
  text-rendering: optimizeLegibility;
}
main, footer { max-width: var(--measure); margin-inline: auto; }
main { hyphens: auto; hyphenate-limit-chars: 9 4 4; hanging-punctuation: first allow-end; text-wrap: pretty; }
main > header { margin-block-end: clamp(1.75rem, 4vw, 2.75rem); }
.date { margin: 0; font: 0.82em/1.5 var(--sans); color: var(--quiet); }
.skip { position: absolute; inset-block-start: -4rem; padding: 0.5rem 0.8rem; background: var(--paper); font: 0.9rem/1.4 var(--sans); }
.skip:focus { inset-block-start: 0.5rem; }
.text > :first-child { margin-block-start: 0; }
.text > :last-child { margin-block-end: 0; }
footer { margin-block-start: 4.5rem; padding-block-start: 1.1rem; border-block-start: 1px solid var(--line); font: 0.82rem/1.6 var(--sans); color: var(--quiet); }
footer p { margin: 0; }
footer a { color: inherit; }
.live::before { content: ""; display: inline-block; width: 0.55em; height: 0.55em; margin-inline-end: 0.45em; border-radius: 50%; background: var(--live); }
.notice {
  position: fixed;
  inset-block-end: 1.25rem;
  inset-inline: 0;
  width: fit-content;
  max-width: calc(100vw - 2.5rem);
  margin: 0 auto;
  padding: 0.4rem 0.9rem;
  border-radius: 2rem;
  background: var(--ink);
  color: var(--paper);
  font: 0.85rem/1.5 var(--sans);
}
.notice:empty { padding: 0; }
.absent { padding-block: 12vh; }
.absent h1 { margin-block-end: 0; }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.empty { color: var(--quiet); font-style: italic; }
a { color: var(--link); text-decoration-thickness: from-font; text-underline-offset: 0.17em; text-decoration-color: color-mix(in srgb, currentColor 45%, transparent); }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; border-radius: 2px; }
:target { background: var(--glow); box-shadow: 0 0 0 0.25em var(--glow); border-radius: 1px; }
#text:target { background: none; box-shadow: none; }
`;

const contents = `.contents { margin-block-end: 2.5rem; font: 0.86em/1.45 var(--sans); hyphens: manual; }
.contents details { margin: 0; padding-block: 0.75em; border-block: 1px solid var(--line); }
.contents summary { font-weight: 600; }
.contents ol { list-style: none; margin: 0; padding: 0; }
.contents details > ol { margin-block-start: 0.6em; }
.contents li { margin: 0; }
.contents ol ol { padding-inline-start: 1em; }
.contents a { display: block; padding-block: 0.3em; color: var(--quiet); text-decoration: none; text-wrap: balance; }
.contents a:hover { color: var(--ink); text-decoration: underline; }
@media (min-width: 75rem) {
  main:has(> .contents) {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, var(--measure)) minmax(0, 1fr);
    column-gap: 3.5rem;
    max-width: none;
  }
  main > :is(header, .text) { grid-column: 2; }
  .contents {
    grid-area: 2 / 1;
    position: sticky;
    inset-block-start: 2.5rem;
    align-self: start;
    justify-self: end;
    width: 100%;
    max-width: 14rem;
    max-height: calc(100vh - 5rem);
    margin: 0.25em 0 0;
    overflow-y: auto;
    font-size: 0.78em;
  }
  /* All of the list is beside the text, so there is nothing to open. */
  @supports selector(::details-content) {
    .contents details { padding: 0; border: 0; }
    .contents details::details-content { content-visibility: visible; display: block; }
    .contents details::before { content: attr(data-heading); font-weight: 600; color: var(--quiet); }
    .contents summary { display: none; }
  }
}
`;

const blocks = `h1, h2, h3, h4, h5, h6 {
  margin-block: 2em 0.55em;
  font-family: var(--sans);
  font-weight: 680;
  line-height: 1.25;
  letter-spacing: -0.011em;
  text-wrap: balance;
  hyphens: manual;
}
main > header h1 { margin-block: 0 0.4em; font-size: clamp(2rem, 1.45rem + 2.6vw, 3.1rem); line-height: 1.1; letter-spacing: -0.024em; }
h2 { font-size: 1.38em; }
h3 { font-size: 1.14em; }
h4, h5, h6 { font-size: 1em; }
h5, h6 { color: var(--quiet); }
h2 + h3, h3 + h4 { margin-block-start: 0.9em; }
:is(h1, h2, h3, h4, h5, h6):dir(rtl), :is(:lang(zh), :lang(ja), :lang(ko)) :is(h1, h2, h3) { letter-spacing: 0; line-height: 1.4; }
p, ul, ol, dl, pre, table, blockquote, figure, details, .formula { margin-block: 0 1.15em; margin-inline: 0; }
main :is(strong, b, th, dt) { font-weight: 660; }
ul, ol { padding: 0; }
/* The space for the marker is on the side where the text of the item begins. */
li { margin-block: 0.35em; margin-inline-start: 1.5em; }
li::marker { color: var(--quiet); font-variant-numeric: tabular-nums; }
li > p { margin-block-end: 0.6em; }
li > ul, li > ol { margin-block: 0.35em; }
.task-list-item { list-style: none; }
.task-list-item > input, .task-list-item > p > input { width: 1em; height: 1em; margin-block: 0; margin-inline: -1.5em 0.5em; vertical-align: -0.08em; accent-color: var(--link); }
dd { margin-block: 0 0.6em; margin-inline: 1.5em 0; }
blockquote { padding-block: 0.1em; padding-inline: 1.25em 0; border-inline-start: 0.19rem solid var(--line); color: var(--quiet); }
:is(blockquote, details, figure, li, dd, td) > :last-child { margin-block-end: 0; }
hr { margin-block: 2.6em; border: 0; color: var(--quiet); text-align: center; }
hr::before { content: "·\\2003·\\2003·"; font-weight: 700; }
img { max-width: 100%; height: auto; border-radius: 0.3rem; vertical-align: middle; }
.picture { display: block; margin-inline: auto; }
/* The size is unknown until the picture is loaded, so it gets a box in which pictures of any form fit. */
.unsized { aspect-ratio: 3 / 2; object-fit: scale-down; }
.unsized:not([width]) { width: 9em; }
.picture.unsized:not([width]) { width: 100%; }
figcaption, caption { margin-block-start: 0.6em; font: 0.85em/1.5 var(--sans); color: var(--quiet); }
caption { caption-side: bottom; text-align: start; }
pre, code, kbd, samp { hyphens: none; }
code, kbd, samp { font-family: var(--mono); font-size: 0.86em; font-variant-ligatures: none; }
code { padding: 0.12em 0.32em; border-radius: 0.25em; background: var(--shade); }
kbd { padding: 0.1em 0.4em; border: 1px solid var(--line); border-radius: 0.3em; background: var(--shade); }
pre { padding-block: 1em; padding-inline: 1.15em; border: 1px solid var(--line); border-radius: 0.45rem; background: var(--shade); font-size: 0.84em; line-height: 1.5; overflow-x: auto; tab-size: 4; }
pre code { padding: 0; background: none; font-size: inherit; }
pre.plain { padding: 0; border: 0; background: none; font: inherit; white-space: pre-wrap; unicode-bidi: plaintext; text-align: start; }
.table { margin-block: 0 1.3em; overflow-x: auto; }
table { margin: 0; hyphens: manual; border-collapse: collapse; font: 0.86em/1.45 var(--sans); font-variant-numeric: lining-nums tabular-nums; }
th, td { padding-block: 0.5em; padding-inline: 0.75em; border-block-end: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
:is(th, td):first-child { padding-inline-start: 0; }
thead th { border-block-end: 1.5px solid var(--quiet); vertical-align: bottom; }
/* A cell is aligned by the direction of the table, not of its own text. An alignment by the author (the attribute align) stays. */
:is(th, td):not([align]) { text-align: -webkit-match-parent; text-align: match-parent; }
.prose { min-width: 9em; white-space: normal; }
.formula { overflow-x: auto; overflow-y: hidden; padding-block: 0.3em; text-align: center; }
math { font-family: "TeX Gyre Pagella Math", "STIX Two Math", "Cambria Math", "Latin Modern Math", math; }
math[display="block"] { display: block math; }
.tml-left { text-align: start; }
.tml-right { text-align: end; }
mark { padding-inline: 0.1em; background: #ffe98a; color: #1d1e20; }
abbr[title] { text-decoration: underline dotted; text-underline-offset: 0.17em; cursor: help; }
summary { cursor: pointer; font-weight: 600; }
details { padding-block: 0.2em; }
details > summary + * { margin-block-start: 0.6em; }
sup, sub { font-size: 0.72em; line-height: 0; }
ruby rt { font-size: 0.55em; }
.anchor { margin-inline-start: 0.35em; color: var(--quiet); font-weight: 400; text-decoration: none; opacity: 0; transition: opacity 0.12s; }
.anchor::before { content: "#"; }
:is(h1, h2, h3, h4, h5, h6):hover > .anchor, .anchor:focus-visible { opacity: 1; }
@media (hover: none) { .anchor { opacity: 0.5; } }
sup a { padding-inline: 0.2em; text-decoration: none; font-variant-numeric: lining-nums; }
.footnotes { margin-block-start: 3.2em; padding-block-start: 1.3em; border-block-start: 1px solid var(--line); font-size: 0.87em; color: var(--quiet); }
.data-footnote-backref { padding-inline: 0.3em; text-decoration: none; font-family: var(--sans); }
:is(:lang(zh), :lang(ja), :lang(ko)) { line-break: strict; }
main:is(:lang(zh), :lang(ja), :lang(ko)) { font-family: var(--cjk); line-height: 1.8; text-align: justify; text-autospace: normal; hyphens: manual; }
/* These scripts have no italics: emphasis has marks or weight instead. */
main:is(:lang(zh), :lang(ja), :lang(ko)) em { font-style: normal; text-emphasis: filled dot; }
main:lang(zh) em { text-emphasis-position: under right; }
main :is(em, i, cite, .empty):dir(rtl) { font-style: normal; font-weight: 600; }
main :is(p, li, blockquote):dir(rtl) { line-height: 1.85; }
`;

const media = `@media (prefers-reduced-motion: reduce) { * { transition: none; } }
@media (forced-colors: active) {
  .live::before { forced-color-adjust: none; }
  .notice, mark, :target { border: 1px solid; }
  code { border: 1px solid; }
}
@media print {
  @page { margin: 2cm; }
  :root { color-scheme: light; --paper: #fff; --ink: #000; --quiet: #444; --line: #bbb; --shade: #f6f6f6; --link: #000; --glow: #fff; }
  body { padding: 0; font-size: 10.5pt; line-height: 1.5; }
  main, footer { max-width: none; }
  main:has(> .contents) { display: block; }
  .contents, .skip, .anchor, .notice, .data-footnote-backref { display: none; }
  main > header h1 { font-size: 24pt; }
  h1, h2, h3, h4, h5, h6 { break-after: avoid; break-inside: avoid; }
  pre, blockquote, table, figure, img, .formula { break-inside: avoid; }
  p, li { orphans: 3; widows: 3; }
  pre { white-space: pre-wrap; }
  .unsized, .picture.unsized:not([width]) { aspect-ratio: auto; width: auto; }
  .table, .formula { overflow: visible; }
  th, td { white-space: normal; }
  details::details-content { content-visibility: visible; display: block; }
  .text a[href^="http"]::after { content: " (" attr(href) ")"; font-size: 0.8em; color: var(--quiet); }
}
`;

export const publicPageStyle = scheme + frame + contents + blocks + publicPageTokenStyle + media;
