/**
 * The step code_verification: does the code of an article parse. It runs nothing and judges no style.
 *
 * Blocks beyond `code.blocks` are counted, not read; a language without a parser, an empty or an oversized block is
 * skipped with its reason.
 */
import { createHash } from "node:crypto";
import type { Limits } from "../../../api/limits.ts";
import type { CodeVerificationBlock, CodeVerificationReport } from "../../../api/schema/seo.ts";
import { noUsage } from "../../../machines/agentRun.ts";
import type { ArticleReader } from "./articleReader.ts";
import { parserOfLanguage } from "./codeLanguages.ts";
import type { Executor } from "./port.ts";
import type { ArticleCodeBlock } from "./readStructure.ts";

export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

type SkipReason = NonNullable<CodeVerificationBlock["skipReason"]>;

/** `rawLang` may carry more than a name: `js{1,3}`, `python title="x"`. */
function toLang(rawLang: string | null): string {
  return (rawLang ?? "").toLowerCase().match(/^[a-z0-9+#_.-]+/)?.[0] ?? "";
}

export interface VerificationContext {
  /** Whose article it is, a workspace's id. */
  readonly owner: string;
  readonly limits: Limits;
  now(): number;
  readonly signal: AbortSignal;
}

async function verifyBlock(
  block: ArticleCodeBlock,
  index: number,
  reader: ArticleReader,
  { owner, limits }: VerificationContext,
): Promise<CodeVerificationBlock> {
  const lang = toLang(block.lang);
  const facts = { index, lang, rawLang: block.lang, line: block.line, charCount: block.value.length };
  const skip = (skipReason: SkipReason, detail?: string): CodeVerificationBlock => ({
    ...facts,
    status: "skipped",
    skipReason,
    ...(detail === undefined ? {} : { detail }),
  });
  const maxCharacters = limits["code.blockChars"];
  if (block.value.trim() === "") return skip("empty_block");
  if (block.value.length > maxCharacters) return skip("block_too_large", `At most ${maxCharacters} characters are read.`);
  const parser = parserOfLanguage.get(lang);
  if (parser === undefined) return skip("unsupported_language");
  const outcome = await reader.parseCode({ parser, code: block.value }, owner);
  if (outcome.kind === "unread") return skip("parser_unavailable", outcome.reason);
  if (outcome.value.length === 0) return { ...facts, status: "parsed" };
  return { ...facts, status: "parse_failed", diagnostics: [...outcome.value] };
}

/** A report is made in any case; one that could not be made says why. */
export async function verifyCode(markdown: string, reader: ArticleReader, context: VerificationContext): Promise<CodeVerificationReport> {
  const generatedAt = new Date(context.now()).toISOString();
  const facts = { schemaVersion: 1, generatedAt, articleContentHash: hashText(markdown) } as const;
  const outcome = await reader.readStructure(markdown, context.owner);
  if (outcome.kind === "unread") {
    const counts = { parsed: 0, parse_failed: 0, skipped: 0 };
    return { ...facts, status: "unavailable", blockCount: 0, blocksOmitted: 0, counts, blocks: [], reason: outcome.reason };
  }
  const { codeBlocks } = outcome.value;
  const blocks: CodeVerificationBlock[] = [];
  for (const [index, block] of codeBlocks.slice(0, context.limits["code.blocks"]).entries()) {
    context.signal.throwIfAborted();
    blocks.push(await verifyBlock(block, index, reader, context));
  }
  const count = (status: CodeVerificationBlock["status"]) => blocks.filter((block) => block.status === status).length;
  return {
    ...facts,
    status: "complete",
    blockCount: codeBlocks.length,
    blocksOmitted: codeBlocks.length - blocks.length,
    counts: { parsed: count("parsed"), parse_failed: count("parse_failed"), skipped: count("skipped") },
    blocks,
  };
}

export function createCodeVerification(reader: ArticleReader): Executor {
  return async ({ run, texts, limits, now, signal }) => {
    const report = await verifyCode(texts["content.md"], reader, { owner: run.workspaceId, limits, now, signal });
    const { counts, blockCount, reason } = report;
    return {
      kind: "completed",
      artifacts: [{ kind: "code_report", contentType: "application/json", text: JSON.stringify(report) }],
      summary:
        report.status === "unavailable"
          ? `The code was not verified: ${reason}`
          : `${blockCount} code blocks: ${counts.parsed} parse, ${counts.parse_failed} do not, ${counts.skipped} skipped`,
      usage: noUsage,
    };
  };
}
