import { useMutation, useQueryClient } from "@tanstack/react-query";
import { trpc } from "../../../app/data.ts";

/** Makes changes of reviews and reads their lists again. `showsError`: the component shows the error of the change itself. */
export function useChange({ showsError = false }: { readonly showsError?: boolean } = {}) {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { showsError },
    mutationFn: (change: () => Promise<unknown>) => change(),
    // An error often means that somebody else was faster.
    onSettled: () => queryClient.invalidateQueries(trpc.reviews.pathFilter()),
  });
}
