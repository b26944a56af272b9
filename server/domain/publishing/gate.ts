/**
 * PublishGate checks a text before a request publishes it (PL40). The checks are those of the step article_validation.
 *
 * With `warn` the answer of the request has the number of findings. With `block` a text with errors is refused. A text that
 * a Live page follows by itself does not pass the gate, because nobody waits for an answer then.
 */
import { AppError } from "../../../api/schema/error.ts";
import type { GateFinding, PublishGate as GateSetting } from "../../../api/schema/publicLink.ts";

/** `unread`: the checks could not be made. A later attempt may succeed if `retryable`. */
export type CheckedText =
  | { readonly kind: "read"; readonly value: { readonly findings: readonly GateFinding[] } }
  | { readonly kind: "unread"; readonly reason: string; readonly retryable: boolean };

/** Checks Markdown. `owner` is a workspace id. */
export type CheckText = (markdown: string, owner: string) => Promise<CheckedText>;

export interface PublishGate {
  /** Returns what the checks find, whatever the setting is. Throws `unavailable` under too much load. */
  find(markdown: string, owner: string): Promise<readonly GateFinding[]>;
  /** Returns the number of findings; undefined if the gate is off. Throws `gate_failed`, and `unavailable` under too much load. */
  check(gate: GateSetting, markdown: string, owner: string): Promise<number | undefined>;
}

/** Most findings in one answer. */
const maxListed = 50;

function toRefusal(errors: readonly GateFinding[]): AppError {
  const more = errors.length > maxListed ? `; the first ${maxListed} are listed` : "";
  const [counted, object] = errors.length === 1 ? ["an error", "it"] : [`${errors.length} errors`, "them"];
  return new AppError("gate_failed", `The text has ${counted}${more}. Correct ${object}, or set the gate to warn.`, {
    // The text is not in the body of the request, so the pointer names the body as a whole.
    errors: errors.slice(0, maxListed).map(({ code, message, line }) => ({
      pointer: "",
      code,
      message: line === undefined ? message : `Line ${line}: ${message}`,
    })),
  });
}

export function createPublishGate({ checkText }: { readonly checkText: CheckText }): PublishGate {
  async function find(markdown: string, owner: string): Promise<readonly GateFinding[]> {
    const checked = await checkText(markdown, owner);
    if (checked.kind === "read") return checked.value.findings;
    const { reason, retryable } = checked;
    if (retryable) throw new AppError("unavailable", reason, { retryAfter: 5 });
    return [{ code: "unreadable", severity: "error", message: reason }];
  }

  return {
    find,
    async check(gate, markdown, owner) {
      if (gate === "off") return undefined;
      const findings = await find(markdown, owner);
      const errors = findings.filter(({ severity }) => severity === "error");
      if (gate === "block" && errors.length > 0) throw toRefusal(errors);
      return findings.length;
    },
  };
}
