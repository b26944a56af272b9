/** The program of the threads that lay out public pages. */
import { serveTasks } from "../convert/textProgram.ts";
import { toPageText } from "./markdownPage.ts";

const pageTasks = { page: toPageText } as const;
export type PageTasks = typeof pageTasks;

serveTasks(pageTasks);
