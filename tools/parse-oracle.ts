/**
 * Compares our scanner with parse5's tree over a folder of .html files: `node tools/parse-oracle.ts <folder> [pages]`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'parse5';
import { parsePage } from '../src/parse/page.ts';
import { scanHtml } from '../src/parse/html/scan.ts';
import { oracleFindings } from '../tests/support/oracle.ts';

const [folder, limit = '1000000'] = process.argv.slice(2);
if (folder === undefined) {
  console.error('name a folder of .html files: node tools/parse-oracle.ts <folder> [pages]');
  process.exit(2);
}

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.x?html?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
// Every so-many-th file, so that a limit still sees all of the folder.
const stride = Math.max(1, Math.ceil(files.length / Number(limit)));
const chosen = files.filter((_, at) => at % stride === 0);

const options = { productToken: 'gossamer', xhtml: false, text: true };
const agreed = { links: 0, title: 0, base: 0, all: 0 };
let pages = 0;
let characters = 0;
let links = 0;
let oursMs = 0;
let treeMs = 0;

for (const file of chosen) {
  const body = readFileSync(file);
  if (body.length === 0) continue;
  const { findings } = parsePage({
    url: 'http://example.org/',
    headers: { 'content-type': 'text/html' },
    body,
    textBytesMax: body.length,
    productToken: 'gossamer',
  });
  const source = new TextDecoder(findings.charset).decode(body);
  const started = performance.now();
  const ours = scanHtml(source, options);
  const scanned = performance.now();
  parse(source, { scriptingEnabled: false });
  treeMs += performance.now() - scanned;
  oursMs += scanned - started;
  const theirs = oracleFindings(source);
  const same = {
    links: sameSet(ours.hrefs, theirs.hrefs),
    title: ours.title === theirs.title,
    base: ours.base === theirs.base,
  };
  pages += 1;
  characters += source.length;
  links += ours.hrefs.length;
  if (same.links) agreed.links += 1;
  if (same.title) agreed.title += 1;
  if (same.base) agreed.base += 1;
  if (same.links && same.title && same.base) agreed.all += 1;
  else console.log(file, JSON.stringify(differences(ours, theirs)).slice(0, 500));
}

const per50KB = (ms: number): string => ((ms / characters) * 50_000).toFixed(3);
console.log(`${pages} pages, ${(characters / 1e6).toFixed(1)} M characters, ${links} links`);
console.log(`agree: links ${agreed.links}, title ${agreed.title}, base ${agreed.base}, all three ${agreed.all}`);
console.log(
  `ms per 50,000 characters: scanner ${per50KB(oursMs)} (links, title, text ...), parse5 tree ${per50KB(treeMs)} (tree alone)`,
);

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}

function differences(ours: ReturnType<typeof scanHtml>, theirs: ReturnType<typeof oracleFindings>): object {
  return {
    onlyOurs: ours.hrefs.filter((href) => !theirs.hrefs.includes(href)),
    onlyTheirs: theirs.hrefs.filter((href) => !ours.hrefs.includes(href)),
    ...(ours.title === theirs.title ? {} : { titles: [ours.title, theirs.title] }),
    ...(ours.base === theirs.base ? {} : { bases: [ours.base, theirs.base] }),
  };
}
