/** Texts for runs and approvals are bounded by `body.prose`, which the server's limits may raise or lower. */
import type { Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";

const fields = ["instructions", "feedback", "note", "reason"] as const;

/** Refuses with a finding for each of these members that is too long; a body may have any of them or none. */
export function checkProse(
  limits: Pick<Limits, "body.prose">,
  body: Readonly<Partial<Record<(typeof fields)[number], string | undefined>>>,
): void {
  const most = limits["body.prose"];
  const tooLong = fields.filter((field) => (body[field]?.length ?? 0) > most);
  if (tooLong.length === 0) return;
  const message = `must have at most ${most} characters`;
  throw new AppError("validation_failed", `The member ${tooLong.join(", ")} ${message}.`, {
    errors: tooLong.map((field) => ({ pointer: `/${field}`, code: "too_big", message })),
  });
}
