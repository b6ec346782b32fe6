/**
 * A call of one of the store's verbs as plain data: it can be sent to another thread, and several can share a
 * transaction.
 */

import type { Ask, Change, Store } from '../contract/store.ts';
import type { Link } from '../model/link.ts';
import type { Settlement } from '../model/settlement.ts';

export type StoreCall =
  | { readonly verb: 'admit'; readonly links: readonly Link[]; readonly siteWaitingMax: number | null }
  | { readonly verb: 'claim'; readonly ask: Ask }
  | { readonly verb: 'settle'; readonly settlements: readonly Settlement[] }
  | { readonly verb: 'steer'; readonly changes: readonly Change[] }
  | { readonly verb: 'census' }
  | { readonly verb: 'beat' }
  | { readonly verb: 'journal'; readonly after: number }
  | { readonly verb: 'rules'; readonly digest: string; readonly site: string };

/** A store whose calls are sent somewhere. */
export const storeOver = (send: <T>(call: StoreCall) => Promise<T>, close: Store['close']): Store => ({
  admit: (links, siteWaitingMax = null) => send({ verb: 'admit', links, siteWaitingMax }),
  claim: (ask) => send({ verb: 'claim', ask }),
  settle: (settlements) => send({ verb: 'settle', settlements }),
  steer: (changes) => send({ verb: 'steer', changes }),
  census: () => send({ verb: 'census' }),
  beat: () => send({ verb: 'beat' }),
  journal: (after) => send({ verb: 'journal', after }),
  rules: (digest, site) => send({ verb: 'rules', digest, site }),
  close,
});

/** The other end of `storeOver`. */
export const performOn = (store: Store, call: StoreCall): Promise<unknown> => {
  switch (call.verb) {
    case 'admit':
      return store.admit(call.links, call.siteWaitingMax);
    case 'claim':
      return store.claim(call.ask);
    case 'settle':
      return store.settle(call.settlements);
    case 'steer':
      return store.steer(call.changes);
    case 'census':
      return store.census();
    case 'beat':
      return store.beat();
    case 'journal':
      return store.journal(call.after);
    case 'rules':
      return store.rules(call.digest, call.site);
    default:
      return call satisfies never;
  }
};

/** Whether a call changes nothing. */
export const isRead = ({ verb }: StoreCall): boolean =>
  verb === 'census' || verb === 'rules' || verb === 'beat' || verb === 'journal';

/** Rows that a call may write, roughly. */
export const rowsOf = (call: StoreCall): number => {
  switch (call.verb) {
    case 'admit':
      return call.links.length;
    case 'claim':
      return call.ask.visits;
    case 'settle':
      return 2 * call.settlements.length;
    case 'steer':
    case 'census':
    case 'beat':
    case 'journal':
    case 'rules':
      return 0;
    default:
      return call satisfies never;
  }
};
