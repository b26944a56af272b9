/**
 * Who is in a document on other nodes, as those nodes tell: changes as they happen, everything again and again. A node
 * that is not heard of any more is forgotten with all who were on it. What it says about a client id that is here is kept
 * for the time when that is here no longer.
 */
export interface PresentMember {
  readonly username: string;
  readonly kind: string;
  readonly mode: "read" | "write";
  readonly sinceMs: number;
}

export interface PresenceNews {
  /** These are all states there are; otherwise those that changed. */
  readonly isWhole: boolean;
  /** Absent: as before. */
  readonly members?: readonly PresentMember[];
  /** Client id and state as JSON, `"null"` for one that is gone. */
  readonly states: readonly (readonly [clientId: number, json: string])[];
}

export interface RemoteState {
  readonly json: string;
  readonly author: { readonly username: string; readonly kind: string };
  /** Set when it goes out here. */
  clock: number;
}

interface RemoteNode {
  heardAtMs: number;
  members: readonly PresentMember[];
  readonly states: Map<number, RemoteState>;
}

/** A node tells everything twice in this time, whatever happens. */
export const remoteSilenceMs = 25_000;

export class RemotePresence {
  /** Client ids whose change nobody here has been told yet. */
  readonly changed = new Set<number>();
  readonly #nodes = new Map<string, RemoteNode>();

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  hear(nodeId: string, { isWhole, members, states }: PresenceNews, nowMs: number): void {
    const node = this.#nodes.get(nodeId) ?? { heardAtMs: nowMs, members: [], states: new Map() };
    this.#nodes.set(nodeId, node);
    node.heardAtMs = nowMs;
    node.members = members ?? node.members;
    const told = new Map(states);
    if (isWhole) for (const clientId of node.states.keys()) if (!told.has(clientId)) this.#set(node, clientId, "null");
    for (const [clientId, json] of told) this.#set(node, clientId, json);
    if (node.members.length === 0 && node.states.size === 0) this.#nodes.delete(nodeId);
  }

  forgetSilent(nowMs: number): void {
    for (const [nodeId, { heardAtMs, states }] of this.#nodes) {
      if (heardAtMs + remoteSilenceMs > nowMs) continue;
      this.#nodes.delete(nodeId);
      for (const clientId of states.keys()) this.changed.add(clientId);
    }
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
    else states.set(clientId, { json, author: (JSON.parse(json) as { user: RemoteState["author"] }).user, clock: before?.clock ?? 0 });
  }
}
