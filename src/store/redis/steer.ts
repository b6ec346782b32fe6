/** What a person or the supervisor changes: leases freed, sites brought back, marks set. */

import { CLAIMS_MAX, type Order } from '../../frontier/store.ts';
import { learn, writeGivenUp, type Book } from './book.ts';
import type { Call } from './wire.ts';

/** Every order may be repeated. */
export const steer = async (book: Book, orders: readonly Order[]): Promise<void> => {
  for (const order of orders) await obey(book, order);
};

const obey = async (book: Book, order: Order): Promise<void> => {
  switch (order.kind) {
    case 'free': {
      const holder = order.holder === null ? '' : `${book.member}/${order.holder}`;
      await free(book, { holder, counted: order.counted, culprit: order.culprit ?? null });
      return;
    }
    case 'retry-parked':
      return release(book, 'parked', null);
    case 'release-held':
      return release(book, 'held', order.sitePagesMax);
    case 'mark':
      await book.wire.all([{ name: 'mark', shard: 0, args: [order.name, order.value] }]);
      return;
    default:
      order satisfies never;
  }
};

const allShards = ({ shards }: Book): number[] => Array.from({ length: shards }, (_, shard) => shard);

export interface Freeing {
  /** Empty for all of this member. */
  readonly holder: string;
  readonly counted: boolean;
  readonly culprit: number | null;
}

/** Frees leases of this member in every shard, and says of each shard which batch it settled last. */
export const free = async (book: Book, { holder, counted, culprit }: Freeing): Promise<string[]> => {
  const shards = allShards(book);
  const answers = (await book.wire.all(
    shards.map((shard): Call => ({ name: 'free', shard, args: [holder, counted ? 1 : 0, culprit ?? '', CLAIMS_MAX] })),
  )) as [string, string, string, string[], string[], string][];
  return answers.map((answer, shard) => {
    learn(book, shard, answer);
    for (const lease of answer[3]) book.leases.delete(Number(lease));
    writeGivenUp(book, shard, answer[4]);
    return answer[5];
  });
};

/** In rounds, a part of each shard at a time. */
const release = async (book: Book, from: 'parked' | 'held', below: number | null): Promise<void> => {
  let open = allShards(book).map((shard) => ({ shard, cursor: '0' }));
  while (open.length > 0) {
    const answers = (await book.wire.all(
      open.map(({ shard, cursor }): Call => ({ name: 'release', shard, args: [from, below ?? '', cursor] })),
    )) as string[][];
    open = open.flatMap(({ shard }, i) => {
      learn(book, shard, answers[i]!);
      const cursor = answers[i]![3]!;
      return cursor === '0' ? [] : [{ shard, cursor }];
    });
  }
};
