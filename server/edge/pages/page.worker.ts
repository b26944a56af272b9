/** Page.worker is the program of the worker threads that render public pages. */
import { serveTasks } from "../../platform/workers/workerTasks.ts";
import { toPageText } from "./markdownPage.ts";

const pageTasks = { page: toPageText } as const;
export type PageTasks = typeof pageTasks;

serveTasks(pageTasks);
