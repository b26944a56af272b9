import { Link } from "@tanstack/react-router";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Fact } from "../../ui/facts.tsx";
import { Time } from "../../ui/time.tsx";
import { useProjects } from "./useTopics.ts";

const scores = [
  ["briefQualityScore", "Brief"],
  ["productRelevanceScore", "Relevance"],
  ["evidenceScore", "Evidence"],
  ["originalityScore", "Originality"],
  ["keywordCoverageScore", "Keywords"],
  ["duplicateRiskScore", "Duplicate risk"],
] as const;

/** What there is to know about a topic that nobody writes in its brief. */
export function TopicFacts({ topic }: { readonly topic: ContentTopic }) {
  const { workspaceId, ownerId, createdAt, updatedAt, contentProjectId, editorialFieldsEditedAt, editorialFieldsEditedBy } = topic;
  const project = useProjects(workspaceId)?.find(({ folderId }) => folderId === contentProjectId);
  return (
    <dl>
      <Fact name="Owner">
        <span className="flex items-center gap-1.5">
          <Avatar username={ownerId} size="small" /> {ownerId}
        </span>
      </Fact>
      {contentProjectId !== undefined && (
        <Fact name="Project">
          <Link
            to="/w/$workspaceId/topics"
            params={{ workspaceId }}
            search={{ project: contentProjectId }}
            className="rounded-sm text-accent hover:underline"
          >
            {project?.name ?? "A folder"}
          </Link>
          {project?.contentProject?.requireOutlineApproval === false && (
            <span className="block text-xs text-muted">Outlines need no approval</span>
          )}
          {project?.contentProject?.requireDraftApproval === false && (
            <span className="block text-xs text-muted">Drafts need no approval</span>
          )}
        </Fact>
      )}
      <Fact name="Created">
        <Time at={createdAt} />
      </Fact>
      <Fact name="Changed">
        <Time at={updatedAt} />
      </Fact>
      {editorialFieldsEditedAt !== undefined && (
        <Fact name="Brief edited">
          <Time at={editorialFieldsEditedAt} /> by {editorialFieldsEditedBy}
        </Fact>
      )}
      {scores.map(([name, label]) => {
        const score = topic[name];
        return (
          score !== undefined && (
            <Fact key={name} name={label}>
              <span className="tabular-nums">{score}</span>
            </Fact>
          )
        );
      })}
      {topic.critiqueSummary !== undefined && <Fact name="Critique">{topic.critiqueSummary}</Fact>}
    </dl>
  );
}
