/** The small files of a crawl: can they be read, and do they agree with what was loaded? */

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../../lib/units.ts';
import { UsageError } from '../../model/read-settings.ts';
import { checkFixed, FILES, readIdentity } from '../../folder/folder.ts';
import { isHalfMoved } from '../../folder/finish-move.ts';
import type { Finder } from './damage.ts';

/**
 * Whether every answer has a record, because something was kept in every run; false when crawl.json cannot tell.
 * Throws a UsageError where there is no crawl that this program knows.
 */
export const checkIdentity = (dir: string, found: Finder): boolean => {
  const path = join(dir, FILES.identity);
  if (existsSync(path)) {
    try {
      JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      if (!(error instanceof SyntaxError))
        throw new UsageError(`"${path}" cannot be read: ${(error as Error).message}`);
      found.add({ kind: 'identity', file: FILES.identity, says: `${FILES.identity} cannot be read: ${error.message}` });
      return false;
    }
  }
  const identity = readIdentity(dir);
  checkFixed(dir, identity);
  if (isHalfMoved(dir, identity))
    throw new UsageError(
      `a move of crawl "${dir}" was killed at its end: "gossamer resume ${dir}" or the same "gossamer migrate" finishes it`,
    );
  return identity.unkept !== true;
};

/** Lines in seeds.txt; the mark of what was loaded must not be beyond them. */
export const checkSeedFile = async (dir: string, mark: number, found: Finder): Promise<number> => {
  const path = join(dir, FILES.seeds);
  if (!existsSync(path)) {
    found.add({
      kind: 'seeds',
      file: FILES.seeds,
      says: `${FILES.seeds} is missing`,
      advice: `restore ${FILES.seeds} from a copy`,
    });
    return 0;
  }
  const lines = await countLines(path);
  if (mark > lines)
    found.add({
      kind: 'seeds',
      file: FILES.seeds,
      says: `${FILES.seeds} has ${plural(lines, 'line')}, but ${mark} ${mark === 1 ? 'was' : 'were'} loaded`,
    });
  return lines;
};

const LF = 10;

const countLines = async (path: string): Promise<number> => {
  let lines = 0;
  let last = LF;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) lines++;
    last = chunk.at(-1) ?? last;
  }
  return last === LF ? lines : lines + 1;
};
