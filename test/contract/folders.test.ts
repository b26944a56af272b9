/** Tests the tree of folders over REST: names, places, lists, moves and their limits. */
import { describe, expect, test } from "vitest";
import { otherWorkspaceId, workspaceId } from "../support/operationServer.ts";
import { useFolders } from "./folderFixture.ts";
import { createRunRig } from "./runRig.ts";

const missingId = "fld_01KAHX0000050123456789ABCD";
const folders = useFolders();
const { create, patch, get, list } = folders;

const project = { contentProject: {} };

describe("the tree", () => {
  test("[FO1] a folder has its name, place, own slug and settings, and only its own workspace sees it", async () => {
    const { rig } = folders;
    const created = await rig.request("POST", "/folders", {
      workspaceId,
      name: " Field Guides ",
      contentProject: { styleProfileId: "house" },
    });
    expect(created.status).toBe(201);
    const { folderId } = created.body;
    expect(created.headers.get("location")).toBe(`/folders/${folderId}`);
    expect(created.body).toEqual({
      folderId,
      workspaceId,
      parentFolderId: null,
      name: "Field Guides",
      slug: "field-guides",
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
      contentProject: { requireOutlineApproval: true, requireDraftApproval: true, styleProfileId: "house" },
    });
    expect(await get(folderId)).toEqual(created.body);
    const inside = await create("field guides", { parentFolderId: folderId });
    expect((await get(inside)).slug).toMatch(/^field-guides-[0-9a-z]{6}$/);
    expect((await rig.request("GET", `/folders/${folderId}`, undefined, { as: "dan" })).status).toBe(404);
    const foreign = await rig.expect(201, "POST", "/folders", { workspaceId: otherWorkspaceId, name: "Foreign" });
    for (const parentFolderId of [missingId, foreign.folderId]) {
      const refused = await rig.expect(422, "POST", "/folders", { workspaceId, name: "Lost", parentFolderId });
      expect(refused).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/parentFolderId", code: "not_found" }] });
    }
  });

  test("[FO2] two folders of one parent never have the same name, in any case; folders of two parents may", async () => {
    const { rig } = folders;
    const guides = await create("Guides");
    expect((await rig.expect(409, "POST", "/folders", { workspaceId, name: "gUIDES" })).code).toBe("name_taken");
    const inside = await create("guides", { parentFolderId: guides });
    expect((await patch(409, inside, { parentFolderId: null })).code).toBe("name_taken");
    await patch(200, inside, { parentFolderId: null, name: "Other guides" });
    await patch(200, guides, { name: "GUIDES" });
    const both = await Promise.all([1, 2].map(() => rig.request("POST", "/folders", { workspaceId, name: "Twice" })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  test("[FO3] lists have the folders of one parent, of the top level or of all levels, archived or not", async () => {
    const { rig } = folders;
    const guides = await create("Guides");
    await create("Archived", { parentFolderId: guides }).then((id) => rig.expect(202, "POST", `/folders/${id}/archive`));
    await create("Inside", { parentFolderId: guides });
    await create("News");
    expect(await list("")).toEqual(["Archived", "Guides", "Inside", "News"]);
    expect(await list("&parentFolderId=null")).toEqual(["Guides", "News"]);
    expect(await list(`&parentFolderId=${guides}`)).toEqual(["Archived", "Inside"]);
    expect(await list("&archived=true")).toEqual(["Archived"]);
    expect(await list(`&parentFolderId=${guides}&archived=false`)).toEqual(["Inside"]);
    expect(await list(`&parentFolderId=${missingId}`)).toEqual([]);
    const page = await rig.expect(200, "GET", `/folders?workspaceId=${workspaceId}&limit=3`);
    const rest = await rig.expect(200, "GET", `/folders?workspaceId=${workspaceId}&limit=3&nextToken=${page.nextToken}`);
    expect([page.folders.length, rest.folders.length, rest.nextToken]).toEqual([3, 1, undefined]);
  });

  test("[FO4] a change sets only the given fields, null removes a content project, and the slug stays", async () => {
    const { rig } = folders;
    const folderId = await create("Guides", { contentProject: { requireDraftApproval: false, marketLocale: "en-GB" } });
    const before = await get(folderId);
    expect(await patch(200, folderId, { name: "Handbooks" })).toEqual({ ...before, name: "Handbooks", updatedAt: expect.any(Number) });
    const { contentProject } = await patch(200, folderId, { contentProject: { wordCountRange: { min: 1, max: 2 } } });
    expect(contentProject).toEqual({ requireOutlineApproval: true, requireDraftApproval: true, wordCountRange: { min: 1, max: 2 } });
    const ordinary = await patch(200, folderId, { contentProject: null });
    expect(ordinary).toMatchObject({ name: "Handbooks", slug: "guides" });
    expect(ordinary).not.toHaveProperty("contentProject");
    const late = await rig.request("PATCH", `/folders/${folderId}`, { name: "Late" }, { headers: { "if-match": '"r1"' } });
    expect([late.status, late.body.code]).toEqual([412, "precondition_failed"]);
    const topic = await rig.request("POST", `/workspaces/${workspaceId}/topics`, {
      title: "Kites",
      targetAudience: "builders",
      contentProjectId: folderId,
    });
    expect(topic.status).toBe(422);
  });

  test("[FO7] the project counter is the highest number given to a folder that is a content project", async () => {
    const { rig } = folders;
    const counter = async () => (await rig.projectCounter()) ?? 0;
    const plain = await create("Plain");
    expect(await counter()).toBe(0);
    const first = await create("First", project);
    await patch(200, plain, project);
    expect(await counter()).toBe(2);
    await patch(200, first, { contentProject: null });
    await patch(200, first, project);
    await rig.expect(204, "DELETE", `/folders/${plain}`);
    expect(await counter()).toBe(2);
    await create("Third", project);
    expect(await counter()).toBe(3);
  });

  test("[FO5] a folder cannot be moved into itself or below itself", async () => {
    const a = await create("A");
    const b = await create("B", { parentFolderId: a });
    const c = await create("C", { parentFolderId: b });
    for (const parentFolderId of [a, b, c]) expect((await patch(409, a, { parentFolderId })).code).toBe("cycle");
    await patch(200, c, { parentFolderId: null });
    await patch(200, a, { parentFolderId: c });
    expect((await get(a)).parentFolderId).toBe(c);
  });

  test("[FO5] moves on two nodes at once never put folders inside each other", async () => {
    const { storage, rig } = folders;
    const second = await createRunRig({ storage, limits: { "folder.depth": 4 } });
    for (let round = 0; round < 10; round += 1) {
      const [a, b] = [await create(`A ${round}`), await create(`B ${round}`)];
      const [one, two] = await Promise.all([
        rig.request("PATCH", `/folders/${a}`, { parentFolderId: b }),
        second.request("PATCH", `/folders/${b}`, { parentFolderId: a }),
      ]);
      expect([one.status, two.status].toSorted()).toEqual([200, 409]);
      expect((one.status === 409 ? one : two).body.code).toBe("cycle");
      for (const id of one.status === 200 ? [a, b] : [b, a]) await rig.expect(204, "DELETE", `/folders/${id}`);
    }
    await second.stop();
  });

  test("[FO6] the levels and the number of folders are limited, exactly and for moves as well", async () => {
    const { rig } = folders;
    const chain: string[] = [];
    for (let level = 1; level <= 4; level += 1) chain.push(await create(`Level ${level}`, { parentFolderId: chain.at(-1) ?? null }));
    expect((await rig.expect(409, "POST", "/folders", { workspaceId, name: "Level 5", parentFolderId: chain[3] })).code).toBe(
      "limit_reached",
    );
    const tall = await create("Tall");
    await create("Below", { parentFolderId: tall });
    expect((await patch(409, tall, { parentFolderId: chain[2] as string })).code).toBe("limit_reached");
    await patch(200, tall, { parentFolderId: chain[1] as string });
    const many = await Promise.all(
      Array.from({ length: 9 }, (_, at) => rig.request("POST", "/folders", { workspaceId, name: `Folder ${at}` })),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(6);
    expect(many.filter(({ body }) => body.code === "limit_reached")).toHaveLength(3);
    expect(await list("")).toHaveLength(12);
  });
});
