/** The small web in a process of its own, so that its CPU is not counted as the crawler's. */

import { benchPlan } from '../src/world/presets.ts';
import { serveWorld } from '../src/world/serve.ts';
import { createWorld } from '../src/world/world.ts';

const [https, sites, pages] = process.argv.slice(2);
const world = createWorld({ ...benchPlan, https: https === 'https', sites: Number(sites), pages: Number(pages) });
const served = await serveWorld(world, { record: false });
process.send!({ connectTo: served.connectTo, seeds: world.seeds() });
process.on('disconnect', () => void served.close().then(() => process.exit(0)));
