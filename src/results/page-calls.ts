/** Hands every fetched page of a crawl to a function of the caller, some at a time, and remembers how far it came. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { SettledWork, WorkMeans } from '../contract/settled-work.ts';
import type { PageSlice, StoredCrawl } from '../contract/stored-crawl.ts';
import { createGate } from '../lib/gate.ts';
import type { PageRow } from '../model/page.ts';

/** How often new pages are looked for. */
const LOOK_MS = 50;
/**
 * Settled links that may wait for a handler before the crawl claims no more: some seconds of work for handlers, and
 * few enough that they never lag far behind. Visits under way come on top.
 */
export const PAGES_WAITING_MAX = 200;

export interface CallParts {
  /** The name of the mark that remembers how far handlers came. */
  readonly mark: string;
  readonly concurrency: number;
  readonly open: () => Promise<StoredCrawl>;
  /** Whether the page is for us, and its records are at hand. */
  readonly isOurs: (page: PageRow) => boolean;
  /** Resolves when all that the page asked for is done. */
  readonly work: (page: PageRow) => Promise<void>;
}

/** Pages that were read together: the mark passes them when all are done. */
interface Group {
  readonly row: number;
  left: number;
}

/**
 * A page is done when its handler has ended; the mark follows, and never passes a page that is not done. So a crash
 * gives the pages since the mark again, and no page is left out.
 */
export const createPageCalls = (parts: CallParts): SettledWork => {
  const work = new PageCalls(parts);
  return { begin: (means) => work.begin(means), isDone: () => work.isDone(), end: (cut) => work.end(cut) };
};

class PageCalls {
  readonly #parts: CallParts;
  readonly #freed = createGate();
  readonly #groups: Group[] = [];
  #means: WorkMeans | null = null;
  #crawl: StoredCrawl | null = null;
  #pump: Promise<void> = Promise.resolve();
  #row = 0;
  #underWay = 0;
  /** The row that all handlers came past, and the one that the store knows of. */
  #doneRow = 0;
  #markedRow = 0;
  #marking: Promise<void> | null = null;
  #hasFailed = false;
  /** Set when no more pages are settled. */
  #cut: AbortSignal | null = null;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  begin(means: WorkMeans): void {
    this.#means = means;
    this.#row = this.#doneRow = this.#markedRow = means.marks[this.#parts.mark] ?? 0;
    this.#pump = this.#run().catch((error: unknown) => this.#fail(error, 'pages cannot be read for onPage', ''));
  }

  async isDone(): Promise<boolean> {
    if (this.#means === null) return true;
    if (this.#crawl === null || this.#underWay > 0 || this.#hasFailed) return false;
    const { end } = await this.#crawl.pagesAfter(this.#row, { limit: 0 });
    return end <= this.#row && this.#underWay === 0 && this.#marking === null;
  }

  async end(cut: AbortSignal): Promise<void> {
    this.#cut = cut;
    this.#freed.open();
    await this.#pump;
  }

  async #run(): Promise<void> {
    const { concurrency, open } = this.#parts;
    this.#crawl = await open();
    try {
      while (!this.#hasFailed && !this.#cut?.aborted) {
        const isLast = this.#cut !== null; // looked at first: what is settled before the end is then seen
        const free = concurrency - this.#underWay;
        const slice = await this.#crawl.pagesAfter(this.#row, { outcome: 'fetched', limit: free });
        if (this.#cut?.aborted) break;
        const isStill = slice.row === this.#row;
        this.#take(slice);
        this.#means!.holdBack(slice.end - this.#row > PAGES_WAITING_MAX);
        if (isStill && free > 0 && isLast) break;
        if (isStill || this.#underWay >= concurrency) await Promise.race([this.#freed.passed(), sleep(LOOK_MS)]);
      }
      while (this.#underWay > 0) await this.#freed.passed();
      await this.#marking;
    } finally {
      await this.#crawl.close();
    }
  }

  #take({ pages, row }: PageSlice): void {
    if (row === this.#row) return;
    const ours = pages.filter(this.#parts.isOurs);
    const group: Group = { row, left: ours.length };
    this.#groups.push(group);
    this.#row = row;
    for (const page of ours) void this.#handOver(page, group);
    this.#advance();
  }

  async #handOver(page: PageRow, group: Group): Promise<void> {
    this.#underWay++;
    try {
      await this.#parts.work(page);
      group.left--;
      this.#advance();
    } catch (error) {
      this.#fail(
        error,
        `onPage threw for ${page.url}`,
        'correct the handler and start the crawl again: the page comes again',
      );
    } finally {
      this.#underWay--;
      this.#freed.open();
    }
  }

  /** Moves the mark up to the first page that is not done. One write at a time: those that come meanwhile are one. */
  #advance(): void {
    while (this.#groups[0]?.left === 0) this.#doneRow = this.#groups.shift()!.row;
    if (this.#doneRow > this.#markedRow) this.#marking ??= this.#writeMark();
  }

  async #writeMark(): Promise<void> {
    try {
      while (this.#doneRow > this.#markedRow) {
        const value = this.#doneRow;
        await this.#means!.store.steer([{ kind: 'mark', name: this.#parts.mark, value }]);
        this.#markedRow = value;
      }
    } catch (error) {
      this.#fail(error, 'how far onPage came cannot be kept', '');
    } finally {
      this.#marking = null;
    }
  }

  #fail(error: unknown, what: string, advice: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    this.#means!.fail({ message: `${what}: ${message}`, advice, stack });
  }
}
