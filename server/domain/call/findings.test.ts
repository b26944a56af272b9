import { describe, expect, it } from "vitest";
import { z } from "zod";
import { TokenRequest, UpdateMeRequest } from "../../../api/schema/account.ts";
import { CreateApiKeyRequest } from "../../../api/schema/apiKey.ts";
import { EditRequest, RevisionOrLive } from "../../../api/schema/article.ts";
import { FreeForm } from "../../../api/schema/common.ts";
import type { AppError } from "../../../api/schema/error.ts";
import { AnchorRequest } from "../../../api/schema/review.ts";
import { type Part, parsePart, toPointer } from "./findings.ts";

function findings(schema: z.ZodType, value: unknown, part: Part = "body"): unknown {
  try {
    parsePart(schema, value, part);
    return "valid";
  } catch (error) {
    return (error as AppError).facts.errors?.map(({ pointer, message }) => `${pointer} ${message}`);
  }
}

describe("findings", () => {
  it("[API7] findings state the allowed values", () => {
    expect(findings(CreateApiKeyRequest, {})).toEqual(["/name is required"]);
    expect(findings(CreateApiKeyRequest, { name: 1 })).toEqual(["/name must be a string"]);
    expect(findings(CreateApiKeyRequest, { name: "  " })).toEqual(["/name must have at least 1 character"]);
    expect(findings(CreateApiKeyRequest, { name: "a\u0007" })).toEqual(["/name must not contain control characters"]);
    expect(findings(CreateApiKeyRequest, { name: "k", scopes: [] })).toEqual(["/scopes must have at least 1 item"]);
    expect(findings(CreateApiKeyRequest, { name: "k", scopes: null })).toEqual(["/scopes must be an array"]);
    expect(findings(CreateApiKeyRequest, { name: "k", expiresAt: "soon" })).toEqual([
      "/expiresAt must be an ISO 8601 time in UTC with milliseconds, such as 2026-11-21T00:00:00.000Z",
    ]);
    expect(findings(CreateApiKeyRequest, { name: "k", workspaceIds: ["x"] })).toEqual([
      "/workspaceIds/0 must be an id of the form ws_ followed by 26 characters",
    ]);
    for (const anchor of [{}, { start: 0, end: 3 }, { text: "teh" }]) {
      expect(findings(z.strictObject({ anchor: AnchorRequest }), { anchor })).toEqual([
        "/anchor must have quote, or start, end and revision",
      ]);
    }
    expect(findings(z.strictObject({ n: z.int().min(1) }), { n: 1.5 })).toEqual(["/n must be a whole number"]);
    expect(findings(z.strictObject({ n: z.int().min(1) }), { n: 0 })).toEqual(["/n must be at least 1"]);
    expect(findings(z.strictObject({ settings: FreeForm }), { settings: [] })).toEqual(["/settings must be an object"]);
    expect(findings(z.strictObject({ q: z.string(), k: z.enum(["a"]) }), { q: ["x", "y"], k: ["a", "a"] }, "query")).toEqual([
      "/q must be a string, given once",
      "/k must be 'a', given once",
    ]);
    expect(findings(z.strictObject({ e: z.email() }), { e: "x" })).toEqual(["/e must be a valid email"]);
  });

  it("[API7] findings list every fault, each with its own pointer", () => {
    expect(findings(CreateApiKeyRequest, { name: "", scopes: ["articles:read", "all"], zz: 1 })).toEqual([
      "/name must have at least 1 character",
      expect.stringMatching(/^\/scopes\/1 must be one of 'articles:read', /),
      "/zz is not a known field; known: 'name', 'description', 'scopes', 'workspaceIds', 'expiresAt'",
    ]);
  });

  it("[OP78] the refusal of an unknown name proposes the nearest known name, and lists all if they are few", () => {
    const known = "known: 'name', 'description', 'scopes', 'workspaceIds', 'expiresAt'";
    for (const [name, meant] of [
      ["nmae", "name"],
      ["Scope", "scopes"],
      ["workspace_ids", "workspaceIds"],
      ["expiresat", "expiresAt"],
      ["desciption", "description"],
    ] as const) {
      expect(findings(CreateApiKeyRequest, { name: "k", [name]: 1 })).toEqual([
        `/${name} is not a known field; did you mean '${meant}'? ${known}`,
      ]);
    }
    expect(findings(CreateApiKeyRequest, { name: "k", ["n".repeat(5000)]: 1 })).toEqual([expect.stringContaining(`field; ${known}`)]);
    const wide = z.strictObject(Object.fromEntries([..."abcdefghi"].map((letter) => [letter.repeat(4), z.string().optional()])));
    expect(findings(wide, { abab: "x" })).toEqual(["/abab is not a known field"]);
    expect(findings(wide, { aaab: "x" }, "query")).toEqual(["/aaab is not a known parameter; did you mean 'aaaa'?"]);
    expect(findings(z.strictObject({}), { a: 1 })).toEqual(["/a is not a known field; none is known here"]);
  });

  it("[OP78] in a union, the names of the intended alternative are proposed, and none that it refuses", () => {
    expect(findings(EditRequest, { mode: "append", content: "x", fil: "content.md" })).toEqual([
      expect.stringMatching(/^\/fil is not a known field; did you mean 'file'\? known: (?!.*'edits')/),
    ]);
    expect(findings(EditRequest, { mode: "patch", edits: [{ fnd: "a", replace: "b", find: "a" }] })).toEqual([
      "/edits/0/fnd is not a known field; did you mean 'find'? known: 'find', 'replace', 'prefix', 'suffix', 'occurrence'",
    ]);
  });

  it("[API1] the code of a refusal and its text describe the same fault", () => {
    const refused = (value: unknown) => expect(() => parsePart(CreateApiKeyRequest, value, "body"));
    refused({ name: "", zz: 1 }).toThrow(
      expect.objectContaining({
        code: "unknown_field",
        message: expect.stringMatching(/^In the body, \/zz is not a .* \(and 1 more, see errors\)\.$/),
      }),
    );
    refused({ name: "", scopes: [] }).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        message: "In the body, /name must have at least 1 character (and 1 more, see errors).",
      }),
    );
  });

  it("[API7] a fault in a union is reported for the intended alternative, or all alternatives are listed", () => {
    expect(findings(TokenRequest, { grantType: "password", username: "ana" })).toEqual(["/password is required"]);
    expect(findings(TokenRequest, { grantType: "magic" })).toEqual(["/grantType must be one of 'password', 'refresh_token'"]);
    expect(findings(EditRequest, { mode: "patch", edits: [{ find: "a", replace: "b", occurrence: "last" }] })).toEqual([
      "/edits/0/occurrence must be 'first' or 'all' or a number",
    ]);
  });

  it("[API7] a missing union or enumeration is reported as required, like any other field", () => {
    const schema = z.strictObject({ from: RevisionOrLive, kind: z.enum(["a", "b"]), only: z.literal("x") });
    expect(findings(schema, {})).toEqual(["/from is required", "/kind is required", "/only is required"]);
    expect(findings(schema, { from: "now", kind: "c", only: "y" })).toEqual([
      "/from must be a number or 'live'",
      "/kind must be one of 'a', 'b'",
      "/only must be 'x'",
    ]);
  });

  it("[API7] rules between fields also produce findings", () => {
    expect(findings(UpdateMeRequest, { password: "a long enough one" })).toEqual(["/currentPassword is required to set a new password"]);
    expect(findings(EditRequest, { mode: "patch", content: "x" })).toEqual([
      "/edits is required",
      "/content is allowed with the modes replace, append and prepend only; with mode patch send 'edits'",
    ]);
    expect(findings(EditRequest, { mode: "append", content: "x", edits: [] })).toEqual([
      "/edits is allowed with mode patch only; with this mode send 'content'",
    ]);
    expect(findings(EditRequest, { content: "x" })).toEqual(["/mode must be one of 'replace', 'append', 'prepend', 'patch'"]);
  });

  it("[API7] findings never repeat the refused value and list at most fifty faults", () => {
    const many = Array.from({ length: 90 }, () => "s3cret-value");
    const refused = findings(CreateApiKeyRequest, { name: "k", scopes: many });
    expect(refused).toHaveLength(50);
    expect(JSON.stringify(refused)).not.toContain("s3cret");
  });

  it("[API7] pointers escape ~ and /", () => {
    expect(toPointer(["a/b", "~", 0])).toBe("/a~1b/~0/0");
  });
});
