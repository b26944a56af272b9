/**
 * ScalePage writes docs/scale.md: the measured costs, and what one node, 10,000 and 1,000,000 people follow from them.
 *
 * Every number on the page is a measured figure, an assumption of the table, or calculated from them here.
 */
import type { Row } from "../live/row.ts";
import type { Costs } from "./costs.ts";

/** What the calculation assumes about people and machines. */
const assumed = {
  updatesPerSecond: 1,
  peoplePerDocument: 2,
  plannedShare: 0.6,
  nodeMemoryMB: 4096,
  partitions: 64,
  keptBatches: 15_000,
} as const;

const places = (value: number) => (value >= 100 ? 0 : value >= 10 ? 1 : 2);
const show = (value: number, digits = places(value)) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const whole = (value: number) => show(value, 0);
/** Two significant digits: a calculated number of machines is not exact. */
const about = (value: number) => Number(value.toPrecision(2)).toLocaleString("en");

/** Rows of `npm run bench` that measure the same as an input, with the unit of that input. */
const sameAsRow: Readonly<
  Record<string, { readonly scenario: string; readonly measure: string; readonly toInput: (ours: number) => number }>
> = {
  keystroke: {
    scenario: "500 documents × 2 clients, one update a second each",
    measure: "deliveries per CPU second ÷ y-websocket",
    toInput: (perSecond) => 1e6 / perSecond,
  },
  process: { scenario: "idle process", measure: "MB resident after start", toInput: (megabytes) => megabytes },
};
/** Above this ratio, two measurements of the same thing do not agree. */
const maxRatio = 1.25;

/** One line for each machine and version of Node, with the groups that were measured there. */
function listMachines(figures: Costs["figures"]): string {
  const groups = new Map<string, Set<string>>();
  for (const { machine, node, from } of Object.values(figures)) {
    const place = `${machine}, Node ${node.replace(/^v/, "")}`;
    groups.set(place, (groups.get(place) ?? new Set()).add(`\`${from}\``));
  }
  return [...groups].map(([place, names]) => `- ${place}: ${[...names].join(", ")}`).join("\n");
}

/** One sentence for each input that differs from a row of the last benchmark. */
function findContradictions(figures: Costs["figures"], rows: readonly Row[]): string {
  const sentences = Object.entries(sameAsRow).flatMap(([key, { scenario, measure, toInput }]) => {
    const figure = figures[key];
    const ours = rows.find((row) => row.scenario === scenario && row.measure === measure)?.figures.ours;
    if (figure === undefined || ours === undefined) return [];
    const inRow = toInput(ours);
    if (Math.max(figure.value / inRow, inRow / figure.value) <= maxRatio) return [];
    return [
      `\`${key}\` is ${show(figure.value)} ${figure.unit} here and ${show(inRow)} ${figure.unit} in [bench.md](bench.md) ("${scenario}").`,
    ];
  });
  if (sentences.length === 0) return "";
  return `These inputs do not agree with the last benchmark; measure their group again:\n${sentences.join("\n")}\n\n`;
}

/** `rows`: the last results of `npm run bench`. */
export function toScalePage({ figures }: Costs, rows: readonly Row[]): string {
  const of = (key: string): number => {
    const figure = figures[key];
    if (figure === undefined) throw new Error(`bench/costs.json has no figure ${key}; run npm run bench:costs`);
    return figure.value;
  };
  const inputs = Object.entries(figures).map(
    ([key, { value, unit, what, from, date }]) => `| \`${key}\` | ${show(value)} ${unit} | ${what} | \`${from}\` | ${date} |`,
  );
  const { updatesPerSecond, peoplePerDocument, plannedShare, nodeMemoryMB, partitions, keptBatches } = assumed;
  const perCore = plannedShare * 1e6;

  const peopleByCpu = perCore / (updatesPerSecond * of("keystroke"));
  const memoryPerPerson = of("connection") + of("document") / peoplePerDocument;
  const peopleByMemory = ((nodeMemoryMB - of("process")) * 1000) / memoryPerPerson;
  const typing = 20;
  const readers = (perCore / typing - of("keystroke")) / of("delivery");

  function fleet(people: number) {
    const updates = people * updatesPerSecond;
    const documents = people / peoplePerDocument;
    const nodeCores = (updates * of("keystrokeOnTwo")) / 1e6;
    const redisCores = (updates * of("redisKeystroke")) / 1e6;
    return {
      updates,
      documents,
      nodeCores,
      nodes: Math.ceil(nodeCores / plannedShare),
      redisCores,
      masters: Math.ceil(redisCores / plannedShare),
      memoryGB: (documents * keptBatches * of("appendMemory")) / 1e9,
      network: (updates * of("appendNetwork") * 8) / 1e9,
      diskMB: (updates * of("appendDisk")) / 1e6,
      messageCores: (updates * of("messageCpu")) / 1e6,
    };
  }
  const steps = (people: number) => {
    const f = fleet(people);
    return [
      `| updates a second | ${whole(people)} × ${updatesPerSecond} | ${whole(f.updates)} |`,
      `| documents | ${whole(people)} ÷ ${peoplePerDocument} | ${whole(f.documents)} |`,
      `| cores of nodes | ${whole(f.updates)} × \`keystrokeOnTwo\` ${show(of("keystrokeOnTwo"))} µs | ${show(f.nodeCores)} |`,
      `| nodes of one core | ${show(f.nodeCores)} ÷ ${plannedShare} | ${whole(f.nodes)} |`,
      `| cores of Redis | ${whole(f.updates)} × \`redisKeystroke\` ${show(of("redisKeystroke"))} µs | ${show(f.redisCores)} |`,
      `| masters | ${show(f.redisCores)} ÷ ${plannedShare} | ${whole(f.masters)} |`,
      `| memory of the kept batches, at most | ${whole(f.documents)} × ${whole(keptBatches)} × \`appendMemory\` ${show(of("appendMemory"))} bytes | ${show(f.memoryGB)} GB |`,
      `| network of Redis for appends | ${whole(f.updates)} × \`appendNetwork\` ${show(of("appendNetwork"))} bytes × 8 | ${show(f.network)} Gbit/s |`,
      `| append-only files | ${whole(f.updates)} × \`appendDisk\` ${show(of("appendDisk"))} bytes | ${show(f.diskMB)} MB/s |`,
      `| cores for bus messages on one master | ${whole(f.updates)} × \`messageCpu\` ${show(of("messageCpu"))} µs | ${show(f.messageCores)} |`,
    ].join("\n");
  };
  const ten = fleet(10_000);
  const million = fleet(1_000_000);
  const tenBottleneck = ten.nodeCores > ten.redisCores ? "the processor of the nodes" : "the processor of Redis";
  const limits = [
    {
      updates: perCore / of("messageCpu"),
      row: `every bus message passes the master of partition 0, and a Cluster forwards it to all masters | ${plannedShare} × 1,000,000 µs ÷ \`messageCpu\` ${show(of("messageCpu"))} µs, before forwarding`,
    },
    {
      updates: (partitions * perCore) / of("redisKeystroke"),
      row: `a store has ${partitions} partitions, so at most ${partitions} masters | ${partitions} × ${plannedShare} × 1,000,000 µs ÷ \`redisKeystroke\` ${show(of("redisKeystroke"))} µs`,
    },
    {
      updates: (perCore / of("redisIdleCpu") / 2) * partitions * peoplePerDocument * updatesPerSecond,
      row: `every open document is polled once a second by each node that has it open, also while nobody types | ${partitions} × ${plannedShare} × 1,000,000 µs ÷ (2 × \`redisIdleCpu\` ${show(of("redisIdleCpu"))} µs) documents × ${peoplePerDocument} people`,
    },
  ].sort((a, b) => a.updates - b.updates);
  const caution =
    of("merged") > 1.2
      ? `The group \`redis\` was measured on a busy machine: updates waited, and ${show(of("merged"))} of them shared an append (\`merged\`). Its values are for one append and therefore too\nhigh for a keystroke; measure it again.\n\n`
      : "";
  const withoutOther = (1e6 * of("appendCpu")) / 1e6;
  const nodesAlone = Math.ceil((1e6 * of("keystrokeOnRedis")) / perCore);

  return `# Scale

\`\`\`sh
npm run bench:costs            # measures all inputs and writes this page
npm run bench:costs -- redis   # measures one group of inputs again
\`\`\`

This page says what one node carries, and what 10,000 and 1,000,000 people who edit at once need. It is calculated from measured figures. The arithmetic
is in the tables, and \`bench/growth/scalePage.ts\` computes it, so a new measurement changes every number that depends on it.

## Inputs

Measured with the load generator on the same machine. The column "group" is the argument of the command above.

${listMachines(figures)}

| input | value | of | group | date |
|---|---|---|---|---|
${inputs.join("\n")}

${caution}${findContradictions(figures, rows)}| assumption | value | reason |
|---|---|---|
| updates of a person | ${updatesPerSecond} a second | the mean over bursts and pauses of a person who writes |
| people in a document | ${peoplePerDocument} | the commonest case; more people cost one \`delivery\` each |
| planned share of a core | ${plannedShare} | the rest is for peaks, checkpoints and restarts |
| memory of a node | ${whole(nodeMemoryMB)} MB | a small machine |
| batches kept for a document | ${whole(keptBatches)} | 1.5 × \`document.keptBatches\`, the most that the log keeps ([limits.md](limits.md)) |
| the people of a document are on different nodes | always | a load balancer that does not know documents, and many nodes |

A node uses one core: everything except text comparison and rendering runs on one thread. A larger machine runs several nodes.

## What one node carries

On the embedded store:

| question | calculation | people |
|---|---|---|
| writing, by processor | ${plannedShare} × 1,000,000 µs ÷ (${updatesPerSecond} × \`keystroke\` ${show(of("keystroke"))} µs) | ${about(peopleByCpu)} |
| connected, by memory | (${whole(nodeMemoryMB)} MB − \`process\` ${show(of("process"))} MB) ÷ (\`connection\` ${show(of("connection"))} kB + \`document\` ${show(of("document"))} kB ÷ ${peoplePerDocument}) | ${about(peopleByMemory)} |
| reading one document in which ten people type two characters a second | (${plannedShare} × 1,000,000 µs ÷ ${typing} − \`keystroke\`) ÷ \`delivery\` ${show(of("delivery"))} µs | ${about(readers)} |

The processor is the limit for people who write, by a factor of ${about(peopleByMemory / peopleByCpu)}. \`sockets.article\` limits the readers of one document on a node to 2,000.
A million stored articles of 1 kB take ${show((of("articleDisk") * 1e6) / 1e9)} GB on disk (\`articleDisk\`), or ${show((of("articleMemory") * 1e6) / 1e9)} GB of memory in Redis (\`articleMemory\`).
The cost of an operation depends little on their number: [performance.md](performance.md) has the figures.

## 10,000 people

| step | calculation | result |
|---|---|---|
${steps(10_000)}

**${whole(ten.nodes)} nodes and ${ten.masters === 1 ? "one Redis" : `a Redis Cluster of ${ten.masters} masters`}.** The bottleneck is ${tenBottleneck}. For a keystroke Redis
runs the append script, passes the message to the other node, reads the log for it, and answers the polls of both nodes. One process alone
appended ${about(of("appends"))} times a second (\`appends\`), with ${show(of("appendCpu"))} µs of Redis each: \`appendfsync always\` and the round trip limit one process before Redis is full.

What comes first when this grows: a load balancer that sends all people of a document to one node. It saves the message, the read and one of the
two polls. The nodes then need \`keystrokeOnRedis\` ${show(of("keystrokeOnRedis"))} µs for a keystroke; on two nodes it takes \`keystrokeOnTwo\` ${show(of("keystrokeOnTwo"))} µs.

## 1,000,000 people

| step | calculation | result |
|---|---|---|
${steps(1_000_000)}

Three limits stand in the way, the lowest first:

| limit | calculation | updates a second |
|---|---|---|
${limits.map(({ updates, row }) => `| ${row} | ${about(updates)} |`).join("\n")}

The next changes to the system, and what each would save:

| step | effect |
|---|---|
| **documents on one node**, by the load balancer or by forwarding between nodes | ${whole(nodesAlone)} nodes in place of ${whole(million.nodes)}; Redis pays the append alone, ${show(withoutOther)} cores in place of ${show(million.redisCores)} |
| **partitioned messages**: the channel of a document in the slot of its partition (\`SPUBLISH\`) | removes the limit of the messages: they are spread over the masters like the appends |
| **appends of one tick in one script** for all documents of a partition | the script's fixed cost is shared, as the embedded store shares one transaction |
| **streams over several stores**: a directory that maps a workspace to one of several Redis Clusters | removes the limit of the partitions; a workspace is the unit that moves |
| **regional relays** that hold one connection for each document and fan out to readers near them | readers cost \`delivery\` in their region; the writer's node sends one frame for each region |

None of these steps changes what a client sees: an update is durable before it is relayed, and a lost message delays other nodes by at most one poll.

## What is not in the figures

- TLS, which a proxy ends, and the network between machines. All processes ran on one machine, so the latencies are those of loopback.
- Search. Its index adds work to each commit, in a thread of its own; the cost against the number of articles is measured by \`npm run bench -- "number of articles"\`.
- Runs and webhooks: their cost depends on a model and on receivers.
`;
}
