/** Entry point of the worker threads that run the text tasks of articles. */
import { serveTasks } from "../../platform/workers/workerTasks.ts";
import { textTasks } from "./textTasks.ts";

export type TextTasks = typeof textTasks;

serveTasks(textTasks);
