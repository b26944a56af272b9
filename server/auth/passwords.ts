/**
 * Password hashing with argon2id, and nothing else: who has which hash is for others to know.
 *
 * Hashing costs memory and a thread of the pool that file access also needs, so only a few run at once and
 * only so many may wait. Checking a password against no hash takes as long as against one, so that an
 * answer's time does not tell which usernames exist.
 */
import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { AppError } from "../../api/schema/error.ts";

export interface Passwords {
  /** The text to keep, parameters and salt included. */
  hash(password: string): Promise<string>;
  /** With `undefined` for the hash it works as long and answers false. */
  verify(kept: string | undefined, password: string): Promise<boolean>;
}

export interface PasswordOptions {
  readonly memoryKiB?: number;
  readonly passes?: number;
  readonly maxRunning?: number;
  readonly maxWaiting?: number;
}

/** 19 MiB and two passes: the argon2id minimum that OWASP names, some 90 ms of one core. */
export function createPasswords({ memoryKiB = 19_456, passes = 2, maxRunning = 2, maxWaiting = 64 }: PasswordOptions = {}): Passwords {
  const options = { memoryCost: memoryKiB, timeCost: passes, parallelism: 1 };
  const waiting: (() => void)[] = [];
  let running = 0;
  let nobody: Promise<string> | undefined;

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
      // The turn passes straight to the next in line, so `running` counts it without a gap.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  /** The same text typed on two systems may differ in its bytes; NFKC makes them one. */
  const toBytes = (password: string) => Buffer.from(password.normalize("NFKC"));

  return {
    hash: (password) => inTurn(() => hash(toBytes(password), options)),
    async verify(kept, password) {
      nobody ??= hash(randomBytes(16), options);
      const against = kept ?? (await nobody);
      const right = await inTurn(() => verify(against, toBytes(password)));
      return right && kept !== undefined;
    },
  };
}
