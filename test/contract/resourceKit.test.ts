/** The example of docs/guides/addAResource.md over REST: contract presets, derived replies and a collection. */
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { operation } from "../../api/contract/operation.ts";
import { defaultLimits } from "../../api/limits.ts";
import { createPager } from "../../server/domain/call/paging.ts";
import { createAccessResolver } from "../../server/domain/identity/workspaces/access.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createApp } from "../../server/edge/app.ts";
import { deriveReply } from "../../server/edge/calls/derivedReply.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import type { Host } from "../../server/edge/host/port.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { templates as contract } from "../example/contract.ts";
import { templateRecord } from "../example/records.ts";
import { Template } from "../example/schema.ts";
import { createTemplates } from "../example/templates.ts";
import { createActorNode } from "../support/actorNode.ts";
import { locateNothing } from "../support/locateNothing.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { domainStorages, type OpenedStorage } from "../support/storages.ts";

const workspaceId = "ws_01KAHX0000050123456789ABCD";
const otherId = "ws_01KAHX0000070123456789ABCD";
const accountId = "usr_01KAHX0000030123456789ABCD";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answered is what is looked at
  readonly body: any;
}

describe.each(domainStorages())("a plain resource on %s", (_name, open) => {
  let time: ManualTime;
  let opened: OpenedStorage;
  let host: Host;
  let commits: number;
  let notes: string[];

  beforeEach(async () => {
    time = createManualTime();
    opened = await open(time);
    commits = 0;
    notes = [];
    const storage: Storage = {
      ...opened.storage,
      commit(batch) {
        if (batch.records?.some(({ type }) => type.name === templateRecord.name)) commits += 1;
        return opened.storage.commit(batch);
      },
    };
    for (const id of [workspaceId, otherId]) {
      const members = [{ accountId, username: "ana", role: "member" as const }];
      const value: WorkspaceRecord = { workspaceId: id, name: "Desk", type: "team", owner: "", members, createdAt: 1, updatedAt: 1 };
      await storage.commit({ partition: partitionOfId(id), records: [{ op: "put", type: workspaceRecord, value, replacing: null }] });
    }
    const log = pino({}, { write: (line: string) => void notes.push((JSON.parse(line) as { readonly event: string }).event) });
    const pager = createPager({ storage, pageKey: new Uint8Array(32), limits: defaultLimits });
    const { actors } = createActorNode(storage, time, []);
    const app = createApp({
      contract: { templates: contract } as never,
      handlers: { templates: createTemplates({ storage, actors, pager, log }) } as never,
      authenticator: {
        authenticate: async () => ({ kind: "session", accountId, username: "ana", operator: false, sessionId: "ses_1" }),
      },
      access: createAccessResolver({ storage, locators: locateNothing }),
      storage,
      limits: defaultLimits,
      log,
      baseUrl: "https://svc.example",
      node: "node-1",
      leaseMs: 1000,
      corsOrigins: [],
      proxyHops: 0,
      routes: [],
      upgrade: () => ({ refuse: { status: 404, headers: {} } }),
    });
    const onError = (error: unknown) => void notes.push(String(error));
    host = await startNodeHost(app, { host: "127.0.0.1", port: 0, maxFrameBytes: 1024, maxBufferedBytes: 1024, onError });
  });
  afterEach(async () => {
    await host.close();
    await opened.close();
  });

  async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${host.port}${path}`, {
      method,
      headers: { authorization: "Bearer ana", ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  }
  const pathOf = (templateId = "", id = workspaceId) => `/workspaces/${id}/templates${templateId === "" ? "" : `/${templateId}`}`;
  const create = (name: string, id = workspaceId) => request("POST", pathOf("", id), { name });
  const stored = () => opened.storage.index.scan({ partition: partitionOfId(workspaceId), prefix: ["template", workspaceId], limit: 100 });

  test("[API70] status, entity tag, Location and page of a reply are those of the contract", async () => {
    const made = await create("Notes");
    const { templateId } = made.body;
    expect(made).toMatchObject({ status: 201, body: { templateId, workspaceId, name: "Notes", content: "" } });
    expect([made.headers.get("location"), made.headers.get("etag")]).toEqual([pathOf(templateId), '"r1"']);
    const got = await request("GET", pathOf(templateId));
    expect([got.status, got.body, got.headers.get("etag")]).toEqual([200, made.body, '"r1"']);
    const changed = await request("PATCH", pathOf(templateId), { content: "# Notes\n" });
    expect([changed.status, changed.body.content, changed.headers.get("etag")]).toEqual([200, "# Notes\n", '"r2"']);
    await time.advance(1000);
    const second = (await create("Plans")).body;
    const first = await request("GET", `${pathOf()}?limit=1`);
    expect(first.body).toEqual({ templates: [second], nextToken: expect.any(String) });
    expect((await request("GET", `${pathOf()}?limit=1&nextToken=${first.body.nextToken}`)).body).toEqual({ templates: [changed.body] });
    expect(await request("DELETE", pathOf(templateId))).toMatchObject({ status: 204, body: undefined });
    expect(notes.filter((event) => event?.startsWith("template."))).toEqual([
      "template.created",
      "template.updated",
      "template.created",
      "template.deleted",
    ]);
  });

  test("[API76] a list keeps its order and filter over its pages, and refuses a token of another list", async () => {
    for (const name of ["Beta", "alpha", "Ask", "Able"]) {
      await create(name);
      await time.advance(1000);
    }
    const names = async (query: string) => {
      const { status, body } = await request("GET", `${pathOf()}?${query}`);
      return status === 200 ? body.templates.map(({ name }: Template) => name) : body.code;
    };
    expect(await names("")).toEqual(["Able", "Ask", "alpha", "Beta"]);
    expect(await names("sort=name")).toEqual(["Able", "alpha", "Ask", "Beta"]);
    expect(await names("startsWith=a")).toEqual(["Able", "Ask", "alpha"]);
    const first = await request("GET", `${pathOf()}?sort=name&startsWith=A&limit=2`);
    expect(first.body.templates).toHaveLength(2);
    expect(await names(`sort=name&startsWith=A&limit=2&nextToken=${first.body.nextToken}`)).toEqual(["Ask"]);
    for (const other of ["sort=name", "startsWith=A", "sort=name&startsWith=B"]) {
      expect(await names(`${other}&limit=2&nextToken=${first.body.nextToken}`)).toBe("invalid_next_token");
    }
  });

  test("[API72] a record is found in its own workspace only; foreign, missing and impossible ids look alike", async () => {
    const foreign = (await create("Notes", otherId)).body.templateId;
    const template = (await create("Notes")).body.templateId;
    for (const id of [foreign, foreign.replace(/.$/, "Z"), "tpl_1", workspaceId]) {
      for (const [method, body] of [["GET"], ["PATCH", { name: "Mine" }], ["DELETE"]] as const) {
        const { status, body: problem } = await request(method, pathOf(id), body);
        expect([id, method, status, problem.code, problem.detail]).toEqual([id, method, 404, "not_found", expect.any(String)]);
      }
    }
    expect((await request("GET", pathOf(foreign, otherId))).body.name).toBe("Notes");
    expect((await request("GET", pathOf())).body.templates).toMatchObject([{ templateId: template }]);
  });

  test("[API73] a change that changes nothing writes nothing; If-Match of an older record is 412", async () => {
    const { templateId, updatedAt } = (await create("Notes")).body;
    await time.advance(1000);
    const before = commits;
    for (const body of [{}, { name: "Notes" }, { name: " Notes ", content: "" }]) {
      const same = await request("PATCH", pathOf(templateId), body);
      expect([same.status, same.body.updatedAt, same.headers.get("etag")]).toEqual([200, updatedAt, '"r1"']);
    }
    expect(commits).toBe(before);
    const changed = await request("PATCH", pathOf(templateId), { name: "Plans" }, { "if-match": '"r1"' });
    expect(changed.body).toMatchObject({ name: "Plans", updatedAt: time.now() / 1000 });
    for (const method of ["PATCH", "DELETE"]) {
      const late = await request(method, pathOf(templateId), method === "PATCH" ? { name: "Late" } : undefined, { "if-match": '"r1"' });
      expect(late).toMatchObject({ status: 412, body: { code: "precondition_failed" } });
    }
    expect((await request("DELETE", pathOf(templateId), undefined, { "if-match": '"r2"' })).status).toBe(204);
  });

  test("[API73] concurrent changes of one record all stand", async () => {
    const { templateId } = (await create("Notes")).body;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => request("PATCH", pathOf(templateId), at === 0 ? { name: "Plans" } : { content: `${at}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const after = await request("GET", pathOf(templateId));
    expect([after.body.name, after.headers.get("etag")]).toEqual(["Plans", '"r9"']);
  });

  test("[API74] a taken name is 409 `name_taken`, even for concurrent requests, and free after a removal", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => create(at % 2 === 0 ? "Notes" : "NOTES")));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const { status, body } of answers.filter((one) => !made.includes(one))) expect([status, body.code]).toEqual([409, "name_taken"]);
    const { templateId } = (await create("Plans")).body;
    expect(await request("PATCH", pathOf(templateId), { name: "notes" })).toMatchObject({ status: 409, body: { code: "name_taken" } });
    expect(await stored()).toHaveLength(2);
    await request("DELETE", pathOf(made[0]?.body.templateId));
    expect((await request("PATCH", pathOf(templateId), { name: "notes" })).status).toBe(200);
  });

  test("[API75] a repeat with the same Idempotency-Key creates, changes and answers once", async () => {
    const headers = { "idempotency-key": "one" };
    const [made, again] = [
      await request("POST", pathOf(), { name: "Notes" }, headers),
      await request("POST", pathOf(), { name: "Notes" }, headers),
    ];
    expect([again.status, again.body, again.headers.get("location"), again.headers.get("etag")]).toEqual([
      201,
      made.body,
      made.headers.get("location"),
      '"r1"',
    ]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const path = pathOf(made.body.templateId);
    const changed = await request("PATCH", path, { name: "Plans" }, headers);
    await request("PATCH", path, { name: "Other" });
    const repeated = await request("PATCH", path, { name: "Plans" }, headers);
    expect([repeated.body, repeated.headers.get("etag")]).toEqual([changed.body, '"r2"']);
    expect((await request("GET", path)).body.name).toBe("Other");
  });
});

describe("derived replies", () => {
  const spec = { method: "GET", path: "/templates", credential: "any", summary: "" } as const;

  test("[API71] a contract from which no reply can be derived stops the start", () => {
    const two = operation({ ...spec, replies: { 200: Template, 201: Template } });
    expect(() => deriveReply("a.b", two)).toThrow("operation a.b has several statuses");
    const lost = operation({ ...spec, replies: { 201: Template }, location: "/templates/{id}" });
    expect(() => deriveReply("a.b", lost)).toThrow("'id' of its location");
  });

  test("[API71] a result without a revision is an error where the contract declares an entity tag", () => {
    const reply = deriveReply("a.b", operation({ ...spec, replies: { 200: Template }, replyHeaders: { etag: "" } }));
    expect(() => reply({ name: "Notes" }, { params: {} })).toThrow("the result of a.b has no revision");
  });
});
