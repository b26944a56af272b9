/** Awaits work that may be refused. Returns the code of the refusal, or `done`. Throws what is no refusal. */
import type { AppError } from "../../api/schema/error.ts";

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (reason) {
    const { code } = reason as Partial<AppError>;
    if (code === undefined) throw reason;
    return code;
  }
}
