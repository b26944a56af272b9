/**
 * A key that is used on every surface loses its access at one node: it is revoked, or its owner is removed from the
 * workspace or loses a role. No request that starts after the answer is allowed at any node, and open sockets and
 * streams are closed. This also holds if the bus between nodes fails, and if the other node cannot reach the store.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Rest, signIn } from "../../support/clients.ts";
import { type Holder, openHolder } from "./holder.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  readonly rounds: number;
  /** Milliseconds for which the other node has no store. */
  readonly deadMs: number;
}

const password = "a guest's long password";
const closedMs = 1000;
/** Only ends a test that hangs. The time until the close is judged in the full series, on an idle machine. */
const patienceMs = 30_000;
/** Requests continue for this long after the access is lost. */
const afterMs = 400;

interface Round {
  readonly name: string;
  readonly loss: "revoked" | "removed" | "demoted";
  readonly fault?: "bus" | "store";
}

const rounds: readonly Round[] = [
  { name: "key revoked", loss: "revoked" },
  { name: "key revoked, bus dead", loss: "revoked", fault: "bus" },
  { name: "member removed", loss: "removed" },
  { name: "key revoked, other node without store", loss: "revoked", fault: "store" },
  { name: "role lost", loss: "demoted" },
  { name: "member removed, bus dead", loss: "removed", fault: "bus" },
];

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const [first] = rig.nodes;
  if (first === undefined) throw new Error("the rig has no node");
  const operator = rig.rest(0);
  const { workspaceId } = await operator.expect(201, "POST", "/workspaces", { name: "Guests", type: "team" });
  const { articleId } = await operator.expect(201, "POST", "/articles", { workspaceId, title: "Read by guests" });
  const session = await signIn(first.url, first.server.operator);
  await session.expect(201, "POST", "/accounts", { username: "guest", password });
  const members = `/workspaces/${workspaceId}/members`;
  await operator.expect(201, "POST", members, { username: "guest", role: "admin" });
  let guest: Rest = await signIn(first.url, { username: "guest", password });
  const closingMs: number[] = [];
  let [acked, bad] = [0, 0];

  async function play({ name, loss, fault }: Round): Promise<void> {
    const complain = (what: string) => {
      bad += 1;
      if (bad <= 20) tell(`${name}: ${what}`);
    };
    const { key, keyId } = await guest.expect(201, "POST", "/api-keys", { name: "Guest" });
    const holders: readonly Holder[] = rig.nodes.map(({ url }) => openHolder({ url, key, workspaceId, articleId }));
    try {
      for (const endMs = Date.now() + 10_000; !holders.every(({ isSettled }) => isSettled); await pause(10)) {
        if (Date.now() > endMs) return complain("could not be used in the first place");
      }
      const other = rig.nodes[1]?.link;
      if (fault === "bus") other?.setSubscribers({ kind: "halfOpen" });
      if (fault === "store") other?.set({ kind: "halfOpen" });
      const askedMs = performance.now();
      if (loss === "revoked") await guest.expect(200, "POST", `/api-keys/${keyId}/revoke`);
      else if (loss === "removed") await operator.expect(204, "DELETE", `${members}/guest`);
      else await operator.expect(200, "PATCH", `${members}/guest`, { role: "member" });
      const goneMs = performance.now();
      await pause(fault === "store" ? scale.deadMs : afterMs);
      other?.set({ kind: "pass" });
      // A node without its store cannot check access, so the time starts when the store is back.
      const sinceMs = fault === "store" ? performance.now() : goneMs;
      const isClosed = ({ closed }: Holder) => Number.isFinite(Math.max(closed.socket, closed.stream));
      for (const endMs = sinceMs + patienceMs; loss !== "demoted" && performance.now() < endMs; await pause(5)) {
        if (holders.every(isClosed)) break;
      }
      other?.setSubscribers({ kind: "pass" });
      for (const [node, holder] of holders.entries()) {
        for (const { surface, begunMs, endedMs, status } of holder.uses) {
          const isLost = begunMs > goneMs && (loss !== "demoted" || surface === "admin");
          if (!isLost && status === 200) acked += 1;
          if (isLost && status === 200) complain(`${surface} at node ${node} was allowed ${Math.round(begunMs - goneMs)} ms after`);
          if (status >= 500 && status !== 503) complain(`${surface} at node ${node} answered ${status}`);
          if (endedMs < askedMs && status !== 200) complain(`${surface} at node ${node} answered ${status} before`);
        }
        for (const [what, atMs] of Object.entries(holder.closed)) {
          if (loss === "demoted") {
            if (Number.isFinite(atMs)) complain(`the ${what} at node ${node} was closed, although who reads may stay`);
            continue;
          }
          const lateMs = atMs - (node === 1 ? sinceMs : goneMs);
          closingMs.push(Math.max(0, lateMs));
          if (!Number.isFinite(lateMs)) complain(`the ${what} at node ${node} was not closed`);
        }
      }
    } finally {
      await Promise.all(holders.map((holder) => holder.stop()));
      if (loss === "demoted") await operator.expect(200, "PATCH", `${members}/guest`, { role: "admin" });
      if (loss === "removed") await operator.expect(201, "POST", members, { username: "guest", role: "admin" });
      if (loss !== "revoked") await guest.expect(200, "POST", `/api-keys/${keyId}/revoke`);
    }
  }

  const own = rounds.filter(({ fault }) => rig.mode === "R" || fault === undefined);
  for (let round = 0; round < scale.rounds; round += 1) {
    // The session of the guest is short, so sign in again from time to time.
    if (round % 50 === 49) guest = await signIn(first.url, { username: "guest", password });
    await play(own[round % own.length] as Round);
  }
  return {
    load: `a key used over REST, tRPC, socket and stream at ${rig.nodes.length} nodes, ${scale.rounds} rounds`,
    faults: rig.mode === "R" ? "bus dead in a third, the other node's store dead in a sixth of the rounds" : "none",
    bad,
    acked,
    lost: 0,
    dup: 0,
    p50: percentile(closingMs, 0.5),
    p99: percentile(closingMs, 1),
  };
}

export const accessLost = createScenario<Scale>({
  name: "access-lost",
  modes: ["E", "R"],
  short: { rounds: rounds.length, deadMs: 700 },
  full: { rounds: 102, deadMs: 4000 },
  play,
  figure: "no request that begins after the answer is allowed at any node; sockets and streams close within 1 s",
  holds: (outcome) => isClean(outcome) && outcome.p99 <= closedMs,
});
