/** What a survey of the store found, in sentences, and what a repair would do about it. */

import { plural, writeCount } from '../../lib/units.ts';
import type { DamageKind, Finder } from './damage.ts';
import type { Fault, Survey } from './survey.ts';

/** The part of the plan that concerns rows; filled as faults are told. */
export interface RowPlan {
  readonly pagesBack: Set<number>;
  readonly pagesGone: Set<number>;
  /** Links that wait or are leased, and are somewhere else, too. */
  readonly waitingToo: Set<string>;
  readonly queues: Set<string>;
  strayBlocks: boolean;
}

export const tellRows = ({ census, unmet, lost, repeated }: Survey, found: Finder): void => {
  // Where rows are not at hand, their links are known and not met.
  if (lost.size > 0 && unmet.links === 0) {
    found.add({
      kind: 'link-lost',
      says: `${plural(lost.size, 'known URL is', 'known URLs are')} neither waiting nor leased, parked, held or settled`,
    });
  }
  if (repeated > 0)
    found.add({ kind: 'link-unseen', says: `the log of known URLs has ${writeCount(repeated)} of them twice` });
  if (census.leased > 0) found.leave(plural(census.leased, 'leased link'));
};

export const tellFaults = (faults: readonly Fault[], found: Finder): RowPlan => {
  const plan: RowPlan = {
    pagesBack: new Set(),
    pagesGone: new Set(),
    waitingToo: new Set(),
    queues: new Set(),
    strayBlocks: false,
  };
  for (const fault of faults) tell(fault, found, plan);
  return plan;
};

const tell = (fault: Fault, found: Finder, plan: RowPlan): void => {
  switch (fault.kind) {
    case 'link-twice': {
      const { url } = fault;
      if (fault.row === null) plan.waitingToo.add(url);
      if (fault.row === null) plan.queues.add(fault.site);
      else plan.pagesGone.add(fault.row);
      return found.add({
        kind: 'link-twice',
        url,
        says: `${url} is there twice: ${fault.row === null ? 'it waits or is leased, and is somewhere else too' : 'it is settled twice'}`,
      });
    }
    case 'link-unseen':
      return found.add({ kind: 'link-unseen', url: fault.url, says: `${fault.url} is not in the log of known URLs` });
    case 'queue':
      plan.queues.add(fault.site);
      return found.add({ kind: 'queue-broken', says: `the queue of the site ${fault.site} is broken: ${fault.says}` });
    case 'page':
      plan.pagesBack.add(fault.row);
      return found.add({
        kind: 'page-wrong',
        url: fault.url,
        says: `the page ${fault.url} is not right: ${fault.says}`,
      });
    case 'row':
      return found.add({ kind: 'row', says: fault.says });
    case 'rest':
      return found.add({
        kind: 'counter',
        says: `the site ${fault.site} is noted as ${fault.waits ? 'idle, but links of it wait' : 'waiting, but no link of it waits'}`,
      });
    case 'count':
      return found.add({
        kind: 'counter',
        says: `the site ${fault.site} counts ${writeCount(fault.said)} ${fault.what}, but has ${writeCount(fault.is)}`,
      });
    case 'counter':
      return found.add({
        kind: 'counter',
        says: `the counter "${fault.name}" says ${writeCount(fault.said)}, but there are ${writeCount(fault.is)}`,
      });
    case 'wrong':
      plan.strayBlocks ||= fault.repair === 'stray-blocks';
      return found.add({ kind: kindOf(fault), says: fault.says });
    default:
      fault satisfies never;
  }
};

const kindOf = ({ isFatal, repair }: Extract<Fault, { kind: 'wrong' }>): DamageKind => {
  if (isFatal) return 'database';
  switch (repair) {
    case 'stray-blocks':
      return 'queue-broken';
    case 'page-keys':
      return 'page-wrong';
    case undefined:
      return 'store';
    default:
      return repair satisfies never;
  }
};
