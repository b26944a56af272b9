/** Tests how every host starts and stops. A part of host.suite.ts. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { HostApp, StartHost } from "../../server/edge/host/port.ts";
import { hostFixture, maxBufferedBytes, maxFrameBytes, ok } from "./hostFixture.ts";
import { rawConnection } from "./rawHttp.ts";

export function hostLifetimeSuite(name: string, start: StartHost): void {
  describe(`${name}: lifetime`, () => {
    const on = hostFixture(start);

    it("[HO20] a taken port fails the start with a clear message", async () => {
      const app: HostApp = { handle: on.handle, upgrade: on.upgrade };
      const options = { host: "127.0.0.1", port: on.host.port, maxFrameBytes, maxBufferedBytes, onError: () => undefined };
      await expect(start(app, options)).rejects.toThrow(`cannot listen on 127.0.0.1:${on.host.port}`);
    });

    it("[HO21] after stopListening no client connects, open connections continue, and close ends them", async () => {
      on.handle = async ({ path }) => ok(path);
      on.acceptAll();
      const client = await on.connection();
      client.write("GET /before HTTP/1.1\r\nhost: test\r\n\r\n");
      await client.response();
      const live = await on.socket();
      on.host.stopListening();
      await expect(rawConnection(on.host.port)).rejects.toThrow("ECONNREFUSED");
      expect(live.readyState).toBe(WebSocket.OPEN);
      const closed = once(live, "close");
      await on.host.close();
      await closed;
      await client.ended();
    });
  });
}
