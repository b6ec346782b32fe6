/**
 * The small web of the comparison, on port 80, with its name server, in a process of its own.
 *
 * `web.ts PROFILE SITES LATENCY_MS`; it sends `Ready`, and then an answer to every `Ask`.
 */

import type { WorldPlan } from '../../src/world/plan.ts';
import type { World } from '../../src/world/world.ts';
import { urlOf } from '../../src/world/seen.ts';
import { serveWorld } from '../../src/world/serve.ts';
import { anchor, textSheet } from '../../src/world/sheet.ts';
import { createWorld } from '../../src/world/world.ts';
import { readWorkloads, WORKLOADS } from '../workloads.ts';
import { serveNames } from './names.ts';
import { verdictOn, type Verdict } from './verdict.ts';

/** Told once, when names and pages are served. */
export interface Ready {
  readonly seeds: readonly string[];
  /** A page with a link to every seed, for a crawler that starts at one URL. */
  readonly portal: string;
  readonly sites: number;
  /** What its pages are like. */
  readonly about: string;
}

/** `begin` forgets what was seen; `report` judges it. */
export type Ask = 'begin' | 'count' | 'report';

/** How far the crawler is. */
export interface Count {
  readonly requests: number;
  /** Distinct, answered with 200. */
  readonly pages: number;
}

export interface WebReport {
  readonly verdict: Verdict;
  /** What this process has used since `begin`. */
  readonly cpuMs: number;
}

const PORTAL_HOST = 'portal.test';

/** What a profile is made from; the web has far more pages than a crawl takes. */
const planFor = (profile: string, sites: number): { readonly plan: WorldPlan; readonly about: string } => {
  const [name] = readWorkloads(profile.toUpperCase());
  const { about, plan } = WORKLOADS[name!];
  return { plan: plan(sites), about };
};

/**
 * One more host, with nothing but links to the seeds; it is part of no figure. Two pages of it, since spider-rs follows
 * links to other hosts only from its second page on.
 */
const withPortal = (world: World): World => {
  const links = world.seeds().map((seed) => anchor(seed, seed).markup);
  const body = Buffer.from(`<!doctype html><title>Portal</title>\n<a href="/again">again</a>\n${links.join('\n')}`);
  const portal = textSheet('text/html; charset=utf-8', () => body);
  return {
    ...world,
    look: (request) => (request.host === PORTAL_HOST && request.path !== '/robots.txt' ? portal : world.look(request)),
  };
};

/** Every response takes that long to begin, as it does on the real web; 0 changes nothing. */
const withLatency = (world: World, slowMs: number): World => {
  if (slowMs === 0) return world;
  const look: World['look'] = (request) => {
    const sheet = world.look(request);
    return sheet.delivery === 'plain' ? { ...sheet, delivery: 'slow' } : sheet;
  };
  return { ...world, plan: { ...world.plan, slowMs }, look };
};

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const serve = async (world: World, about: string): Promise<void> => {
  await serveNames((name) => name === PORTAL_HOST || world.siteOf(name) !== null);
  const { record } = await serveWorld(world, { httpPort: 80, httpsPort: 443 });
  let beganAt = cpuMs();
  let looked = 0;
  const pages = new Set<string>();

  /** Goes on where it was, up to the first request that is under way. */
  const count = (): Count => {
    for (; looked < record.requests.length; looked++) {
      const one = record.requests[looked]!;
      if (one.endedAt === Infinity) break;
      if (one.kind === 'page' && one.status === 200 && one.host !== PORTAL_HOST) pages.add(urlOf(one));
    }
    return { requests: record.requests.length, pages: pages.size };
  };
  const begin = (): null => {
    record.clear();
    pages.clear();
    looked = 0;
    beganAt = cpuMs();
    return null;
  };
  const report = (): WebReport => {
    const used = cpuMs() - beganAt;
    const seen = record.requests.filter((one) => one.host !== PORTAL_HOST);
    return { verdict: verdictOn(seen, world.allows), cpuMs: used };
  };
  const answers = { begin, count, report };
  process.on('message', (ask: Ask) => void process.send!(answers[ask]()));
  process.on('disconnect', () => process.exit(0));
  const ready: Ready = {
    seeds: world.seeds(),
    portal: `http://${PORTAL_HOST}/`,
    sites: world.sites.length,
    about,
  };
  process.send!(ready);
};

const [profile = '', sites, latencyMs] = process.argv.slice(2);
const { plan, about } = planFor(profile, Number(sites));
await serve(withLatency(withPortal(createWorld(plan)), Number(latencyMs)), about);
