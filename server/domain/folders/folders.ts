/**
 * The folder requests create, list, change, move, archive, restore and delete folders.
 *
 * Plain changes go through a collection. Requests that start a job commit the folder, the job and the answer together.
 */
import type { Logger } from "pino";
import type { OperationKey } from "../../../api/contract/contract.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type {
  ContentProject,
  ContentProjectSettings,
  CreateFolderRequest,
  Folder,
  FolderJobStarted,
  FolderNoteRequest,
  UpdateFolderRequest,
} from "../../../api/schema/folder.ts";
import type { JobStarted } from "../../../api/schema/job.ts";
import { createKeyedQueue } from "../../platform/actors/keyedQueue.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { type Access, type Call, Versioned } from "../call/call.ts";
import { createCollection } from "../call/collection.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { present } from "../call/present.ts";
import { principalOf, toActor } from "../call/principal.ts";
import { checkProse } from "../call/prose.ts";
import { createRoleCheck } from "../identity/workspaces/access.ts";
import { withNextCounter, workspaceRecord } from "../identity/workspaces/records.ts";
import type { StartJob } from "../jobs/port.ts";
import type { FolderArchive } from "./folderArchive.ts";
import { type FolderDeletion, noDeletions } from "./folderDeletion.ts";
import type { FolderTopics } from "./port.ts";
import { type FolderRecord, folderLists, folderRecord, takenNames } from "./records.ts";
import type { FolderTree } from "./tree.ts";

export interface FolderFilter extends PageQuery {
  /** Folder that contains the listed folders; "null": the top level; undefined: folders of all levels. */
  readonly parentFolderId?: string | undefined;
  readonly archived?: boolean | undefined;
}

export interface FolderRequests {
  create(call: Call, request: CreateFolderRequest): Promise<Versioned<Folder>>;
  list(call: Call, filter: FolderFilter): Promise<Page<Folder>>;
  get(call: Call, folderId: string): Promise<Versioned<Folder>>;
  update(call: Call, folderId: string, request: UpdateFolderRequest): Promise<Versioned<Folder>>;
  /** Deletes an empty folder. Throws `folder_not_empty`. */
  delete(call: Call, folderId: string): Promise<void>;
  /** Starts the job that deletes the folder with its contents. */
  deleteAll(call: Call, folderId: string): Promise<JobStarted>;
  archive(call: Call, folderId: string, request: FolderNoteRequest): Promise<FolderJobStarted>;
  restore(call: Call, folderId: string, request: FolderNoteRequest): Promise<FolderJobStarted>;
}

export interface FolderRequestsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "now">;
  readonly actors: Pick<ActorRuntime, "openUnit" | "commitUnit">;
  readonly pager: Pager;
  readonly log: Logger;
  readonly limits: Limits;
  readonly tree: FolderTree;
  readonly deletion: FolderDeletion;
  readonly archiving: FolderArchive;
  readonly topics: FolderTopics;
  readonly startJob: StartJob;
}

function toFolder(record: FolderRecord): Folder {
  const { folderId, workspaceId, parentFolderId, name, slug, createdAtMs, updatedAtMs, contentProject, archivedAtMs } = record;
  return {
    folderId,
    workspaceId,
    parentFolderId,
    name,
    slug,
    createdAt: createdAtMs / 1000,
    updatedAt: updatedAtMs / 1000,
    ...present({ contentProject }),
    ...(archivedAtMs === undefined ? {} : { archivedAt: archivedAtMs / 1000 }),
  };
}

function toContentProject(settings: ContentProjectSettings): ContentProject {
  return { requireOutlineApproval: true, requireDraftApproval: true, ...present(settings) };
}

function accessOf({ access }: Pick<Call, "access">): Access {
  if (access === undefined) throw new Error("an operation on folders was called without access to a workspace");
  return access;
}

/** A folder that is being deleted can still be read by its id between the access check and the request. */
function requireKept(folder: FolderRecord): void {
  if (folder.deletedByJobId !== undefined) throw notFound();
}

export function createFolderRequests(options: FolderRequestsOptions): FolderRequests {
  const { storage, actors, pager, log, limits, tree, deletion, archiving, topics, startJob } = options;
  const authorize = createRoleCheck(storage, "write");
  const audit = log.child({ stream: "audit" });
  // Run the changes of a workspace's tree one after the other. They share one record and would otherwise conflict.
  const turns = createKeyedQueue();
  const folders = createCollection<FolderRecord, Folder>({
    storage,
    actors,
    pager,
    record: folderRecord,
    many: "folders",
    toView: toFolder,
    authorize,
    taken: takenNames,
    log,
  });

  /** Returns the number for a new content project, and adds the write that assigns it. */
  async function nextProjectNumber(unit: UnitOfWork, workspaceId: string): Promise<number> {
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    if (workspace === undefined) throw notFound();
    const { number, write } = await withNextCounter(storage, workspace.value, "project");
    unit.record(write);
    return number;
  }

  /** Reads the folder, gathers the changes of the request with the start of its job, and commits them with the answer. */
  async function commitWithJob<Answer>(
    call: Call,
    event: "folder.deleted" | "folder.archived" | "folder.restored",
    folderId: string,
    { note }: FolderNoteRequest,
    gather: (unit: UnitOfWork, folder: Stored<FolderRecord>, jobId: string) => Promise<Answer>,
  ): Promise<Answer> {
    checkProse(limits, { note });
    const { workspaceId, partition } = accessOf(call);
    const jobId = call.ids.next("job", partition);
    const answer = await turns.run(workspaceId, () =>
      actors.commitUnit({ operation: "folder.job", partition, committer: call }, async (unit) => {
        await authorize(call, workspaceId);
        const folder = await folders.read(workspaceId, folderId);
        requireKept(folder.value);
        return gather(unit, folder, jobId);
      }),
    );
    audit.info({ event, folderId, jobId, ...present({ note }), by: toActor(principalOf(call)) }, event);
    return answer;
  }

  /** The fields that every order of a job has. */
  function toOrder(call: Call, jobId: string) {
    return { jobId, workspaceId: accessOf(call).workspaceId, by: principalOf(call).username };
  }

  function putFolder(unit: UnitOfWork, folder: Stored<FolderRecord>, changed: FolderRecord): Folder {
    const value = { ...changed, updatedAtMs: storage.now() };
    unit.record({ op: "put", type: folderRecord, value, replacing: folder });
    return toFolder(value);
  }

  return {
    create: (call, { workspaceId, name, parentFolderId = null, contentProject }) =>
      turns.run(workspaceId, () =>
        folders.create(call, workspaceId, async (folderId, base, unit) => {
          await tree.add(unit, workspaceId, parentFolderId, call.limits);
          const slug = await tree.freeSlug(workspaceId, name, folderId);
          const folder = { ...base, folderId, parentFolderId, name, slug };
          if (contentProject === undefined) return { value: folder };
          const projectNumber = await nextProjectNumber(unit, workspaceId);
          return { value: { ...folder, contentProject: toContentProject(contentProject), projectNumber } };
        }),
      ),

    list(call, { parentFolderId, archived, ...page }) {
      const { workspaceId } = accessOf(call);
      const parent = parentFolderId === "null" ? null : parentFolderId;
      return folders.page(workspaceId, page, {
        name: JSON.stringify([parentFolderId ?? "", archived ?? ""]),
        index: {
          prefix: parent === undefined ? folderLists.all(workspaceId) : folderLists.children(workspaceId, parent),
          reverse: true,
        },
        keep: ({ deletedByJobId, archivedAtMs }) =>
          deletedByJobId === undefined && (archived === undefined || archived === (archivedAtMs !== undefined)),
      });
    },

    async get(call, folderId) {
      const { value, revision } = await folders.read(accessOf(call).workspaceId, folderId);
      requireKept(value);
      return new Versioned(toFolder(value), revision);
    },

    update(call, folderId, { name, parentFolderId, contentProject }) {
      const { workspaceId } = accessOf(call);
      return turns.run(workspaceId, () =>
        folders.change(call, workspaceId, folderId, async (before, unit) => {
          requireKept(before);
          const { contentProject: settings, ...rest } = before;
          const parent = parentFolderId === undefined ? before.parentFolderId : parentFolderId;
          if (parent !== before.parentFolderId) await tree.move(unit, before, parent, call.limits);
          const project = contentProject === undefined ? settings : contentProject === null ? undefined : toContentProject(contentProject);
          const isFirst = project !== undefined && before.projectNumber === undefined;
          return {
            value: {
              ...rest,
              name: name ?? before.name,
              parentFolderId: parent,
              ...present({ contentProject: project }),
              ...(isFirst ? { projectNumber: await nextProjectNumber(unit, workspaceId) } : {}),
            },
          };
        }),
      );
    },

    delete(call, folderId) {
      const { workspaceId } = accessOf(call);
      return turns.run(workspaceId, () =>
        folders.remove(call, workspaceId, folderId, async (before, unit) => {
          requireKept(before);
          await deletion.requireEmpty(unit, before);
          await tree.change(unit, workspaceId, 1);
        }),
      );
    },

    deleteAll: (call, folderId) =>
      commitWithJob(call, "folder.deleted", folderId, {}, async (unit, folder, jobId) => {
        requireMatch(call, folder.revision);
        await tree.change(unit, folder.value.workspaceId, 0);
        const of = await deletion.mark(unit, folder, jobId);
        startJob(unit, deletion.work, { ...toOrder(call, jobId), of, state: noDeletions });
        return { jobId };
      }),

    archive: (call, folderId, request) =>
      commitWithJob(call, "folder.archived", folderId, request, async (unit, folder, jobId) => {
        if (folder.value.archivedAtMs !== undefined) throw refuseMove("archive", "archived", "folders.restore");
        const archivedAtMs = storage.now();
        const answer = { jobId, folder: putFolder(unit, folder, { ...folder.value, archivedAtMs }) };
        const of = await topics.countTo("archive", folder.value);
        const state = { folderId, archivedAtMs, topics: 0, ...present(request) };
        startJob(unit, archiving.archive, { ...toOrder(call, jobId), of, state });
        return answer;
      }),

    restore: (call, folderId, request) =>
      commitWithJob(call, "folder.restored", folderId, request, async (unit, folder, jobId) => {
        const { archivedAtMs, ...active } = folder.value;
        if (archivedAtMs === undefined) throw refuseMove("restore", "active", "folders.archive");
        const answer = { jobId, folder: putFolder(unit, folder, active) };
        const of = await topics.countTo("restore", folder.value);
        startJob(unit, archiving.restore, { ...toOrder(call, jobId), of, state: { folderId, topics: 0 } });
        return answer;
      }),
  };
}

function refuseMove(asked: string, currentState: string, possible: OperationKey): AppError {
  const detail = `Cannot ${asked} the folder: it is in the state ${currentState}. Possible operations: ${possible}.`;
  return new AppError("invalid_transition", detail, { currentState, allowed: [possible] });
}
