/** `gossamer world`: serves the small web, for trying things out. */

import { writeFileSync } from 'node:fs';
import { plural } from '../../lib/units.ts';
import { UsageError } from '../../model/read-settings.ts';
import { demoPlan } from '../../world/presets.ts';
import { createWorld } from '../../world/world.ts';
import { serveWorld, type ServedWorld } from '../../world/serve.ts';
import type { Command } from '../command.ts';
import { printObject } from '../listing.ts';
import { bold, dim } from '../terminal.ts';

export const worldCommand: Command = {
  name: 'world',
  usage: 'world [flags]',
  says: 'Serve a small, made-up web on this machine until Ctrl-C: good, slow and broken sites.',
  flags: [
    { name: 'sites', value: 'N', says: `how many sites (default ${demoPlan.sites})` },
    { name: 'pages', value: 'N', says: `how many pages in all (default ${demoPlan.pages})` },
    { name: 'seed', value: 'N', says: `another seed makes another web (default ${demoPlan.seed})` },
    { name: 'plain', says: 'only healthy sites over http' },
    { name: 'http-port', value: 'N', says: 'default: any that is free' },
    { name: 'https-port', value: 'N', says: 'default: any that is free' },
    { name: 'seed-file', value: 'FILE', says: 'write the seeds of this web to FILE' },
    { name: 'json', says: 'print one JSON object when it is served' },
  ],
  example: 'gossamer world --seed-file seeds.txt',
  run: async ({ values, switches, words }) => {
    if (words.length > 0) throw new UsageError(`"${words[0]}" is one word too many`);
    const count = (name: string, fallback: number, most: number): number => {
      const text = values.get(name)?.[0];
      if (text === undefined) return fallback;
      if (!/^\d+$/.test(text) || Number(text) > most)
        throw new UsageError(`--${name} "${text}" is not understood: write a whole number up to ${most}`);
      return Number(text);
    };
    const world = createWorld({
      ...demoPlan,
      sites: Math.max(1, count('sites', demoPlan.sites, 1_000_000)),
      pages: count('pages', demoPlan.pages, 100_000_000),
      seed: count('seed', demoPlan.seed, 2 ** 31),
      ...(switches.has('plain') ? { oddities: false, https: false } : {}),
    });
    const served = await serveWorld(world, {
      httpPort: count('http-port', 0, 65_535),
      httpsPort: count('https-port', 0, 65_535),
      record: false,
    });
    const seeds = world.seeds();
    const file = values.get('seed-file')?.[0];
    if (file !== undefined) writeFileSync(file, seeds.map((seed) => `${seed}\n`).join(''));
    if (switches.has('json')) {
      await printObject({
        sites: world.sites.length,
        seeds: seeds.length,
        firstSeed: seeds[0] ?? null,
        seedFile: file ?? null,
        connectTo: served.connectTo,
      });
      return untilSignal(served);
    }
    const flags = served.connectTo.map((rule) => `--connect-to '${rule}'`).join(' ');
    console.log(`${bold('A small web')} of ${plural(world.sites.length, 'site')} is served on this machine.`);
    console.log(
      `${dim('crawl it with')}\n  gossamer crawl ${file ?? ''}${file === undefined ? `--url ${seeds[0]}` : ''} --email you@example.org --delay 200ms ${flags}`,
    );
    console.log(dim('Ctrl-C ends it'));
    return untilSignal(served);
  },
};

const untilSignal = async (served: ServedWorld): Promise<number> => {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  await served.close();
  return 0;
};
