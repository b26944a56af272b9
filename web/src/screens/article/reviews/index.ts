export { ReviewsPanel } from "./ReviewsPanel.tsx";
