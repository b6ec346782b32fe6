/** What a survey of the rows found, in sentences, and what a repair would do about it. */

import type { RepairPlan } from '../../store/sqlite/repair.ts';
import type { RowFault, Survey } from '../../store/sqlite/survey.ts';
import type { Tally } from '../../store/sqlite/tally.ts';
import { writeCount } from '../../lib/units.ts';
import type { Finder } from './damage.ts';

/** The part of the plan that concerns rows; filled as faults are told. */
export interface RowPlan {
  readonly pagesBack: Set<number>;
  readonly pagesGone: Set<number>;
  readonly lines: Set<number>;
  orphanBlocks: RepairPlan['orphanBlocks'];
}

export const tellRows = (rows: Survey, tally: Tally, found: Finder): RowPlan => {
  const plan: RowPlan = {
    pagesBack: new Set(),
    pagesGone: new Set(),
    lines: new Set(),
    orphanBlocks: rows.orphanBlocks.length + rows.orphanPacks.length > 0,
  };
  for (const fault of rows.faults) tellFault(fault, found, plan);
  for (const id of rows.orphanBlocks)
    found.add({ kind: 'line-broken', says: `block ${id} of waiting links is in no line` });
  for (const id of rows.orphanPacks)
    found.add({ kind: 'line-broken', says: `pack ${id} of block numbers is in no line` });
  if (rows.lost.size > 0) {
    found.add({
      kind: 'link-lost',
      says: `${writeCount(rows.lost.size)} known ${rows.lost.size === 1 ? 'URL is' : 'URLs are'} neither waiting nor leased, parked, held or settled`,
    });
  }
  if (rows.repeated > 0)
    found.add({ kind: 'link-unseen', says: `the log of known URLs has ${writeCount(rows.repeated)} of them twice` });
  tellCounters(rows, tally, found);
  if (tally.leased > 0) found.leave(`${writeCount(tally.leased)} leased ${tally.leased === 1 ? 'link' : 'links'}`);
  return plan;
};

const tellFault = (fault: RowFault, found: Finder, plan: RowPlan): void => {
  switch (fault.kind) {
    case 'link-twice': {
      const { url } = fault;
      if (fault.page === null) plan.lines.add(fault.site);
      else plan.pagesGone.add(fault.page);
      return found.add({
        kind: 'link-twice',
        url,
        says: `${url} is there twice: ${fault.page === null ? 'it waits or is leased, and is somewhere else too' : 'it is settled twice'}`,
      });
    }
    case 'link-unseen':
      return found.add({ kind: 'link-unseen', url: fault.url, says: `${fault.url} is not in the log of known URLs` });
    case 'line':
      plan.lines.add(fault.site);
      return found.add({ kind: 'line-broken', says: `the line of the site ${fault.name} is broken: ${fault.says}` });
    case 'page':
      plan.pagesBack.add(fault.page);
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
        says: `the site ${fault.name} is noted as ${fault.waits ? 'idle, but links of it wait' : 'waiting, but no link of it waits'}`,
      });
    case 'count':
      return found.add({
        kind: 'counter',
        says: `the site ${fault.name} counts ${writeCount(fault.said)} ${fault.what}, but has ${writeCount(fault.is)}`,
      });
    default:
      fault satisfies never;
  }
};

const COUNTERS = ['waiting', 'leased', 'parked', 'held', 'pages', 'sites', 'sitesParked', 'sitesHeld'] as const;

const tellCounters = ({ counted }: Survey, tally: Tally, found: Finder): void => {
  const tell = (name: string, said: number, is: number): void => {
    if (said !== is)
      found.add({
        kind: 'counter',
        says: `the counter "${name}" says ${writeCount(said)}, but there are ${writeCount(is)}`,
      });
  };
  for (const name of COUNTERS) tell(name, tally[name], counted[name]);
  const outcomes = new Set([...Object.keys(tally.settled), ...Object.keys(counted.settled)]) as Set<
    keyof Tally['settled']
  >;
  for (const name of outcomes) tell(`settled ${name}`, tally.settled[name] ?? 0, counted.settled[name] ?? 0);
};
