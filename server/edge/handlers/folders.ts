/**
 * `createFolderHandlers` connects the operations of `api/contract/folders.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { folders as contract } from "../../../api/contract/folders.ts";
import type { JobStarted } from "../../../api/schema/job.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { FolderRequests } from "../../domain/folders/folders.ts";

export function createFolderHandlers({ folders }: { readonly folders: FolderRequests }): Handlers<{ folders: typeof contract }>["folders"] {
  return {
    create: ({ body }, call) => folders.create(call, body),
    list: ({ query }, call) => folders.list(call, query),
    get: ({ params }, call) => folders.get(call, params.folderId),
    update: ({ params, body }, call) => folders.update(call, params.folderId, body),
    delete: {
      async serve({ params, query }, call): Promise<JobStarted | undefined> {
        if (query.recursive === true) return folders.deleteAll(call, params.folderId);
        await folders.delete(call, params.folderId);
        return undefined;
      },
      reply: (started: JobStarted | undefined) =>
        started === undefined ? { status: 204 } : { status: 202, headers: { location: `/jobs/${started.jobId}` }, body: started },
    },
    archive: ({ params, body = {} }, call) => folders.archive(call, params.folderId, body),
    restore: ({ params, body = {} }, call) => folders.restore(call, params.folderId, body),
  };
}
