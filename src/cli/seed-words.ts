/** What a word of the command line means as a seed: a file of seeds, standard input, or a URL or domain. */

import { fstatSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { STANDARD_INPUT, type SeedSource } from '../folder/seeds.ts';
import { UsageError } from '../model/read-settings.ts';
import { hasKnownSuffix } from '../url/site.ts';
import { readSeed } from '../url/seed.ts';

type Place = 'file' | 'folder' | 'nothing';

const placeAt = (path: string): Place => {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? 'nothing' : stat.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    // A long URL is no name that a file can have.
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return 'nothing';
    throw error;
  }
};

/** A word that nobody takes for a file: it has a scheme, or its host could be that of a site. */
export const looksLikeSeed = (word: string): boolean => urlOf(word) !== null;

const urlOf = (word: string): string | null => {
  const read = readSeed(word);
  if (read.kind !== 'link') return null;
  const { url } = read.link;
  const { hostname } = new URL(url);
  const isHost = hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) > 0 || hasKnownSuffix(hostname);
  return isHost || /^https?:\/\//i.test(word) ? url : null;
};

/**
 * Sorts the words into files and seeds. Where one is a file and could be a domain too, the file wins and `say` tells.
 * Throws a UsageError for a word that is neither, and for a URL of `--url` that is none.
 */
export const seedsOfWords = (
  words: readonly string[],
  urls: readonly string[],
  say: (text: string) => void,
): SeedSource => {
  const files: string[] = [];
  const seeds: string[] = [];
  for (const word of words) {
    const place = word === STANDARD_INPUT ? 'file' : placeAt(word);
    const url = urlOf(word);
    if (place === 'file') {
      files.push(word);
      if (url !== null) say(`"${word}" is a file here and read as one; write ${url} for the domain`);
    } else if (url !== null) seeds.push(word);
    else throw neither(word, place);
  }
  if (files.filter((file) => file === STANDARD_INPUT).length > 1)
    throw new UsageError('standard input can be read only once: write "-" once');
  return { files, urls: [...seeds, ...checkedUrls(urls)] };
};

const neither = (word: string, place: Place): UsageError => {
  if (place === 'folder') return new UsageError(`"${word}" is a directory, and seeds are in files: name a file in it`);
  const read = readSeed(word);
  if (read.kind === 'bad' && (/^[a-z][a-z0-9+.-]*:\/\//i.test(word) || read.why.includes('***')))
    return new UsageError(read.why);
  return new UsageError(
    `there is no file "${word}", and it is no URL or domain: name a file that exists, or write the URL, such as https://example.org/`,
  );
};

/** What was typed as a URL and is none is a slip: better to stop than to crawl without it. */
export const checkedUrls = (urls: readonly string[]): readonly string[] => {
  for (const url of urls) {
    const read = readSeed(url);
    if (read.kind === 'link') continue;
    throw new UsageError(`--url ${read.kind === 'bad' ? read.why : 'is empty: give a domain, host or URL'}`);
  }
  return urls;
};

/** Whether a pipe or a file is on standard input. */
export const hasPipedInput = (): boolean => {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false; // it is closed
  }
};
