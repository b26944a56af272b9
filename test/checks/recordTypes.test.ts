import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordTypes } from "../../server/store.ts";

const root = join(import.meta.dirname, "../..");
const files = readdirSync(join(root, "server"), { recursive: true, encoding: "utf8" }).filter((file) => /records\.ts$/i.test(file));

const isRecordType = (value: unknown): value is { readonly name: string } =>
  typeof value === "object" && value !== null && "partitionOf" in value && "keyOf" in value;

test("[OP61] the store knows every record type of a `records` file (server/store.ts)", async () => {
  const modules = await Promise.all(files.map((file) => import(join(root, "server", file)) as Promise<object>));
  const declared = modules.flatMap((module) => Object.values(module).filter(isRecordType));
  expect(declared.length).toBeGreaterThan(15);
  const known = new Set(recordTypes.map(({ name }) => name));
  expect(declared.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});
