/**
 * Performs the step code_verification: checks whether the code blocks of an article parse.
 *
 * It does not execute code and does not judge style. Blocks beyond the limit `code.blocks` are counted but not read. A
 * block is skipped, with a reason, if it is empty, too large, or in a language without a parser.
 */
import type { Limits } from "../../../../api/limits.ts";
import type { CodeVerificationBlock, CodeVerificationReport } from "../../../../api/schema/report.ts";
import { noUsage } from "../../../../machines/agentRun.ts";
import type { ArticleReader } from "./articleReader.ts";
import { parserOfLanguage } from "./codeLanguages.ts";
import type { Executor } from "./port.ts";
import type { ArticleCodeBlock } from "./readStructure.ts";
import { hashText, toUnavailable, toUnavailableCodeReport } from "./unavailableReports.ts";

type SkipReason = NonNullable<CodeVerificationBlock["skipReason"]>;

/** Language name of a fence. `rawLang` may contain more than the name: `js{1,3}`, `python title="x"`. */
function toLang(rawLang: string | null): string {
  return (rawLang ?? "").toLowerCase().match(/^[a-z0-9+#_.-]+/)?.[0] ?? "";
}

interface VerificationContext {
  /** Id of the workspace that owns the article. */
  readonly owner: string;
  readonly limits: Limits;
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

async function verifyBlocks(
  codeBlocks: readonly ArticleCodeBlock[],
  reader: ArticleReader,
  context: VerificationContext,
): Promise<Pick<CodeVerificationReport, "status" | "blockCount" | "blocksOmitted" | "counts" | "blocks">> {
  const blocks: CodeVerificationBlock[] = [];
  for (const [index, block] of codeBlocks.slice(0, context.limits["code.blocks"]).entries()) {
    context.signal.throwIfAborted();
    blocks.push(await verifyBlock(block, index, reader, context));
  }
  const count = (status: CodeVerificationBlock["status"]) => blocks.filter((block) => block.status === status).length;
  return {
    status: "complete",
    blockCount: codeBlocks.length,
    blocksOmitted: codeBlocks.length - blocks.length,
    counts: { parsed: count("parsed"), parse_failed: count("parse_failed"), skipped: count("skipped") },
    blocks,
  };
}

export function createCodeVerification(reader: ArticleReader): Executor {
  return async ({ run, texts, limits, now, signal }) => {
    const markdown = texts["content.md"];
    const facts = { schemaVersion: 1, generatedAt: new Date(now()).toISOString(), articleContentHash: hashText(markdown) } as const;
    const structure = await reader.readStructure(markdown, run.workspaceId);
    if (structure.kind === "unread") {
      const { reason } = structure;
      return toUnavailable("code_report", toUnavailableCodeReport({ texts, now }, reason), { code: "unavailable", message: reason });
    }
    const found = await verifyBlocks(structure.value.codeBlocks, reader, { owner: run.workspaceId, limits, signal });
    const report: CodeVerificationReport = { ...facts, ...found };
    const { counts, blockCount } = report;
    return {
      kind: "completed",
      artifacts: [{ kind: "code_report", contentType: "application/json", text: JSON.stringify(report) }],
      summary: `${blockCount} code blocks: ${counts.parsed} parse, ${counts.parse_failed} do not, ${counts.skipped} skipped`,
      usage: noUsage,
    };
  };
}
