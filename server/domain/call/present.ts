/** Returns only the members that have a value. Optional members of records and replies are absent, never undefined. */
export function present<Members extends object>(members: Members): { [Key in keyof Members]?: Exclude<Members[Key], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Members]?: Exclude<Members[Key], undefined>;
  };
}
