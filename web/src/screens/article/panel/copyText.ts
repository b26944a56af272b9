import { noticeStore } from "../../../ui/notices.tsx";

/** Copies the text, and says so. Browsers allow it on HTTPS and localhost only. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    noticeStore.trigger.show({ kind: "done", text: `${what} copied.` });
  } catch {
    noticeStore.trigger.show({ kind: "error", text: `The browser does not allow copying here: select this text and copy it. ${text}` });
  }
}
