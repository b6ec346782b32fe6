/** What a store throws when it cannot do its work; it has then done nothing. */

/** A store that cannot go on; `advice` says what a person can do. */
export class StoreFault extends Error {
  readonly advice: string;
  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}
