/**
 * `createConversionHandlers` connects the operations of `api/contract/conversions.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ConversionMediaType, ConversionOutput } from "../../../api/schema/conversion.ts";
import { type Handlers, PieceReply, RawReply } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { ConversionView } from "../../domain/conversions/conversionView.ts";
import { toDisposition } from "../../domain/conversions/formats.ts";
import type { ConversionService } from "../../domain/conversions/service.ts";
import { pickMediaType } from "../calls/mediaTypes.ts";

const asJson = "application/vnd.svc.conversion-output+json";

function toReply({ conversion, revision, writtenArticleId }: ConversionView) {
  const written = writtenArticleId === undefined ? {} : { "x-svc-article": writtenArticleId };
  return { headers: { etag: recordEtag(revision), ...written }, body: conversion };
}

export function createConversionHandlers({ conversions }: Pick<ConversionService, "conversions">) {
  return {
    formats: async () => conversions.formats(),
    create: {
      serve: ({ body }, call) =>
        "file" in body
          ? conversions.create({ ...body.fields, source: { upload: body.file, format: body.fields.format } }, call)
          : conversions.create(body, call),
      reply: (view) => {
        const { headers, body } = toReply(view);
        return { status: view.hasEnded ? 201 : 202, headers: { ...headers, location: `/conversions/${body.conversionId}` }, body };
      },
    },
    list: ({ query }, call) => conversions.list(query, call),
    get: {
      serve: ({ params }, call) => conversions.get(params.conversionId, call),
      reply: (view) => ({ status: 200, ...toReply(view) }),
    },
    output: {
      async serve({ params, accept }, call) {
        const { content, readWhole, ...facts } = await conversions.output(params.conversionId, call);
        const { fileName, contentType, encoding } = facts;
        const mediaType = pickMediaType(accept, [contentType as ConversionMediaType, "application/octet-stream", asJson]);
        if (mediaType === asJson) {
          const body: ConversionOutput = { ...facts, content: Buffer.from(await readWhole()).toString(encoding) };
          return { fileName, body };
        }
        return { fileName, body: content instanceof Uint8Array ? new RawReply(mediaType, content) : new PieceReply(mediaType, content) };
      },
      reply: ({ fileName, body }) => ({
        status: 200,
        headers: { "content-disposition": toDisposition(fileName), vary: "accept" },
        body,
      }),
    },
    delete: ({ params }, call) => conversions.delete(params.conversionId, call),
  } satisfies Handlers<AppContract>["conversions"];
}
