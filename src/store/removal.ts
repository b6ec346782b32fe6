/** How a person removes a crawl from a store that is shared: the program itself never does. */

import { kindOf } from './place.ts';
import { schemaOf } from './postgres/schema.ts';

/** The command that does it; of no use for a crawl in a directory. */
export const removalOf = (url: string, crawl: string): string =>
  kindOf(url) === 'postgres'
    ? `DROP SCHEMA ${schemaOf(crawl)} CASCADE`
    : `redis-cli --scan --pattern '{${crawl}[:}]*' | xargs redis-cli unlink`;
