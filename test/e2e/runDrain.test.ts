/** Tests a stop while a run writes: the current step ends first, and the next start continues after it. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { signIn } from "../support/clients.ts";
import { startServer } from "../support/server.ts";

it("[RU34] SIGTERM during a draft: the draft is committed, and the run continues after the restart", async () => {
  const server = await startServer({ LIMITS: "off", LEASE_MS: "1000" });
  try {
    const rest = await signIn(server.url, server.operator);
    const { workspaceId } = (await rest.expect(200, "GET", "/workspaces")).workspaces[0];
    const { topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, {
      title: "Kites",
      targetAudience: "builders",
      mustInclude: Array.from({ length: 30 }, (_, at) => `point ${at}`),
      wordCountRange: { min: 2000, max: 3000 },
    });
    const action = { action: "create" };
    const { runId, articleId } = await rest.expect(202, "POST", `/workspaces/${workspaceId}/topics/${topicId}/draft/actions`, action);
    const read = async () => (await rest.expect<{ content: string }>(200, "GET", `/articles/${articleId}/content`)).content;
    while ((await read()) === "") await pause(5);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    await server.start();
    const statusOf = async () => (await rest.expect<{ status: string }>(200, "GET", `/runs/${runId}`)).status;
    await expect.poll(statusOf).toBe("completed");
    const { events } = await rest.expect<{ events: AgentEvent[] }>(200, "GET", `/runs/${runId}/events`);
    const begun = events.flatMap((event) => (event.event === "agent.step_started" ? [[event.data.stepName, event.data.attempt]] : []));
    expect(begun).toEqual([
      ["draft", 1],
      ["seo_review", 1],
      ["article_validation", 1],
    ]);
    expect((await rest.expect(200, "GET", `/articles/${articleId}/commits?kind=agent`)).commits).toHaveLength(1);
  } finally {
    await server.remove();
  }
});
