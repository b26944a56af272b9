export { RunsPanel } from "./RunsPanel.tsx";
