// What `import … from 'gossamer'` loads. Plain JavaScript that every Node can read, so that an old one says what is
// wrong instead of naming a module that it does not have.
const { node } = process.versions;
if (Number(node.split('.')[0]) < 24) {
  throw new Error(`gossamer needs Node 24 or newer, and this is Node ${node}: install a newer one`);
}
export const { crawl, openCrawl, UsageError, VERSION } = await import('../dist/index.js');
