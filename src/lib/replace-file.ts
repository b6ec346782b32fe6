/** Replaces a file in one step. */

import { renameSync, writeFileSync } from 'node:fs';

/** The file is whole at every moment: the old one or the new one. */
export const replaceFile = (path: string, content: string): void => {
  writeFileSync(`${path}.new`, content, { flush: true });
  renameSync(`${path}.new`, path);
};
