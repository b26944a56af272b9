/** CloseReason shortens a text so that it fits into a WebSocket close frame (RFC 6455, 5.5). */
const maxReasonBytes = 123;

/** Cuts a text above 123 bytes at the end of a word and appends `…`. A single long word is cut between characters. */
export function toCloseReason(text: string): string {
  if (Buffer.byteLength(text) <= maxReasonBytes) return text;
  const characters = [...text];
  while (Buffer.byteLength(`${characters.join("")}…`) > maxReasonBytes) characters.pop();
  const kept = characters.join("");
  const isWholeWord = /^\s/.test(text.slice(kept.length));
  const atWord = isWholeWord ? kept.trimEnd() : kept.replace(/\s+\S*$/, "");
  return `${atWord}…`;
}
