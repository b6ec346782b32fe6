#!/usr/bin/env node
// Plain JavaScript that every Node can read, so that an old one says what is wrong instead of failing.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `gossamer needs Node 24 or newer, and this is Node ${process.versions.node}: install a newer one, or use "npm run gossamer --" in a clone.`,
  );
  process.exit(2);
}
void import('./launch.js').then(({ launch }) => launch(process.argv.slice(2)));
