/** A block that is drawn again in place, on a terminal whose size changes. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTerminal, type Terminal } from '../src/cli/terminal.ts';

interface Out {
  isTTY: boolean;
  columns: number;
  rows: number;
  text: string;
  write(text: string): void;
}

const { TERM } = process.env;
before(() => (process.env.TERM = 'xterm'));
after(() => void (TERM === undefined ? delete process.env.TERM : (process.env.TERM = TERM)));

const open = (columns: number, rows: number): { out: Out; terminal: Terminal; drawn: (lines: string[]) => string } => {
  const out: Out = { isTTY: true, columns, rows, text: '', write: (text) => void (out.text += text) };
  const stream = out as unknown as NodeJS.WriteStream;
  const terminal = createTerminal(stream, stream);
  const drawn = (lines: string[]): string => {
    out.text = '';
    terminal.draw(lines);
    return out.text;
  };
  return { out, terminal, drawn };
};

test('a block is never taller than the terminal, nor a line as wide', () => {
  const { drawn } = open(10, 4);
  assert.equal(
    drawn(['123456789', '1234567890', '長い長い長', 'd', 'e']),
    '123456789\x1b[K\n12345678…\x1b[K\n長い長い…\x1b[K\n\x1b[J',
  );
});

test('a block is drawn over the one before it, also where a narrower terminal has wrapped that', () => {
  const { out, drawn } = open(20, 10);
  drawn(['a'.repeat(19), 'b']);
  assert.ok(drawn(['a'.repeat(19), 'b']).startsWith('\x1b[2F'));
  out.columns = 10;
  assert.ok(drawn(['a', 'b']).startsWith('\x1b[3F'), 'the first line takes two rows now');
  assert.ok(drawn(['a', 'b']).startsWith('\x1b[2F'));
});

test('a line that stays goes above the block, and a released block stays, too', () => {
  const { out, terminal, drawn } = open(20, 10);
  drawn(['block']);
  out.text = '';
  terminal.warn('trouble');
  assert.equal(out.text, '\x1b[1F\x1b[Jtrouble\nblock\n');
  terminal.release();
  out.text = '';
  terminal.print('end');
  assert.equal(out.text, 'end\n');
});

test('a terminal that does not tell its size has 80 columns and 24 lines', () =>
  assert.deepEqual(open(0, 0).terminal.size(), { columns: 80, rows: 24 }));
