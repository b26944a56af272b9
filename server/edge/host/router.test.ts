import { describe, expect, it } from "vitest";
import { createRouter } from "./router.ts";

const route = (method: string, path: string) => ({ method, path });
const router = createRouter([
  route("GET", "/articles"),
  route("POST", "/articles"),
  route("GET", "/articles/{articleId}"),
  route("DELETE", "/articles/{articleId}"),
  route("GET", "/api-keys/self"),
  route("POST", "/api-keys/{keyId}/revoke"),
  route("GET", "/api-keys/{keyId}"),
  route("OPTIONS", "/own-options"),
]);

describe("router", () => {
  it("[HO1] the router finds a route by method and template and decodes its parameters", () => {
    expect(router.match("GET", "/articles/art_%31")).toMatchObject({
      kind: "found",
      route: { path: "/articles/{articleId}" },
      params: { articleId: "art_1" },
    });
    expect(router.match("POST", "/articles")).toMatchObject({ kind: "found", route: { method: "POST" }, params: {} });
  });

  it("[HO1] a literal segment wins over a parameter, and a dead end falls back to the parameter", () => {
    expect(router.match("GET", "/api-keys/self")).toMatchObject({ route: { path: "/api-keys/self" } });
    expect(router.match("POST", "/api-keys/self/revoke")).toMatchObject({
      route: { path: "/api-keys/{keyId}/revoke" },
      params: { keyId: "self" },
    });
  });

  it("[HO2] a known path with another method returns the allowed methods", () => {
    expect(router.match("PUT", "/articles")).toMatchObject({ kind: "method", allow: ["GET", "HEAD", "OPTIONS", "POST"] });
    expect(router.match("PATCH", "/api-keys/self")).toMatchObject({ kind: "method", allow: ["GET", "HEAD", "OPTIONS"] });
  });

  it("[HO1] HEAD finds the GET route", () => {
    expect(router.match("HEAD", "/articles/x")).toMatchObject({ kind: "found", route: { method: "GET" } });
  });

  it("[HO1] an empty segment, a trailing slash and an unknown path match no route", () => {
    for (const path of ["/articles/", "/articles//", "/nothing", "/", "", "*", "/articles/x/y", "/constructor", "/__proto__"]) {
      expect(router.match("GET", path), path).toEqual({ kind: "none" });
    }
  });

  it("[HO3] a parameter that is not percent-encoded UTF-8 is malformed", () => {
    for (const segment of ["%", "%zz", "%ff", "a%c3"]) expect(router.match("GET", `/articles/${segment}`)).toEqual({ kind: "malformed" });
  });

  it("[HO1] a final * matches the whole rest of a path, after literal segments and parameters", () => {
    const withRest = createRouter([route("GET", "/w/*"), route("GET", "/w/{id}/parts"), route("GET", "/w/own"), route("GET", "/{a}/b/*")]);
    const foundBy = (path: string) => {
      const match = withRest.match("GET", path);
      return match.kind === "found" ? [match.route.path, match.params] : match.kind;
    };
    for (const path of ["/w/", "/w/x", "/w/x/parts/y", "/w/x/", "/w//", "/w/%ff", "/w/own/more"])
      expect(foundBy(path), path).toEqual(["/w/*", {}]);
    expect(foundBy("/w/x/parts")).toEqual(["/w/{id}/parts", { id: "x" }]);
    expect(foundBy("/w/own")).toEqual(["/w/own", {}]);
    expect(foundBy("/x/b/c/d")).toEqual(["/{a}/b/*", { a: "x" }]);
    for (const path of ["/w", "/x/b", "/wx/y"]) expect(foundBy(path), path).toBe("none");
    expect(withRest.match("POST", "/w/x/y")).toMatchObject({ kind: "method", allow: ["GET", "HEAD", "OPTIONS"] });
    expect(() => createRouter([route("GET", "/a/*/b")])).toThrow("a segment follows the * of /a/*/b");
  });

  it("[HO1] two routes of the same method and shape are refused", () => {
    expect(() => createRouter([route("GET", "/a/{b}"), route("GET", "/a/{c}")])).toThrow("two routes for GET /a/{c}");
  });
});
