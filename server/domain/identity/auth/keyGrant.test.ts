import { describe, expect, it } from "vitest";
import type { AppError } from "../../../../api/schema/error.ts";
import { type Scope, satisfies, scopeNames } from "../../../../api/scopes.ts";
import type { Principal } from "../../call/call.ts";
import { type KeyGrant, requireGrantable } from "./keyGrant.ts";

const session: Principal = { kind: "session", accountId: "usr_1", username: "ann", operator: true, sessionId: "ses_1" };
const key = (limits: Partial<Extract<Principal, { kind: "key" }>> = {}): Principal => ({
  kind: "key",
  accountId: "usr_1",
  username: "ann",
  operator: false,
  keyId: "key_1",
  ...limits,
});

function outcome(principal: Principal, grant: KeyGrant): string {
  try {
    requireGrantable(principal, grant);
    return "granted";
  } catch (reason) {
    return (reason as AppError).code;
  }
}

describe("rights that a caller may give to a new key", () => {
  it("[AU14] a session may grant everything", () => {
    for (const scopes of [undefined, ...scopeNames.map((scope) => [scope])]) expect(outcome(session, { scopes })).toBe("granted");
  });

  it("[AU14] over every pair of scopes, a key grants only its own scopes and never keys:manage", () => {
    for (const held of scopeNames) {
      for (const wanted of scopeNames) {
        const caller = key({ scopes: ["keys:manage", held] });
        const expected =
          wanted === "keys:manage" ? "interactive_session_required" : satisfies([held], wanted) ? "granted" : "scope_escalation";
        expect([held, wanted, outcome(caller, { scopes: [wanted] })]).toEqual([held, wanted, expected]);
        expect([held, wanted, outcome(caller, { scopes: [held, wanted] })]).toEqual([
          held,
          wanted,
          held === "keys:manage" ? "interactive_session_required" : expected,
        ]);
      }
    }
  });

  it("[AU14] no key, scoped or not, makes a key without scopes", () => {
    expect(outcome(key(), {})).toBe("interactive_session_required");
    expect(outcome(key({ scopes: [...scopeNames] }), {})).toBe("interactive_session_required");
    expect(outcome(key(), { scopes: ["keys:manage"] })).toBe("interactive_session_required");
    expect(outcome(key(), { scopes: ["articles:write"] })).toBe("granted");
  });

  it("[AU14] a read scope does not grant its write scope; a write scope grants its read scope", () => {
    expect(outcome(key({ scopes: ["articles:read"] }), { scopes: ["articles:write"] })).toBe("scope_escalation");
    expect(outcome(key({ scopes: ["articles:write"] }), { scopes: ["articles:read"] })).toBe("granted");
  });

  it("[AU14] the refusal of a scope names it, so that the caller can correct the request", () => {
    const grant = { scopes: ["articles:read", "reviews:write"] as Scope[] };
    expect(() => requireGrantable(key({ scopes: ["articles:read"] }), grant)).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ missingScopes: ["reviews:write"] }) }),
    );
  });

  it("[AU14] a key limited to workspaces makes only keys limited to some of them", () => {
    const scopes: Scope[] = ["articles:read"];
    const caller = key({ workspaceIds: ["ws_1", "ws_2"] });
    expect(outcome(caller, { scopes })).toBe("scope_escalation");
    expect(outcome(caller, { scopes, workspaceIds: ["ws_1", "ws_3"] })).toBe("scope_escalation");
    expect(outcome(caller, { scopes, workspaceIds: ["ws_2"] })).toBe("granted");
    expect(outcome(key(), { scopes, workspaceIds: ["ws_3"] })).toBe("granted");
  });

  it("[AU14] a key that expires makes only keys that expire no later", () => {
    const scopes: Scope[] = ["articles:read"];
    const caller = key({ expiresAtMs: 1000 });
    expect(outcome(caller, { scopes })).toBe("scope_escalation");
    expect(outcome(caller, { scopes, expiresAtMs: 1001 })).toBe("scope_escalation");
    expect(outcome(caller, { scopes, expiresAtMs: 1000 })).toBe("granted");
    expect(outcome(key(), { scopes, expiresAtMs: 9999 })).toBe("granted");
  });
});
