/** Manuals as Debian packages them: folders of HTML whose links are relative. */

import { join } from 'node:path';
import { unpackDebian } from '../../tests/support/debian-packages.ts';
import type { Manual } from './web.ts';

export interface DocPackage {
  /** Short, and fit to be part of a host name. */
  readonly name: string;
  /** What Debian 12 calls the package. */
  readonly debian: string;
  /** Where its pages lie, with an index.html, below the folder that the package is unpacked into. */
  readonly folder: string;
}

export const DOC_PACKAGES: readonly DocPackage[] = [
  { name: 'git', debian: 'git-doc', folder: 'usr/share/doc/git-doc' },
  { name: 'postfix', debian: 'postfix-doc', folder: 'usr/share/doc/postfix/html' },
  { name: 'sqlite', debian: 'sqlite3-doc', folder: 'usr/share/doc/sqlite3' },
  { name: 'python', debian: 'python3.11-doc', folder: 'usr/share/doc/python3.11/html' },
  { name: 'postgresql', debian: 'postgresql-doc-15', folder: 'usr/share/doc/postgresql-doc-15/html' },
  { name: 'apache', debian: 'apache2-doc', folder: 'usr/share/doc/apache2-doc/manual' },
];

/** Less than 100 pages each, for a test. */
export const SMALL_PACKAGES: readonly DocPackage[] = [
  { name: 'exim', debian: 'exim4-doc-html', folder: 'usr/share/doc/exim4-doc-html/spec_html' },
  { name: 'ntpsec', debian: 'ntpsec-doc', folder: 'usr/share/doc/ntpsec-doc/html' },
];

/** Throws one sentence where a package cannot be had. */
export const unpackManual = ({ name, debian, folder }: DocPackage): Manual => ({
  name,
  folder: join(unpackDebian([debian]), folder),
});
