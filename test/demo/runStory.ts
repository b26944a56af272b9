/**
 * The agent's part of the demo: a topic goes through the staged workflow while people type in the article that it
 * writes, and the server dies in the middle of the draft. Each step checks itself and throws if its result is wrong.
 */
import assert from "node:assert/strict";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { type Editor, typedCharacters } from "./editor.ts";
import type { Narrator } from "./narrator.ts";
import { checkHistory } from "./runHistory.ts";
import { dictations, noteFrames, notes, topicTitle } from "./text.ts";
import { openTimeline } from "./timeline.ts";
import { until } from "./until.ts";
import { enterWorkspace, expectStatus, type Stage } from "./visit.ts";

export interface RunEnding {
  readonly text: string;
  readonly outline: string;
  readonly status: string;
  readonly audit: readonly string[];
  /** Events of both runs, without the repeats of interrupted steps. */
  readonly history: readonly string[];
  readonly draftAttempts: number;
  readonly commits: readonly { readonly commitId: string; readonly kind: string; readonly message?: string }[];
  readonly deliveredCommitIds: readonly string[];
}

interface Pace {
  readonly keyPauseMs: number;
}

const writers = ["first", "second"] as const;

/** Removes the words that the two people typed, so that only the agent's text remains. */
export function withoutNotes(text: string): string {
  return writers.reduce((rest, who) => {
    const { mark, words } = notes[who];
    const start = rest.indexOf(mark);
    if (start < 0) return rest;
    const end = start + mark.length + typedCharacters(rest, { mark, words });
    return rest.slice(0, start) + rest.slice(end + noteFrames[who].length - mark.length);
  }, text);
}

/** Inserts the empty frame of a note if it is missing: before the agent's text, or after its title. */
async function placeNote(editor: Editor, who: (typeof writers)[number], halt?: AbortSignal): Promise<void> {
  const title = `# ${topicTitle}\n`;
  await until(() => {
    const text = editor.text.toString();
    if (halt?.aborted === true || text.includes(notes[who].mark)) return true;
    const place = who === "first" ? 0 : text.indexOf(title) + title.length;
    // Wait until the agent has written some words after this place.
    if (text.length < place + 30 || (who === "second" && !text.includes(title))) return false;
    editor.text.insert(place, noteFrames[who]);
    return true;
  });
}

export async function playRunStory(stage: Stage, tell: Narrator, pace: Pace): Promise<RunEnding> {
  tell.chapter("The agent's half: a topic, and a workflow that is told live");
  const { rest, token, workspaceId, openArticle, delivered } = await enterWorkspace(stage, "Newsroom");
  const timeline = openTimeline({ url: stage.url, workspaceId, token, onEvent: tell.event });
  const editors: Editor[] = [];
  const open = async () => {
    const editor = await openArticle(articleId);
    editors.push(editor);
    return editor;
  };
  const closeAll = () => {
    for (const editor of editors.splice(0)) editor.close();
  };
  /** Waits for the newest event of a run with this name. */
  const told = <Name extends AgentEvent["event"]>(runId: string, name: Name) =>
    until(() => {
      const failed = timeline.events.find(({ event }) => event === "agent.run_failed" || event === "agent.run_cancelled");
      assert.equal(failed, undefined, JSON.stringify(failed));
      return timeline.events.findLast(
        (event): event is Extract<AgentEvent, { event: Name }> => event.runId === runId && event.event === name,
      );
    });

  const topic = await rest.call<{ topicId: string; shortId: string; status: string }>("POST", `/workspaces/${workspaceId}/topics`, {
    title: topicTitle,
    targetAudience: "people who run servers",
    primaryKeyword: "crash recovery",
  });
  expectStatus(topic, 201);
  const { shortId } = topic.body;
  const path = `/workspaces/${workspaceId}/topics/${shortId}`;
  tell.show(`POST …/topics`, `${shortId}, “${topicTitle}”, ${topic.body.status}`);
  tell.say("What writes here is a stand-in for a model behind MODEL_BASE_URL: it dictates a prepared text.");
  tell.say("Without a model the built-in composer would write a frame, from the topic's own fields.");
  const staged = await rest.call<{ runId: string; articleId: string }>("POST", `${path}/workflow-runs`, {});
  expectStatus(staged, 202);
  const { articleId, runId: outlineRunId } = staged.body;

  try {
    await told(outlineRunId, "agent.paused_for_approval");
    const outline = await rest.call<{ outline: string; status: string }>("GET", `${path}/outline`);
    expectStatus(outline, 200);
    tell.chapter("It waits for a person");
    tell.show("outline.md", outline.body.outline.match(/^## .+$/gm)?.join("  ") ?? "");
    const approved = await rest.call<{ draftRunId: string }>("POST", `${path}/outline/approve`, { note: "Go on." });
    expectStatus(approved, 202);
    const { draftRunId } = approved.body;
    tell.show("POST …/outline/approve", `the draft follows, as ${draftRunId}`);

    tell.chapter("The agent drafts, and two people type in the same article");
    let [first, second] = await Promise.all([open(), open()]);
    // Each person's words are read in the other's editor, so they are on disk. The agent's are read in the second editor.
    const seenWords = () => [
      { who: "agent", text: withoutNotes(second.text.toString()) },
      { who: "first", text: notes.first.words.slice(0, typedCharacters(second.text.toString(), notes.first)) },
      { who: "second", text: notes.second.words.slice(0, typedCharacters(first.text.toString(), notes.second)) },
    ];
    let unwatch = tell.watch(seenWords);
    const type = (halt?: AbortSignal) => {
      const rhythm = { pauseMs: pace.keyPauseMs, ...(halt === undefined ? {} : { halt }) };
      return Promise.all(
        [first, second].map(async (editor, at) => {
          const who = writers[at] ?? "first";
          await placeNote(editor, who, halt);
          await editor.type(notes[who], rhythm);
        }),
      );
    };
    const typing = new AbortController();
    const typists = type(typing.signal);
    const agent = await until(() => first.others().find(({ kind, hasCursor }) => kind === "agent" && hasCursor));
    await until(() => withoutNotes(second.text.toString()).length > dictations.draft.length * 0.5);
    unwatch();
    tell.show("presence", `“${agent.name}”, kind ${agent.kind}, with a cursor of its own`);

    tell.chapter("kill -9 in the middle of the draft");
    const interrupted = first.others().filter(({ kind }) => kind === "agent");
    const seen = seenWords().map(({ text }) => text.length);
    typing.abort();
    await typists;
    closeAll();
    await stage.crash();
    tell.say("The server is gone and back. Nobody tells the run to go on.");
    const reader = await open();
    for (const [at, who] of writers.entries()) {
      const found = typedCharacters(reader.text.toString(), notes[who]);
      tell.show(`the ${who} editor`, `${seen[at + 1]} characters were seen by the other one, ${found} are on disk`);
      assert.ok(found >= (seen[at + 1] ?? 0), `lost what the ${who} editor had typed`);
    }
    [first, second] = await Promise.all([open(), open()]);
    unwatch = tell.watch(seenWords);
    const finished = type();
    await told(draftRunId, "agent.run_completed");
    await finished;
    const isWhole = (editor: Editor) => withoutNotes(editor.text.toString()) === dictations.draft && hasNotes(editor.text.toString());
    await until(() => [first, second, reader].every(isWhole)).catch((reason) => {
      throw new Error(`the draft does not stand once: ${JSON.stringify(reader.text.toString())}`, { cause: reason });
    });
    unwatch();

    tell.chapter("What is left of it");
    for (const { clientId } of interrupted) {
      const { typed, standing } = reader.lettersOf(clientId);
      assert.equal(standing, 0, `${standing} letters of an interrupted attempt are left`);
      tell.show("the lost attempt", `${typed} letters typed, all taken back; of what the two people typed, none`);
    }
    const history = checkHistory(timeline.events, [outlineRunId, draftRunId], stage.model.asked);
    assert.ok(history.attempts("draft") >= 2, "the draft was not interrupted");
    tell.show("finished steps", `run again: 0; draft: attempt ${history.attempts("draft")}; the draft stands once, whole`);
    tell.show(
      "timeline",
      `${timeline.events.length} events, each seq once, over ${timeline.connections} connections of one EventSource (Last-Event-ID)`,
    );
    const after = await rest.call<{ status: string }>("GET", path);
    assert.equal(after.body.status, "drafted");
    const listed = await rest.call<{ commits: RunEnding["commits"] }>("GET", `/articles/${articleId}/commits?kind=agent`);
    const { commits } = listed.body;
    const deliveredCommitIds = await delivered(commits.map(({ commitId }) => commitId));
    tell.show(shortId, `${after.body.status}, ${commits.length} commits of the agent, a verified webhook for each`);
    const audit = await rest.call<{ events: { eventType: string }[] }>("GET", `${path}/audit`);
    const end = await rest.call<{ content: string }>("GET", `/articles/${articleId}/content`);
    return {
      text: end.body.content,
      outline: outline.body.outline,
      status: after.body.status,
      audit: audit.body.events.map(({ eventType }) => eventType),
      history: history.told,
      draftAttempts: history.attempts("draft"),
      commits,
      deliveredCommitIds,
    };
  } finally {
    closeAll();
    timeline.close();
  }
}

function hasNotes(text: string): boolean {
  return writers.every((who) => text.split(notes[who].mark + notes[who].words).length === 2);
}
