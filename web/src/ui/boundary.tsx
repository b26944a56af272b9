import { Component, type ReactNode } from "react";
import { Button } from "./button.tsx";

interface BoundaryProps {
  readonly children: ReactNode;
}

/**
 * Keeps a fault of one part away from the rest of the page. Parts are loaded when they are opened, which fails without a
 * connection, and in a tab that is older than the files of its build.
 */
export class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div role="alert" className="flex flex-col items-start gap-3 p-4 text-sm">
        <p>This part of the app could not be shown. Reload the page when the server can be reached; open texts are kept.</p>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </div>
    );
  }
}
