/** The program of the threads that work on the articles' texts. */
import { serveTasks } from "../convert/textProgram.ts";
import { textTasks } from "./textTasks.ts";

export type TextTasks = typeof textTasks;

serveTasks(textTasks);
