/**
 * The second net under the log: whatever looks like a secret of this service is cut before a line is written. The
 * first net is that nothing logs one. It works on the finished line, because looking into every object before it is
 * written cost twenty times as much as writing it.
 */

const shapes: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_[0-9A-Za-z]{8}_[0-9A-Za-z]{16,}/g, "svc_…"],
  [/\bwhsec_[0-9A-Za-z+/=]{16,}/g, "whsec_…"],
  // Access and refresh tokens, tickets, page tokens and setup tokens all end in a dot and at least 32 bytes of base64url.
  [/[\w-]+(?:\.[\w-]+)?\.[\w-]{43,}/g, "…token…"],
];

const fields = "password|currentPassword|authorization|secret|token|ticket|apiKey|accessToken|refreshToken|query";
/** The JSON text of such a field, at any depth. */
const field = new RegExp(`"(${fields})":"(?:[^"\\\\]|\\\\.)*"`, "gi");

/** True when a line may hold a secret: most lines do not, and are not searched. */
const suspicious = new RegExp(`svc_|whsec_|\\.[\\w-]{43}|"(?:${fields})":`, "i");

export function maskSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  return shapes.reduce((text, [shape, replacement]) => text.replace(shape, replacement), line.replace(field, '"$1":"…"'));
}
