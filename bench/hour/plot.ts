/** Draws the samples of an hour as lines over time: memory, latency, and processor time for each delivery. */

export interface Sample {
  /** Since the start. */
  readonly seconds: number;
  /** Heaps, stacks and buffers. */
  readonly anonymousMB: number;
  /** Pages of the programs and of the store's file, which the kernel drops when memory is short. */
  readonly mappedMB: number;
  readonly heapMB: number;
  readonly externalMB: number;
  readonly rooms: number;
  readonly sockets: number;
  readonly joins: number;
  readonly deliveries: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the server, for each delivery, with everything else that it did. */
  readonly cpuMicroseconds: number;
}

interface Line {
  readonly name: string;
  readonly colour: string;
  readonly of: (sample: Sample) => number;
}

const left = 60;
const width = 860;
const panelHeight = 150;
const gap = 50;

const panels: readonly { readonly title: string; readonly lines: readonly Line[] }[] = [
  {
    title: "Memory in MB",
    lines: [
      { name: "anonymous", colour: "#2f5bd7", of: ({ anonymousMB }) => anonymousMB },
      { name: "mapped", colour: "#57606a", of: ({ mappedMB }) => mappedMB },
      { name: "heap in use", colour: "#c2410c", of: ({ heapMB }) => heapMB },
    ],
  },
  {
    title: "Latency in ms, from sending to receiving",
    lines: [
      { name: "p99", colour: "#2f5bd7", of: ({ p99Ms }) => p99Ms },
      { name: "p50", colour: "#c2410c", of: ({ p50Ms }) => p50Ms },
    ],
  },
  {
    title: "Processor time in µs for each delivery",
    lines: [{ name: "µs", colour: "#2f5bd7", of: ({ cpuMicroseconds }) => cpuMicroseconds }],
  },
  {
    title: "Open documents and sockets",
    lines: [
      { name: "sockets", colour: "#2f5bd7", of: ({ sockets }) => sockets },
      { name: "documents", colour: "#c2410c", of: ({ rooms }) => rooms },
    ],
  },
];

function text(x: number, y: number, words: string, attributes = ""): string {
  return `<text x="${x}" y="${y}" ${attributes}>${words}</text>`;
}

export function toHourPlot(samples: readonly Sample[]): string {
  const lastSecond = samples.at(-1)?.seconds ?? 1;
  const height = 40 + panels.length * (panelHeight + gap);
  const drawn = panels.flatMap(({ title, lines }, at) => {
    const top = 40 + at * (panelHeight + gap);
    // The scale begins at 0, so that a slow growth is neither hidden nor exaggerated.
    const most = Math.max(1, ...lines.flatMap(({ of }) => samples.map(of)).filter(Number.isFinite)) * 1.1;
    const x = (seconds: number) => (left + (seconds / lastSecond) * (width - left - 20)).toFixed(1);
    const y = (value: number) => (top + panelHeight - (value / most) * panelHeight).toFixed(1);
    return [
      text(left, top - 8, title, 'font-weight="600"'),
      `<rect x="${left}" y="${top}" width="${width - left - 20}" height="${panelHeight}" fill="none" stroke="#d0d7de"/>`,
      text(left - 8, top + 10, most.toLocaleString("en", { maximumSignificantDigits: 3 }), 'text-anchor="end"'),
      text(left - 8, top + panelHeight, "0", 'text-anchor="end"'),
      text(width - 20, top + panelHeight + 16, `${(lastSecond / 60).toFixed(0)} min`, 'text-anchor="end"'),
      ...lines.map(({ name, colour }, place) => text(width - 110 * (lines.length - place), top - 8, name, `fill="${colour}"`)),
      ...lines.map(({ colour, of }) => {
        const points = samples.filter((sample) => Number.isFinite(of(sample))).map((sample) => `${x(sample.seconds)},${y(of(sample))}`);
        return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(" ")}"/>`;
      }),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="#1f2328">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}
