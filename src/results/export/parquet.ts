/** Rows as a Parquet file, one group of rows after the other. */

import type { ByteWriter as Bytes, ParquetWriter as Writer, SchemaElement } from 'hyparquet-writer';
import type { ColumnKind } from '../../model/page.ts';
import type { Column, Value } from './columns.ts';
import type { Out } from './out.ts';

export interface ParquetRows<Row> {
  add(row: Row): void;
  /** Whether it is time to write what was added. */
  isFull(): boolean;
  writeGroup(): Promise<void>;
  /** The last group and the footer. */
  finish(): Promise<void>;
}

/**
 * Rows that are read together: DuckDB gives a group to a core. More pack better, and all of them are in memory at a
 * time.
 */
const GROUP_ROWS_MAX = 50_000;
/** Characters of such rows: extracted values can have 64 KiB each. */
const GROUP_CHARS_MAX = 32 * 1024 ** 2;

const ELEMENTS: Readonly<Record<ColumnKind, Pick<SchemaElement, 'type' | 'converted_type'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
};

export const openParquet = async <Row>(columns: readonly Column<Row>[], out: Out): Promise<ParquetRows<Row>> => {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer'); // nobody else needs it
  const bytes: Bytes = new ByteWriter();
  const writer: Writer = new ParquetWriter({ writer: bytes, schema: schemaOf(columns) });
  const send = async (): Promise<void> => {
    await out.write(bytes.getBytes());
    bytes.index = 0; // what was written so far stays counted in its offset
  };
  let group = emptyGroup(columns);
  let chars = 0;
  const rows = (): number => group[0]!.length;
  const writeGroup = async (): Promise<void> => {
    const full = group;
    group = emptyGroup(columns);
    chars = 0;
    const columnData = columns.map(({ name }, i) => ({ name, data: full[i]!, offsetIndex: false }));
    await writer.write({ columnData, rowGroupSize: full[0]!.length });
    await send();
  };
  return {
    add: (row) =>
      columns.forEach(({ kind, of }, i) => {
        const value = of(row);
        if (typeof value === 'string') chars += value.length;
        group[i]!.push(storedOf(kind, value));
      }),
    isFull: () => rows() >= GROUP_ROWS_MAX || chars >= GROUP_CHARS_MAX,
    writeGroup,
    finish: async () => {
      if (rows() > 0) await writeGroup();
      await writer.finish();
      await send();
    },
  };
};

const schemaOf = <Row>(columns: readonly Column<Row>[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(
    ({ name, kind, nullable }): SchemaElement => ({
      name,
      ...ELEMENTS[kind],
      repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED',
    }),
  ),
];

type Stored = Value | bigint;

const emptyGroup = <Row>(columns: readonly Column<Row>[]): Stored[][] => columns.map(() => []);

/** Numbers of 64 bits are bigints to the writer. */
const storedOf = (kind: ColumnKind, value: Value): Stored =>
  value !== null && (kind === 'int64' || kind === 'time') ? BigInt(Math.trunc(value as number)) : value;
