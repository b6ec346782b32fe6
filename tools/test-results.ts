/** A reporter for node:test that writes a line for every test that ended, for the summary of the test command. */

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

export interface Tested {
  readonly file: string;
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
}

/** Suites are left out: their tests speak for them. A file that failed as a whole is a test of its own name. */
export default async function* results(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, file, details, todo, skip } = event.data;
    if (details.type === 'suite' || todo || skip) continue;
    const tested: Tested = {
      file: relative(process.cwd(), file ?? name),
      name,
      ok: event.type === 'test:pass',
      ms: details.duration_ms,
    };
    yield `${JSON.stringify(tested)}\n`;
  }
}
