/** A name server over UDP with the answers of a test: A, AAAA and aliases, failures, and answers that change. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import ipaddr from "ipaddr.js";

export interface ZoneEntry {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** Canonical name, answered before the addresses. */
  readonly alias?: string;
  /** Answers SERVFAIL. */
  readonly fails?: boolean;
  /** Answer to every second A query. */
  readonly secondly?: ZoneEntry;
}

const types = { a: 1, cname: 5, aaaa: 28 };
const internet = 1;

function toName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function toRecord(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(internet, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([toName(name), fixed, data]);
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

export async function startDns(
  zone: ReadonlyMap<string, ZoneEntry>,
  address: string,
): Promise<{ asked: ReadonlyMap<string, number>; close(): void }> {
  const socket: Socket = createSocket("udp4");
  const asked = new Map<string, number>();
  socket.on("message", (message, peer) => {
    const { name, type, end } = readQuestion(message);
    const queries = (asked.get(name) ?? 0) + (type === types.a ? 1 : 0);
    asked.set(name, queries);
    const first = zone.get(name);
    const entry = first?.secondly !== undefined && queries % 2 === 0 ? first.secondly : first;
    const owner = entry?.alias ?? name;
    const addresses = (type === types.a ? entry?.a : type === types.aaaa ? entry?.aaaa : []) ?? [];
    const records = addresses.map((text) => toRecord(owner, type, Buffer.from(ipaddr.parse(text).toByteArray())));
    if (entry?.alias !== undefined) records.unshift(toRecord(name, types.cname, toName(entry.alias)));
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    // The flags: a response, recursion desired and available. The code tells whether the name exists.
    head.writeUInt16BE(0x8180 | (entry === undefined ? 3 : entry.fails === true ? 2 : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, message.subarray(12, end), ...records]), peer.port, peer.address);
  });
  socket.bind(53, address);
  await once(socket, "listening");
  return { asked, close: () => socket.close() };
}
