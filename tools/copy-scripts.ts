/** `npm run build`, second part: the SQL and Lua files of the stores go to dist/ beside the code that reads them. */

import { cpSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const file of globSync('**/*.{sql,lua}', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', file), join(root, 'dist', file));
