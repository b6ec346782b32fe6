/** A line chart as SVG, readable on light and on dark ground. */

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  readonly xUnit: string;
  readonly yUnit: string;
  /** At most four: there are as many colours. */
  readonly series: readonly Series[];
}

const WIDTH = 760;
const HEIGHT = 320;
const LEFT = 64;
const RIGHT = 20;
const TOP = 64;
const BOTTOM = 44;
/** Told apart by people who do not see all colours; each is clear on white and on near-black. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#b0649b'];
const TICKS = 5;

const STYLE = `
    text { font: 12px system-ui, sans-serif; fill: #444 }
    .title { font-size: 15px; font-weight: 600; fill: #111 }
    .ground { fill: #fff } .grid { stroke: #0002 } .axis { stroke: #0008 }
    @media (prefers-color-scheme: dark) {
      text { fill: #bbb } .title { fill: #eee }
      .ground { fill: #16181d } .grid { stroke: #fff2 } .axis { stroke: #fff8 }
    }`;

/** A round step (1, 2 or 5 times a power of ten) that gives about TICKS of them. */
const stepFor = (range: number): number => {
  const raw = range / TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= raw)!;
};

const ticksUpTo = (most: number): number[] => {
  const step = stepFor(most);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, n) => n * step);
};

const words = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
const label = (n: number): string => (Number.isInteger(n) ? n.toLocaleString('en') : String(Number(n.toPrecision(3))));

/** Both axes begin at 0, so that flat looks flat. */
export const plotSvg = ({ title, xUnit, yUnit, series }: Plot): string => {
  const xMost = Math.max(1e-9, ...series.flatMap(({ points }) => points.map(([x]) => x)));
  const yTicks = ticksUpTo(Math.max(1e-9, ...series.flatMap(({ points }) => points.map(([, y]) => y))));
  const yMost = yTicks.at(-1)!;
  const xAt = (x: number): number => LEFT + (x / xMost) * (WIDTH - LEFT - RIGHT);
  const yAt = (y: number): number => HEIGHT - BOTTOM - (y / yMost) * (HEIGHT - TOP - BOTTOM);
  const text = (x: number, y: number, more: string, what: string): string =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words(what)}</text>`;

  const parts = [text(LEFT, 24, 'class="title"', title), text(LEFT - 8, 46, 'text-anchor="end"', yUnit)];
  for (const y of yTicks) {
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${yAt(y).toFixed(1)}" y2="${yAt(y).toFixed(1)}"/>`,
      text(LEFT - 8, yAt(y) + 4, 'text-anchor="end"', label(y)),
    );
  }
  for (const x of ticksUpTo(xMost).filter((tick) => tick <= xMost)) {
    parts.push(
      `<line class="axis" x1="${xAt(x).toFixed(1)}" x2="${xAt(x).toFixed(1)}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM + 4}"/>`,
      text(xAt(x), HEIGHT - BOTTOM + 18, 'text-anchor="middle"', label(x)),
    );
  }
  parts.push(
    `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}"/>`,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, 'text-anchor="middle"', xUnit),
  );
  series.forEach(({ name, points }, at) => {
    const colour = COLOURS[at]!;
    const path = points.map(([x, y]) => `${xAt(x).toFixed(1)},${yAt(y).toFixed(1)}`).join(' ');
    const keyX = LEFT + at * 170;
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-linejoin="round"/>`,
      `<line x1="${keyX}" x2="${keyX + 18}" y1="42" y2="42" stroke="${colour}" stroke-width="3"/>`,
      text(keyX + 24, 46, '', name),
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${words(title).replace(/"/g, '')}">
  <style>${STYLE}
  </style>
  <rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="6"/>
  ${parts.join('\n  ')}
</svg>
`;
};
