/** The y-websocket server with y-redis: nodes share documents through one Redis. Settings: PORT, REDIS_PORT. */
import { createServer } from "node:http";
import { setPersistence, setupWSConnection } from "@y/websocket-server/utils";
import WebSocket from "ws";
import { RedisPersistence } from "y-redis";

const persistence = new RedisPersistence({ redisOpts: { host: "127.0.0.1", port: Number(process.env.REDIS_PORT) } });
setPersistence({
  provider: persistence,
  bindState: (name, document) => persistence.bindState(name, document),
  // Without this a document could not be opened a second time on the node that closed it.
  async writeState(name) {
    await persistence.closeDoc(name);
  },
});
const sockets = new WebSocket.Server({ noServer: true });
sockets.on("connection", setupWSConnection);
const server = createServer();
server.on("upgrade", (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit("connection", opened, request));
});
server.listen(Number(process.env.PORT), "127.0.0.1");
