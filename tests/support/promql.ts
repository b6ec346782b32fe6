/** What a PromQL expression names: metrics with their label matchers, and labels that it groups by. */

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Named {
  readonly metrics: readonly { readonly name: string; readonly matchers: readonly Matcher[] }[];
  /** In `by (...)`, `on (...)` and their like. */
  readonly grouping: readonly string[];
}

const AGGREGATIONS = new Set([
  'sum',
  'min',
  'max',
  'avg',
  'count',
  'group',
  'stddev',
  'stdvar',
  'topk',
  'bottomk',
  'quantile',
  'count_values',
]);
const GROUPINGS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const OPERATORS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'atan2', 'inf', 'nan']);

const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_:][\w:]*|\d[\w.]*|[=!<>~]+|\S/g;
const isName = (token: string | undefined): token is string => token !== undefined && /^[A-Za-z_:]/.test(token);

export const namedIn = (expression: string): Named => {
  const tokens: readonly string[] = expression.match(TOKEN) ?? [];
  const metrics: { name: string; matchers: Matcher[] }[] = [];
  const grouping: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token === '[')
      i = tokens.indexOf(']', i); // a time
    else if (!isName(token) || OPERATORS.has(token.toLowerCase()) || AGGREGATIONS.has(token)) continue;
    else if (GROUPINGS.has(token) && tokens[i + 1] === '(') {
      const end = tokens.indexOf(')', i);
      grouping.push(...tokens.slice(i + 2, end).filter(isName));
      i = end;
    } else if (tokens[i + 1] === '{') {
      const end = tokens.indexOf('}', i);
      metrics.push({ name: token, matchers: matchersOf(tokens.slice(i + 2, end)) });
      i = end;
    } else if (tokens[i + 1] !== '(') metrics.push({ name: token, matchers: [] });
  }
  return { metrics, grouping };
};

const matchersOf = (tokens: readonly string[]): Matcher[] =>
  tokens.flatMap((token, i) =>
    isName(token) ? [{ label: token, operator: tokens[i + 1] ?? '', value: (tokens[i + 2] ?? '').slice(1, -1) }] : [],
  );
