import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { trpc } from "../app/data.ts";
import { ProblemView } from "../ui/problem.tsx";
import { FirstWorkspace } from "./FirstWorkspace.tsx";
import { lastWorkspaceId } from "./lastWorkspace.ts";

/** Goes on in the workspace that was open last. */
export function Home() {
  const { data, error, refetch } = useQuery(trpc.workspaces.list.queryOptions({}));
  if (error !== null) return <ProblemView error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  const { workspaces } = data;
  const chosen = workspaces.find(({ workspaceId }) => workspaceId === lastWorkspaceId()) ?? workspaces[0];
  if (chosen === undefined) return <FirstWorkspace />;
  return <Navigate to="/w/$workspaceId/articles" params={{ workspaceId: chosen.workspaceId }} replace />;
}
