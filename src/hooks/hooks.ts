/** The hooks of a crawl as its threads run them: guarded, with every failure told, and none passed on. */

import {
  EXTRACTED_BYTES_MAX,
  type AcceptLinks,
  type HookLink,
  type HookName,
  type HookPage,
  type Hooks,
  type HookTrouble,
} from '../model/hooks.ts';
import type { Link } from '../model/link.ts';
import type { HookRefusal } from '../model/outcome.ts';
import { guarded, whyOf, type Guarded } from './guarded.ts';
import type { Heart } from '../observe/heart.ts';
import { loadHooks } from './load.ts';

/** A hook takes micro- or milliseconds; what takes this long does not end, even on a busy machine. */
const HOOK_MS_MAX = 1_000;
/** Links that share one guard. More would make a slow hook look like one that hangs. */
const LINKS_PER_GUARD = 200;
/**
 * A hook that hangs stops all visits of its fetch thread for HOOK_MS_MAX: after so many times the other links of the
 * page are refused.
 */
const HANGS_PER_PAGE_MAX = 3;

export interface GuardedHooks {
  readonly accept: AcceptLinks | null;
  /** The value as JSON; empty when there is none, or it failed. */
  readonly extract: ((page: HookPage) => string) | null;
}

export interface HookOptions {
  /** Absolute. */
  readonly path: string;
  readonly heart: Heart;
  readonly onTrouble: (trouble: HookTrouble) => void;
}

/** Loads the module into this thread. Throws when it cannot be loaded. */
export const openHooks = async ({ path, heart, onTrouble }: HookOptions): Promise<GuardedHooks> => {
  const hooks = await loadHooks(path).catch((error: unknown) => {
    throw new Error(`the hooks "${path}" ${(error as Error).message}`);
  });
  let last: HookName = 'extract';
  const run = <T>(hook: HookName, work: () => T): Guarded<T> => {
    last = hook;
    heart.runs(hook);
    const done = guarded(work, HOOK_MS_MAX);
    heart.runs(null);
    return done;
  };
  // A hook that leaves a promise behind, and that fails later, would end the thread otherwise.
  process.on('unhandledRejection', (error) => {
    onTrouble({ hook: last, url: '', why: `it left a promise behind, which was rejected: ${whyOf(error)}` });
  });
  const guard: HookGuard = { run, onTrouble };
  return {
    accept: hooks.accept ? acceptAll(guard, hooks.accept.bind(hooks)) : null,
    extract: hooks.extract ? extractOne(guard, hooks.extract.bind(hooks)) : null,
  };
};

interface HookGuard {
  readonly run: <T>(hook: HookName, work: () => T) => Guarded<T>;
  readonly onTrouble: HookOptions['onTrouble'];
}

const acceptAll = ({ run, onTrouble }: HookGuard, accept: NonNullable<Hooks['accept']>): AcceptLinks => {
  const failed = (url: string, why: string): HookRefusal => {
    onTrouble({ hook: 'accept', url, why });
    return 'hook-failed';
  };
  const verdictOn = (link: Link): HookRefusal | null => {
    let answer: unknown;
    try {
      answer = accept(toHookLink(link));
    } catch (error) {
      // an interruption is not caught here: it cannot be caught
      return failed(link.url, whyOf(error));
    }
    if (typeof answer === 'boolean') return answer ? null : 'hook';
    return failed(link.url, isPromise(answer) ? PROMISED : `it returned ${whyOf(answer)}, neither true nor false`);
  };
  return (links) => {
    const verdicts: (HookRefusal | null)[] = [];
    let hangs = 0;
    while (verdicts.length < links.length && hangs < HANGS_PER_PAGE_MAX) {
      const end = Math.min(verdicts.length + LINKS_PER_GUARD, links.length);
      const done = run('accept', () => {
        while (verdicts.length < end) verdicts.push(verdictOn(links[verdicts.length]!));
      });
      if (done.kind === 'done') continue;
      if (done.kind === 'hung') hangs++;
      // The link it was at; those before it have their verdicts, those after it get a new guard.
      verdicts.push(failed(links[verdicts.length]!.url, done.kind === 'hung' ? HUNG : done.why));
    }
    while (verdicts.length < links.length)
      verdicts.push(failed(links[verdicts.length]!.url, `it hung ${hangs} times on one page, so it was not asked`));
    return verdicts;
  };
};

/** A copy, because a person's module gets it. */
const toHookLink = ({ url, site, depth, via }: Link): HookLink => ({ url, site, depth, via });

const extractOne =
  ({ run, onTrouble }: HookGuard, extract: NonNullable<Hooks['extract']>) =>
  (page: HookPage): string => {
    const failed = (why: string): string => {
      onTrouble({ hook: 'extract', url: page.url, why });
      return '';
    };
    // Written as JSON within the guard: that too runs code of the module, and may not end.
    const done = run('extract', () => {
      const value: unknown = extract(page);
      return isPromise(value) ? PROMISE : value === undefined ? '' : JSON.stringify(value);
    });
    switch (done.kind) {
      case 'hung':
        return failed(HUNG);
      case 'threw':
        return failed(done.why);
      case 'done':
        break;
      default:
        return done satisfies never;
    }
    if (done.value === PROMISE) return failed(PROMISED);
    // A function or a symbol; the types of JSON.stringify do not know of it.
    if (typeof done.value !== 'string') return failed('it returned something that JSON cannot say');
    const bytes = Buffer.byteLength(done.value);
    return bytes > EXTRACTED_BYTES_MAX
      ? failed(`it returned ${bytes} bytes of JSON, and ${EXTRACTED_BYTES_MAX} is the most`)
      : done.value;
  };

const PROMISE = Symbol('promise');
const PROMISED = 'it returned a promise: hooks must return at once';
const HUNG = `it did not return within ${HOOK_MS_MAX} ms and was interrupted`;

const isPromise = (value: unknown): boolean => {
  if (value instanceof Promise) {
    value.catch(() => {}); // that it was returned is told already
    return true;
  }
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
};
