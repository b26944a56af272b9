export { HistoryPanel } from "./HistoryPanel.tsx";
