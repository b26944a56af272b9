/**
 * RemotePresence keeps the members and presence states of a document that other nodes report.
 *
 * Each node sends changes as they happen, and its whole presence at intervals. A node that sends nothing for
 * `remoteTimeoutMs` is removed with all its members and states. A remote state of a client id that also has a local state
 * is kept, because it is shown again when the local state is gone.
 */
import type { Author } from "../../api/schema/article.ts";

export interface PresentMember {
  readonly username: string;
  readonly kind: string;
  readonly mode: "read" | "write";
  readonly sinceMs: number;
}

/** What a node reports to the others. */
export interface NodePresence {
  /** True: `states` has all states of the node. False: `states` has only the changed ones. */
  readonly isWhole: boolean;
  /** All members on the node. Absent when the members have not changed. */
  readonly members?: readonly PresentMember[];
  /** Client id and state as JSON; `"null"` when the client is gone. */
  readonly states: readonly (readonly [clientId: number, json: string])[];
}

export interface RemoteState {
  readonly json: string;
  readonly author: Author;
  /** Outgoing clock: set when this node sends the state to its clients. */
  clock: number;
}

interface RemoteNode {
  receivedAtMs: number;
  members: readonly PresentMember[];
  readonly states: Map<number, RemoteState>;
}

/** A node that sends nothing for this time is removed. Each node sends its whole presence at least twice in it. */
export const remoteTimeoutMs = 25_000;

export class RemotePresence {
  /** Client ids whose changed state this node has not sent to its clients yet. */
  readonly changed = new Set<number>();
  readonly #nodes = new Map<string, RemoteNode>();

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  /** True if a new RemotePresence would hold the same. */
  get mayDrop(): boolean {
    return this.isEmpty && this.changed.size === 0;
  }

  receive(nodeId: string, { isWhole, members, states }: NodePresence, nowMs: number): void {
    const node = this.#nodes.get(nodeId) ?? { receivedAtMs: nowMs, members: [], states: new Map() };
    this.#nodes.set(nodeId, node);
    node.receivedAtMs = nowMs;
    node.members = members ?? node.members;
    const reported = new Map(states);
    if (isWhole) for (const clientId of node.states.keys()) if (!reported.has(clientId)) this.#set(node, clientId, "null");
    for (const [clientId, json] of reported) this.#set(node, clientId, json);
    if (node.members.length === 0 && node.states.size === 0) this.#nodes.delete(nodeId);
  }

  /** Removes the nodes that have been silent for too long. Returns true if there was one. */
  removeExpired(nowMs: number): boolean {
    const before = this.#nodes.size;
    for (const [nodeId, { receivedAtMs, states }] of this.#nodes) {
      if (receivedAtMs + remoteTimeoutMs > nowMs) continue;
      this.#nodes.delete(nodeId);
      for (const clientId of states.keys()) this.changed.add(clientId);
    }
    return this.#nodes.size < before;
  }

  state(clientId: number): RemoteState | undefined {
    for (const { states } of this.#nodes.values()) {
      const state = states.get(clientId);
      if (state !== undefined) return state;
    }
    return undefined;
  }

  states(): ReadonlyMap<number, RemoteState> {
    const all = new Map<number, RemoteState>();
    for (const { states } of this.#nodes.values()) for (const [clientId, state] of states) all.set(clientId, state);
    return all;
  }

  members(): readonly PresentMember[] {
    return [...this.#nodes.values()].flatMap(({ members }) => members);
  }

  #set({ states }: RemoteNode, clientId: number, json: string): void {
    const before = states.get(clientId);
    if (before?.json === json || (before === undefined && json === "null")) return;
    this.changed.add(clientId);
    if (json === "null") states.delete(clientId);
    else states.set(clientId, { json, author: (JSON.parse(json) as { user: Author }).user, clock: before?.clock ?? 0 });
  }
}
