// What `require('gossamer')` loads: it is an ES module that loads WebAssembly, and those cannot be required.
throw new Error(
  `gossamer is an ES module and cannot be required: write "import { crawl } from 'gossamer'", or ` +
    `"const { crawl } = await import('gossamer')" in CommonJS; it needs Node 24 or newer, and this is Node ${process.versions.node}`,
);
