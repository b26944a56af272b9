/** Layouts of pdfmake tables: grids for tables, boxes for code, and a line beside quotes. */
import type { PdfTableLayout } from "./pdfmake.ts";

const padding = (left: number, top: number) => ({
  paddingLeft: () => left,
  paddingRight: () => left,
  paddingTop: () => top,
  paddingBottom: () => top,
});

export const gridLayout: PdfTableLayout = {
  hLineWidth: () => 0.5,
  vLineWidth: () => 0.5,
  hLineColor: () => "#bbbbbb",
  vLineColor: () => "#bbbbbb",
  fillColor: (row) => (row === 0 ? "#f0f0f0" : null),
  ...padding(5, 3),
};

export const boxLayout: PdfTableLayout = {
  hLineWidth: () => 0,
  vLineWidth: () => 0,
  hLineColor: () => "#f5f5f5",
  vLineColor: () => "#f5f5f5",
  fillColor: () => "#f5f5f5",
  ...padding(7, 5),
};

/** The line of a quote is at the side where its text begins. */
export function quoteLayout(isReversed: boolean): PdfTableLayout {
  return {
    hLineWidth: () => 0,
    vLineWidth: (column) => (column === (isReversed ? 1 : 0) ? 2.5 : 0),
    hLineColor: () => "#cccccc",
    vLineColor: () => "#cccccc",
    ...padding(10, 2),
  };
}
