/** ConversionFailure is a document that cannot be converted. Its message is for the caller: what is wrong, and where. */
export class ConversionFailure extends Error {
  override readonly name = "ConversionFailure";
}
