/** PublicPageTokenStyle holds the CSS that colours code on public pages. Each colour has a contrast of at least 4.5 to its ground. */
export const publicPageTokenStyle = `:root {
  --code-comment: #646972;
  --code-keyword: #8b2a80;
  --code-string: #246338;
  --code-number: #8f4300;
  --code-title: #1c4fa8;
  --code-type: #0b616e;
  --code-removed: #a02626;
  --code-added: #246338;
}
@media (prefers-color-scheme: dark) {
  :root {
    --code-comment: #99a1ac;
    --code-keyword: #dba2e4;
    --code-string: #a3cf96;
    --code-number: #e9b884;
    --code-title: #94b8ff;
    --code-type: #85cdd8;
    --code-removed: #f29a94;
    --code-added: #a3cf96;
  }
}
:is(.code-comment, .code-quote, .code-meta) { color: var(--code-comment); }
.code-comment { font-style: italic; }
:is(.code-keyword, .code-selector-tag, .code-doctag, .code-section, .code-name) { color: var(--code-keyword); }
:is(.code-string, .code-regexp, .code-char, .code-selector-attr, .code-selector-pseudo) { color: var(--code-string); }
:is(.code-number, .code-literal, .code-symbol, .code-bullet, .code-link, .code-variable, .code-template-variable) { color: var(--code-number); }
:is(.code-title, .code-selector-id, .code-selector-class) { color: var(--code-title); }
:is(.code-type, .code-built_in, .code-attr, .code-attribute, .code-property) { color: var(--code-type); }
.code-deletion { color: var(--code-removed); }
.code-addition { color: var(--code-added); }
.code-emphasis { font-style: italic; }
.code-strong, .code-section { font-weight: 660; }
@media print { :root { --code-comment: #555; } }
`;
