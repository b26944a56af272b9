/**
 * ServicePage writes the HTML document of the pages about problems.
 *
 * They share one style file and a content security policy that allows only this file. Their addresses are relative, so
 * that the pages also work behind a proxy that adds a path prefix. Public articles have another document
 * (publicPageHtml.ts).
 */
import { createPageAsset } from "./pageAsset.ts";
import { serviceStyle } from "./serviceStyle.ts";

const style = createPageAsset("service", "css", serviceStyle);
export const serviceStyleRoute = style.route;

export const servicePageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
} as const;

export interface ServicePage {
  readonly title: string;
  /** Relative path from the folder of the page to the root: "" for /problems, "../" for /problems/{code}. */
  readonly toRoot: "" | "../";
  /** HTML inside `main`. */
  readonly body: string;
  readonly isWide?: boolean;
}

export function toServicePage({ title, toRoot, body, isWide = false }: ServicePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${toRoot}${style.path.slice(1)}">
</head>
<body>
<main${isWide ? ' class="wide"' : ""}>
${body}
</main>
</body>
</html>
`;
}

/** HTML of the three bars above each title. */
export const mark = '<p class="mark" aria-hidden="true"><span></span><span></span><span></span></p>';
