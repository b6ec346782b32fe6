/**
 * What a claim knows only by its references: reads the links from the files, and the rules of their origins from Redis.
 */

import type { Frontier } from './frontier.ts';
import { readLeasedLine } from './reference.ts';
import type { Call } from './wire.ts';

/** The link of a reference to one line, as the store itself would write it: its tries are those of the reference. */
export const lineOf = ({ files }: Frontier, leased: string): { readonly line: string; readonly via: string } => {
  const reference = readLeasedLine(leased);
  const [{ text, via }] = files.lines(reference) as [{ text: string; via: string }];
  const [depth, hops, marks, , url] = text.split(' ', 5);
  return { line: `${depth} ${hops} ${marks} ${reference.tries as number} ${url}`, via };
};

/** As the script that has no files finds it. */
const originIn = (line: string): string => / ([a-z]+:\/\/[^/?#]+)[^ ]*$/i.exec(line)?.[1] ?? '';

export interface Filled {
  readonly line: string;
  readonly via: string;
  readonly rules: string;
}

/** For each shard the links that it leased. */
export const fillIn = async (
  frontier: Frontier,
  claimed: readonly { readonly shard: number; readonly leased: readonly string[] }[],
): Promise<Filled[][]> => {
  const links = claimed.map(({ leased }) => leased.map((one) => lineOf(frontier, one)));
  const some = claimed.flatMap(({ shard }, i) => (links[i]!.length > 0 ? [{ shard, i }] : []));
  const answers = (await frontier.wire.all(
    some.map(({ shard, i }): Call => ({ name: 'rules', shard, args: links[i]!.map(({ line }) => originIn(line)) })),
  )) as string[][];
  const rules = new Map(some.map(({ i }, n) => [i, answers[n]!]));
  return links.map((ofShard, i) => ofShard.map((one, n) => ({ ...one, rules: rules.get(i)![n]! })));
};
