import { z } from "zod";
import {
  Conversion,
  ConversionForm,
  ConversionFormats,
  type ConversionMediaType,
  ConversionOutput,
  CreateConversionRequest,
} from "../schema/conversion.ts";
import { ConversionId } from "../schema/id.ts";
import { type Bytes, bytes, type MediaMap, operation } from "./operation.ts";
import { etag, resource } from "./resource.ts";

const access = { credential: "any", scopes: ["conversions:execute"] } as const;

const conversion = resource({
  one: "a conversion",
  many: "conversions",
  field: "conversions",
  path: "/conversions",
  id: { conversionId: ConversionId },
  schema: Conversion,
  read: access,
  write: access,
});

const replyHeaders = {
  ...etag,
  "x-svc-article": "Only if the request named a target and the conversion succeeded: the id of the article that has the Markdown.",
};

const ownOnly = "Conversions belong to the account that requested them; others do not see them, whatever their role.";

export const conversions = {
  formats: operation({
    method: "GET",
    path: "/conversions/formats",
    replies: { 200: ConversionFormats },
    ...access,
    summary: "List the supported pairs of formats",
    description: "A pair that is not listed answers 415.",
  }),
  create: operation({
    method: "POST",
    path: "/conversions",
    bodies: {
      "application/json": CreateConversionRequest,
      "multipart/form-data": { fields: ConversionForm, file: "The document to convert.", maxFile: "conversion.input" },
    },
    documentText: true,
    replies: { 201: Conversion, 202: Conversion },
    replyHeaders,
    location: "/conversions/{conversionId}",
    prefersWait: true,
    ...access,
    rate: "conversions",
    errors: [
      "content_too_large",
      "revision_gone",
      "insufficient_permission",
      "url_not_https",
      "url_not_public",
      "url_unresolvable",
      "limit_reached",
    ],
    summary: "Convert a document to another format",
    description:
      "The answer is 202, and the conversion continues. With `Prefer: wait=30` the answer waits up to that many seconds, and is 201 if the conversion has ended by then. An uploaded file has at most 25 MiB, content in JSON at most 2 MiB. With `target`, the Markdown becomes the text of a new or existing article in the same commit in which the conversion succeeds; `to` must then be `markdown`. A source article also needs `articles:read`, and a target `articles:write`.",
    example: { source: { content: "# How a draft survives\n", format: "markdown" }, to: "html" },
  }),
  list: conversion.list({ description: `${ownOnly} They can be read for 30 days after their end.` }),
  get: conversion.get({ replyHeaders, description: ownOnly }),
  output: operation({
    method: "GET",
    path: "/conversions/{conversionId}/output",
    params: z.strictObject({ conversionId: ConversionId }),
    replies: {
      200: {
        media: {
          "text/markdown": bytes,
          "text/html": bytes,
          "application/vnd.openxmlformats-officedocument.wordprocessingml.document": bytes,
          "application/pdf": bytes,
          "text/plain": bytes,
          "application/json": bytes,
          "application/octet-stream": bytes,
          "application/vnd.svc.conversion-output+json": ConversionOutput,
        } satisfies Record<ConversionMediaType, Bytes> & MediaMap,
      },
    },
    replyHeaders: { "content-disposition": "`attachment` with the suggested name of the file" },
    ...access,
    errors: ["not_ready", "output_expired", "not_acceptable", "content_too_large"],
    summary: "Get the output of a conversion",
    description:
      "The output is available as its own media type (`contentType`) and as `application/octet-stream`, both with the same bytes; other types answer 406. `Accept: application/vnd.svc.conversion-output+json` answers an output of at most 4 MiB inside JSON. If the source was an article, an API key needs `articles:read` too. The output is deleted 24 hours after the conversion has ended.",
  }),
  delete: conversion.delete({
    description: "A conversion that has not ended is cancelled. Its output is deleted. An article that it has written stays as it is.",
  }),
} as const;
