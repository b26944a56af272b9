/** Entry point of the worker threads that render the texts of articles. */
import { serveTasks } from "../../platform/workers/workerTasks.ts";
import { renderTasks } from "./renderTasks.ts";

export type RenderTasks = typeof renderTasks;

serveTasks(renderTasks);
