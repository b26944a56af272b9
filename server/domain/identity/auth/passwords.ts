/**
 * This module hashes and verifies passwords with argon2id. It does not know which account has which hash.
 *
 * Hashing needs memory and a thread of the pool that file access also uses, so the number of running and waiting hashes
 * is limited. Verifying against a missing hash takes as long as against a real one. Otherwise the response time would
 * reveal which usernames exist.
 */
import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { AppError } from "../../../../api/schema/error.ts";

export interface Passwords {
  /** Returns the text to store, including parameters and salt. Throws `rate_limited` when too many hashes are waiting. */
  hash(password: string): Promise<string>;
  /** Verifies a password. An `undefined` hash takes the same time and gives false. Throws `rate_limited` like `hash`. */
  verify(kept: string | undefined, password: string): Promise<boolean>;
}

export interface PasswordOptions {
  readonly memoryKiB?: number;
  readonly passes?: number;
  readonly maxRunning?: number;
  readonly maxWaiting?: number;
}

/** The defaults are 19 MiB and two passes: the OWASP minimum for argon2id, about 90 ms of one core. */
export function createPasswords({ memoryKiB = 19_456, passes = 2, maxRunning = 2, maxWaiting = 64 }: PasswordOptions = {}): Passwords {
  const options = { memoryCost: memoryKiB, timeCost: passes, parallelism: 1 };
  const waiting: (() => void)[] = [];
  let running = 0;
  /** Hash of a random password, to verify against where an account has none. */
  let decoyHash: Promise<string> | undefined;

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= maxRunning) {
      if (waiting.length >= maxWaiting) {
        throw new AppError("rate_limited", "Too many people are signing in at this moment; try again shortly.", { retryAfter: 2 });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // The slot passes directly to the next waiter, so `running` stays the same.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  /** The same password typed on two systems may differ in its bytes. NFKC makes the bytes equal. */
  const toBytes = (password: string) => Buffer.from(password.normalize("NFKC"));

  return {
    hash: (password) => inTurn(() => hash(toBytes(password), options)),
    async verify(kept, password) {
      decoyHash ??= hash(randomBytes(16), options);
      const against = kept ?? (await decoyHash);
      const right = await inTurn(() => verify(against, toBytes(password)));
      return right && kept !== undefined;
    },
  };
}
