/**
 * ScalePage writes docs/scale.md: the measured costs, and what one node, 2,000, 10,000 and 1,000,000 people need.
 *
 * Every number on the page is a measured figure, an assumption of the table, or calculated from them here.
 */
import type { Row } from "../live/row.ts";
import type { Costs } from "./costs.ts";
import { about, readInputs, show, whole } from "./scaleInputs.ts";

/** What the calculation assumes about people and machines. */
const assumed = {
  updatesPerSecond: 1,
  peoplePerDocument: 2,
  plannedShare: 0.6,
  nodeMemoryMB: 4096,
  partitions: 64,
  keptBatches: 15_000,
} as const;

/** `rows`: the last results of `npm run bench`. */
export function toScalePage(costs: Costs, results: readonly Row[]): string {
  const { of, machines, rows, notes } = readInputs(costs, results);
  const { updatesPerSecond, peoplePerDocument, plannedShare, nodeMemoryMB, partitions, keptBatches } = assumed;
  const perCore = plannedShare * 1e6;
  const core = `${plannedShare} × 1,000,000 µs`;

  const peopleByKeystroke = (key: string) => perCore / (updatesPerSecond * of(key));
  const peopleByAppends = of("appends") / updatesPerSecond;
  const peopleByMemory = ((nodeMemoryMB - of("process")) * 1000) / (of("connection") + of("document") / peoplePerDocument);
  const oneNode = peopleByKeystroke("keystroke");
  const typing = 20;
  const readers = (perCore / typing - of("keystroke")) / of("delivery");

  /** Nodes on Redis for a number of updates a second, if a keystroke costs the input `key`. */
  const nodesFor = (updates: number, key: string) => Math.ceil(Math.max((updates * of(key)) / perCore, updates / of("appends")));

  function fleet(people: number) {
    const updates = people * updatesPerSecond;
    const documents = people / peoplePerDocument;
    const nodeCores = (updates * of("keystrokeOnTwo")) / 1e6;
    const redisCores = (updates * of("redisKeystroke")) / 1e6;
    return {
      people,
      updates,
      documents,
      nodeCores,
      nodes: nodesFor(updates, "keystrokeOnTwo"),
      nodesWithAffinity: nodesFor(updates, "keystrokeOnRedis"),
      nodesByCpu: Math.ceil(nodeCores / plannedShare),
      nodesByAppends: Math.ceil(updates / of("appends")),
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
      `| nodes, by processor | ${show(f.nodeCores)} ÷ ${plannedShare} | ${whole(f.nodesByCpu)} |`,
      `| nodes, by appends | ${whole(f.updates)} ÷ \`appends\` ${whole(of("appends"))} a second | ${whole(f.nodesByAppends)} |`,
      `| cores of Redis | ${whole(f.updates)} × \`redisKeystroke\` ${show(of("redisKeystroke"))} µs | ${show(f.redisCores)} |`,
      `| masters | ${show(f.redisCores)} ÷ ${plannedShare} | ${whole(f.masters)} |`,
      `| memory of the kept batches, at most | ${whole(f.documents)} × ${whole(keptBatches)} × \`appendMemory\` ${show(of("appendMemory"))} bytes | ${show(f.memoryGB)} GB |`,
      `| network of Redis for appends | ${whole(f.updates)} × \`appendNetwork\` ${show(of("appendNetwork"))} bytes × 8 | ${show(f.network)} Gbit/s |`,
      `| append-only files | ${whole(f.updates)} × \`appendDisk\` ${show(of("appendDisk"))} bytes | ${show(f.diskMB)} MB/s |`,
      `| cores for bus messages on one master | ${whole(f.updates)} × \`messageCpu\` ${show(of("messageCpu"))} µs | ${show(f.messageCores)} |`,
    ].join("\n");
  };
  const two = fleet(2000);
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

  return `# Scale

\`\`\`sh
npm run bench:costs            # measures all inputs and writes this page
npm run bench:costs -- redis   # measures one group of inputs again
npm run bench:costs -- page    # writes this page from the recorded inputs
\`\`\`

This page says what one node carries, and what 2,000, 10,000 and 1,000,000 people who edit at once need. It is calculated from measured figures, the
[inputs](#inputs), and from assumptions, such as ${updatesPerSecond === 1 ? "one update" : `${updatesPerSecond} updates`} a second for a person who writes. The arithmetic is in the tables, and \`bench/growth/scalePage.ts\`
computes it, so a new measurement changes every number that depends on it. [operate.md](operate.md) has the settings for many people, and the metrics that show
that a node is full. [bench.md](bench.md) compares the server with others.

## What one node carries

A node uses one core: everything except text comparison and rendering runs on one thread. **The embedded store belongs to exactly one node. More people than one
node carries therefore need Redis, also on one machine.** A larger machine runs several nodes on Redis.

| question | calculation | people |
|---|---|---|
| writing, embedded store | ${core} ÷ (${updatesPerSecond} × \`keystroke\` ${show(of("keystroke"))} µs) | ${about(oneNode)} |
| writing, Redis, all people of a document on this node | the lower of ${core} ÷ (${updatesPerSecond} × \`keystrokeOnRedis\` ${show(of("keystrokeOnRedis"))} µs) and \`appends\` ${whole(of("appends"))} ÷ ${updatesPerSecond} | ${about(Math.min(peopleByKeystroke("keystrokeOnRedis"), peopleByAppends))} |
| writing, Redis, the people of a document on different nodes | ${core} ÷ (${updatesPerSecond} × \`keystrokeOnTwo\` ${show(of("keystrokeOnTwo"))} µs) | ${about(peopleByKeystroke("keystrokeOnTwo"))} |
| connected, by memory | (${whole(nodeMemoryMB)} MB − \`process\` ${show(of("process"))} MB) ÷ (\`connection\` ${show(of("connection"))} kB + \`document\` ${show(of("document"))} kB ÷ ${peoplePerDocument}) | ${about(peopleByMemory)} |
| reading one document in which ten people type two characters a second | (${core} ÷ ${typing} − \`keystroke\`) ÷ \`delivery\` ${show(of("delivery"))} µs | ${about(readers)} |

**So one node on the embedded store carries about ${about(oneNode)} people who write at the same time**, each with ${updatesPerSecond === 1 ? "one update" : `${updatesPerSecond} updates`} a second and ${peoplePerDocument} to a document.
The processor is the limit for people who write, by a factor of ${about(peopleByMemory / oneNode)}: a person who only reads costs memory and deliveries. The groups of inputs were measured in
separate runs, so compare the first row with the next two only roughly. \`sockets.article\` limits the open sockets of one document on a node to 2,000.
A million stored articles of 1 kB take ${show((of("articleDisk") * 1e6) / 1e9)} GB on disk (\`articleDisk\`), or ${show((of("articleMemory") * 1e6) / 1e9)} GB of memory in Redis (\`articleMemory\`).
The cost of an operation depends little on their number: [performance.md](performance.md) has the figures.

## 2,000 people

${two.updates <= oneNode ? "One node on the embedded store carries them." : `If at most ${about(oneNode)} of them write at the same moment, one node on the embedded store carries them. If all of them write, they need Redis:`}

| step | calculation | result |
|---|---|---|
| updates a second | ${whole(two.people)} × ${updatesPerSecond} | ${whole(two.updates)} |
| nodes, any node for any person | ${whole(two.updates)} × \`keystrokeOnTwo\` ${show(of("keystrokeOnTwo"))} µs ÷ ${core} | ${whole(two.nodesByCpu)} |
| nodes, each document on one node: by processor | ${whole(two.updates)} × \`keystrokeOnRedis\` ${show(of("keystrokeOnRedis"))} µs ÷ ${core} | ${whole(Math.ceil((two.updates * of("keystrokeOnRedis")) / perCore))} |
| nodes, at least: by appends | ${whole(two.updates)} ÷ \`appends\` ${whole(of("appends"))} a second | ${whole(two.nodesByAppends)} |
| cores of Redis | ${whole(two.updates)} × \`redisKeystroke\` ${show(of("redisKeystroke"))} µs | ${show(two.redisCores)} |
| memory of the kept batches in Redis, at most | ${whole(two.documents)} × ${whole(keptBatches)} × \`appendMemory\` ${show(of("appendMemory"))} bytes | ${show(two.memoryGB)} GB |
| memory of the connections, all nodes | ${whole(two.people)} × \`connection\` ${show(of("connection"))} kB + ${whole(two.documents)} × \`document\` ${show(of("document"))} kB | ${show((two.people * of("connection") + two.documents * of("document")) / 1000)} MB |

**${two.masters === 1 ? "One Redis" : `A Redis Cluster of ${two.masters} masters`} and ${whole(two.nodes)} nodes, or ${whole(two.nodesWithAffinity)} if the proxy sends all people of a document to one node** ([how](operate.md#several-nodes)). Each needs a core, and Redis one of its own. With
one node more, the others carry everybody while one is stopped.

What to set; [operate.md](operate.md#settings-for-many-people) has the reasons:

| setting | for 2,000 people |
|---|---|
| \`REDIS_URL\`, \`SVC_SECRET_KEY\`, \`BASE_URL\` | the same on all nodes; Redis with \`appendonly yes\`, \`appendfsync always\`, \`maxmemory-policy noeviction\` |
| \`TRUST_PROXY\` | the number of proxies, otherwise everybody shares the limits of one address |
| \`rate.auth\` in \`LIMITS\` | \`{"count":600,"seconds":60,"burst":2000}\`, if most people sign in from one address |
| \`sockets.article\`, \`awareness.room\` in \`LIMITS\` | nothing, unless all of them open one article: then 5,000 and 8 MiB |
| proxy | \`hash $uri consistent\` for \`/collab/\`, \`worker_connections 16384\`, \`worker_rlimit_nofile 32768\` |
| file descriptors of a node | a hard limit of 16,384 (\`ulimit -Hn\`) |

## 10,000 people

| step | calculation | result |
|---|---|---|
${steps(10_000)}

**${whole(ten.nodes)} nodes and ${ten.masters === 1 ? "one Redis" : `a Redis Cluster of ${ten.masters} masters`}.** The bottleneck is ${tenBottleneck}. For a keystroke Redis
runs the append script, passes the message to the other node, reads the log for it, and answers the polls of both nodes. One process alone
appended ${about(of("appends"))} times a second (\`appends\`), with ${show(of("appendCpu"))} µs of Redis each: \`appendfsync always\` and the round trip limit one process before Redis is full.

What comes first when this grows: a load balancer that [sends all people of a document to one node](operate.md#several-nodes). It saves the message, the read and one of the
two polls. A keystroke then costs the nodes \`keystrokeOnRedis\` ${show(of("keystrokeOnRedis"))} µs instead of \`keystrokeOnTwo\` ${show(of("keystrokeOnTwo"))} µs, so that ${whole(ten.nodesWithAffinity)} nodes carry 10,000 people.

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
| **documents on one node**, by the load balancer or by forwarding between nodes | ${whole(million.nodesWithAffinity)} nodes in place of ${whole(million.nodes)}; Redis saves the message, the read of the other node and its poll. What a keystroke then costs Redis was not measured |
| **partitioned messages**: the channel of a document in the slot of its partition (\`SPUBLISH\`) | removes the limit of the messages: they are spread over the masters like the appends |
| **appends of one tick in one script** for all documents of a partition | the script's fixed cost is shared, as the embedded store shares one transaction |
| **streams over several stores**: a directory that maps a workspace to one of several Redis Clusters | removes the limit of the partitions; a workspace is the unit that moves |
| **regional relays** that hold one connection for each document and fan out to readers near them | readers cost \`delivery\` in their region; the writer's node sends one frame for each region |

None of these steps changes what a client sees: an update is durable before it is relayed, and a lost message delays other nodes by at most one poll.

## Inputs

Measured with the load generator on the same machine. The column "group" is the argument of the command above.

${machines}

| input | value | of | group | date |
|---|---|---|---|---|
${rows}

${notes}| assumption | value | reason |
|---|---|---|
| updates of a person | ${updatesPerSecond} a second | the mean over bursts and pauses of a person who writes |
| people in a document | ${peoplePerDocument} | the commonest case; more people cost one \`delivery\` each |
| planned share of a core | ${plannedShare} | the rest is for peaks, checkpoints and restarts |
| memory of a node | ${whole(nodeMemoryMB)} MB | a small machine |
| batches kept for a document | ${whole(keptBatches)} | 1.5 × \`document.keptBatches\`, the most that the log keeps ([limits.md](limits.md)) |
| the people of a document are on different nodes | unless the page says otherwise | a load balancer that does not know documents, and many nodes |

## What is not in the figures

- TLS, which a proxy ends, and the network between machines. All processes ran on one machine, so the latencies are those of loopback.
- Search. Its index adds work to each commit, in a thread of its own; the cost against the number of articles is measured by \`npm run bench -- "number of articles"\`.
- Runs and webhooks: their cost depends on a model and on receivers.
`;
}
