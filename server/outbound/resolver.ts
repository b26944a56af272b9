/**
 * Names to addresses: the machine's hosts file first, then DNS, both families, asked anew each time.
 *
 * It does not use the system's `getaddrinfo`: that runs on the few threads which also serve disks and ciphers, so
 * a receiver with a dead name server would slow everybody down. It judges no address; the caller does.
 */
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";

/**
 * All addresses of a lower-case host name; empty when there are none or nobody answers. Rejects only with the
 * reason of `signal`.
 */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const hostsFile = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

/** One query goes unanswered for this long before the next try. */
const queryTimeoutMs = 1500;

export function createResolve(): Resolve {
  return async (hostname, signal) => {
    signal.throwIfAborted();
    const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
    const local = addressesInHosts(await readFile(hostsFile, "utf8").catch(() => ""), name);
    if (local.length > 0) return local;

    // One resolver a look-up: it reads the current resolv.conf, and cancelling it cancels nobody else's.
    const resolver = new Resolver({ timeout: queryTimeoutMs, tries: 2 });
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      // A family without an answer is no obstacle: only addresses that were seen are ever dialled.
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal.throwIfAborted();
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** Addresses of `name` in the text of a hosts file. */
export function addressesInHosts(text: string, name: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return address !== undefined && names.some((candidate) => candidate.toLowerCase() === name) ? [address] : [];
  });
}
