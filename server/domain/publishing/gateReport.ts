/** GateReports checks the newest text of an article as the publish gate does, and publishes nothing (PL44). */
import type { GateReport } from "../../../api/schema/publicLink.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Documents } from "../articles/port.ts";
import { publicFile } from "./freeze.ts";
import type { PublishGate } from "./gate.ts";
import { readLiveArticle } from "./linkChange.ts";

export interface GateReportOptions {
  readonly storage: Pick<Storage, "records">;
  readonly documents: Pick<Documents, "read">;
  readonly gate: Pick<PublishGate, "find">;
}

/** Throws `not_found` for an article in the trash, and `unavailable` under too much load. */
export type ReportFindings = (articleId: string) => Promise<GateReport>;

export function createReportFindings({ storage, documents, gate }: GateReportOptions): ReportFindings {
  return async (articleId) => {
    const { value: article } = await readLiveArticle(storage, articleId);
    const { revision, texts } = await documents.read(articleId);
    return { revision, findings: [...(await gate.find(texts[publicFile], article.workspaceId))] };
  };
}
