/** Why a service that the operator has set up is not called, or no longer listened to, in words that may be shown. */
export class ProviderRefusal extends Error {
  /** Until somebody changes a setting, here or there. */
  readonly isLasting: boolean;

  constructor(message: string, { isLasting }: { readonly isLasting: boolean }) {
    super(message);
    this.name = "ProviderRefusal";
    this.isLasting = isLasting;
  }
}
