/** The entry of a parse thread. */

import { serveParsing } from './serve-parsing.ts';

await serveParsing();
