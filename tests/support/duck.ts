/** DuckDB beside our exports: the reader of Parquet that most people will use. */

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

export type DuckRow = Readonly<Record<string, unknown>>;

/** Runs queries in a database of its own, in memory; big numbers are bigints, times are dates. */
export const withDuck = async <T>(
  dir: string,
  story: (query: (sql: string) => Promise<DuckRow[]>) => Promise<T>,
): Promise<T> => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection: DuckDBConnection = await instance.connect();
  try {
    await connection.run(`SET file_search_path = '${dir.replaceAll("'", "''")}'`);
    await connection.run("SET TimeZone = 'UTC'");
    return await story(async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJS());
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};
