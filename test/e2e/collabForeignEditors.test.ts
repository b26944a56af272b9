/** The refusals that editors get which were made for another protocol or another kind of document. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { type CollabServer, startCollabServer } from "../support/collabServer.ts";

let server: CollabServer;
let denials: string[];
const hocuspocusProviders: HocuspocusProvider[] = [];

beforeEach(async () => {
  denials = [];
  vi.spyOn(console, "warn").mockImplementation((...words: unknown[]) => void denials.push(words.join(" ")));
  server = await startCollabServer(startUwsHost);
  server.roles.set("ada", "write");
});
afterEach(async () => {
  for (const provider of hocuspocusProviders.splice(0)) {
    provider.configuration.websocketProvider.destroy();
    provider.destroy();
  }
  await server.close();
  expect(server.errors).toEqual([]);
  vi.restoreAllMocks();
});

const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });

/** The close code and reason that a stock Hocuspocus client receives. */
function hocuspocusCloseOf(path: string, { name, token }: { name: string; token: string | null }) {
  const websocketProvider = new HocuspocusProviderWebsocket({ url: server.url + path, WebSocketPolyfill: WebSocket });
  const provider = new HocuspocusProvider({ websocketProvider, name, token });
  hocuspocusProviders.push(provider);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    websocketProvider.on("close", ({ event }: { event: { code: number; reason: string } }) => resolve(event));
  });
  provider.attach();
  return closed;
}

it("[RT50] a Hocuspocus client gets a reason that names the protocol, with and without a ticket", async () => {
  const withTicket = "/art_one?ticket=tkt_ada@article:art_one";
  const cases = [
    { path: withTicket, name: "art_one", token: null },
    { path: withTicket, name: "art_01J9ZQ4T8X2Y6M3K7N5R1W0VBC", token: "tkt_ada@article:art_one" },
    // The length byte of these names is also a message type of y-websocket.
    { path: withTicket, name: "abc", token: null },
    { path: withTicket, name: "a", token: null },
    { path: "/art_one", name: "art_one", token: "tkt_ada@article:art_one" },
  ];
  for (const { path, ...client } of cases) {
    const { code, reason } = await hocuspocusCloseOf(path, client);
    expect([code, reason], JSON.stringify(client)).toEqual([
      4400,
      "this server speaks the y-websocket protocol, not Hocuspocus: connect with WebsocketProvider of y-websocket 3.1",
    ]);
  }
});

it("[RT51] the refusal of a rich-text binding says that a document is Markdown in three Y.Text roots", async () => {
  const roots = ["prosemirror", "default", "content.md"];
  for (const root of roots) {
    denials = [];
    const provider = server.provider("ada");
    await until(() => expect(provider.synced).toBe(true));
    const closed = new Promise<{ code: number; reason: string }>((resolve) => provider.once("closed", resolve));
    const write = (text: string) => {
      // y-prosemirror does this for a new paragraph: it adds an element with text to its fragment.
      const paragraph = new Y.XmlElement("paragraph");
      paragraph.insert(0, [new Y.XmlText(text)]);
      provider.doc.getXmlFragment(root).push([paragraph]);
    };
    write("one");
    await until(() => expect(denials).toHaveLength(1));
    expect(denials[0], root).toContain("A document here is Markdown in three Y.Text roots: content.md, outline.md, research.md.");
    expect(denials[0], root).toContain(root === "content.md" ? "nested type" : JSON.stringify(root));
    write("two");
    write("three");
    const { code, reason } = await closed;
    expect(code, root).toBe(4400);
    expect(reason, root).toContain("A document here is Markdown in three Y.Text roots: content.md, outline.md, research.md.");
    provider.destroy();
  }
  expect(server.log.batches("art_one")).toEqual([]);
});
