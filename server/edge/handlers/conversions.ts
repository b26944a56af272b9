/**
 * `createConversionHandlers` connects the operations of `api/contract/conversions.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ConversionMediaType, ConversionOutput } from "../../../api/schema/conversion.ts";
import { type Handlers, RawReply } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import { toDisposition } from "../../domain/conversions/formats.ts";
import type { ConversionService } from "../../domain/conversions/service.ts";
import { pickMediaType } from "../calls/mediaTypes.ts";

const asJson = "application/vnd.svc.conversion-output+json";

export function createConversionHandlers({ conversions }: Pick<ConversionService, "conversions">) {
  return {
    formats: async () => conversions.formats(),
    create: {
      serve: ({ body }, call) =>
        "file" in body
          ? conversions.create({ ...body.fields, source: { upload: body.file, format: body.fields.format } }, call)
          : conversions.create(body, call),
      reply: ({ conversion, revision, hasEnded }) => ({
        status: hasEnded ? 201 : 202,
        headers: { location: `/conversions/${conversion.conversionId}`, etag: recordEtag(revision) },
        body: conversion,
      }),
    },
    list: ({ query }, call) => conversions.list(query, call),
    get: ({ params }, call) => conversions.get(params.conversionId, call),
    output: {
      async serve({ params, accept }, call) {
        const { content, ...rest } = await conversions.output(params.conversionId, call);
        const mediaType = pickMediaType(accept, [rest.contentType as ConversionMediaType, "application/octet-stream", asJson]);
        if (mediaType !== asJson) return { fileName: rest.fileName, body: new RawReply(mediaType, content) };
        const written: ConversionOutput = { ...rest, content: Buffer.from(content).toString(rest.encoding) };
        return { fileName: rest.fileName, body: written };
      },
      reply: ({ fileName, body }) => ({
        status: 200,
        headers: { "content-disposition": toDisposition(fileName), "x-content-type-options": "nosniff", vary: "accept" },
        body,
      }),
    },
    delete: ({ params }, call) => conversions.delete(params.conversionId, call),
  } satisfies Handlers<AppContract>["conversions"];
}
