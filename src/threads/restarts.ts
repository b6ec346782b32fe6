/** How often threads may die before that is no bad luck any more, but a defect or a lack of memory. */

const RESTARTS_MAX = 20;
const RESTARTS_WITHIN_MS = 3_600_000;
const RESTART_WAIT_MS = 50;

export interface Restarts {
  /** A thread died at that moment. */
  note(atMs: number): void;
  /** Deaths within the last hour. */
  recent(): number;
  /** Too many: the crawl must be stopped. */
  isOver(): boolean;
  /** What a thread died of may last a moment (no descriptor, no memory): the more died, the longer the next waits. */
  waitMs(): number;
  total(): number;
}

export const createRestarts = (): Restarts => {
  let deaths: number[] = [];
  let total = 0;
  return {
    note: (atMs) => {
      deaths = [...deaths.filter((at) => atMs - at < RESTARTS_WITHIN_MS), atMs];
      total++;
    },
    recent: () => deaths.length,
    isOver: () => deaths.length > RESTARTS_MAX,
    waitMs: () => RESTART_WAIT_MS * deaths.length,
    total: () => total,
  };
};
