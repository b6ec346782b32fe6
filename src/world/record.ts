/** What every site of the world saw. */

import type { World } from './world.ts';
import type { Request } from './sheet.ts';
import type { Report, ReportOptions } from './report.ts';
import type { Seen } from './seen.ts';
import { reportOn } from './report.ts';

export interface Recorder {
  readonly requests: readonly Seen[];
  report(options: ReportOptions): Report;
  clear(): void;
}

/** A request as it was read; the end is told later, at most once. */
export interface Noted {
  /** `whole`: everything of a proper response was sent. */
  ended(end: { readonly status: number; readonly whole: boolean; readonly at: number }): void;
}

export interface RecorderInside extends Recorder {
  note(request: Request, userAgent: string): Noted;
}

const SILENT: Noted = { ended: () => {} };

/** With `keep` false nothing is kept, for benchmarks. */
export const createRecorder = (world: World, keep: boolean): RecorderInside => {
  const requests: Seen[] = [];
  return {
    requests,
    report: (options) => reportOn(world, requests, options),
    clear: () => void (requests.length = 0),
    note: (request, userAgent) => {
      if (!keep) return SILENT;
      const { scheme, host, path } = request;
      const robots = world.robotsPath(host, path);
      const seen = {
        site: world.siteOf(host)?.name ?? host,
        host,
        scheme,
        path,
        at: performance.now(),
        endedAt: Infinity,
        status: 0,
        userAgent,
        kind: robots === null ? ('page' as const) : ('robots' as const),
        exempt: robots === 'away',
        whole: false,
      };
      requests.push(seen);
      return {
        ended: ({ status, whole, at }) => void Object.assign(seen, { status, whole, endedAt: at }),
      };
    },
  };
};
