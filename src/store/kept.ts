/** What of a settlement goes into the archive, and where it then lies: the same for every store. */

import type { Archive } from '../archive/archive.ts';
import { NO_PLACE, type NoPlace, type WarcPlace } from '../model/page.ts';
import type { Settlement } from '../model/settlement.ts';

export type Begin = ReturnType<Archive['append']>[number];

const NO_BYTES = new Uint8Array();

/** robots.txt is kept whatever the fate; the page only when it is settled. */
export const keptBytes = ({ records, fate }: Pick<Settlement, 'records' | 'fate'>): Uint8Array => {
  if (!records) return NO_BYTES;
  return fate === 'settled' || records.pageAt < 0 ? records.bytes : records.bytes.subarray(0, records.pageAt);
};

/** Appends the records of all, and gives where those of each begin; null for one that has none. */
export const appendKept = (archive: Archive, settlements: readonly Settlement[]): readonly (Begin | null)[] => {
  const kept = settlements.map(keptBytes);
  const records = kept.filter((bytes) => bytes.length > 0);
  if (records.length === 0) return settlements.map(() => null);
  const begins = archive.append(records);
  let i = 0;
  return kept.map((bytes) => (bytes.length > 0 ? begins[i++]! : null));
};

/** Where the page of a settlement lies, if it has one in the archive. */
export const placeOf = ({ records }: Pick<Settlement, 'records'>, begin: Begin | null): WarcPlace | NoPlace => {
  if (!records || !begin || records.pageAt < 0) return NO_PLACE;
  const { bytes, pageAt, pageLength } = records;
  return {
    warc_file: begin.file,
    warc_offset: begin.offset + pageAt,
    warc_length: pageLength,
    warc_group_length: bytes.length - pageAt,
  };
};
