/** The names and meanings of roles and permissions, for people. */
import type { MemberRole, Permission } from "../../../../api/schema/workspace.ts";

/** The owner's role is given to no other member. */
export type GivenRole = Exclude<MemberRole, "owner">;

export const roles: Readonly<Record<MemberRole, { readonly name: string; readonly meaning: string }>> = {
  owner: { name: "Owner", meaning: "Can do everything, and always stays the owner." },
  admin: { name: "Admin", meaning: "Works on content, and manages members, webhooks and settings." },
  member: { name: "Member", meaning: "Works on articles, topics and runs." },
};

export const permissions: Readonly<Record<Permission, string>> = { read: "Can read", write: "Can write" };

export const givenRoles: readonly { readonly value: GivenRole; readonly label: string }[] = [
  { value: "member", label: roles.member.name },
  { value: "admin", label: roles.admin.name },
];
