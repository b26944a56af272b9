/** Entry point of the worker threads that run the text tasks of reviews. */
import { serveTasks } from "../../platform/workers/workerTasks.ts";
import { reviewTasks } from "./reviewTasks.ts";

export type ReviewTasks = typeof reviewTasks;

serveTasks(reviewTasks);
