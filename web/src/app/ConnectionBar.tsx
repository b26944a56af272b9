import { onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

/** Says that the browser has no network. Open articles can still be edited; their own state says what is saved. */
export function ConnectionBar() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return (
    <div role="status">
      {!isOnline && (
        <p className="border-b border-line bg-warn-soft px-4 py-1.5 text-center text-sm text-warn">
          You are offline. Open articles can be edited and are saved when the connection is back; lists may be old.
        </p>
      )}
    </div>
  );
}
