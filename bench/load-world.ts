/** The bad web in a process of its own, so that its CPU, memory and descriptors are not counted as the crawler's. */

import { serveBadWeb } from './load-server.ts';

const [hosts, stallMs] = process.argv.slice(2).map(Number) as [number, number];
const web = await serveBadWeb({ hosts, stallMs });
process.send!({ connectTo: web.connectTo, seeds: web.seeds });
process.on('message', () => process.send!(web.sockets()));
// It ends with whoever started it, however that ends.
process.on('disconnect', () => void web.close().then(() => process.exit(0)));
