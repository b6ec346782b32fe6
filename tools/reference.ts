/** `npm run docs`: writes the reference pages from the tables in the code. With `--check`, fails when one is stale. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../src/cli/main.ts';
import { EXIT_CODES, helpOf } from '../src/cli/command.ts';
import { writeDefault } from '../src/cli/setting-flags.ts';
import { FAILURES } from '../src/model/exchange.ts';
import { ANSWERED_OUTCOMES, SCOPE_REFUSALS, UNANSWERED_OUTCOMES } from '../src/model/outcome.ts';
import { SETTING_NAMES, SETTINGS } from '../src/model/settings.ts';
import { oddities } from '../src/world/oddities.ts';

const NOTE = '<!-- Written by `npm run docs` from the tables in the code; do not edit. -->';

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');

const named = (entries: Readonly<Record<string, string>>, prefix = ''): string[][] =>
  Object.entries(entries).map(([name, says]) => [`\`${prefix}${name}\``, says]);

export const PAGES: Readonly<Record<string, () => string>> = {
  'settings.md': () => `# Settings\n\n${NOTE}\n\nFlags of \`crawl\` and \`resume\`; the names in the second column are those of the library and of \`crawl.json\`.\n\n${table(
    ['flag', 'setting', 'default', 'least', 'most', 'meaning'],
    SETTING_NAMES.map((name) => {
      const spec = SETTINGS[name];
      return [`\`--${spec.flag}${spec.value ? ` ${spec.value}` : ''}\``, `\`${name}\``, writeDefault(name) || (spec.kind === 'switch' ? 'off' : 'none'),
        String(spec.least ?? ''), String(spec.most ?? ''), spec.says];
    }),
  )}\n`,
  'outcomes.md': () => `# Outcomes\n\n${NOTE}\n\nEvery settled link has exactly one.\n\n## A server answered\n\nThese are the pages that \`--max-pages\` counts.\n\n${table(['outcome', 'meaning'], named(ANSWERED_OUTCOMES))}\n\n` +
    `## No server answered\n\n${table(['outcome', 'meaning'], [...named(UNANSWERED_OUTCOMES), ...named(FAILURES, 'failed-')])}\n\n` +
    `## The link is not in scope\n\nA link that is out of scope when it is found is not stored at all; these are settled when the scope was narrowed by a resume, and for seeds.\n\n${table(['outcome', 'meaning'], named(SCOPE_REFUSALS))}\n`,
  'exit-codes.md': () => `# Exit codes\n\n${NOTE}\n\n${table(['code', 'meaning'], Object.entries(EXIT_CODES).map(([code, says]) => [code, says]))}\n`,
  'commands.md': () => `# Commands\n\n${NOTE}\n\n${COMMANDS.map((command) => `## ${command.name}\n\n\`\`\`\n${helpOf(command)}\n\`\`\``).join('\n\n')}\n`,
  'small-web.md': () => `# What is odd in the small web\n\n${NOTE}\n\n${table(['name', 'a whole', 'what it is'], oddities().map((one) => [`\`${one.name}\``, one.where, one.about]))}\n`,
};

const dir = new URL('../docs/reference/', import.meta.url);

export const staleReferences = (): string[] =>
  Object.entries(PAGES).filter(([name, write]) => {
    try {
      return readFileSync(new URL(name, dir), 'utf8') !== write();
    } catch {
      return true;
    }
  }).map(([name]) => name);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dir, { recursive: true });
  for (const [name, write] of Object.entries(PAGES)) writeFileSync(new URL(name, dir), write());
  console.log(`wrote ${Object.keys(PAGES).length} pages to docs/reference`);
}
