/**
 * Card.worker is the program of the worker thread that draws the pictures of public pages.
 *
 * Latin, Greek and Cyrillic titles use the font that comes with the server, so they look the same everywhere. Titles in
 * other scripts also use the fonts of the system.
 */
import { createRequire } from "node:module";
import { Resvg } from "@resvg/resvg-js";
import { serveTasks } from "../../platform/workers/workerTasks.ts";
import { type CardText, cardFont, toCardSvg } from "./pageCardLayout.ts";

const { resolve } = createRequire(import.meta.url);
const fontFolder = "@expo-google-fonts/source-serif-4";
const fontFiles = ["600SemiBold/SourceSerif4_600SemiBold.ttf", "400Regular/SourceSerif4_400Regular.ttf"].map((file) =>
  resolve(`${fontFolder}/${file}`),
);
const foreignLetter = /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{L}/u;

function drawCard(text: CardText): Uint8Array {
  const loadSystemFonts = foreignLetter.test(text.title);
  const image = new Resvg(toCardSvg(text), { font: { fontFiles, loadSystemFonts, defaultFontFamily: cardFont }, logLevel: "off" });
  return new Uint8Array(image.render().asPng());
}

const cardTasks = { card: drawCard } as const;
export type CardTasks = typeof cardTasks;

serveTasks(cardTasks);
