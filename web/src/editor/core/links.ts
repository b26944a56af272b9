/** Decides which addresses in a text may be opened or loaded. All others stay text. */

const protocols: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** Removes angle brackets and backslashes of Markdown: `<a\_b>` means `a_b`. */
function readTarget(source: string): string {
  const inner = /^<(.*)>$/s.exec(source)?.[1] ?? source;
  return inner.replace(/\\([!-/:-@[-`{-~])/g, "$1").trim();
}

/** Returns the address of a link if it is http, https or mailto. A bare `www.…` means https, and a bare e-mail address mailto. */
export function linkAddress(source: string): string | undefined {
  const target = readTarget(source);
  const complete = /^www\./i.test(target)
    ? `https://${target}`
    : /^[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+$/.test(target)
      ? `mailto:${target}`
      : target;
  if (/\s/.test(complete) || !URL.canParse(complete)) return undefined;
  const url = new URL(complete);
  return protocols.has(url.protocol) ? url.href : undefined;
}

/** Returns the address of a picture if it is http, https, or a path of this site (`/…`). */
export function imageAddress(source: string): string | undefined {
  const target = readTarget(source);
  if (target.startsWith("/")) {
    // "//host" and "/\host" are addresses of other hosts.
    const base = "https://here.invalid";
    return URL.canParse(target, base) && new URL(target, base).origin === base ? target : undefined;
  }
  const address = linkAddress(target);
  return address?.startsWith("http") === true ? address : undefined;
}

/** Opens a link in a new tab, which cannot reach this page. */
export function openLink(address: string): void {
  window.open(address, "_blank", "noopener,noreferrer");
}
