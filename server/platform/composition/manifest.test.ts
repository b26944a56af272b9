import { expect, test } from "vitest";
import { setup } from "xstate";
import type { DueWorker } from "../actors/duePort.ts";
import type { ActorKind, ActorRecord } from "../actors/port.ts";
import { provide } from "../actors/provide.ts";
import { createRecordTypes, defineRecord } from "../storage/recordType.ts";
import { installManifests, type Manifest } from "./manifest.ts";

const record = defineRecord<ActorRecord<object>>({ name: "kite", version: 1, partitionOf: () => 0, keyOf: ({ id }) => id });
const machine = setup({}).createMachine({ initial: "up", states: { up: {} } });
const kind: ActorKind<object, never, never> = { name: "kite", machine, machineVersion: 1, record, effects: [] };
const worker: DueWorker = async () => ({ kind: "done" });
const noRecords = createRecordTypes([]);

function install(manifests: readonly Manifest[], recordTypes = createRecordTypes([record as never])) {
  const registered: string[] = [];
  const installed = installManifests(manifests, {
    recordTypes,
    actors: { register: (kinds) => void registered.push(...kinds.map((provided) => `kind ${provided.kind.name}`)) },
    pump: { register: (name) => void registered.push(`worker ${name}`) },
  });
  return { installed, registered };
}

test("[OP60] the kinds and workers of all manifests are registered, and a close reaches each of them", async () => {
  const closed: string[] = [];
  const { installed, registered } = install([
    { name: "kites", actorKinds: [provide(kind, {})], close: async () => void closed.push("kites") },
    { name: "winds", workers: { "wind.blow": worker }, close: async () => void closed.push("winds") },
    { name: "clouds" },
  ]);
  expect(registered).toEqual(["kind kite", "worker wind.blow"]);
  await installed.close();
  expect(closed).toEqual(["kites", "winds"]);
});

test("[OP72] a close closes every manifest and waits for it, and reports each one that failed", async () => {
  const first = new Error("thrown at once");
  const second = new Error("rejected later");
  const closed: string[] = [];
  const { installed } = install([
    {
      name: "kites",
      close: () => {
        throw first;
      },
    },
    { name: "winds", close: () => Promise.reject(second) },
    {
      name: "clouds",
      close: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        closed.push("clouds");
      },
    },
  ]);
  const failure = await installed.close().catch((error: unknown) => error);
  expect(closed).toEqual(["clouds"]);
  expect(failure).toBeInstanceOf(AggregateError);
  expect(failure).toMatchObject({ errors: [first, second], message: "parts of the server could not be closed: kites, winds" });
});

const twice: readonly [what: string, first: Manifest, second: Manifest][] = [
  ["name kites", { name: "kites" }, { name: "kites" }],
  ["actor kind kite", { name: "kites", actorKinds: [provide(kind, {})] }, { name: "winds", actorKinds: [provide(kind, {})] }],
  ["worker of due rows blow", { name: "kites", workers: { blow: worker } }, { name: "winds", workers: { blow: worker } }],
];

test.each(twice)("[OP60] two manifests with the same %s are refused before anything is registered", (what, first, second) => {
  const registered: string[] = [];
  const refuse = () =>
    installManifests([first, second], {
      recordTypes: createRecordTypes([record as never]),
      actors: { register: () => void registered.push("kind") },
      pump: { register: () => void registered.push("worker") },
    });
  expect(refuse).toThrow(`the manifests ${first.name} and ${second.name} both have the ${what}`);
  expect(registered).toEqual([]);
});

test("[OP60] an actor kind whose record type the store does not know is refused", () => {
  expect(() => install([{ name: "kites", actorKinds: [provide(kind, {})] }], noRecords)).toThrow(
    "the actor kind kite of kites uses the record type kite, which the store does not know",
  );
});

test("[OP60] two different record types with one name are refused", () => {
  const other = defineRecord<ActorRecord<object>>({ name: "kite", version: 1, partitionOf: () => 1, keyOf: ({ id }) => id });
  expect(() => createRecordTypes([record as never, other as never])).toThrow("two record types are named kite");
});
