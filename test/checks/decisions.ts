/**
 * Checks the form of docs/decisions.md: ids without a gap, dates that ascend, a known status, and an index table that
 * agrees with the entries.
 */

interface Decision {
  readonly id: string;
  readonly title: string;
  readonly date: string;
  readonly status: string;
  readonly area: string;
}

const heading = /^## (.*)$/;
const headingParts = /^(D-\d{3}) (\S.*)$/;
const facts = /^(\d{4}-\d{2}-\d{2}) · (accepted|superseded by (D-\d{3})) · (\w+)$/;

/** The anchor that GitHub gives to a heading. */
function toAnchor(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

function toRow({ id, title, date, status, area }: Decision): string {
  return `| [${id}](#${toAnchor(`${id} ${title}`)}) | ${date} | ${status} | ${area} | ${title} |`;
}

/** Returns one sentence for each violation. */
export function findDecisionProblems(page: string): string[] {
  const lines = page.split("\n");
  const problems: string[] = [];
  const decisions: Decision[] = [];
  for (const [index, line] of lines.entries()) {
    const text = heading.exec(line)?.[1];
    if (text === undefined) continue;
    const [, id, title] = headingParts.exec(text) ?? [];
    const [, date, status, , area] = facts.exec(lines[index + 1] ?? "") ?? [];
    if (id === undefined || title === undefined) problems.push(`line ${index + 1}: a heading is "## D-nnn Title"`);
    else if (date === undefined || status === undefined || area === undefined) {
      problems.push(`${id}: the line below the heading is "yyyy-mm-dd · accepted · area" or "… · superseded by D-nnn · area"`);
    } else decisions.push({ id, title, date, status, area });
  }
  for (const [index, { id, date, status }] of decisions.entries()) {
    const expected = `D-${String(index + 1).padStart(3, "0")}`;
    if (id !== expected) problems.push(`${id}: the next id is ${expected}`);
    if (date < (decisions[index - 1]?.date ?? "")) problems.push(`${id}: ${date} is before the date of the previous entry`);
    const successor = status.replace("superseded by ", "");
    if (status !== "accepted" && !decisions.some((other) => other.id === successor && other.id > id)) {
      problems.push(`${id}: no later entry ${successor}`);
    }
  }
  const rows = lines.filter((line) => line.startsWith("| [D-"));
  for (const decision of decisions) if (!rows.includes(toRow(decision))) problems.push(`the index lacks ${toRow(decision)}`);
  if (rows.length !== decisions.length) problems.push(`the index has ${rows.length} rows for ${decisions.length} entries`);
  return problems;
}
