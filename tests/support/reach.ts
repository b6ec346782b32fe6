/** What a crawl with limits should ask for, by a walk over the model of a healthy small web. */

import type { World } from '../../src/world/world.ts';

export interface Reach {
  readonly depthMax?: number;
  /** Whether a host may be visited. */
  readonly wants?: (host: string) => boolean;
}

/** Every URL within reach, seeds at depth 0. */
export const reachOf = (world: World, { depthMax = Infinity, wants = () => true }: Reach): Set<string> => {
  let edge = world.seeds().filter((url) => wants(new URL(url).host));
  const found = new Set(edge);
  for (let depth = 0; depth < depthMax && edge.length > 0; depth++) {
    const next: string[] = [];
    for (const url of edge) {
      const { host, pathname, search } = new URL(url);
      for (const { to } of world.look({ scheme: 'http', host, path: pathname + search }).links) {
        if (found.has(to) || !wants(new URL(to).host)) continue;
        found.add(to);
        next.push(to);
      }
    }
    edge = next;
  }
  return found;
};
