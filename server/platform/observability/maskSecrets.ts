/**
 * maskSecrets removes text that looks like a secret of this service from a log line before it is written.
 *
 * It is the second defence; the first is that no code logs a secret. It works on the finished line, because checking
 * every object before writing took twenty times as long as writing it.
 */

const shapes: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_[0-9A-Za-z]{8}_[0-9A-Za-z]{16,}/g, "svc_…"],
  [/\bwhsec_[0-9A-Za-z+/=]{16,}/g, "whsec_…"],
  // Access and refresh tokens, tickets, page tokens and setup tokens all end with a dot and at least 32 bytes in
  // base64url.
  [/[\w-]+(?:\.[\w-]+)?\.[\w-]{43,}/g, "…token…"],
];

const fields = "password|currentPassword|authorization|secret|token|ticket|apiKey|accessToken|refreshToken|query";
/** Matches the JSON text of these fields at any depth. */
const field = new RegExp(`"(${fields})":"(?:[^"\\\\]|\\\\.)*"`, "gi");

/** Matches lines that may contain a secret. Most lines do not match and are not searched further. */
const suspicious = new RegExp(`svc_|whsec_|\\.[\\w-]{43}|"(?:${fields})":`, "i");

export function maskSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  return shapes.reduce((text, [shape, replacement]) => text.replace(shape, replacement), line.replace(field, '"$1":"…"'));
}
