/**
 * Shows the cursors and selections of the others, and publishes the own one.
 *
 * The positions are Yjs's relative positions in the field `cursor` of the presence states, as y-codemirror.next writes them, so
 * other editors understand them. Everything in a state but the server's fields of `user` comes from another client and is not
 * trusted. Between two states a cursor moves with the text.
 */
import { type Extension, type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { PeerCaret, placeFlags } from "./peerCaret.ts";

/** The server drops presence that comes more often than 20 times a second. */
const sendPauseMs = 80;
/** How long a name is shown after its cursor moved by itself. */
const freshMs = 2500;
/** More cursors in one text are not drawn. */
const maxPeers = 100;

interface Peer {
  readonly client: number;
  readonly name: string;
  /** From 1 to 8. */
  readonly colour: number;
  readonly isAgent: boolean;
  readonly anchor: number;
  readonly head: number;
}

const setPeers = StateEffect.define<DecorationSet>();

const peerField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    for (const effect of transaction.effects) if (effect.is(setPeers)) return effect.value;
    return transaction.docChanged ? set.map(transaction.changes) : set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function isRoot(text: Y.Text, name: string): boolean {
  const root: unknown = text.doc?.share.get(name);
  return root === text;
}

/** Returns the index of a relative position in the text, or undefined if it is none. */
function readPosition(text: Y.Text, json: unknown): number | undefined {
  const { doc } = text;
  if (doc === null || !isRecord(json)) return undefined;
  // Yjs creates a root of the document for every name that it is asked for.
  const name = json.tname;
  if (name !== undefined && name !== null && (typeof name !== "string" || !isRoot(text, name))) return undefined;
  try {
    const position = Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(json), doc);
    return position?.type === text ? position.index : undefined;
  } catch {
    // The state of a foreign client can have any shape.
    return undefined;
  }
}

function readPeers(text: Y.Text, awareness: Awareness, colourOf: (username: string) => number): Peer[] {
  const peers: Peer[] = [];
  for (const [client, state] of awareness.getStates()) {
    if (client === awareness.clientID || peers.length >= maxPeers || !isRecord(state.cursor)) continue;
    const anchor = readPosition(text, state.cursor.anchor);
    const head = readPosition(text, state.cursor.head);
    if (anchor === undefined || head === undefined) continue;
    const user: unknown = state.user;
    const { name, username, kind } = isRecord(user) ? user : {};
    const account = typeof username === "string" ? username : String(client);
    const shown = typeof name === "string" && name !== "" ? name : account;
    peers.push({ client, name: shown, colour: colourOf(account), isAgent: kind === "agent", anchor, head });
  }
  return peers;
}

function draw(peers: readonly Peer[], fresh: ReadonlySet<number>, length: number): DecorationSet {
  const decorations: Range<Decoration>[] = [];
  for (const { client, name, colour, isAgent, anchor, head } of peers) {
    const [from, to] = [Math.min(anchor, head, length), Math.min(Math.max(anchor, head), length)];
    if (to > from) decorations.push(Decoration.mark({ class: `cm-peer-selection cm-author-${colour}` }).range(from, to));
    const widget = new PeerCaret(name, colour, isAgent, fresh.has(client));
    // Text that arrives at a cursor is usually typed by its owner, so the cursor moves behind the text.
    decorations.push(Decoration.widget({ widget, side: 1 }).range(Math.min(head, length)));
  }
  return Decoration.set(decorations, true);
}

export function peers(text: Y.Text, awareness: Awareness, colourOf: (username: string) => number): Extension {
  class Peers {
    readonly #view: EditorView;
    /** The clients whose cursors moved a moment ago, with the timers that end this. */
    readonly #fresh = new Map<number, ReturnType<typeof setTimeout>>();
    /** The `cursor` of each client as it was last seen. */
    #seen = new Map<number, string>();
    #sendTimer: ReturnType<typeof setTimeout> | undefined;
    #redraw: number | undefined;

    constructor(view: EditorView) {
      this.#view = view;
      awareness.on("change", this.#onChange);
      this.#scheduleRedraw();
    }

    readonly #onChange = ({ added, updated, removed }: Record<"added" | "updated" | "removed", readonly number[]>): void => {
      const others = [...added, ...updated, ...removed].filter((client) => client !== awareness.clientID);
      if (others.length > 0) this.#scheduleRedraw();
    };

    /** Many states may come at once, also while the view is being updated. */
    #scheduleRedraw(): void {
      this.#redraw ??= requestAnimationFrame(() => {
        this.#redraw = undefined;
        this.#noteMoves();
        this.#show();
      });
    }

    #noteMoves(): void {
      const seen = new Map<number, string>();
      for (const [client, { cursor }] of awareness.getStates()) {
        if (client === awareness.clientID || cursor === undefined || cursor === null) continue;
        const json = JSON.stringify(cursor);
        seen.set(client, json);
        if (this.#seen.get(client) === json) continue;
        clearTimeout(this.#fresh.get(client));
        const end = () => {
          this.#fresh.delete(client);
          this.#show();
        };
        this.#fresh.set(client, setTimeout(end, freshMs));
      }
      this.#seen = seen;
    }

    #show(): void {
      const found = readPeers(text, awareness, colourOf);
      if (found.length === 0 && this.#view.state.field(peerField).size === 0) return;
      const fresh = new Set(this.#fresh.keys());
      this.#view.dispatch({ effects: setPeers.of(draw(found, fresh, this.#view.state.doc.length)) });
    }

    update(update: ViewUpdate): void {
      if (update.selectionSet || update.focusChanged || update.docChanged) this.#sendTimer ??= setTimeout(() => this.#send(), sendPauseMs);
    }

    docViewUpdate(view: EditorView): void {
      if (view.state.field(peerField).size > 0) placeFlags(view);
    }

    /** Without the focus the last cursor stays: the person may be writing a comment on it. */
    #send(): void {
      this.#sendTimer = undefined;
      const local = awareness.getLocalState();
      if (local === null || !this.#view.hasFocus) return;
      const { anchor, head } = this.#view.state.selection.main;
      const toPosition = (index: number): unknown => Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, index));
      const cursor = { anchor: toPosition(anchor), head: toPosition(head) };
      if (JSON.stringify(local.cursor) !== JSON.stringify(cursor)) awareness.setLocalStateField("cursor", cursor);
    }

    destroy(): void {
      awareness.off("change", this.#onChange);
      if (this.#redraw !== undefined) cancelAnimationFrame(this.#redraw);
      clearTimeout(this.#sendTimer);
      for (const timer of this.#fresh.values()) clearTimeout(timer);
      const cursor: unknown = awareness.getLocalState()?.cursor;
      // Another editor of the document may have put its own cursor there.
      if (isRecord(cursor) && readPosition(text, cursor.head) !== undefined) awareness.setLocalStateField("cursor", null);
    }
  }
  return [peerField, ViewPlugin.fromClass(Peers)];
}
