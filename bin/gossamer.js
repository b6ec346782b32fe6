#!/usr/bin/env node
// Plain JavaScript that every Node can read, so that an old one says what is wrong instead of failing.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(`gossamer needs Node 24 or newer, and this is Node ${process.versions.node}: install a newer one, or use "npm run gossamer --" in a clone.`);
  process.exit(2);
}
import('node:fs').then(({ existsSync }) => {
  // A clone runs its sources; an installed package has only what was built from them.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  return import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href);
}).then(({ main }) => main(process.argv.slice(2)));
