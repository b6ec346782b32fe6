/** Prometheus and Grafana in deploy/: their files are what these programs read, and every query names what there is. */

import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { dashboards, DEPLOY, expressionsOf, filledIn, type Panel } from './support/dashboards.ts';
import { complaintsAbout } from './support/metrics-named.ts';
import { namedIn } from './support/promql.ts';
import { promtool } from './support/prometheus.ts';

const textOf = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');
const yamlOf = <T>(file: string): T => parse(textOf(file)) as T;
const boards = [...dashboards()];

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: Record<string, string>;
      readonly annotations: Record<string, string>;
    }[];
  }[];
}
const alerts = yamlOf<Rules>('prometheus/alerts.yml').groups.flatMap(({ rules }) => rules);

interface RuleTests {
  readonly tests: readonly {
    readonly input_series: readonly { readonly series: string }[];
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}
const ruleTests = yamlOf<RuleTests>('prometheus/alerts.test.yml').tests;

test('promtool is content with the configuration of Prometheus and with the alerts', () => {
  promtool(['check', 'config', '--lint=all', '--lint-fatal', join(DEPLOY, 'prometheus/prometheus.yml')]);
  promtool(['check', 'rules', '--lint=all', '--lint-fatal', join(DEPLOY, 'prometheus/alerts.yml')]);
});

test('every alert fires and keeps silent when its test says so', () => {
  promtool(['test', 'rules', join(DEPLOY, 'prometheus/alerts.test.yml')]);
});

test('every alert has a case in which it fires and one in which it does not, and says what to do', () => {
  assert.deepEqual(alerts.map(({ alert }) => alert).toSorted(), [
    'CrawlErrorsHigh',
    'CrawlStalled',
    'CrawlerGone',
    'DescriptorsClimbing',
    'DiskFullSoon',
    'DiskLow',
    'MemoryClimbing',
    'ParseBacklogGrowing',
    'StoreSlow',
    'ThreadsRestarted',
  ]);
  const cases = ruleTests.flatMap((one) => one.alert_rule_test);
  for (const { alert, labels, annotations } of alerts) {
    const own = cases.filter(({ alertname }) => alertname === alert);
    assert.ok(
      own.some(({ exp_alerts }) => exp_alerts.length > 0),
      `${alert} never fires in a test`,
    );
    assert.ok(
      own.some(({ exp_alerts }) => exp_alerts.length === 0),
      `${alert} is never silent in a test`,
    );
    assert.match(labels.severity ?? '', /^(?:warning|critical)$/, alert);
    assert.match(
      annotations.summary ?? '',
      /\{\{ \$labels\.(?:instance|crawl) \}\}/,
      `${alert} must say which crawl or crawler it is about`,
    );
    assert.ok((annotations.description ?? '').length > 100, `${alert} must say what to do`);
  }
});

test('alerts and the series of their tests name metrics, labels and values that exist', () => {
  const found = [
    ...alerts.flatMap(({ alert, expr }) => complaintsAbout(expr).map((complaint) => `${alert}: ${complaint}`)),
    ...ruleTests.flatMap(({ input_series }) =>
      input_series.flatMap(({ series }) => complaintsAbout(series).map((complaint) => `${series}: ${complaint}`)),
    ),
  ];
  assert.deepEqual(found, []);
});

test('every query of the dashboards names metrics, labels and values that exist', () => {
  const placed = boards.flatMap(([file, board]) => expressionsOf(file, board));
  assert.ok(placed.length > 40);
  assert.deepEqual(
    placed.flatMap(({ where, expression, shown }) =>
      complaintsAbout(expression, shown).map((complaint) => `${where}: ${complaint}`),
    ),
    [],
  );
});

test('two crawls in one Prometheus are never added up: queries ask for one, and alerts are for each', () => {
  for (const { where, expression } of boards.flatMap(([file, board]) => expressionsOf(file, board))) {
    if (where.endsWith('its choice')) continue;
    for (const { name, matchers } of namedIn(expression).metrics)
      assert.ok(
        matchers.some(({ label, value }) => label === 'crawl' && value === '$crawl'),
        `${where}: ${name}`,
      );
  }
  for (const { alert, expr } of alerts.filter(({ expr: one }) => one.includes('gossamer_')))
    for (const [grouping] of expr.matchAll(/\b(?:by|on) \([^)]*\)/g)) assert.match(grouping, /\bcrawl\b/, alert);
  for (const [file, { templating }] of boards) {
    const [crawl, instance] = templating.list;
    assert.match(crawl!.query, /, crawl\)$/, file);
    assert.match(instance!.query, /crawl=~"\$crawl"/, file);
  }
});

test('a query that names what is not there is found', () => {
  assert.deepEqual(
    complaintsAbout(
      'sum by (instance) (rate(gossamer_pages_total{outcome="fetched"}[5m])) > 0 and on (instance) up == 1',
    ),
    [],
  );
  const wrong: Readonly<Record<string, string>> = {
    'rate(gossamer_page_total[5m])': 'there is no metric gossamer_page_total',
    gossamer_pages_total_count: 'there is no metric gossamer_pages_total_count',
    gossamer_fetch_seconds: 'there is no metric gossamer_fetch_seconds',
    'sum(gossamer_links{state="lost"})': 'gossamer_links has no state "lost"',
    'gossamer_links{kind!="waiting"}': 'gossamer_links has no label kind',
    'gossamer_content_bytes_sum{le="1"}': 'gossamer_content_bytes_sum has no label le',
    'sum by (thread) (gossamer_requests_total)': 'none of its metrics has the label thread',
    '1 + 1': 'names no metric',
  };
  for (const [expression, complaint] of Object.entries(wrong))
    assert.deepEqual(complaintsAbout(expression), [complaint]);
  assert.deepEqual(complaintsAbout('sum by (state) (gossamer_links)', ['kind']), [
    'its legend shows the label kind, which it does not have',
  ]);
});

test('Prometheus understands every query of the dashboards', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-queries-'));
  try {
    const rules = boards
      .flatMap(([file, board]) => expressionsOf(file, board))
      .map(({ expression }, i) => ({ record: `query_${i}`, expr: filledIn(expression) }));
    writeFileSync(join(dir, 'queries.yml'), JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    promtool(['check', 'rules', '--lint=none', join(dir, 'queries.yml')]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

const overlap = (a: Panel['gridPos'], b: Panel['gridPos']): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

test('every panel has a unit and a sentence that says what it shows, and a place of its own', () => {
  assert.deepEqual(
    boards.map(([file]) => file),
    ['machine.json', 'overview.json'],
  );
  for (const [file, { panels }] of boards) {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const { title, type, description, fieldConfig, targets } of panels.filter((panel) => panel.type !== 'row')) {
      assert.ok(fieldConfig?.defaults.unit, `${file}: ${title} (${type}) has no unit`);
      assert.match(description ?? '', /\w+ .*\.$/, `${file}: ${title} has no description`);
      assert.ok((targets ?? []).length > 0, `${file}: ${title} asks for nothing`);
    }
    const places = panels.map(({ gridPos }) => gridPos);
    assert.deepEqual(
      places.filter((place, i) => place.x + place.w > 24 || places.slice(i + 1).some((other) => overlap(place, other))),
      [],
    );
  }
});

test('the dashboards ask the datasource that is provisioned, lie where they are looked for, and lead to each other', () => {
  const [source] = yamlOf<{ datasources: { uid: string; url: string; jsonData: { timeInterval: string } }[] }>(
    'grafana/provisioning/datasources/prometheus.yaml',
  ).datasources;
  const asking = boards.flatMap(([, { panels, annotations, templating }]) => [
    ...panels.flatMap(({ targets = [] }) => targets),
    ...annotations.list,
    ...templating.list,
  ]);
  const uids = asking.map(({ datasource }) => datasource.uid);
  assert.deepEqual([...new Set(uids)], [source?.uid]);
  const prometheus = yamlOf<{ global: { scrape_interval: string } }>('prometheus/prometheus.yml');
  assert.equal(source?.jsonData.timeInterval, prometheus.global.scrape_interval);

  const [provider] = yamlOf<{ providers: { options: { path: string } }[] }>(
    'grafana/provisioning/dashboards/gossamer.yaml',
  ).providers;
  const { grafana } = yamlOf<{ services: { grafana: { volumes: string[]; environment: Record<string, string> } } }>(
    'compose.yaml',
  ).services;
  assert.ok(grafana.volumes.includes(`./grafana/dashboards:${provider?.options.path}:ro`));
  assert.equal(source?.url, '$PROMETHEUS_URL');
  assert.ok(grafana.environment.PROMETHEUS_URL);
  const home = grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? '';
  assert.equal(dirname(home), provider?.options.path);
  assert.ok(existsSync(join(DEPLOY, 'grafana/dashboards', home.slice(dirname(home).length))));

  const places = boards.map(([, { uid }]) => `/d/${uid}`);
  assert.deepEqual(
    boards.flatMap(([, { links }]) => links.map(({ url }) => url)).filter((url) => !places.includes(url)),
    [],
  );
});

test('files that Prometheus and Grafana read are YAML and JSON with one meaning', () => {
  const files = globSync('**/*.{yml,yaml}', { cwd: DEPLOY });
  assert.ok(files.length >= 8);
  for (const file of files) assert.ok(parse(textOf(file), { strict: true, uniqueKeys: true }), file);
});
