/** `npm run docs`: writes the reference pages from the tables in the code. With `--check`, fails when one is stale. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../src/cli/main.ts';
import { EXIT_CODES } from '../src/cli/command.ts';
import { FILE_NAMES } from '../src/cli/config-file.ts';
import { helpOf } from '../src/cli/help.ts';
import { isSwitch, writeDefault } from '../src/cli/setting-flags.ts';
import { COLUMN_KINDS, LINK_COLUMNS, PAGE_TABLE, type Column } from '../src/results/export/columns.ts';
import { OPEN_REASONS } from '../src/results/explain/reasons.ts';
import { ALL_TYPES, BODY_KINDS } from '../src/model/body-types.ts';
import { FAILURES } from '../src/model/failure.ts';
import { ANSWERED_OUTCOMES, HOOK_REFUSALS, SCOPE_REFUSALS, UNANSWERED_OUTCOMES } from '../src/model/outcome.ts';
import { hasFlag, SETTING_NAMES, SETTINGS } from '../src/model/setting-table.ts';
import { RULE_VALUE_NAMES, RULE_VALUES, SITE_RULES_MAX } from '../src/model/site-rules.ts';
import { fullName, METRIC_NAMES, metricOf, RATE_SECONDS, type Metric } from '../src/observe/metrics/table.ts';
import { oddities } from '../src/world/oddities.ts';
import { libraryPage } from './library-reference.ts';

const NOTE = '<!-- Written by `npm run docs` from the tables in the code; do not edit. -->';

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

const named = (entries: Readonly<Record<string, string>>, prefix = ''): string[][] =>
  Object.entries(entries).map(([name, says]) => [`\`${prefix}${name}\``, says]);

const COMBINED: Readonly<Record<Metric['combine'], string>> = {
  sum: 'added up',
  maximum: 'the largest',
  thread: 'one series per `thread`',
};

const metricRow = (name: (typeof METRIC_NAMES)[number]): string[] => {
  const { type, labels = {}, combine, help } = metricOf(name);
  const sets = Object.entries(labels).map(
    ([label, values]) =>
      `\`${label}\`: ${values.length > 12 ? `${values.slice(0, 6).join(', ')} ... (${values.length})` : values.join(', ')}`,
  );
  return [`\`${fullName(name)}\``, type, sets.join('; '), COMBINED[combine], help];
};

const columnTable = (columns: readonly Column<never>[]): string =>
  table(
    ['column', 'type', 'null', 'meaning'],
    columns.map(({ name, kind, nullable, says }) => [
      `\`${name}\``,
      `${COLUMN_KINDS[kind].parquet}${kind === 'json' ? ' (JSON)' : ''}`,
      nullable ? 'yes' : '',
      says,
    ]),
  );

export const PAGES: Readonly<Record<string, () => string>> = {
  'settings.md': () =>
    `# Settings\n\n${NOTE}\n\nFlags of \`crawl\` and \`resume\`. In a \`--config\` file ([how](../how-to/configure.md)) a setting has the name of its flag without the dashes, as in the second column; ` +
    `the names in the third are those of the library and of \`crawl.json\`. \`--no-<switch>\` turns a switch off; \`none\` lifts a limit.\n\n` +
    `Whose a setting is: what is the *crawl*'s is the same for all who take part in it, and is changed for all by \`resume\` or \`set\` ([how](../how-to/share-a-crawl.md#settings)); ` +
    `a *member*'s is given to each process; what is *fixed* is chosen when the crawl begins.\n\n${table(
      ['flag', 'in a file', 'setting', 'whose', 'default', 'least', 'most', 'meaning'],
      SETTING_NAMES.map((name) => {
        const spec = SETTINGS[name];
        return [
          hasFlag(name) ? `\`--${spec.flag}${spec.value ? ` ${spec.value}` : ''}\`` : '',
          `\`${spec.flag}\``,
          `\`${name}\``,
          spec.whose,
          writeDefault(name) || (isSwitch(name) ? 'off' : 'none'),
          String(spec.least ?? ''),
          String(spec.most ?? ''),
          spec.says,
        ];
      }),
    )}\n\nA file can also have:\n\n${table(['in a file', 'meaning'], named(FILE_NAMES))}\n\n` +
    `## Rules per site\n\nThe values of a rule under \`sites\` ([how](../how-to/rules-per-site.md)); at most ${SITE_RULES_MAX} rules.\n\n${table(
      ['in a file', 'in the library', 'meaning'],
      RULE_VALUE_NAMES.map((name) => [`\`${RULE_VALUES[name].called}\``, `\`${name}\``, RULE_VALUES[name].says]),
    )}\n`,
  'types.md': () =>
    `# Types\n\n${NOTE}\n\nThe names that \`--types\` takes ([how](../how-to/choose-types.md)). A \`*\` stands for any characters; a link whose path ends with one of the endings is followed only where its name is given.\n\n${table(
      ['name', 'media types', 'endings'],
      Object.entries(BODY_KINDS).map(([name, { types, endings = '' }]) => [
        `\`${name}\``,
        types.map((type) => `\`${type}\``).join(', '),
        endings,
      ]),
    )}\n\n\`${ALL_TYPES}\` means every body, whatever its type.\n`,
  'outcomes.md': () =>
    `# Outcomes\n\n${NOTE}\n\nEvery settled link has exactly one.\n\n## A server answered\n\nThese are the pages that \`--max-pages\` counts.\n\n${table(['outcome', 'meaning'], named(ANSWERED_OUTCOMES))}\n\n` +
    `## No server answered\n\n${table(['outcome', 'meaning'], [...named(UNANSWERED_OUTCOMES), ...named(FAILURES, 'failed-')])}\n\n` +
    `## The link is not in scope\n\nA link that is out of scope when it is found is not stored at all; these are settled when the scope was narrowed by a resume, and for seeds.\n\n${table(['outcome', 'meaning'], named(SCOPE_REFUSALS))}\n\n` +
    `## Links that a hook refused\n\nThey are not stored, only counted. [How to write hooks](../how-to/write-hooks.md).\n\n${table(['refusal', 'meaning'], named(HOOK_REFUSALS))}\n`,
  'reasons.md': () =>
    `# Reasons\n\n${NOTE}\n\nWhat \`gossamer explain --json\` gives as \`reason\`. A settled link has the name of its [outcome](outcomes.md). ` +
    `A link that is not settled has one of these; or the outcome that it will get when its turn comes, or, if it is not known, would get.\n\n${table(['reason', 'meaning'], named(OPEN_REASONS))}\n`,
  'exit-codes.md': () =>
    `# Exit codes\n\n${NOTE}\n\n${table(
      ['code', 'meaning'],
      Object.entries(EXIT_CODES).map(([code, says]) => [code, says]),
    )}\n`,
  'commands.md': () =>
    `# Commands\n\n${NOTE}\n\n${COMMANDS.map((command) => `## ${command.name}\n\n\`\`\`\n${helpOf(command)}\n\`\`\``).join('\n\n')}\n`,
  'metrics.md': () =>
    `# Metrics\n\n${NOTE}\n\nWhat \`--metrics\` serves ([how to watch a crawl](../how-to/watch-a-crawl.md)). Counters are of this process and begin at 0; a thread that is started again goes on ` +
    `with those of the one before it. Rates are over ${RATE_SECONDS} s. Every sample also has the labels \`crawl\`, the name of the crawl, and \`member\`, the id of the member whose process it is (as \`gossamer members\` has it). No label ever holds a site or a URL.\n\n${table(['metric', 'type', 'labels', 'of several threads', 'meaning'], METRIC_NAMES.map(metricRow))}\n`,
  'export.md': () =>
    `# Columns of an export\n\n${NOTE}\n\nWhat \`gossamer export\` writes as Parquet, JSON lines and CSV ([how](../how-to/read-the-results.md#exports)). Names and types stay; new columns come at the end. ` +
    `In CSV what is null is empty, and a text that a spreadsheet would run as a formula has a \`'\` before it.\n\n## Pages\n\n${columnTable(PAGE_TABLE)}\n\n` +
    `## Links\n\nWith \`--links\`, for a crawl with \`--keep-links\`: one row per page and target, in the order of the page.\n\n${columnTable(LINK_COLUMNS)}\n\n` +
    `## Types\n\n${table(
      ['type', 'meaning'],
      Object.values(COLUMN_KINDS).map(({ parquet, says }, i) => [
        `${parquet}${Object.keys(COLUMN_KINDS)[i] === 'json' ? ' (JSON)' : ''}`,
        says,
      ]),
    )}\n`,
  'library.md': () => libraryPage(NOTE),
  'small-web.md': () =>
    `# What is odd in the small web\n\n${NOTE}\n\n${table(
      ['name', 'a whole', 'what it is'],
      oddities().map((one) => [`\`${one.name}\``, one.where, one.about]),
    )}\n`,
};

const dir = new URL('../docs/reference/', import.meta.url);

export const staleReferences = (): string[] =>
  Object.entries(PAGES)
    .filter(([name, write]) => {
      try {
        return readFileSync(new URL(name, dir), 'utf8') !== write();
      } catch {
        return true;
      }
    })
    .map(([name]) => name);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dir, { recursive: true });
  for (const [name, write] of Object.entries(PAGES)) writeFileSync(new URL(name, dir), write());
  console.log(`wrote ${Object.keys(PAGES).length} pages to docs/reference`);
}
