/** Types of subset-font, which has none of its own, as far as fontFiles.ts uses them. */
declare module "subset-font" {
  export default function subsetFont(
    font: Buffer,
    text: "",
    options: { readonly keepAllGlyphs: true; readonly targetFormat: "truetype"; readonly variationAxes: Readonly<Record<string, number>> },
  ): Promise<Buffer>;
}
