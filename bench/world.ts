/** The small web in a process of its own, so that its CPU is not counted as the crawler's. */

import { serveWorld } from '../src/world/serve.ts';
import { createWorld } from '../src/world/world.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

const [workload, sites] = process.argv.slice(2) as [WorkloadName, string];
const world = createWorld(WORKLOADS[workload].plan(Number(sites)));
const served = await serveWorld(world, { record: false });
process.send!({ connectTo: served.connectTo, seeds: world.seeds() });
process.on('disconnect', () => void served.close().then(() => process.exit(0)));
