/** Every script by its name. */

import { ADMIT } from './admit.ts';
import { CLAIM, claimScript } from './claim.ts';
import { IN_FILES } from './file-parts.ts';
import {
  ADMIT_FILES,
  BIND,
  FILES_OF,
  IS_ELSEWHERE,
  PLAN,
  REFERENCES,
  REPLACE,
  RULES,
  SITES_IN,
  WRITTEN_FILES,
} from './files.ts';
import { FREE_HOLDER, freeScript } from './free.ts';
import { LINK, RULES_OF, SITE, SITES, SITES_NAMED } from './look.ts';
import { BEGIN_MOVE, END_MOVE, MOVE_SHARD, TAKE, TAKE_META } from './move.ts';
import { KEEP_NOTE, NOTE, NOTES } from './notes.ts';
import type { Script } from './parts.ts';
import { RELEASE } from './release.ts';
import { SETTLE, settleScript } from './settle.ts';
import { BEGIN_CRAWL, CENSUS, LOCK, MARK, META, TAKEN, UNLOCK, WRITTEN } from './small.ts';
import { BLOCKS, OF_MEMBER, PRINTS, RULES_FROM, SHARD, SITE_ROWS } from './walk.ts';

export const SCRIPTS = {
  admit: ADMIT,
  claim: CLAIM,
  settle: SETTLE,
  free: FREE_HOLDER,
  release: RELEASE,
  census: CENSUS,
  taken: TAKEN,
  begin: BEGIN_CRAWL,
  mark: MARK,
  meta: META,
  written: WRITTEN,
  lock: LOCK,
  unlock: UNLOCK,
  note: NOTE,
  keepNote: KEEP_NOTE,
  site: SITE,
  sites: SITES,
  sitesNamed: SITES_NAMED,
  link: LINK,
  rulesOf: RULES_OF,
  shard: SHARD,
  siteRows: SITE_ROWS,
  blocks: BLOCKS,
  prints: PRINTS,
  rulesFrom: RULES_FROM,
  ofMember: OF_MEMBER,
  notes: NOTES,
  beginMove: BEGIN_MOVE,
  moveShard: MOVE_SHARD,
  take: TAKE,
  takeMeta: TAKE_META,
  endMove: END_MOVE,
  bind: BIND,
  isElsewhere: IS_ELSEWHERE,
  filesOf: FILES_OF,
  plan: PLAN,
  rules: RULES,
  references: REFERENCES,
  replace: REPLACE,
  sitesIn: SITES_IN,
} as const satisfies Readonly<Record<string, Script>>;

export type ScriptName = keyof typeof SCRIPTS;

/** The same where lines lie in files. */
export const FILE_SCRIPTS: Readonly<Record<ScriptName, Script>> = {
  ...SCRIPTS,
  admit: ADMIT_FILES,
  claim: claimScript(IN_FILES),
  settle: settleScript(IN_FILES),
  free: freeScript(IN_FILES),
  written: WRITTEN_FILES,
};
