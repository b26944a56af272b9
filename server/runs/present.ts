/** The members that have a value: what is optional in a record or an answer is absent, never undefined. */
export function present<Members extends object>(members: Members): { [Key in keyof Members]?: Exclude<Members[Key], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Members]?: Exclude<Members[Key], undefined>;
  };
}
