/** Runs the minimal relay: a server that only forwards every frame to everyone in the room. */
import * as uws from "uWebSockets.js";

const { App, us_socket_local_port } = uws as unknown as typeof uws & { us_socket_local_port(socket: unknown): number };

interface Data {
  readonly room: string;
}

const app = App();
app.ws<Data>("/*", {
  maxPayloadLength: 4 << 20,
  maxBackpressure: 64 << 20,
  upgrade(response, request, context) {
    const head = ["sec-websocket-key", "sec-websocket-protocol", "sec-websocket-extensions"].map((name) => request.getHeader(name));
    response.upgrade({ room: request.getUrl() }, head[0] ?? "", head[1] ?? "", head[2] ?? "", context);
  },
  open(socket) {
    socket.subscribe(socket.getUserData().room);
  },
  message(socket, message) {
    app.publish(socket.getUserData().room, message, true);
  },
});
app.listen("127.0.0.1", Number(process.env.PORT ?? 0), (listening) => {
  if (listening) process.send?.(us_socket_local_port(listening));
});
process.on("message", () => process.exit(0));
