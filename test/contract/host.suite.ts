/** Tests what every host must do. hostUws.test.ts and hostNode.test.ts run this suite. */
import type { StartHost } from "../../server/edge/host/port.ts";
import { hostBodiesSuite } from "./hostBodies.suite.ts";
import { hostHeadsSuite } from "./hostHeads.suite.ts";
import { hostHttpSuite } from "./hostHttp.suite.ts";
import { hostLifetimeSuite } from "./hostLifetime.suite.ts";
import { hostSocketsSuite } from "./hostSockets.suite.ts";
import { hostStreamsSuite } from "./hostStreams.suite.ts";
import { hostTopicsSuite } from "./hostTopics.suite.ts";

export function hostSuite(name: string, start: StartHost): void {
  hostHttpSuite(name, start);
  hostHeadsSuite(name, start);
  hostBodiesSuite(name, start);
  hostStreamsSuite(name, start);
  hostSocketsSuite(name, start);
  hostTopicsSuite(name, start);
  hostLifetimeSuite(name, start);
}
