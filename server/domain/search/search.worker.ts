/** Entry point of the worker threads that write and read the search index. */
import { serveTasks } from "../../platform/workers/workerTasks.ts";
import { indexTasks } from "./indexTasks.ts";

export type IndexTasks = typeof indexTasks;

serveTasks(indexTasks);
