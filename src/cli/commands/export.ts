/** `gossamer export`: pages or links in a format that other programs read. */

import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { checkExport, EXPORT_FORMATS, exportCrawl, type Exported, type ExportFormat } from '../../results/export.ts';
import { OutFile, type Out } from '../../results/export/out.ts';
import { plural, writeCount } from '../../lib/units.ts';
import { visibleLines } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Command } from '../command.ts';
import type { Read } from '../flags.ts';
import { printObject } from '../listing.ts';
import { FILTER_FLAGS, filterOf } from '../page-filter.ts';
import { createQuietProgress } from '../quiet-progress.ts';
import { createTerminal } from '../terminal.ts';
import { crawlDirsOf, tellMissing, withGathering } from './dir.ts';

export const exportCommand: Command = {
  name: 'export',
  usage: 'export <dir>... --format FORMAT [--out FILE] [--links] [--json] [flags]',
  says: 'Write settled pages, or their links, for other programs: to FILE, which is there when it is whole, or to the output; also while the crawl runs. Of a crawl with several members, give the directories of all: one result comes out. docs/reference/export.md has the columns.',
  flags: [
    {
      name: 'format',
      value: EXPORT_FORMATS.join('|'),
      says: 'tables for DuckDB and others, or the index that pywb reads',
    },
    { name: 'out', value: 'FILE', says: 'where to; parquet needs it, the others go to the output without it' },
    { name: 'force', says: 'replace FILE if it is there' },
    { name: 'links', says: 'the links of the pages instead, if the crawl ran with --keep-links' },
    ...FILTER_FLAGS,
    { name: 'json', says: 'print one JSON object about the file of --out' },
  ],
  example: 'gossamer export ./crawl --format parquet --out pages.parquet',
  run: async (read) => {
    const dirs = crawlDirsOf(read);
    const format = formatOf(read);
    const path = read.values.get('out')?.[0];
    const links = read.switches.has('links');
    const filter = filterOf(read);
    if (path === undefined && format === 'parquet')
      throw new UsageError('--format parquet is for a file: give its name by --out, such as --out pages.parquet');
    if (path === undefined && read.switches.has('force'))
      throw new UsageError('--force replaces the file of --out, which is missing');
    const isJson = read.switches.has('json');
    if (path === undefined && isJson)
      throw new UsageError('--json tells of the file of --out, which is missing: --format jsonl writes pages as JSON');
    return withGathering(dirs, async (gathering) => {
      const { crawl, identity } = gathering;
      checkExport({ dirs, identity, format, links });
      // Before there is a file that a signal could leave behind.
      const stop = listenForSignals();
      let file: OutFile | null = null;
      const progress = createQuietProgress(createTerminal(process.stderr));
      try {
        file = path === undefined ? null : new OutFile(path, read.switches.has('force'));
        const exported = await exportCrawl({
          dirs,
          identity,
          crawl,
          format,
          links,
          filter,
          out: file ?? outputUntil(stop.signal),
          signal: stop.signal,
          sortDir: path === undefined ? tmpdir() : dirname(resolve(path)),
          onProgress: ({ done, total }) =>
            progress.show(
              () =>
                `exporting: ${writeCount(done)} of ${plural(total, 'page')} (${Math.floor((100 * done) / total)} %)`,
            ),
        });
        progress.release();
        file?.keep();
        if (isJson) await printObject({ file: path, format, of: links ? 'links' : 'pages', ...exported });
        else for (const line of notesOn(exported, { dirs, links, path })) console.error(line);
        await tellMissing(gathering);
        return 0;
      } catch (error) {
        progress.release();
        if (!stop.signal.aborted) throw error;
        console.error(
          `gossamer: stopped${path === undefined ? '; the output is not whole' : `; "${path}" was not written`}`,
        );
        return 3;
      } finally {
        file?.drop();
        stop.release();
      }
    });
  },
};

const formatOf = ({ values }: Read): ExportFormat => {
  const format = values.get('format')?.[0];
  if (format === undefined) throw new UsageError(`--format is missing: choose one of ${EXPORT_FORMATS.join(', ')}`);
  if (!EXPORT_FORMATS.includes(format as ExportFormat))
    throw new UsageError(`--format "${format}" is not known: choose one of ${EXPORT_FORMATS.join(', ')}`);
  return format as ExportFormat;
};

/** Waits for a reader that is slow, unless it is told to end. */
const outputUntil = (signal: AbortSignal): Out => {
  const decoder = new StringDecoder('utf8'); // a character may be cut between two writes
  const shown = (bytes: string | Uint8Array): string =>
    visibleLines(typeof bytes === 'string' ? bytes : decoder.write(bytes));
  return {
    write: async (bytes) => {
      const sent = process.stdout.isTTY ? shown(bytes) : bytes;
      if (sent.length > 0 && !process.stdout.write(sent)) await once(process.stdout, 'drain', { signal });
    },
  };
};

/** The first signal ends the export in order; a second one ends the process, which leaves the unfinished file. */
const listenForSignals = (): { signal: AbortSignal; release: () => void } => {
  const controller = new AbortController();
  const stop = (): void => {
    release();
    controller.abort();
  };
  const release = (): void => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return { signal: controller.signal, release };
};

/** What a person should know about it; what was written to the output speaks for itself. */
const notesOn = (
  { rows, elsewhere, cut }: Exported,
  { dirs, links, path }: { dirs: readonly string[]; links: boolean; path: string | undefined },
): string[] => [
  ...(path === undefined ? [] : [`${plural(rows, links ? 'link' : 'page')} in ${path}`]),
  ...(elsewhere > 0
    ? [
        `the archive of ${plural(elsewhere, 'page')} is not in ${dirs.map((dir) => `"${dir}"`).join(', ')}: ${elsewhere === 1 ? 'its links are' : 'their links are'} missing; give the directories of the other members of this crawl, too`,
      ]
    : []),
  ...(cut > 0 ? [`${plural(cut, 'link is', 'links are')} missing: more than is kept of one page`] : []),
];
