/** The value that a field of a form sends: `null` for an empty field, which removes the old value. */
export function orNull(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === "" ? null : trimmed;
}
