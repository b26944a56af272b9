/**
 * Mentions finds the accounts that a text mentions, and sorts them by whether they can read the article now.
 *
 * The result is stored with the text. Later changes of members do not change it.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { ReviewText } from "../../../machines/reviewContext.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { roleIn } from "../identity/workspaces/access.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import type { FindAccount } from "./port.ts";
import type { ReviewTexts } from "./reviewTexts.ts";

export interface Mentions {
  /** Throws `validation_failed` for a text that is too long or has more than `review.mentions` handles. */
  toText(workspaceId: string, body: string): Promise<ReviewText>;
}

export interface MentionsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly findAccount: FindAccount;
  readonly texts: Pick<ReviewTexts, "findHandles">;
  readonly limits: Pick<Limits, "body.prose" | "review.mentions">;
}

function refuse(code: string, message: string): AppError {
  return new AppError("validation_failed", `The field body ${message}.`, { errors: [{ pointer: "/body", code, message }] });
}

export function createMentions({ storage, findAccount, texts, limits }: MentionsOptions): Mentions {
  return {
    async toText(workspaceId, body) {
      if (body.length > limits["body.prose"]) throw refuse("too_big", `must have at most ${limits["body.prose"]} characters`);
      const handles = await texts.findHandles(workspaceId, body);
      if (handles.length > limits["review.mentions"]) {
        throw refuse("too_many_handles", `must mention at most ${limits["review.mentions"]} handles`);
      }
      if (handles.length === 0) return { body, mentions: [], unresolvedMentions: [] };
      const accounts = (await Promise.all(handles.map(findAccount))).filter((account) => account !== undefined);
      const workspace = (await storage.records.get(workspaceRecord, workspaceId))?.value;
      const canRead = ({ accountId, disabled }: (typeof accounts)[number]) =>
        !disabled && workspace !== undefined && roleIn(workspace, accountId) !== undefined;
      return {
        body,
        mentions: accounts.filter(canRead).map(({ username }) => username),
        unresolvedMentions: accounts.filter((account) => !canRead(account)).map(({ username }) => username),
      };
    },
  };
}
