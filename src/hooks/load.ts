/** Loads a hooks module, or says in one sentence why it is none. */

import { pathToFileURL } from 'node:url';
import { HOOK_NAMES, type Hooks } from '../model/hooks.ts';
import { whyOf } from './guarded.ts';

/** The path is absolute. Throws an Error whose message is for a person. */
export const loadHooks = async (path: string): Promise<Hooks> => {
  const { href } = pathToFileURL(path);
  const module = await (import(href) as Promise<Record<string, unknown>>).catch((error: unknown) => {
    throw new Error(`cannot be loaded: ${whyOf(error)}${lineOf(error, href)}`);
  });
  const exported = exportsOf(module);
  const names = HOOK_NAMES.filter((name) => exported[name] !== undefined);
  if (names.length === 0) throw new Error('exports neither accept nor extract: export at least one of them');
  const wrong = names.find((name) => typeof exported[name] !== 'function');
  if (wrong !== undefined) throw new Error(`exports ${wrong} as a ${typeof exported[wrong]}: make it a function`);
  return exported as Hooks;
};

/** The names that Node cannot see in a CommonJS module are in its default export. */
const exportsOf = (module: Record<string, unknown>): Record<string, unknown> => {
  if (HOOK_NAMES.some((name) => name in module)) return module;
  const inner = module.default;
  return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : module;
};

/** Where in the module it happened, if its stack says so. */
const lineOf = (error: unknown, href: string): string => {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(`${href}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + href.length + 1))?.[0];
  return line === undefined ? '' : ` (line ${line})`;
};
