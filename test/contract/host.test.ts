import { startNodeHost } from "../../server/edge/host/node.ts";
import type { StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { hostBodiesSuite } from "./hostBodies.suite.ts";
import { hostHeadsSuite } from "./hostHeads.suite.ts";
import { hostHttpSuite } from "./hostHttp.suite.ts";
import { hostSocketsSuite } from "./hostSockets.suite.ts";

const hosts: readonly (readonly [string, StartHost])[] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http and ws", startNodeHost],
];
for (const [name, start] of hosts) {
  hostHttpSuite(name, start);
  hostHeadsSuite(name, start);
  hostBodiesSuite(name, start);
  hostSocketsSuite(name, start);
}
