/** Events with the types of what they bring; listeners that throw do not disturb whoever tells. */

import { EventEmitter } from 'node:events';

/** What can be listened to, and what a listener is given. */
export type EventMap<M> = { readonly [E in keyof M]: readonly unknown[] };

/** Whoever wants to be told. A listener that throws ends the program, as with every EventEmitter. */
export interface Listening<M extends EventMap<M>> {
  on<E extends keyof M>(event: E, listener: (...told: M[E]) => void): this;
  once<E extends keyof M>(event: E, listener: (...told: M[E]) => void): this;
  off<E extends keyof M>(event: E, listener: (...told: M[E]) => void): this;
}

export interface Events<M extends EventMap<M>> {
  readonly emitter: EventEmitter;
  tell<E extends keyof M & string>(event: E, ...told: M[E]): void;
}

/** With `onWanted`, called when an event gets its first listener. */
export const createEvents = <M extends EventMap<M>>(
  onWanted: Readonly<Partial<Record<keyof M & string, () => void>>>,
): Events<M> => {
  const emitter = new EventEmitter();
  const wanted = new Set<string>();
  emitter.on('newListener', (event: keyof M & string) => {
    if (wanted.has(event)) return;
    wanted.add(event);
    onWanted[event]?.();
  });
  return {
    emitter,
    tell: (event, ...told) => {
      try {
        emitter.emit(event, ...told);
      } catch (error) {
        // Not here: whoever tells has work to do that must not end with it.
        process.nextTick(() => {
          throw error;
        });
      }
    },
  };
};
