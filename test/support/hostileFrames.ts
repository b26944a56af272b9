/**
 * Frames that a collaboration socket must refuse: cut, inflated, with wrong types, random, and valid ones with
 * forbidden content.
 */
import * as encoding from "lib0/encoding";
import * as Y from "yjs";

export interface HostileFrame {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Write = (encoder: encoding.Encoder) => void;

const bytesOf = (write: Write) => encoding.encode(write);

export const updateFrame = (update: Uint8Array, step = 2): Uint8Array =>
  bytesOf((encoder) => {
    encoding.writeVarUint(encoder, 0);
    encoding.writeVarUint(encoder, step);
    encoding.writeVarUint8Array(encoder, update);
  });

/** Returns the update of a Yjs client after `change` on an empty document. */
export function updateOf(change: (document: Y.Doc) => void, clientId = 900_001): Uint8Array {
  const document = new Y.Doc();
  document.clientID = clientId;
  let update = new Uint8Array([0, 0]);
  document.on("update", (made: Uint8Array) => {
    update = Uint8Array.from(made);
  });
  document.transact(() => change(document));
  return update;
}

/** Builds an update by hand: sections of raw structs, then the delete set. */
export function rawUpdate(
  sections: readonly { clientId: number; clock: number; structs: readonly Write[] }[],
  deletes: readonly { clientId: number; ranges: readonly (readonly [clock: number, length: number])[] }[] = [],
): Uint8Array {
  return bytesOf((encoder) => {
    encoding.writeVarUint(encoder, sections.length);
    for (const { clientId, clock, structs } of sections) {
      encoding.writeVarUint(encoder, structs.length);
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, clock);
      for (const write of structs) write(encoder);
    }
    encoding.writeVarUint(encoder, deletes.length);
    for (const { clientId, ranges } of deletes) {
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, ranges.length);
      for (const range of ranges) for (const number of range) encoding.writeVarUint(encoder, number);
    }
  });
}

export const struct = {
  gc:
    (length: number): Write =>
    (encoder) => {
      encoding.writeUint8(encoder, 0);
      encoding.writeVarUint(encoder, length);
    },
  skip:
    (length: number): Write =>
    (encoder) => {
      encoding.writeUint8(encoder, 10);
      encoding.writeVarUint(encoder, length);
    },
  text:
    (text: string, root = "content.md"): Write =>
    (encoder) => {
      encoding.writeUint8(encoder, 4);
      encoding.writeVarUint(encoder, 1);
      encoding.writeVarString(encoder, root);
      encoding.writeVarString(encoder, text);
    },
  after:
    (text: string, clientId: number, clock: number): Write =>
    (encoder) => {
      encoding.writeUint8(encoder, 4 | 128);
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, clock);
      encoding.writeVarString(encoder, text);
    },
  deleted:
    (length: number, root = "content.md"): Write =>
    (encoder) => {
      encoding.writeUint8(encoder, 1);
      encoding.writeVarUint(encoder, 1);
      encoding.writeVarString(encoder, root);
      encoding.writeVarUint(encoder, length);
    },
  raw:
    (...bytes: number[]): Write =>
    (encoder) => {
      for (const byte of bytes) encoding.writeUint8(encoder, byte);
    },
};

const id = 900_001;
const one = (write: Write, clock = 0) => rawUpdate([{ clientId: id, clock, structs: [write] }]);

/** Updates that Yjs would accept, but with content that an article must not have. */
export function forbiddenUpdates(): HostileFrame[] {
  const text = (document: Y.Doc) => document.getText("content.md");
  const made: [string, Uint8Array][] = [
    ["an embed", updateOf((document) => text(document).insertEmbed(0, { image: "x" }))],
    ["a format", updateOf((document) => text(document).insert(0, "bold", { bold: true }))],
    ["an attribute of a text", updateOf((document) => text(document).setAttribute("lang", "en"))],
    ["a map", updateOf((document) => document.getMap("content.md").set("key", 1))],
    ["an array", updateOf((document) => document.getArray("content.md").push([1, 2]))],
    ["a nested text", updateOf((document) => document.getArray("content.md").push([new Y.Text("x")]))],
    ["an element", updateOf((document) => document.getXmlFragment("content.md").push([new Y.XmlElement("p")]))],
    ["a subdocument", updateOf((document) => document.getMap("content.md").set("doc", new Y.Doc()))],
    ["bytes", updateOf((document) => document.getArray("content.md").push([new Uint8Array([1])]))],
    ["another root", updateOf((document) => document.getText("notes.md").insert(0, "x"))],
    ["a root that is a prototype", updateOf((document) => document.getText("__proto__").insert(0, "x"))],
    ["a root with no name", updateOf((document) => document.getText("").insert(0, "x"))],
    ["a GC run", one(struct.gc(1))],
    ["a GC run of 2^40", one(struct.gc(2 ** 40))],
    ["a skip of 2^40", one(struct.skip(2 ** 40))],
    ["a deleted run of 2^24 + 1", one(struct.deleted(2 ** 24 + 1))],
    ["a GC run of 0", one(struct.gc(0))],
    ["an empty text", one(struct.text(""))],
    ["a deleted run of 0", one(struct.deleted(0))],
    ["a clock of 2^32", one(struct.text("x"), 2 ** 32)],
    ["a clock that passes 2^32", one(struct.text("xx"), 2 ** 32 - 1)],
    ["a client id of 2^32", rawUpdate([{ clientId: 2 ** 32, clock: 0, structs: [struct.text("x")] }])],
    ["an item beside itself", one(struct.after("x", id, 0))],
    ["an item beside a later one", one(struct.after("x", id, 99))],
    ["an item beside a client id of 2^40", one(struct.after("x", 2 ** 40, 0))],
    ["a section without structs", rawUpdate([{ clientId: id, clock: 0, structs: [] }])],
    [
      "two sections of one client",
      rawUpdate([
        { clientId: id, clock: 0, structs: [struct.text("a")] },
        { clientId: id, clock: 0, structs: [struct.text("b")] },
      ]),
    ],
    [
      "sections in ascending order of client ids",
      rawUpdate([3, 4].map((clientId) => ({ clientId, clock: 0, structs: [struct.text("x")] }))),
    ],
    ["a deletion of 2^40", rawUpdate([], [{ clientId: id, ranges: [[0, 2 ** 40]] }])],
    ["a deletion of 0", rawUpdate([], [{ clientId: id, ranges: [[0, 0]] }])],
    ["a deletion beyond 2^32", rawUpdate([], [{ clientId: id, ranges: [[2 ** 32 - 1, 2]] }])],
    ["a parent that is an item", one(struct.raw(4, 0, 1, 0, 1, 120))],
    ["a key beside a neighbour", one(struct.raw(4 | 128 | 32, 1, 0, 1, 120))],
    ["text that is not UTF-8", one(struct.raw(4, 1, 10, ...Buffer.from("content.md"), 2, 0xc3, 0x28))],
    ["bytes after the update", Uint8Array.from([...updateOf((document) => text(document).insert(0, "x")), 0])],
    [
      "6001 client ids",
      rawUpdate(Array.from({ length: 6001 }, (_, at) => ({ clientId: 1e6 + at, clock: 0, structs: [struct.text("x")] }))),
    ],
    ["values nested 10,000 deep", one(struct.raw(8, 1, 10, ...Buffer.from("content.md"), 1, ...new Array<number>(20_000).fill(117)))],
  ];
  for (let ref = 11; ref < 32; ref += 1) made.push([`content of the unknown kind ${ref}`, one(struct.raw(ref, 1, 1, 120, 1, 120))]);
  return made.map(([name, bytes]) => ({ name, bytes }));
}

/** Frames that are not valid messages. */
export function brokenFrames(): HostileFrame[] {
  const frames: HostileFrame[] = [];
  const add = (name: string, bytes: Uint8Array | number[]) => frames.push({ name, bytes: Uint8Array.from(bytes) });
  const text = updateFrame(updateOf((document) => document.getText("content.md").insert(0, "a longer text, to be cut")));
  const erased = updateOf((document) => {
    document.getText("content.md").insert(0, "abcdef");
    document.getText("content.md").delete(1, 3);
  });
  const vector = bytesOf((encoder) => {
    encoding.writeVarUint(encoder, 3);
    for (const number of [1, 2, 300, 400, 70_000, 80_000]) encoding.writeVarUint(encoder, number);
  });
  const presence = bytesOf((encoder) => {
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarUint(encoder, id);
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarString(encoder, '{"cursor":{"anchor":1}}');
  });
  const framed = (type: number[], payload: Uint8Array) =>
    bytesOf((encoder) => {
      for (const number of type) encoding.writeVarUint(encoder, number);
      encoding.writeVarUint8Array(encoder, payload);
    });
  const whole: [string, Uint8Array][] = [
    ["an update", text],
    ["an answer", updateFrame(erased, 1)],
    ["a question", framed([0, 0], vector)],
    ["presence", framed([1], presence)],
    ["a credential", framed([2, 1], Buffer.from("svc_abc"))],
  ];
  for (const [name, bytes] of whole)
    for (let length = 0; length < bytes.length; length += 1) add(`${name} cut at ${length}`, bytes.slice(0, length));
  for (const [name, bytes] of whole) add(`${name} with a byte too many`, [...bytes, 7]);
  for (let length = 0; length < vector.length; length += 1)
    add(`a question whose vector is cut at ${length}`, framed([0, 0], vector.slice(0, length)));
  for (let length = 0; length < presence.length; length += 1)
    add(`presence whose payload is cut at ${length}`, framed([1], presence.slice(0, length)));
  for (let type = 4; type < 120; type += 1) add(`message type ${type}`, [type, 0]);
  for (let step = 3; step < 20; step += 1) add(`sync message ${step}`, [0, step, 1, 0]);
  for (const denied of [0, 2, 3, 127]) add(`auth message ${denied}`, framed([2, denied], Buffer.from("no")));
  for (const json of ["", "{", "[1]", "7", '"x"', "nul", '{"a":', "\u0000"]) {
    add(
      `the presence state ${JSON.stringify(json)}`,
      framed(
        [1],
        bytesOf((encoder) => {
          encoding.writeVarUint(encoder, 1);
          encoding.writeVarUint(encoder, id);
          encoding.writeVarUint(encoder, 1);
          encoding.writeVarString(encoder, json);
        }),
      ),
    );
  }
  const huge = [255, 255, 255, 255, 255, 255, 255, 127];
  for (const head of [[0, 0], [0, 1], [0, 2], [1], [2, 1], [], [0]]) {
    add(`a length beyond 2^53 after ${head.join(" ")}`, [...head, ...huge, 255, 255, 1]);
    add(`a length of 2^55 after ${head.join(" ")}`, [...head, ...huge]);
    add(`a length of 4 GiB after ${head.join(" ")}`, [...head, 128, 128, 128, 128, 16]);
  }
  return frames;
}

/** Valid update frames whose update is cut at each byte. Yjs would apply half of some of them. */
export function cutUpdates(): HostileFrame[] {
  const update = updateOf((document) => {
    const text = document.getText("content.md");
    text.insert(0, "some text that will be cut somewhere");
    text.delete(3, 5);
    text.delete(12, 2);
    document.getText("research.md").insert(0, "x");
  });
  return Array.from({ length: update.length - 1 }, (_, length) => ({ name: `an update cut at ${length}`, bytes: update.slice(0, length) }));
}

/** A small seeded generator, so that a failing frame can be reproduced. */
export function randomFrames(count: number, seed: number): HostileFrame[] {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, (_, at) => ({
    name: `random bytes ${seed}/${at}`,
    bytes: Uint8Array.from({ length: Math.floor(next() * 80) }, (_unused, position) => (position === 0 ? next() * 4 : next() * 256)),
  }));
}
