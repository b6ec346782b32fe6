/** Lists that people read, and programs: a table, JSON lines, or CSV. */

import { once } from 'node:events';
import { visibleJson, visibleLines } from '../lib/visible.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Flag, Read } from './flags.ts';

const FORMATS = ['table', 'jsonl', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** The flag of commands whose lists have a format. */
export const JSON_LINES_FLAG: Flag = { name: 'json', says: 'print JSON lines: short for --format jsonl' };

export const readFormat = ({ values, switches }: Read): Format => {
  if (switches.has('json')) {
    if (values.has('format')) throw new UsageError('--json is short for --format jsonl: give one of the two');
    return 'jsonl';
  }
  const format = (values.get('format')?.[0] ?? 'table') as Format;
  if (!FORMATS.includes(format))
    throw new UsageError(`--format "${format}" is not known: choose one of ${FORMATS.join(', ')}`);
  return format;
};

/** The whole number that was given with this flag, if one was. */
export const readCount = ({ values }: Read, name: string): number | undefined => {
  const text = values.get(name)?.[0];
  if (text !== undefined && !/^\d+$/.test(text))
    throw new UsageError(`--${name} "${text}" is not understood: write a whole number`);
  return text === undefined ? undefined : Number(text);
};

/** Waits for a reader that is slow; one that stops early (`| head`) ends us quietly. */
export const print = (line: string): Promise<void> => printText(line === '' ? '' : `${line}\n`);

/** Text that has its line ends already. */
export const printText = async (text: string): Promise<void> => {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
};

/** Text from the web, or with some in it: every byte of it for a program, and what can be seen for a terminal. */
export const printForeign = (text: string): Promise<void> =>
  printText(process.stdout.isTTY ? visibleLines(text) : text);

/** One JSON object on a line, which any terminal can be sent. */
export const printObject = (object: object, indent = 0): Promise<void> =>
  print(visibleJson(JSON.stringify(object, null, indent)));
