/** A link in the queue of its site. */

import type { Link } from './link.ts';

export interface Waiting {
  readonly link: Link;
  /** How often it was claimed; a claim under way is included. */
  readonly tries: number;
}
