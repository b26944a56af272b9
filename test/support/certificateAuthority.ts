/**
 * A certificate authority that lives in a temporary folder and signs for whoever asks. Trust it with
 * `NODE_EXTRA_CA_CERTS=<file>` in another process, or with `secureContext()` in this one. Needs `openssl` on PATH.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import { promisify } from "node:util";

const run = promisify(execFile);
const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateAuthority {
  /** The authority's own certificate, PEM. */
  readonly file: string;
  /** Signs a new certificate for host names and addresses. */
  issue(hosts: readonly string[]): Promise<Certificate>;
  /** Trusts this authority and no other. */
  secureContext(): Promise<SecureContext>;
  remove(): Promise<void>;
}

export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const folder = await mkdtemp(join(tmpdir(), "authority-"));
  const file = join(folder, "authority.pem");
  const key = join(folder, "authority.key");
  const openssl = (...args: string[]) => run("openssl", args, { cwd: folder });
  const limits = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign"];
  await openssl("req", "-x509", ...newKey, "-keyout", key, "-out", file, "-days", "2", "-subj", "/CN=Throw-away authority", ...limits);
  let issued = 0;

  return {
    file,
    async issue(hosts) {
      issued += 1;
      const [keyFile, requestFile, certFile, extensionFile] = ["key", "csr", "pem", "ext"].map((end) =>
        join(folder, `${issued}.${end}`),
      ) as [string, string, string, string];
      const names = hosts.map((host) => `${isIP(host) === 0 ? "DNS" : "IP"}:${host}`).join(",");
      await writeFile(extensionFile, `subjectAltName=${names}\nextendedKeyUsage=serverAuth\n`);
      await openssl("req", "-new", ...newKey, "-keyout", keyFile, "-out", requestFile, "-subj", "/CN=receiver");
      const signer = ["-CA", file, "-CAkey", key, "-set_serial", String(issued + 1)];
      await openssl("x509", "-req", "-in", requestFile, ...signer, "-days", "2", "-extfile", extensionFile, "-out", certFile);
      return { key: await readFile(keyFile, "utf8"), cert: await readFile(certFile, "utf8") };
    },
    async secureContext() {
      return createSecureContext({ ca: await readFile(file, "utf8") });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
