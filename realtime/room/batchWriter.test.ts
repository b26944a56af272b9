/** What the writer of a batch answers when its room ends during the append. */
import { expect, it } from "vitest";
import * as Y from "yjs";
import { defaultLimits } from "../../api/limits.ts";
import { createMemoryLog } from "../../test/support/memoryLog.ts";
import { articleId } from "../../test/support/realtimeRig.ts";
import { LiveDocument } from "../document/liveDocument.ts";
import { BatchWriter } from "./batchWriter.ts";
import type { BegunEdit, EditResult } from "./changes.ts";
import type { RoomMember } from "./member.ts";

const author = { username: "ada", kind: "user" } as const;

function updateOf(text: string): Uint8Array {
  const document = new Y.Doc();
  document.getText("content.md").insert(0, text);
  return Y.encodeStateAsUpdate(document);
}

it("[RT104] changes whose room ends while they are being stored are confirmed", async () => {
  const log = createMemoryLog();
  let isEnded = false;
  const called: string[] = [];
  const writer = new BatchWriter({
    articleId,
    updateLog: log,
    clock: { now: () => 0, after: () => () => undefined },
    metrics: undefined,
    document: new LiveDocument<RoomMember>({
      loaded: { revision: 0, tail: [] },
      limits: defaultLimits,
      clientIds: { ownerOf: () => undefined, mayWriteFor: () => false, isOnOtherNode: () => false },
    }),
    isEnded: () => isEnded,
    catchUp: async () => void called.push("catchUp"),
    onDurable: () => void called.push("onDurable"),
    onAppended: (revision) => void called.push(`onAppended ${revision}`),
    revert: async () => void called.push("revert"),
    retry: () => void called.push("retry"),
    endDeleted: () => void called.push("endDeleted"),
  });
  const answers: (number | EditResult)[] = [];
  const refusals: unknown[] = [];
  const completion = {
    resolve: (value: number | EditResult) => void answers.push(value),
    reject: (error: unknown) => void refusals.push(error),
  };
  const edit: BegunEdit = {
    author,
    clientId: undefined,
    once: false,
    guard: undefined,
    isExact: false,
    change: () => undefined,
    completion,
    update: updateOf("edited"),
    value: "done",
  };
  log.hold();
  const written = writer.write([{ author, sender: undefined, update: updateOf("sent"), mayBePending: false, completion }], edit);
  isEnded = true;
  await log.release();
  await written;
  expect([answers, refusals]).toEqual([[1, { revision: 1, changed: true, repeated: false, value: "done" }], []]);
  expect(called).toEqual(["onAppended 1"]);
});
