/** Tests texts of public pages that need too much work: they are stopped by their limit of time, in real threads. */
import { describe, expect, test } from "vitest";
import { createPageRenderer } from "../../server/edge/pages/pageRenderer.ts";
import { findHtml as find, textIn as textOf } from "../support/htmlTree.ts";
import { findHarm, usePages } from "./hostilePageFixture.ts";

const show = usePages();

describe("tangled documents", () => {
  test("[PL14] a text that takes too long is shown as plain text, and other pages are served meanwhile", async () => {
    const nested = show("<b>".repeat(20_000));
    const quotes = show(">".repeat(36_000));
    const other = await show("Nothing special.");
    expect(other.html).toContain('<p dir="auto">Nothing special.</p>');
    for (const page of [await nested, await quotes]) {
      const [main = { type: "none" }] = find(page.tree, "main");
      expect(findHarm(main)).toEqual([]);
      expect(find(main, "pre")[0]?.properties).toEqual({ className: ["plain"], dir: "auto" });
    }
    expect(textOf(find((await nested).tree, "pre")[0] ?? { type: "none" })).toBe("<b>".repeat(20_000));
    const { html } = await show("long ".repeat(220_000));
    expect(html).toContain('<pre class="plain" dir="auto">long long ');
  });

  test("[PL14] a text that could not be laid out is not tried again at the next view", async () => {
    const renderer = createPageRenderer();
    const title = "Tangled";
    const tangled = ">".repeat(36_000);
    const view = async (workspaceId = "ws", contentHash = "tangled") => {
      const rendered = await renderer.render({ workspaceId, contentHash, title }, async () => Buffer.from(`${tangled}${workspaceId}`));
      return { plain: rendered?.html.startsWith('<pre class="plain"'), provisional: rendered?.isProvisional };
    };
    const first = await view();
    // Enough texts that are too long, so that the first one is removed from the cache.
    for (let count = 0; count < 17; count += 1) {
      await renderer.render({ workspaceId: "ws", contentHash: `long ${count}`, title }, async () => Buffer.alloc(1024 * 1024 + 1, "x"));
    }
    expect(renderer.recall({ contentHash: "tangled", title })).toBeUndefined();
    // All threads are busy, so another attempt would have to wait for one of these.
    const order: string[] = [];
    const others = ["one", "two"].map((name) => view(name, name).then(() => order.push("another text")));
    const second = await view().finally(() => order.push("the same text"));
    expect(order).toEqual(["the same text"]);
    await Promise.all(others);
    await renderer.close();
    expect([first.plain, second.plain, first.provisional, second.provisional]).toEqual([true, true, undefined, undefined]);
  });

  /** The test waits for a turn. Starting the threads first keeps their start out of the wait. */
  const startThreads = () => Promise.all(["one", "two"].map((name) => show(`Warm ${name}.`, name, name)));

  test("[PL16] no text that one workspace publishes delays the pages of other workspaces", async () => {
    await startThreads();
    const order: string[] = [];
    const open = async (name: string, markdown: string, workspaceId: string) => {
      const page = await show(markdown, name, workspaceId);
      order.push(name);
      return page;
    };
    const hostile = Array.from({ length: 3 }, (_, at) => open("hostile", `${at}${"[a](".repeat(8000)}`, "hostile"));
    const other = await open("other", "Something **else**.", "friendly");
    expect(other.html).toContain("<strong>else</strong>");
    expect(order).toEqual(["other"]);
    await Promise.all(hostile);
  });

  test("[PL16] a page whose turn does not come is plain for that request, and no cache keeps it", async () => {
    await startThreads();
    const waiting = Array.from({ length: 30 }, (_, at) => show(`${at} **bold** ${"[a](".repeat(1000)}`, "Many", "busy"));
    const pages = await Promise.all(waiting);
    const plain = pages.filter(({ html }) => html.includes('<pre class="plain"'));
    expect(plain.length).toBeGreaterThan(0);
    expect(plain.length).toBeLessThan(30);
    for (const { headers } of plain) {
      expect(headers).not.toHaveProperty("etag");
      expect(headers["cache-control"]).toBe("no-store");
    }
    for (const { headers } of pages.filter((page) => !plain.includes(page))) expect(headers).toHaveProperty("etag");
  });
});
