/** This module reads all webhooks of a workspace, oldest first. Their number is bounded by `webhook.perWorkspace`. */
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, Storage, Stored } from "../../platform/storage/port.ts";
import { type WebhookRecord, webhookRecord } from "./records.ts";

const chunk = 200;

export async function webhooksOf(
  storage: Pick<Storage, "index" | "records">,
  workspaceId: string,
): Promise<readonly Stored<WebhookRecord>[]> {
  const found: Stored<WebhookRecord>[] = [];
  for (let after: IndexKey | undefined; ; ) {
    const rows = await storage.index.scan({
      partition: partitionOfId(workspaceId),
      prefix: ["webhook", workspaceId],
      limit: chunk,
      ...(after === undefined ? {} : { after }),
    });
    const targets = rows.map((row) => row.target);
    const records = targets.length === 0 ? [] : await storage.records.getMany(webhookRecord, targets);
    found.push(...records.filter((stored) => stored !== undefined));
    after = rows.at(-1)?.key;
    if (rows.length < chunk || after === undefined) return found;
  }
}
