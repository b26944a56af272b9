import { startUwsHost } from "../../server/edge/host/uws.ts";
import { hostSuite } from "./host.suite.ts";

hostSuite("uWebSockets.js", startUwsHost);
