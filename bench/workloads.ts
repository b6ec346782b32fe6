/** The three workloads that all figures of a whole crawl are measured on. */

import type { WorldPlan } from '../src/world/plan.ts';
import { benchPlan } from '../src/world/presets.ts';

export type WorkloadName = 'A' | 'B' | 'C';

export interface Workload {
  readonly about: string;
  plan(sites: number): WorldPlan;
}

export const WORKLOADS: Readonly<Record<WorkloadName, Workload>> = {
  A: {
    about: 'text-heavy pages (58 KB on average, half of it text, 43 links), http',
    plan: (sites) => benchPlan('text', { sites }),
  },
  B: {
    about: 'pages of real shape (146 KB on average, 11 KB of text, 156 links), http',
    plan: (sites) => benchPlan('real', { sites }),
  },
  C: {
    about: 'pages of real shape, https and gzip',
    plan: (sites) => benchPlan('real', { sites, https: true, gzip: true }),
  },
};

export const isWorkload = (name: string): name is WorkloadName => name in WORKLOADS;

/** Throws a sentence for a name that is none. */
export const readWorkloads = (text: string): WorkloadName[] =>
  text.split(',').map((name) => {
    if (!isWorkload(name))
      throw new Error(`"${name}" is no workload: write some of ${Object.keys(WORKLOADS).join(',')}`);
    return name;
  });
