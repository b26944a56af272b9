/** Tests the answers for public pages: headers, dates, pictures, limits, and a store that is away. */
import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { type Storage, StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { createManualTime } from "../support/manualTime.ts";
import { domainStorages, openMemory } from "../support/storages.ts";
import { addWorkspace, createCall } from "./articleFixture.ts";
import { createPublishingNode, usePublishing } from "./publishingFixture.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe.each(domainStorages())("public pages on %s", (_name, openStorage) => {
  const rig = usePublishing(openStorage);
  const { call, create, append } = rig;

  test("[PL17] an answer for a missing page varies by Accept and says so, and a page does not", async () => {
    const { node, articleId } = rig;
    const { link } = await node.links.put(call(), articleId, {});
    expect((await node.page(`/p/${link.slug}`)).headers.vary).toBeUndefined();
    await node.links.unpublish(call(), articleId);
    for (const path of [`/p/${link.slug}`, "/p/never-known", "/p/Not--A..Slug"]) {
      for (const accept of ["text/html", "application/json"]) expect((await node.page(path, { accept })).headers.vary).toBe("accept");
    }
    expect((await node.page(`/p/${link.slug}.json`)).headers.vary).toBeUndefined();
  });

  test.each(["live", "snapshot"] as const)("[PL66] the date of a page is that of its text, whatever is set later (%s)", async (mode) => {
    const { time, node, articleId } = rig;
    const { link } = await node.links.put(call(), articleId, { mode });
    await time.advance(60_000);
    await node.links.update(call(), articleId, { slug: "later", indexable: true, expiresAt: time.now() / 1000 + 3600 });
    const page = JSON.parse((await node.page("/p/later.json")).body);
    expect(page.updatedAt).toBe(link.updatedAt);
    const { link: changed } = await node.links.get(call(), articleId);
    expect(changed.updatedAt).toBeGreaterThan(page.updatedAt);
  });

  test("[PL7] caches must revalidate pages, which state the revision that they show", async () => {
    const { node, articleId } = rig;
    const { link } = await node.links.put(call(), articleId, {});
    for (const [form, type] of [
      ["", "text/html; charset=utf-8"],
      [".md", "text/markdown; charset=utf-8"],
      [".json", "application/json"],
    ]) {
      const page = await node.page(`/p/${link.slug}${form}`);
      expect(page.headers).toMatchObject({
        "content-type": type,
        "cache-control": "public, max-age=0, must-revalidate",
        "x-svc-revision": String(link.publishedRevision),
        "x-svc-content-hash": sha256("First words.\n"),
        "x-robots-tag": "noindex",
      });
      const etag = page.headers.etag ?? "";
      expect(etag).toMatch(/^"[\w-]+"$/);
      const fresh = await node.page(`/p/${link.slug}${form}`, { "if-none-match": `"other", W/${etag}` });
      expect([fresh.status, fresh.body]).toEqual([304, ""]);
      expect((await node.page(`/p/${link.slug}${form}`, { "if-none-match": '"other"' })).status).toBe(200);
    }
    expect(JSON.parse((await node.page(`/p/${link.slug}.json`)).body)).toEqual({
      title: "Über den Wolken!",
      slug: link.slug,
      mode: "live",
      revision: link.publishedRevision,
      contentHash: sha256("First words.\n"),
      markdown: "First words.\n",
      updatedAt: link.updatedAt,
    });
    const before = (await node.page(`/p/${link.slug}`)).headers.etag;
    await node.articles.update(articleId, { title: "Renamed <b>" }, call());
    const renamed = await node.page(`/p/${link.slug}`);
    expect(renamed.headers.etag).not.toBe(before);
    expect(renamed.body).toContain("<title>Renamed &lt;b&gt;</title>");
    await node.links.update(call(), articleId, { indexable: true });
    const indexable = await node.page(`/p/${link.slug}`);
    expect(indexable.headers).not.toHaveProperty("x-robots-tag");
    expect(indexable.body).not.toContain("noindex");
  });

  test("[PL54] the picture of a page is served with an entity tag as long as the page is public", async () => {
    const { node, articleId } = rig;
    const { link } = await node.links.put(call(), articleId, {});
    const path = `/p/${link.slug}/card.png`;
    const card = await node.page(path);
    expect(card.headers).toMatchObject({ "content-type": "image/png", "cache-control": "public, max-age=0, must-revalidate" });
    expect(card.headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
    const { etag = "" } = card.headers;
    expect((await node.page(path, { "if-none-match": etag })).status).toBe(304);
    await append("More.\n");
    expect((await node.page(path)).headers.etag).toBe(etag);
    for (const slug of ["never-known", "UPPER", "a".repeat(3000)]) expect((await node.page(`/p/${slug}/card.png`)).code).toBe("not_found");
    await node.links.update(call(), articleId, { slug: "renamed" });
    expect((await node.page(path)).headers.location).toBe("../renamed/card.png");
    await node.links.unpublish(call(), articleId);
    expect(await node.page("/p/renamed/card.png")).toMatchObject({ status: 410, code: "unpublished" });
  });

  test("[PL7] a page's policy allows one script file by its hash on a Live page, and no inline style", async () => {
    const { node, articleId } = rig;
    const { link } = await node.links.put(call(), articleId, {});
    const page = await node.page(`/p/${link.slug}`);
    const policy = page.headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    const [, script = "", integrity = ""] = /<script src="\.\.(\/assets\/live-[0-9a-f]+\.js)" integrity="([^"]+)"/.exec(page.body) ?? [];
    expect(policy.split("; ").filter((directive) => /^(script|connect)-src/.test(directive))).toEqual([
      `script-src '${integrity}'`,
      "connect-src 'self'",
    ]);
    const code = (await node.page(script)).body;
    expect(integrity).toBe(`sha256-${createHash("sha256").update(code).digest("base64")}`);
    expect(code).not.toMatch(/innerHTML|document\.write|eval\(|new Function/);
    const style = /<link rel="stylesheet" href="\.\.(\/assets\/page-[0-9a-f]+\.css)">/.exec(page.body)?.[1] ?? "";
    const css = await node.page(style);
    expect(css.headers).toMatchObject({ "content-type": "text/css; charset=utf-8", "cache-control": expect.stringContaining("immutable") });
    expect(css.body).toContain("prefers-color-scheme: dark");
    expect(page.body).not.toMatch(/<style|\sstyle=/);
    expect(page.body.match(/<script[^>]*>/g)).toEqual([
      '<script type="application/ld+json">',
      expect.stringContaining(` src="..${script}"`),
    ]);
    expect(page.body).toMatch(/<h1 dir="auto">Über den Wolken!<\/h1>[\s\S]*<p dir="auto">First words\.<\/p>/);
    await node.links.update(call(), articleId, { mode: "snapshot" });
    const frozen = await node.page(`/p/${link.slug}`);
    expect(frozen.headers["content-security-policy"]).not.toMatch(/script-src|connect-src/);
    expect(frozen.body.match(/<script[^>]*>/g)).toEqual(['<script type="application/ld+json">']);
    const titled = await create("Twice", "# Twice\n\nText");
    const { link: other } = await node.links.put(call(), titled, {});
    expect((await node.page(`/p/${other.slug}`)).body.match(/<h1\b/g)).toHaveLength(1);
  });
});

test("[PL13] [PL62] each node counts the readers of public pages by address, refusing above rate.public", async () => {
  const time = createManualTime();
  const { storage, close } = await openMemory(time);
  const node = createPublishingNode(storage, time, { limits: { "rate.public": { count: 1, seconds: 1, burst: 3 } } });
  const workspaceId = await addWorkspace(storage);
  const call = () => createCall(storage, workspaceId, partitionOfId(workspaceId));
  const { articleId } = (await node.articles.create({ workspaceId, title: "Counted", content: "Words." }, call())).article;
  const { link } = await node.links.put(call(), articleId, {});
  const limit = { "ratelimit-policy": '"public";q=1;w=1', ratelimit: '"public";r=2;t=1' };
  expect(await node.page(`/p/${link.slug}`)).toMatchObject({ status: 200, headers: limit });
  for (let at = 0; at < 2; at += 1) expect((await node.page("/p/nothing.md")).code).toBe("not_found");
  expect(await node.page("/p/nothing.md")).toMatchObject({ status: 429, code: "rate_limited" });
  const other = createPublishingNode(storage, time, { limits: { "rate.public": { count: 1, seconds: 1, burst: 3 } } });
  expect((await other.page("/p/nothing.md")).code).toBe("not_found");
  await time.advance(1000);
  expect((await node.page("/p/nothing.md")).code).toBe("not_found");
  await node.closePages();
  await close();
});

test("[PL15] without the store a page is served from memory for a second, unless it was taken down", async () => {
  const time = createManualTime();
  const { storage, close } = await openMemory(time);
  let away = false;
  const reach = <Result>(run: () => Promise<Result>) => (away ? Promise.reject(new StorageUnavailableError("away")) : run());
  const remote: Storage = {
    ...storage,
    records: { ...storage.records, get: (type, key) => reach(() => storage.records.get(type, key)) },
    blobs: { ...storage.blobs, get: (partition, hash) => reach(() => storage.blobs.get(partition, hash)) },
    rates: { take: (demands) => reach(() => storage.rates.take(demands)) },
  };
  const node = createPublishingNode(remote, time);
  const workspaceId = await addWorkspace(storage);
  const call = () => createCall(storage, workspaceId, partitionOfId(workspaceId));
  const { articleId } = (await node.articles.create({ workspaceId, title: "Known", content: "Known words." }, call())).article;
  const { link } = await node.links.put(call(), articleId, {});
  expect((await node.page(`/p/${link.slug}`)).status).toBe(200);
  away = true;
  await time.advance(1000);
  for (const form of ["", ".md", ".json"]) expect((await node.page(`/p/${link.slug}${form}`)).body).toContain("Known words.");
  await time.advance(1);
  await expect(node.page(`/p/${link.slug}`)).rejects.toBeInstanceOf(StorageUnavailableError);
  away = false;
  expect((await node.page(`/p/${link.slug}`)).status).toBe(200);
  node.access.start();
  await node.access.ready();
  // Another node unpublishes the link. This node is notified before the store fails.
  await createPublishingNode(storage, time).links.unpublish(call(), articleId);
  await vi.waitFor(async () => {
    away = true;
    await expect(node.page(`/p/${link.slug}`)).rejects.toBeInstanceOf(StorageUnavailableError);
    away = false;
  });
  node.access.stop();
  await node.closePages();
  await close();
});
