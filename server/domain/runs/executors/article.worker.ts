/** Runs the article tasks of the steps in a worker thread: compose, check, read the structure, parse code. */
import { serveTasks } from "../../../platform/workers/workerTasks.ts";
import { validateMarkdown } from "./articleRules.ts";
import { type Composable, composers } from "./composer.ts";
import { judgeDraft } from "./judgeDraft.ts";
import { parseCode } from "./parseCode.ts";
import { readStructure } from "./readStructure.ts";
import { reviewMarkdown } from "./seoChecks.ts";

export interface ToCompose {
  readonly step: keyof typeof composers;
  readonly from: Composable;
}

const compose = ({ step, from }: ToCompose): string => composers[step](from);

export const articleTasks = { compose, judgeDraft, parseCode, readStructure, reviewMarkdown, validateMarkdown };
export type ArticleTasks = typeof articleTasks;

serveTasks(articleTasks);
