/** This module limits the length of texts for runs and approvals to `body.prose`, which the server settings can change. */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";

const fields = ["instructions", "feedback", "note", "reason"] as const;

/** Throws `validation_failed` with one finding for each of these members that is too long. Every member is optional. */
export function checkProse(
  limits: Pick<Limits, "body.prose">,
  body: Readonly<Partial<Record<(typeof fields)[number], string | undefined>>>,
): void {
  const most = limits["body.prose"];
  const tooLong = fields.filter((field) => (body[field]?.length ?? 0) > most);
  if (tooLong.length === 0) return;
  const message = `must have at most ${most} characters`;
  throw new AppError("validation_failed", `The field ${tooLong.join(", ")} ${message}.`, {
    errors: tooLong.map((field) => ({ pointer: `/${field}`, code: "too_big", message })),
  });
}
