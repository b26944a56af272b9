/**
 * Quota limits how many conversions a workspace has, how many of them wait, and how many bytes they store.
 *
 * The counters change in the commits of the conversions themselves. A creation also rewrites the record of its scope, so
 * concurrent creations exclude each other and together never exceed a limit.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { ConversionContext } from "../../../machines/conversion.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { conversionScopeRecord, counters, scopeOf } from "./records.ts";
import type { Failure } from "./sourceFetch.ts";

type Owner = Pick<ConversionContext, "workspaceId" | "accountId">;

export interface Quota {
  /** Throws `limit_reached` if there is no room for another conversion with an input of this size. */
  requireRoom(owner: Owner, inputBytes: number): Promise<void>;
  /** The same for the commit that creates the conversion. */
  take(unit: UnitOfWork, owner: Owner, inputBytes: number): Promise<void>;
  /**
   * Returns the reason if an output of this size cannot be stored. Conversions that end at the same time do not see each
   * other, so together they can exceed the limit by their outputs.
   */
  findExcess(owner: Owner, outputBytes: number): Promise<Failure | undefined>;
}

export interface QuotaOptions {
  readonly storage: Pick<Storage, "records" | "counts">;
  readonly limits: Pick<Limits, "conversion.perWorkspace" | "conversion.waiting" | "conversion.stored">;
}

export function createQuota({ storage, limits }: QuotaOptions): Quota {
  async function countersOf(owner: Owner) {
    const scope = scopeOf(owner);
    const keys = [counters.kept(scope), counters.waiting(scope, owner.accountId), counters.bytes(scope)];
    const [kept = 0, waiting = 0, bytes = 0] = await storage.counts.get(partitionOfId(scope), keys);
    return { kept, waiting, bytes };
  }

  function findStoredExcess(owner: Owner, storedBytes: number, moreBytes: number): string | undefined {
    const most = limits["conversion.stored"];
    if (storedBytes + moreBytes <= most) return undefined;
    return `The conversions of the ${nameOf(owner)} store ${storedBytes} bytes, and ${moreBytes} more would exceed ${most} (conversion.stored). Delete a conversion, or wait until an output expires.`;
  }

  async function requireRoom(owner: Owner, inputBytes: number): Promise<void> {
    const { kept, waiting, bytes } = await countersOf(owner);
    const refuse = (detail: string) => {
      throw new AppError("limit_reached", detail);
    };
    if (waiting >= limits["conversion.waiting"]) {
      refuse(
        `The account has ${waiting} conversions here that have not ended; at most ${limits["conversion.waiting"]} are allowed (conversion.waiting). Wait until one ends, or delete one.`,
      );
    }
    if (kept >= limits["conversion.perWorkspace"]) {
      refuse(
        `The ${nameOf(owner)} has ${kept} conversions; at most ${limits["conversion.perWorkspace"]} are allowed (conversion.perWorkspace). Delete one first.`,
      );
    }
    const excess = findStoredExcess(owner, bytes, inputBytes);
    if (excess !== undefined) refuse(excess);
  }

  return {
    requireRoom,
    async take(unit, owner, inputBytes) {
      const scope = scopeOf(owner);
      // Read before the counters: a creation after this read then changes the record, and this commit meets a conflict.
      const replacing = (await storage.records.get(conversionScopeRecord, scope)) ?? null;
      unit.record({ op: "put", type: conversionScopeRecord, value: { scope }, replacing });
      await requireRoom(owner, inputBytes);
    },
    async findExcess(owner, outputBytes) {
      const message = findStoredExcess(owner, (await countersOf(owner)).bytes, outputBytes);
      return message === undefined ? undefined : { code: "limit_reached", message };
    },
  };
}

function nameOf({ workspaceId }: Owner): string {
  return workspaceId === undefined ? "account" : "workspace";
}
