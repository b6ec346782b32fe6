/** Reads the metrics of a running crawl, as Prometheus would. */

export interface Scraped {
  /** The sum of all series of this metric that have these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The series of this metric by the value of one of its labels. */
  by(name: string, label: string): ReadonlyMap<string, number>;
}

interface Series {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const LINE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$/i;
const LABEL = /([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"/gi;

export const readMetrics = (text: string): Scraped => {
  const all: Series[] = text.split('\n').flatMap((line) => {
    const match = line.startsWith('#') ? null : LINE.exec(line);
    if (!match) return [];
    return [
      {
        name: match[1]!,
        labels: new Map([...(match[2] ?? '').matchAll(LABEL)].map((one) => [one[1]!, one[2]!])),
        value: Number(match[3]),
      },
    ];
  });
  const named = (name: string): Series[] => all.filter((one) => one.name === name);
  return {
    sum: (name, labels = {}) =>
      named(name)
        .filter((one) => Object.entries(labels).every(([label, value]) => one.labels.get(label) === value))
        .reduce((sum, one) => sum + one.value, 0),
    by: (name, label) => {
      const sums = new Map<string, number>();
      for (const one of named(name))
        sums.set(one.labels.get(label) ?? '', (sums.get(one.labels.get(label) ?? '') ?? 0) + one.value);
      return sums;
    },
  };
};

export interface Scraping {
  readonly scrapes: readonly { readonly atMs: number; readonly metrics: Scraped }[];
  stop(): void;
}

/** Asks every so many milliseconds until it is stopped; a crawl that is not there (yet, or any more) is asked again. */
export const scrapeEvery = (port: number, everyMs: number): Scraping => {
  const scrapes: { atMs: number; metrics: Scraped }[] = [];
  const startedAt = performance.now();
  const timer = setInterval(() => {
    fetch(`http://127.0.0.1:${port}/metrics`)
      .then(
        async (answer) =>
          void scrapes.push({ atMs: performance.now() - startedAt, metrics: readMetrics(await answer.text()) }),
      )
      .catch(() => {});
  }, everyMs);
  return { scrapes, stop: () => clearInterval(timer) };
};
