/** Where a Location field leads, as it is written. */

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A head is read byte by byte, so that an address which a server wrote in raw UTF-8 comes as one character per byte:
 * these are put together again. Bytes that are no UTF-8 stay as they are.
 */
export const readLocation = (value: string): string => {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return UTF_8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
};
