import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { defaultLimits } from "../../api/limits.ts";
import { cutUpdates, forbiddenUpdates, rawUpdate, struct, updateOf } from "../../test/support/hostileFrames.ts";
import { claimedClocks, inspectUpdate } from "./inspectUpdate.ts";

const inspect = (bytes: Uint8Array) => inspectUpdate(bytes, defaultLimits);

describe("inspection of updates", () => {
  it("[RT8] text and deletions in the three files are accepted and read as Yjs reads them", () => {
    const update = updateOf((document) => {
      document.getText("content.md").insert(0, "Grüße 🎈, world");
      document.getText("content.md").delete(2, 3);
      document.getText("outline.md").insert(0, "- a");
      document.getText("research.md").insert(0, "x");
    });
    const inspected = inspect(update);
    expect(inspected.kind).toBe("accepted");
    if (inspected.kind !== "accepted") return;
    const meta = Y.parseUpdateMeta(update);
    for (const section of inspected.update.sections) {
      expect(section.from).toBe(meta.from.get(section.clientId));
      expect(section.to).toBe(meta.to.get(section.clientId));
    }
    expect(inspected.update.textBytes).toBe(Buffer.byteLength("Gr 🎈, world" + "- a" + "x"));
  });

  it.each(forbiddenUpdates())("[RT8] refuses $name", ({ bytes }) => {
    expect(inspect(bytes)).toMatchObject({ kind: "refused" });
  });

  it("[RT8] refuses an update that is cut at any byte", () => {
    for (const { name, bytes } of cutUpdates()) expect(inspect(bytes).kind, name).toBe("refused");
  });

  it("[RT8] accepts skip and deleted runs up to update.run", () => {
    const most = defaultLimits["update.run"];
    const structs = [struct.skip(most), struct.deleted(most), struct.text("x")];
    const inspected = inspect(rawUpdate([{ clientId: 7, clock: 0, structs }], [{ clientId: 7, ranges: [[0, most]] }]));
    expect(inspected).toMatchObject({ kind: "accepted", update: { sections: [{ from: 0, to: 2 * most + 1, hasRuns: true }] } });
  });

  it("an empty update is accepted and has no content", () => {
    expect(inspect(new Uint8Array([0, 0]))).toMatchObject({ kind: "accepted", update: { sections: [], deletes: [] } });
  });

  it("the claimed clocks of a refused update can be read", () => {
    const bold = updateOf((document) => document.getText("content.md").insert(0, "bold", { bold: true }), 5);
    expect(claimedClocks(bold)).toEqual([{ clientId: 5, from: 0, to: 6 }]);
    expect(claimedClocks(new Uint8Array([1, 255]))).toEqual([]);
  });

  it("[RT8] Yjs applies every accepted update without an error and reads the same content", () => {
    const base = new Y.Doc();
    base.clientID = 1;
    base.getText("content.md").insert(0, "the text that stands already, quite a long one");
    base.getText("content.md").delete(4, 5);
    const state = Y.encodeStateAsUpdate(base);
    let accepted = 0;
    const edit = fc.record({
      at: fc.nat(30),
      erase: fc.nat(6),
      text: fc.string({ maxLength: 5 }),
      clientId: fc.integer({ min: 2, max: 4 }),
    });
    const mutation = fc.record({ at: fc.nat(200), byte: fc.nat(255), how: fc.constantFrom("set", "remove", "insert") });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), fc.array(mutation, { maxLength: 3 }), (edits, mutations) => {
        const editor = new Y.Doc();
        Y.applyUpdate(editor, state);
        const before = Y.encodeStateVector(editor);
        for (const { at, erase, text, clientId } of edits) {
          editor.clientID = clientId;
          const all = editor.getText("content.md");
          const start = Math.min(at, all.length);
          all.delete(start, Math.min(erase, all.length - start));
          all.insert(start, text);
        }
        const bytes = [...Y.encodeStateAsUpdate(editor, before)];
        for (const { at, byte, how } of mutations) {
          const place = at % bytes.length;
          if (how === "set") bytes[place] = byte;
          else bytes.splice(place, how === "remove" ? 1 : 0, ...(how === "insert" ? [byte] : []));
        }
        const update = Uint8Array.from(bytes);
        const inspected = inspect(update);
        if (mutations.length === 0) expect(inspected.kind).toBe("accepted");
        if (inspected.kind === "refused") return;
        accepted += 1;
        const { structs, ds } = Y.decodeUpdate(update);
        expect([...ds.clients.values()].flat().length).toBe(inspected.update.deletes.length);
        expect(new Set(structs.map(({ id }) => id.client)).size).toBe(inspected.update.sections.length);
        const document = new Y.Doc();
        Y.applyUpdate(document, state);
        Y.applyUpdate(document, update);
        expect(document.share.size).toBeLessThanOrEqual(3);
        const copy = new Y.Doc();
        Y.applyUpdate(copy, Y.encodeStateAsUpdate(document));
        expect(copy.getText("content.md").length).toBe(document.getText("content.md").length);
      }),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(200);
  });
});
