/** A fault of ours on its way between threads: an Error loses its fields when it is cloned. */

import { StoreFault } from '../contract/fault.ts';
import { isDiskFull } from '../store/disk-full.ts';

export interface Fault {
  readonly message: string;
  readonly advice: string;
  readonly stack: string;
  readonly diskFull: boolean;
}

export const toFault = (error: unknown): Fault => {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const advice = error instanceof StoreFault || error instanceof ThreadFault ? error.advice : '';
  return {
    message,
    advice,
    stack: stack ?? '',
    diskFull: error instanceof ThreadFault ? error.diskFull : isDiskFull(error),
  };
};

/** A fault as the thread that hears of it throws it. */
export class ThreadFault extends Error {
  readonly advice: string;
  readonly diskFull: boolean;
  constructor({ message, advice, stack, diskFull }: Fault) {
    super(message);
    this.advice = advice;
    this.diskFull = diskFull;
    this.stack = stack;
  }
}
