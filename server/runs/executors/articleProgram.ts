/** What the checks of an article do in worker threads: read its structure, parse its code. */
import { serveTasks } from "../../convert/textProgram.ts";
import { parseCode } from "./parseCode.ts";
import { readStructure } from "./readStructure.ts";

export const articleTasks = { readStructure, parseCode };
export type ArticleTasks = typeof articleTasks;

serveTasks(articleTasks);
