/** Whether the navigation is open, on windows that are too narrow to show it always. */
import { createStore } from "@xstate/store";

export const drawerStore = createStore({
  context: { isOpen: false },
  on: { open: () => ({ isOpen: true }), close: () => ({ isOpen: false }) },
});
