import { sessionStore, signOut } from "../session/session.ts";
import { countUnsent } from "../session/unsent.ts";
import { noticeStore } from "../ui/notices.tsx";

/** Signs out. Asks first if this browser has changes that were never sent, because its copies are deleted. */
export async function askAndSignOut(): Promise<void> {
  const { context } = sessionStore.getSnapshot();
  const unsent = context.status === "signedIn" ? countUnsent(context.me.username) : 0;
  const articles = unsent === 1 ? "One article has" : `${unsent} articles have`;
  const question = `${articles} changes that are only in this browser. Signing out deletes them. To keep them, cancel, and open these articles until they are saved. Sign out and delete the changes?`;
  if (unsent > 0 && !window.confirm(question)) return;
  try {
    await signOut();
  } catch (reason) {
    noticeStore.trigger.show({ kind: "error", text: reason instanceof Error ? reason.message : String(reason) });
  }
}
