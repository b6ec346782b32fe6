/** Every script by its name. */

import { ADMIT } from './admit.ts';
import { CLAIM } from './claim.ts';
import { FREE_HOLDER } from './free.ts';
import { KEEP_NOTE, NOTE } from './notes.ts';
import type { Script } from './parts.ts';
import { RELEASE } from './release.ts';
import { SETTLE } from './settle.ts';
import { BEGIN_CRAWL, CENSUS, LOCK, MARK, META, TAKEN, UNLOCK, WRITTEN } from './small.ts';

export const SCRIPTS = {
  admit: ADMIT, claim: CLAIM, settle: SETTLE, free: FREE_HOLDER, release: RELEASE, census: CENSUS,
  taken: TAKEN, begin: BEGIN_CRAWL, mark: MARK, meta: META, written: WRITTEN, lock: LOCK, unlock: UNLOCK,
  note: NOTE, keepNote: KEEP_NOTE,
} as const satisfies Readonly<Record<string, Script>>;

export type ScriptName = keyof typeof SCRIPTS;
