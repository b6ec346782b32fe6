/** The failure table as it is printed. */

import type { RowResult } from './chaos-run.ts';

const HEAD = [
  'row',
  'hits',
  'requests',
  'pages',
  'early',
  'overlaps',
  'asked twice',
  'archived twice',
  'repeats listed',
  'links lost',
  'damages by verify',
  'seconds',
];

const cellsOf = ({ row, hits, seconds, verdict }: RowResult): string[] => [
  row,
  ...(verdict === null
    ? [hits, ...Array<string>(9).fill('-')]
    : [
        hits,
        verdict.requests,
        verdict.pages,
        verdict.early.length,
        verdict.overlaps.length,
        verdict.askedTwice,
        verdict.archivedTwice.length,
        verdict.repeats,
        verdict.lost.length,
        verdict.damages,
      ]
  ).map(String),
  seconds.toFixed(0),
];

export const tableOf = (results: readonly RowResult[]): string => {
  const rows = [HEAD, ...results.map(cellsOf)];
  const widths = HEAD.map((_, n) => Math.max(...rows.map((cells) => cells[n]!.length)));
  return rows
    .map((cells) => cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!))).join('  '))
    .join('\n');
};

/** Violations and remarks of each row, and the table. */
export const reportOf = (results: readonly RowResult[]): string => {
  const said = results.flatMap(({ row, violations, remarks }) => [
    ...remarks.map((remark) => `${row}: ${remark}`),
    ...violations.map((violation) => `${row}: VIOLATION: ${violation}`),
  ]);
  return [...said, '', summaryOf(results)].join('\n');
};

/** The table, and the line at the end. */
export const summaryOf = (results: readonly RowResult[]): string =>
  `${tableOf(results)}\n\n${results.length} rows, ${violationsOf(results)} violations`;

/** A kind of violation counts once for each row that has it; lines that begin with a space are examples. */
export const violationsOf = (results: readonly RowResult[]): number =>
  results.reduce((sum, { violations }) => sum + violations.filter((line) => !line.startsWith(' ')).length, 0);
