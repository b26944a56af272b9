/** The icons of the app: 16 px, one stroke width. They are decoration; the control that contains one has a name. */
import type { ReactNode } from "react";

function icon(shape: ReactNode) {
  // biome-ignore lint/correctness/noComponentHookFactories: each icon is made once, when the module is loaded
  return function Icon({ className = "" }: { readonly className?: string }) {
    return (
      <svg
        viewBox="0 0 16 16"
        width="16"
        height="16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        className={`shrink-0 ${className}`}
      >
        {shape}
      </svg>
    );
  };
}

export const CloseIcon = icon(<path d="m4 4 8 8m0-8-8 8" />);
export const SearchIcon = icon(<path d="M10.6 10.6 14 14M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Z" />);
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />);
export const CheckIcon = icon(<path d="m3.5 8.5 3 3 6-7" />);
export const ChevronRightIcon = icon(<path d="m6 4 4 4-4 4" />);
export const ChevronDownIcon = icon(<path d="m4 6 4 4 4-4" />);
export const MoreIcon = icon(<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />);
export const ArticleIcon = icon(<path d="M4 1.8h5.5L13 5.2v9H4ZM9.3 2v3.4h3.5M6.3 8.5h4M6.3 11h4" />);
export const FolderIcon = icon(<path d="M1.8 12.8v-9h4l1.6 1.8h6.8v7.2Z" />);
export const TopicIcon = icon(<path d="M2 2.8h3.4v10.4H2ZM6.6 2.8H10v7H6.6ZM11.2 2.8h2.9v4h-2.9Z" />);
export const RunIcon = icon(<path d="M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM6.5 5.5 10.5 8l-4 2.5Z" />);
export const ActivityIcon = icon(<path d="M1.5 8h3l2-5.2 3 10.4L11.5 8h3" />);
export const SettingsIcon = icon(
  <path d="M2 4.5h6m4 0h2M2 11.5h2m4 0h6M10 6.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM6 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z" />,
);
export const AgentIcon = icon(<path d="M3 6h10v7H3ZM8 6V3.2M8 2.4h.01M6 9h.01M10 9h.01M1.4 8.6v2m13.2-2v2" />);
export const MenuIcon = icon(<path d="M2 4h12M2 8h12M2 12h12" />);
export const TrashIcon = icon(<path d="M2.5 4h11M6 4V2.3h4V4M4 4l.6 9.7h6.8L12 4" />);
export const LinkIcon = icon(
  <path d="M6.7 9.3a2.7 2.7 0 0 0 3.9 0l2.3-2.3A2.75 2.75 0 0 0 9 3.1l-.8.8m1.1 2.8a2.7 2.7 0 0 0-3.9 0L3.1 9A2.75 2.75 0 0 0 7 12.9l.8-.8" />,
);
export const HistoryIcon = icon(<path d="M2 8a6 6 0 1 0 2-4.5L2 5.3M2 2v3.3h3.3M8 4.8V8l2.3 1.5" />);
export const CommentIcon = icon(<path d="M2 2.8h12v8.4H7.5L4.5 14v-2.8H2Z" />);
export const GlobeIcon = icon(
  <path d="M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM2 8h12M8 1.8c3.8 4 3.8 8.4 0 12.4-3.8-4-3.8-8.4 0-12.4Z" />,
);
export const EyeIcon = icon(
  <path d="M1.3 8S3.6 3.5 8 3.5 14.7 8 14.7 8 12.4 12.5 8 12.5 1.3 8 1.3 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z" />,
);
export const BoldIcon = icon(<path d="M4.5 2.5h4a2.7 2.7 0 0 1 0 5.4h-4ZM4.5 7.9h4.7a2.8 2.8 0 0 1 0 5.6H4.5Z" strokeWidth="1.8" />);
export const ItalicIcon = icon(<path d="M6.5 2.5h5m-7 11h5m0-11-3 11" />);
export const StrikeIcon = icon(
  <path d="M2 8h12M11.5 4.6C11 3.2 9.7 2.5 8 2.5c-2 0-3.4 1-3.4 2.6 0 1 .5 1.6 1.3 2M4.3 11c.4 1.6 1.8 2.5 3.7 2.5 2.1 0 3.6-1 3.6-2.7 0-.5-.1-.9-.3-1.2" />,
);
export const CodeIcon = icon(<path d="M5 4 1.5 8 5 12m6-8 3.5 4-3.5 4" />);
export const ImageIcon = icon(<path d="M2 2.5h12v11H2ZM2.2 11.5l3.5-4 2.8 3 2-2 3.3 3M10.5 5.5h.01" />);
export const ListIcon = icon(<path d="M6 4h8M6 8h8M6 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01" />);
export const NumberedIcon = icon(<path d="M7 4h7M7 8h7M7 12h7M2.3 2.6l1-.6v3.6M2 10.6c0-.8.5-1.2 1.1-1.2s1.1.4 1.1 1-.5 1-2.1 2.4h2.2" />);
export const TaskIcon = icon(<path d="M2.5 2.5h11v11h-11ZM5 8l2.2 2.2L11 6" />);
export const QuoteIcon = icon(<path d="M3 3v10M6.5 4.5H14M6.5 8H14M6.5 11.5H12" />);
export const TableIcon = icon(<path d="M2 2.8h12v10.4H2ZM2 6.3h12M2 9.8h12M7 2.8v10.4" />);
export const HeadingIcon = icon(<path d="M3.5 2.5v11m9-11v11m-9-5.5h9" />);
export const OutlineIcon = icon(<path d="M2 3h12M5 7h9M5 11h9" />);
export const CopyIcon = icon(<path d="M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1" />);
export const ExternalIcon = icon(<path d="M9 2.5h4.5V7M13.3 2.7 7 9M11.5 9.5v4h-9v-9h4" />);
