/** Tests that REST and tRPC are one service: each operation reaches the handler with the same call and the same answer. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { fieldNames } from "../../api/derive/input.ts";
import { AppError } from "../../api/schema/error.ts";
import { sampleOf } from "./schemaSample.ts";
import { articleId, credentials, noRates, useSurface, workspaceId } from "./surfaceFixture.ts";

const json = { "content-type": "application/json" };

describe("REST = tRPC", () => {
  const surface = useSurface({ limits: noRates });
  const known: Record<string, unknown> = { workspaceId, articleId };
  const filled = (schema: z.ZodType | undefined) => {
    const sample = (schema === undefined ? {} : sampleOf(schema, true)) as Record<string, unknown>;
    return Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, known[name] ?? value]));
  };

  for (const [resource, group] of Object.entries(contract)) {
    for (const [name, spec] of Object.entries(group as Record<string, OperationSpec>)) {
      // Operations with a cookie exist over REST only.
      if (spec.webSession !== undefined) continue;
      const key = `${resource}.${name}`;
      const credential = spec.credential === "none" ? {} : spec.credential === "operator" ? credentials.operator : credentials.session;
      const params = filled(spec.params);
      const query = filled(spec.query);
      const schema = spec.bodies?.["application/json"];
      const body = schema instanceof z.ZodType ? filled(schema) : undefined;

      const rest = (headers: Record<string, string> = credential) => {
        const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(String(params[param])));
        const search = new URLSearchParams(fieldNames(spec.query).map((field) => [field, String(query[field])]));
        return surface.fetch(spec.method, `${path}${search.size === 0 ? "" : `?${search}`}`, {
          headers: { ...headers, ...(body === undefined ? {} : json) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      };
      const trpc = (headers: Record<string, string> = credential) => {
        const input = JSON.stringify({ ...params, ...query, ...body });
        if (spec.method !== "GET") return surface.fetch("POST", `/trpc/${key}`, { headers: { ...headers, ...json }, body: input });
        return surface.fetch("GET", `/trpc/${key}?input=${encodeURIComponent(input)}`, { headers });
      };

      it(`[API21] ${key}: the same input gives the same answer and the same refusals`, async () => {
        const [overRest, overTrpc] = [await rest(), await trpc()];
        expect(overTrpc.status, await overTrpc.clone().text()).toBe(200);
        const text = await overRest.text();
        const { result } = await overTrpc.json();
        expect(result.data).toEqual(text === "" ? undefined : JSON.parse(text));
        const [first, second] = surface.serve.mock.calls;
        const { accept: _, ...seenByRest } = first?.[1] ?? {};
        expect(second?.[1]).toMatchObject(seenByRest);
        const compared = ["principal", "access", "limits", "remoteAddress"] as const;
        for (const field of compared) expect(second?.[2][field], field).toEqual(first?.[2][field]);

        surface.on(key, () => {
          throw new AppError("revision_conflict", "Changed.", { currentRevision: 4 });
        });
        const refusals: Record<string, string>[] = [credential, credentials.key("conversions:execute"), { authorization: "Bearer nobody" }];
        for (const headers of refusals) {
          const problem = await (await rest(headers)).json();
          const { error } = await (await trpc(headers)).json();
          if (spec.credential === "none" && headers !== credential) continue;
          const own = { requestId: "", instance: "" };
          expect({ ...error.data.problem, ...own }).toEqual({ ...problem, ...own });
        }
      });
    }
  }
});
