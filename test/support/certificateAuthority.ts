/**
 * A certificate authority in a temporary folder that signs every request. Trust it with `NODE_EXTRA_CA_CERTS=<file>` in
 * another process, or with `secureContext()` in this one.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import { generate } from "selfsigned";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateAuthority {
  /** The authority's own certificate, as a PEM file. */
  readonly file: string;
  /** Signs a new certificate for host names and addresses. */
  issue(hosts: readonly string[]): Promise<Certificate>;
  /** Returns a context that trusts only this authority. */
  secureContext(): Promise<SecureContext>;
  remove(): Promise<void>;
}

const keys = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const folder = await mkdtemp(join(tmpdir(), "authority-"));
  const file = join(folder, "authority.pem");
  const authority = await generate([{ name: "commonName", value: "Throw-away authority" }], {
    ...keys,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  await writeFile(file, authority.cert);

  return {
    file,
    async issue(hosts) {
      const issued = await generate([{ name: "commonName", value: "receiver" }], {
        ...keys,
        ca: { key: authority.private, cert: authority.cert },
        extensions: [
          { name: "extKeyUsage", serverAuth: true },
          { name: "subjectAltName", altNames: hosts.map((host) => (isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host })) },
        ],
      });
      return { key: issued.private, cert: issued.cert };
    },
    async secureContext() {
      return createSecureContext({ ca: authority.cert });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
