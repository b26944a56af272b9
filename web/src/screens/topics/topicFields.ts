/** The fields of a topic that people write, each with its text in the form and its value in a request. */
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import type { WorkspaceUpdateTopicRequest } from "../../../../api/schema/topicOperations.ts";
import { articleFormats, articleTypes, intents, recommendations } from "./topicWords.ts";

type Changes = Partial<WorkspaceUpdateTopicRequest>;

export interface TopicField {
  /** The name in requests and problem documents. */
  readonly name: keyof WorkspaceUpdateTopicRequest;
  readonly label: string;
  readonly hint?: string;
  /** `line` and `prose` are texts, `list` has one entry a line, `choice` one of `options`. */
  readonly kind: "line" | "prose" | "list" | "number" | "date" | "range" | "choice";
  readonly options?: Readonly<Record<string, string>>;
  /** The server cannot remove the value once it is set. */
  readonly stays?: boolean;
  readonly isRequired?: boolean;
  readonly read: (topic: ContentTopic) => string;
  readonly write: (text: string) => Changes;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly TopicField[];
}

type Rest = Partial<Pick<TopicField, "hint" | "stays" | "isRequired">>;
type NameOf<Value> = {
  [Name in keyof ContentTopic & keyof WorkspaceUpdateTopicRequest]-?: [Exclude<ContentTopic[Name], undefined>, Value] extends [
    Value,
    Exclude<ContentTopic[Name], undefined>,
  ]
    ? Name
    : never;
}[keyof ContentTopic & keyof WorkspaceUpdateTopicRequest];

function text(kind: "line" | "prose", name: NameOf<string>, label: string, rest: Rest = {}): TopicField {
  return { name, label, kind, read: (topic) => topic[name] ?? "", write: (typed) => ({ [name]: typed.trim() }), ...rest };
}

function toLines(typed: string): string[] {
  return typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function list(name: NameOf<string[]>, label: string, hint = "One a line."): TopicField {
  return {
    name,
    label,
    hint,
    kind: "list",
    read: (topic) => (topic[name] ?? []).join("\n"),
    write: (typed) => ({ [name]: toLines(typed) }),
  };
}

function choice(
  name: "estimatedIntent" | "articleType" | "articleFormat" | "comparisonRecommendationMode",
  label: string,
  options: Readonly<Record<string, string>>,
): TopicField {
  return { name, label, kind: "choice", options, stays: true, read: (topic) => topic[name] ?? "", write: (chosen) => ({ [name]: chosen }) };
}

/** A range of words as people type it: `900–1400`, or one number for both ends. */
export const rangePattern = "\\s*\\d+\\s*([\\-–]\\s*\\d+\\s*)?";

function toRange(typed: string): Changes {
  const [min, max = min] = [...typed.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return { wordCountRange: min === undefined || max === undefined ? null : { min, max } };
}

export const fieldGroups: readonly FieldGroup[] = [
  {
    title: "The article",
    fields: [
      text("prose", "title", "Title", { isRequired: true }),
      text("line", "targetAudience", "Audience", { isRequired: true }),
      choice("articleType", "Type", articleTypes),
      choice("articleFormat", "Format", articleFormats),
      choice("comparisonRecommendationMode", "Recommendation", recommendations),
      {
        name: "wordCountRange",
        label: "Length in words",
        kind: "range",
        hint: "Such as 900–1400.",
        read: ({ wordCountRange: range }) =>
          range === undefined ? "" : range.min === range.max ? `${range.min}` : `${range.min}–${range.max}`,
        write: toRange,
      },
    ],
  },
  {
    title: "Angle",
    fields: [
      text("prose", "thesis", "Thesis"),
      text("prose", "readerPain", "Problem of the reader"),
      text("prose", "contentGap", "What existing articles leave out"),
      text("prose", "originalityAngle", "What is new in this one"),
      text("prose", "avoidAngle", "What to avoid"),
      text("prose", "productTieIn", "How the product relates"),
      list("angles", "Possible angles"),
      list("mustInclude", "Must mention"),
    ],
  },
  {
    title: "Search",
    fields: [
      text("line", "primaryKeyword", "Keyword"),
      list("secondaryKeywords", "Further keywords"),
      choice("estimatedIntent", "Intent", intents),
      text("line", "cluster", "Cluster"),
      text("prose", "seoTitle", "Title for search results"),
    ],
  },
  {
    title: "Evidence",
    fields: [
      list("evidencePlan", "Evidence to find"),
      {
        name: "suggestedSources",
        label: "Sources",
        kind: "list",
        hint: "One a line: the address, then why it is useful.",
        read: ({ suggestedSources = [] }) => suggestedSources.map(({ url, why }) => `${url} ${why}`.trim()).join("\n"),
        write: (typed) => ({
          suggestedSources: toLines(typed).map((line) => {
            const [url = "", ...why] = line.split(/\s+/);
            return { url, why: why.join(" ") };
          }),
        }),
      },
    ],
  },
  {
    title: "Plan",
    fields: [
      {
        name: "priorityScore",
        label: "Priority",
        kind: "number",
        hint: "0 to 100.",
        isRequired: true,
        read: ({ priorityScore }) => `${priorityScore}`,
        write: (typed) => ({ priorityScore: Number(typed) }),
      },
      text("prose", "priorityRationale", "Reason for the priority"),
      {
        name: "scheduledDate",
        label: "Planned for",
        kind: "date",
        stays: true,
        read: ({ scheduledDate }) => scheduledDate ?? "",
        write: (scheduledDate) => ({ scheduledDate }),
      },
      text("prose", "scheduleNote", "Note on the date"),
    ],
  },
];

export const allFields = fieldGroups.flatMap(({ fields }) => fields);

/** The fields that differ from the topic, as a request. `typed` has the texts of the form by the names of their fields. */
export function toChanges(topic: ContentTopic, typed: Readonly<Record<string, string>>): Changes {
  return Object.assign(
    {},
    ...allFields.flatMap(({ name, read, write }) => {
      const entered = typed[name];
      return entered === undefined || entered === read(topic) ? [] : [write(entered)];
    }),
  );
}
