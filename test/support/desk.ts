/** Desk is a team with two members beside the operator, and an account that belongs to no team. */
import { type Rest, signIn } from "./clients.ts";
import type { RunningServer } from "./server.ts";

export const password = "a password of tests alone";

export interface Desk {
  readonly workspaceId: string;
  readonly admin: Rest;
  readonly ana: Rest;
  readonly bo: Rest;
  readonly outsider: Rest;
}

export async function createDesk({ url, operator }: Pick<RunningServer, "url" | "operator">): Promise<Desk> {
  const admin = await signIn(url, operator);
  const { workspaceId } = await admin.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" });
  const join = async (username: string, isMember: boolean) => {
    await admin.expect(201, "POST", "/accounts", { username, password });
    if (isMember) await admin.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username, role: "member" });
    return signIn(url, { username, password });
  };
  return {
    workspaceId,
    admin,
    ana: await join("ana", true),
    bo: await join("bo", true),
    outsider: await join("cy.out", false),
  };
}
