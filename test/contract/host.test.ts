import { startNodeHost } from "../../server/host/node.ts";
import type { StartHost } from "../../server/host/port.ts";
import { startUwsHost } from "../../server/host/uws.ts";
import { hostHttpSuite } from "./hostHttp.suite.ts";
import { hostSocketsSuite } from "./hostSockets.suite.ts";

const hosts: readonly (readonly [string, StartHost])[] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http and ws", startNodeHost],
];
for (const [name, start] of hosts) {
  hostHttpSuite(name, start);
  hostSocketsSuite(name, start);
}
