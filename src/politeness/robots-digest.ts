/** A short name for what a robots.txt says to us: two that say the same have the same. */

import { hash } from 'node:crypto';
import type { RobotsRecord } from '../model/robots.ts';

/** 48 bits: the rules of one origin are compared with each other only, and they are a handful. */
const DIGEST_CHARS = 8;

export const robotsDigest = ({
  verdict,
  rules,
  crawlDelayMs,
}: Pick<RobotsRecord, 'verdict' | 'rules' | 'crawlDelayMs'>): string =>
  hash('sha1', `${verdict} ${crawlDelayMs ?? '-'}\n${rules}`, 'base64url').slice(0, DIGEST_CHARS);
