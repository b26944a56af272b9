/** Searches data for secrets: as text, as bytes, as base64 at each alignment, and as hex, in one pass. */

/** Number of leading bytes by which a trace is recognised. Every trace is longer. */
const probeBytes = 4;
const leastBytes = 8;

/** Returns every encoded form of the text, or of the bytes that it encodes. */
function tracesOf(secret: Buffer): readonly Buffer[] {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), secret]).toString("base64");
    // The first and last characters depend on the neighbouring bytes.
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  const base64url = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const hex = secret.toString("hex");
  return [secret, ...[...base64, ...base64url, hex, hex.toUpperCase()].map((text) => Buffer.from(text))];
}

export interface SecretScan {
  /** `part` is the secret part, without public prefixes. */
  add(name: string, part: string | Buffer): void;
  readonly size: number;
  /** Returns the names of the secrets that the data contains. */
  find(haystack: Buffer): readonly string[];
}

export function createSecretScan(): SecretScan {
  const names = new Set<string>();
  const byStart = new Map<number, { readonly trace: Buffer; readonly name: string }[]>();
  return {
    add(name, part) {
      const secret = Buffer.from(part);
      if (secret.length < leastBytes) throw new Error(`${name} is too short to be told from chance`);
      names.add(name);
      for (const trace of tracesOf(secret)) {
        const start = trace.readUInt32LE(0);
        const known = byStart.get(start);
        if (known === undefined) byStart.set(start, [{ trace, name }]);
        else known.push({ trace, name });
      }
    },
    get size() {
      return names.size;
    },
    find(haystack) {
      const found = new Set<string>();
      let window = 0;
      for (let at = 0; at < haystack.length; at += 1) {
        window = ((window >>> 8) | ((haystack[at] as number) << 24)) >>> 0;
        const from = at - probeBytes + 1;
        if (from < 0) continue;
        for (const { trace, name } of byStart.get(window) ?? []) {
          if (haystack.subarray(from, from + trace.length).equals(trace)) found.add(name);
        }
      }
      return [...found];
    },
  };
}
