/** The statements of the store: those in `sql/` by name, and all of them prepared when they are first used. */

import { readFileSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** The text of `sql/<name>.sql`. */
export const sqlFile = (name: string): string => readFileSync(new URL(`./sql/${name}.sql`, import.meta.url), 'utf8');

/** Rows as arrays cost a third of rows as objects: for statements that run for every link or visit. */
export type Sql = (text: string, rows?: 'arrays') => StatementSync;

/** Statements by their text, prepared when they are first used. */
export const preparing = (db: DatabaseSync): Sql => {
  const objects = new Map<string, StatementSync>();
  const arrays = new Map<string, StatementSync>();
  return (text, rows) => {
    const statements = rows === 'arrays' ? arrays : objects;
    let statement = statements.get(text);
    if (!statement) {
      statements.set(text, (statement = db.prepare(text)));
      if (rows === 'arrays') statement.setReturnArrays(true);
    }
    return statement;
  };
};

/**
 * Rows as arrays, one at a time, from a statement of their own. As an object (Node 24), each would leave some 90 bytes
 * behind that only a full collection frees: 100 MiB at a million pages.
 */
export const eachRow = <Row extends readonly unknown[]>(
  db: DatabaseSync,
  text: string,
  ...values: SQLInputValue[]
): Iterable<Row> => {
  const statement = db.prepare(text);
  statement.setReturnArrays(true);
  return statement.iterate(...values) as Iterable<unknown> as Iterable<Row>;
};
