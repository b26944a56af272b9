/**
 * Main runs the `svc-server` command.
 *
 * It reads the command line and the settings, starts the server and turns SIGTERM and SIGINT into a drain. Only this
 * module ends the process and chooses its exit code. It must not know the parts of a server: `start.ts` starts them.
 * It loads the code of a command only when the settings are valid, so a refused start does not load the server.
 */

import { pino } from "pino";
import packageJson from "../package.json" with { type: "json" };
import { type Config, formatProblems, readConfig } from "./config.ts";
import { type ExitCode, exitCodes, toEnding } from "./platform/exit.ts";
import { createLog, type Log } from "./platform/observability/log.ts";
import { maskSecrets } from "./platform/observability/maskSecrets.ts";
import type { StartedServer } from "./start.ts";
import { usage } from "./usage.ts";

/** A drain that has not ended this long after `shutdownMs` counts as hanging, and the process exits. */
const graceMs = 5000;
/** A second signal that arrives this long after the first or later ends the process at once. Acknowledged writes are durable in any case. */
const secondSignalMs = 1000;

let current: Log | undefined;

function end(code: ExitCode): never {
  current?.flush();
  process.exit(code);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Logs the reason and exits. `known` replaces the exit code that `toEnding` would derive from the reason. */
function fail(reason: unknown, known?: ExitCode): never {
  const { message, ...ending } = toEnding(reason);
  const code = known ?? ending.code;
  current?.log.fatal({ err: reason, exitCode: code }, "server ended with an error");
  say(`svc-server: ${maskSecrets(message)}`);
  return end(code);
}

function configOrExit(): { readonly config: Config; readonly warnings: readonly string[] } {
  const result = readConfig();
  if (result.ok) return result;
  for (const warning of result.warnings) say(`svc-server: ${warning}`);
  say(`svc-server: ${formatProblems(result.problems)}`);
  return end(exitCodes.settings);
}

async function start(): Promise<void> {
  const { config, warnings } = configOrExit();
  current = createLog(config.logLevel);
  const { log } = current;
  for (const warning of warnings) log.warn(warning);

  const [{ startServer }, { isRejectionOfStore }] = await Promise.all([import("./start.ts"), import("./store.ts")]);
  // A failed LMDB commit leaves rejections that no caller can handle. Its writer has already rejected the affected writes.
  process.on("unhandledRejection", (reason) => {
    if (isRejectionOfStore(reason)) log.error({ err: reason }, "write to the store failed");
    else fail(reason);
  });
  process.on("uncaughtException", (error) => fail(error));
  let server: StartedServer | undefined;
  let stoppingSinceMs: number | undefined;
  const stop = async (): Promise<void> => {
    // One Ctrl-C arrives twice: from the terminal and from npm. Only a later signal is a second request to stop.
    if (server === undefined || (stoppingSinceMs !== undefined && performance.now() - stoppingSinceMs > secondSignalMs))
      end(exitCodes.done);
    if (stoppingSinceMs !== undefined) return;
    stoppingSinceMs = performance.now();
    setTimeout(() => fail(new Error("the drain did not finish in time")), config.shutdownMs + graceMs).unref();
    await server.drain();
    end(exitCodes.done);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop().catch((reason: unknown) => fail(reason)));

  server = await startServer({ config, log, version: packageJson.version, onDiskError: (error) => fail(error, exitCodes.disk) });
  const minutes = Math.round(config.limits["keep.setupLink"] / 60_000);
  if (server.setupUrl !== undefined) say(`\nMake the first account here, once, within ${minutes} minutes:\n\n  ${server.setupUrl}\n`);
  else if (process.stderr.isTTY) say(`\nReady: ${server.baseUrl}\n`);
}

/** Reads the settings for a command other than `start`. Warnings go to standard error because no logger exists yet. */
function configOfCommand(): Config {
  const { config, warnings } = configOrExit();
  for (const warning of warnings) say(`svc-server: ${warning}`);
  return config;
}

async function reset(username: string | undefined): Promise<never> {
  if (username === undefined) {
    say(`svc-server: reset-password needs a USERNAME.\n\n${usage}`);
    return end(exitCodes.usage);
  }
  const config = configOfCommand();
  // Logs go to standard error: standard output must hold only the link, so that a script can read it.
  current = createLog(config.logLevel, pino.destination({ dest: 2, sync: true }));
  const { resetPassword } = await import("./admin.ts");
  const result = await resetPassword(config, username, current.log);
  if ("refusal" in result) {
    say(`svc-server: ${result.refusal}`);
    return end(result.code);
  }
  process.stdout.write(`${result.url}\n`);
  for (const hint of result.hints) say(hint);
  return end(exitCodes.done);
}

async function run(command: string | undefined, rest: readonly string[]): Promise<void> {
  const tooMuch = rest.slice(command === "reset-password" ? 1 : 0);
  if (tooMuch.length > 0) {
    say(`svc-server: unexpected argument "${tooMuch.join(" ")}".\n\n${usage}`);
    end(exitCodes.usage);
  }
  if (command === "start") return start();
  if (command === "reset-password") return reset(rest[0]);
  if (command === "check") {
    const config = configOfCommand();
    const { check } = await import("./admin.ts");
    const { lines, code } = await check(config);
    process.stdout.write(`${lines.join("\n")}\n`);
    return end(code);
  }
  if (command === "--version" || command === "-v") process.stdout.write(`${packageJson.version}\n`);
  else if (command === "--help" || command === "-h") process.stdout.write(usage);
  else {
    say(command === undefined ? usage : `svc-server: unknown command "${command}".\n\n${usage}`);
    end(exitCodes.usage);
  }
}

run(process.argv[2], process.argv.slice(3)).catch((reason: unknown) => fail(reason));
