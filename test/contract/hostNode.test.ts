import { startNodeHost } from "../../server/edge/host/node.ts";
import { hostSuite } from "./host.suite.ts";

hostSuite("node:http and ws", startNodeHost);
