/** Short messages at the edge of the window: what an action did, or why it failed. */

import { useSelector } from "@xstate/react";
import { createStore } from "@xstate/store";
import { useEffect } from "react";
import { IconButton } from "./button.tsx";
import { CloseIcon } from "./icons.tsx";

interface Notice {
  readonly number: number;
  readonly kind: "done" | "error";
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

const mostNotices = 3;
/** Errors stay until they are closed. */
const doneMs = 6000;

export const noticeStore = createStore({
  context: { notices: [] as readonly Notice[], last: 0 },
  on: {
    show: ({ notices, last }, notice: Omit<Notice, "number">) => ({
      notices: [...notices, { ...notice, number: last + 1 }].slice(-mostNotices),
      last: last + 1,
    }),
    clear: (context) => ({ ...context, notices: [] }),
    close: (context, { number }: { number: number }) => ({
      ...context,
      notices: context.notices.filter((notice) => notice.number !== number),
    }),
  },
});

export function Notices() {
  const notices = useSelector(noticeStore, ({ context }) => context.notices);
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      className="fixed right-4 bottom-4 z-50 flex w-88 max-w-[calc(100vw-2rem)] flex-col gap-2"
    >
      {notices.map((notice) => (
        <NoticeCard key={notice.number} notice={notice} />
      ))}
    </section>
  );
}

function NoticeCard({ notice: { number, kind, text, action } }: { readonly notice: Notice }) {
  const close = () => noticeStore.trigger.close({ number });
  useEffect(() => {
    if (kind === "error") return;
    const timer = setTimeout(() => noticeStore.trigger.close({ number }), doneMs);
    return () => clearTimeout(timer);
  }, [kind, number]);
  return (
    <div className="animate-appear flex items-start gap-2 rounded-md border border-line bg-raised py-2 pr-1.5 pl-3 shadow-float">
      <p className={`grow py-1 text-sm ${kind === "error" ? "text-danger" : ""}`}>{text}</p>
      {action !== undefined && (
        <button
          type="button"
          className="rounded-sm px-1.5 py-1 text-sm font-medium text-accent hover:bg-hover"
          onClick={() => {
            close();
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton label="Close the message" onClick={close}>
        <CloseIcon />
      </IconButton>
    </div>
  );
}
