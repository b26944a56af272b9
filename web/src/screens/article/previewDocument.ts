const style = `
body { max-width: 70ch; margin: 0 auto; padding: 2rem 1.5rem 6rem; font: 17px/1.65 Charter, "Iowan Old Style", Georgia, serif; color: #1d1f22; }
h1, h2, h3, h4 { font-family: system-ui, sans-serif; line-height: 1.25; }
pre { overflow: auto; padding: .8em 1em; background: #f4f4f2; border-radius: 6px; font-size: .85em; }
code { font-family: ui-monospace, Menlo, Consolas, monospace; }
table { border-collapse: collapse; display: block; overflow: auto; }
td, th { border: 1px solid #e4e4e1; padding: .35em .7em; }
img { max-width: 100%; height: auto; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 3px solid #d5d6d3; color: #5b6068; }
`;

/** Adds the type of the page to the HTML document of the server. */
export function toPreviewDocument(html: string): string {
  // Links open beside the app: the frame itself can show nothing else.
  const sheet = `<base target="_blank"><style>${style}</style>`;
  return html.includes("</head>") ? html.replace("</head>", `${sheet}</head>`) : `<!doctype html><meta charset="utf-8">${sheet}${html}`;
}
