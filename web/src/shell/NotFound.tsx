import { Link } from "@tanstack/react-router";
import { buttonClass } from "../ui/button.tsx";
import { Empty } from "../ui/problem.tsx";

export function NotFound() {
  return (
    <Empty
      title="There is no page at this address"
      action={
        <Link to="/" className={buttonClass()}>
          Go to your articles
        </Link>
      }
    >
      The link may be wrong or old.
    </Empty>
  );
}
