/**
 * Resolve turns host names into addresses, from the machine's hosts file first, then from DNS, both IPv4 and IPv6.
 *
 * Results are not cached. It does not use the system's `getaddrinfo`, because that runs on the few threads that also
 * serve disk access and ciphers, so one dead name server would slow down the whole process. It does not judge
 * addresses; the caller does.
 */
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";

/**
 * Returns all addresses of a lower-case host name. The list is empty if there are none or if no name server answers.
 * Rejects only with the reason of `signal`.
 */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const hostsFile = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

/** Milliseconds to wait for the answer to one query before the next try. */
const queryTimeoutMs = 1500;

export function createResolve(): Resolve {
  return async (hostname, signal) => {
    signal.throwIfAborted();
    const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
    const local = addressesInHosts(await readFile(hostsFile, "utf8").catch(() => ""), name);
    if (local.length > 0) return local;

    // Each look-up has its own resolver, which reads the current resolv.conf and can be cancelled without cancelling
    // other look-ups.
    const resolver = new Resolver({ timeout: queryTimeoutMs, tries: 2 });
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      // One failed address family is acceptable, because only returned addresses are ever connected to.
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal.throwIfAborted();
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** Returns the addresses of `name` in the text of a hosts file. */
export function addressesInHosts(text: string, name: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return address !== undefined && names.some((candidate) => candidate.toLowerCase() === name) ? [address] : [];
  });
}
