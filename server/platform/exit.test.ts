import { expect, test } from "vitest";
import { CannotListen, toEnding } from "./exit.ts";
import { SecretKeyError } from "./secretKeyFile.ts";
import { StorageDamagedError, StorageFullError, StorageUnavailableError } from "./storage/port.ts";

test.each<[Error, number]>([
  [new StorageDamagedError("held by another process"), 65],
  [new StorageUnavailableError("cannot be reached"), 69],
  [new StorageFullError("no space"), 74],
  [Object.assign(new Error("i/o error"), { code: "EIO" }), 74],
  [new CannotListen("cannot listen on 127.0.0.1:80"), 78],
  [new SecretKeyError("the key file is gone"), 78],
  [Object.assign(new Error("permission denied"), { code: "EACCES" }), 78],
  [new Error("something else"), 70],
])("[OP7] %s ends the process with %i and gives the reason", (reason, code) => {
  const ending = toEnding(reason);
  expect(ending.code).toBe(code);
  expect(ending.message).toContain(reason.message);
});

test("[OP7] a bug is reported with its stack, and an expected failure without one", () => {
  expect(toEnding(new Error("a bug")).message).toContain("exit.test.ts");
  expect(toEnding(new StorageDamagedError("damaged")).message).toBe("damaged");
  expect(toEnding("thrown text")).toEqual({ code: 70, message: "thrown text" });
});
