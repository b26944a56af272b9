export { PublishPanel } from "./PublishPanel.tsx";
