/**
 * ProviderRefusal is the reason why a service that the operator has configured is not called, or why its answer is no
 * longer read. The message may be shown to users.
 */
export class ProviderRefusal extends Error {
  /** True if a retry cannot succeed before a setting changes, on this server or at the service. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent }: { readonly isPermanent: boolean }) {
    super(message);
    this.name = "ProviderRefusal";
    this.isPermanent = isPermanent;
  }
}
