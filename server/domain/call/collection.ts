/**
 * `createCollection` serves requests on plain records of a workspace: find, list, create, change and remove.
 *
 * A missing record and one of another workspace look alike. Each write reads, decides and commits once, together with
 * the answer for an idempotent repeat, and reads again if the record was changed meanwhile. A collection knows neither
 * the fields of its records nor what else a change writes; both come from its callers.
 */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { LimitField } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ActorRuntime, OpenUnit, UnitOfWork } from "../../platform/actors/port.ts";
import {
  type CollectionRecord,
  type CollectionType,
  collectionList,
  findInCollection,
  readCollection,
  slotRule,
} from "../../platform/storage/collectionRecord.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Conflict, IndexKey, Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import { type Call, Versioned } from "./call.ts";
import type { Page, PageQuery, Pager } from "./paging.ts";
import { requireMatch } from "./precondition.ts";
import { principalOf, toActor } from "./principal.ts";

/** `LIMITS=off` lifts every limit with such a name. */
type CountLimit = Extract<LimitField, `${string}.perWorkspace`>;

export interface CollectionOptions<Value extends CollectionRecord, View> {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly pager: Pager;
  readonly record: CollectionType<Value>;
  /** The records in the plural, for messages: "webhooks". */
  readonly many: string;
  readonly toView: (value: Value) => View;
  /** Throws unless the caller may change records of the workspace. It runs before each commit, on current data. */
  readonly authorize: (call: Call, workspaceId: string) => Promise<void>;
  /** Limit on the number of records in a workspace. Each record then has a `slot`. */
  readonly limit?: CountLimit;
  /** Message of the refusal `name_taken`, by the name of the unique rule. */
  readonly taken?: Readonly<Record<string, string>>;
  readonly log: Logger;
}

/** One change of a record: the new value, and what the change adds to the commit and to the answer. */
export interface Change<Value, Shown extends object> {
  readonly value: Value;
  /** Fields that only the answer to this request has, such as a new secret. */
  readonly shown?: Shown;
  /** Name of the change in the audit log; `<record>.created` or `<record>.updated` by default. */
  readonly event?: string;
}

/** Fields that the collection sets in a new record. */
export type NewRecord<Value extends CollectionRecord> = Pick<Value, keyof CollectionRecord & keyof Value>;

/** Another order than newest first, or only some of the records. */
export interface PageSelection<Value> {
  /** Names the order and the filters, so that a token of others is refused. */
  readonly name: string;
  /** Index of the records and whether it is read backwards; all records by time of creation, backwards, by default. */
  readonly index?: { readonly prefix: IndexKey; readonly reverse: boolean } | undefined;
  /** Condition that no index covers. */
  readonly keep?: (value: Value) => boolean;
}

export interface Collection<Value extends CollectionRecord, View> {
  /** Throws `not_found`, also for a record of another workspace. */
  read(workspaceId: string, id: string): Promise<Stored<Value>>;
  get(workspaceId: string, id: string): Promise<Versioned<View>>;
  /** Lists the records of the workspace, newest first unless `selection` says otherwise. */
  page(workspaceId: string, query: PageQuery, selection?: PageSelection<Value>): Promise<Page<View>>;
  /**
   * Throws `limit_reached` and `name_taken`. `make` may add further changes to the unit; it runs again, with a new unit,
   * after a conflict.
   */
  create<Shown extends object = object>(
    call: Call,
    workspaceId: string,
    make: (id: string, base: NewRecord<Value>, unit: UnitOfWork) => Change<Value, Shown> | Promise<Change<Value, Shown>>,
  ): Promise<Versioned<View & Shown>>;
  /**
   * Replaces the record by what `decide` makes of it. An equal value is no change: nothing is written, and `updatedAtMs`
   * stays. `decide` may add further changes to the unit. Throws `not_found`, `precondition_failed` and `name_taken`.
   */
  change<Shown extends object = object>(
    call: Call,
    workspaceId: string,
    id: string,
    decide: (before: Value, unit: UnitOfWork) => Change<Value, Shown> | Promise<Change<Value, Shown>>,
  ): Promise<Versioned<View & Shown>>;
  /** `gather` may throw, to refuse, or add further changes. Throws `not_found` and `precondition_failed`. */
  remove(call: Call, workspaceId: string, id: string, gather?: (before: Value, unit: UnitOfWork) => void | Promise<void>): Promise<void>;
}

export function createCollection<Value extends CollectionRecord, View extends object>(
  options: CollectionOptions<Value, View>,
): Collection<Value, View> {
  const { storage, actors, pager, record, many, toView, authorize, limit, taken = {} } = options;
  const audit = options.log.child({ stream: "audit" });

  function note(call: Call, event: string, id: string): void {
    audit.info({ event, [record.id.field]: id, by: toActor(principalOf(call)) }, event);
  }

  async function read(workspaceId: string, id: string): Promise<Stored<Value>> {
    const stored = await findInCollection(storage, record, workspaceId, id);
    if (stored === undefined) throw notFound();
    return stored;
  }

  async function findSlot(call: Call, workspaceId: string, name: CountLimit): Promise<number> {
    const others = await readCollection(storage, record, workspaceId);
    const most = call.limits[name];
    if (others.length >= most) {
      const detail = `The workspace has ${others.length} ${many}; at most ${most} are allowed. Delete one first.`;
      throw new AppError("limit_reached", detail);
    }
    const slots = new Set(others.map(({ value }) => value.slot));
    let slot = 0;
    while (slots.has(slot)) slot += 1;
    return slot;
  }

  const openUnit = (workspaceId: string): OpenUnit => actors.openUnit(partitionOfId(workspaceId));

  /** Returns `conflict` if another attempt can succeed. Throws if the request asks for a name that is taken. */
  function resolve(found: Conflict): typeof conflict {
    if (found.kind !== "unique" || found.rule[0] === slotRule(record)) return conflict;
    const detail = taken[found.rule[0]];
    if (detail === undefined) throw new Error(`the unique rule ${found.rule[0]} has no refusal`);
    throw new AppError("name_taken", detail);
  }

  function toAnswer<Shown extends object>(value: Value, { shown }: Change<Value, Shown>, revision: number): Versioned<View & Shown> {
    return new Versioned({ ...toView(value), ...shown } as View & Shown, revision);
  }

  return {
    read,

    async get(workspaceId, id) {
      const { value, revision } = await read(workspaceId, id);
      return new Versioned(toView(value), revision);
    },

    async page(workspaceId, { limit: count, nextToken }, selection) {
      const { items, ...rest } = await pager.page<Value>({
        scope: selection === undefined ? many : `${many}?${selection.name}`,
        partition: partitionOfId(workspaceId),
        ...(selection?.index ?? { prefix: collectionList(record, workspaceId), reverse: true }),
        limit: count,
        nextToken,
        load: async (ids) => (await storage.records.getMany(record, ids)).map((stored) => stored?.value),
        keep: selection?.keep,
      });
      return { items: items.map(toView), ...rest };
    },

    async create(call, workspaceId, make) {
      const id = call.ids.next(record.id.prefix, partitionOfId(workspaceId));
      const { answer, event } = await retryOnConflict(`${record.name}.create`, async () => {
        await authorize(call, workspaceId);
        const slot = limit === undefined ? {} : { slot: await findSlot(call, workspaceId, limit) };
        const base = { workspaceId, createdAtMs: call.nowMs, updatedAtMs: call.nowMs, ...slot } as NewRecord<Value>;
        const unit = openUnit(workspaceId);
        const made = await make(id, base, unit);
        const answer = toAnswer(made.value, made, 1);
        unit.record({ op: "put", type: record, value: made.value, replacing: null });
        const result = await unit.commit((batch) => call.commit(batch, answer));
        if (result.ok) return { answer, event: made.event ?? `${record.name}.created` };
        const isOwn = result.conflict.kind === "record" && result.conflict.type === record.name && result.conflict.key === id;
        if (isOwn) throw new Error(`the new ${record.name} ${id} exists already`);
        return resolve(result.conflict);
      });
      note(call, event, id);
      return answer;
    },

    async change(call, workspaceId, id, decide) {
      const { answer, event } = await retryOnConflict(`${record.name}.change`, async () => {
        await authorize(call, workspaceId);
        const replacing = await read(workspaceId, id);
        requireMatch(call, replacing.revision);
        const unit = openUnit(workspaceId);
        const change = await decide(replacing.value, unit);
        if (isDeepStrictEqual(change.value, replacing.value)) {
          return { answer: toAnswer(replacing.value, change, replacing.revision), event: undefined };
        }
        const value = { ...change.value, updatedAtMs: call.nowMs };
        const answer = toAnswer(value, change, replacing.revision + 1);
        unit.record({ op: "put", type: record, value, replacing });
        const result = await unit.commit((batch) => call.commit(batch, answer));
        return result.ok ? { answer, event: change.event ?? `${record.name}.updated` } : resolve(result.conflict);
      });
      if (event !== undefined) note(call, event, id);
      return answer;
    },

    async remove(call, workspaceId, id, gather) {
      await retryOnConflict(`${record.name}.remove`, async () => {
        await authorize(call, workspaceId);
        const replacing = await read(workspaceId, id);
        requireMatch(call, replacing.revision);
        const unit = openUnit(workspaceId);
        unit.record({ op: "delete", type: record, replacing });
        await Promise.resolve(gather?.(replacing.value, unit));
        const result = await unit.commit((batch) => call.commit(batch));
        return result.ok ? undefined : resolve(result.conflict);
      });
      note(call, `${record.name}.deleted`, id);
    },
  };
}
