/**
 * A broad crawl with Crawlee: `crawlee.mjs http|cheerio SEED_FILE PAGES`.
 *
 * It is copied to where Crawlee is installed, so that its imports are found.
 */

import { readFileSync } from 'node:fs';
import { CheerioCrawler } from '@crawlee/cheerio';
import { Configuration, HttpCrawler, RequestQueue } from '@crawlee/http';
import { Parser } from 'htmlparser2';

const CONCURRENCY = 100;
const [, , kind, seedFile, pages] = process.argv;
const seeds = readFileSync(seedFile, 'utf8').trim().split('\n');

/** Nothing is written to disk: the request queue lives in memory. */
const configuration = new Configuration({ persistStorage: false });

// Given to run(), every seed would have to wait for the robots.txt of all before it.
const requestQueue = await RequestQueue.open(null, { config: configuration });
await requestQueue.addRequestsBatched(seeds, { waitForAllRequestsToBeAdded: true });

const options = {
  requestQueue,
  maxRequestsPerCrawl: Number(pages),
  // The pool would begin with one request at a time and add one in twenty every ten seconds.
  minConcurrency: CONCURRENCY,
  maxConcurrency: CONCURRENCY,
  respectRobotsTxtFile: true,
};

let titles = 0;

/** The title and the links of a page, in one pass. */
const readPage = (html) => {
  const links = [];
  let title = '';
  let inTitle = false;
  const parser = new Parser({
    onopentag: (name, { href }) => {
      if (name === 'a' && href) links.push(href);
      inTitle = name === 'title';
    },
    ontext: (text) => {
      if (inTitle) title += text;
    },
    onclosetag: () => {
      inTitle = false;
    },
  });
  parser.end(html);
  return { title, links };
};

const httpCrawler = () =>
  new HttpCrawler(
    {
      ...options,
      requestHandler: async ({ body, request, enqueueLinks }) => {
        const { title, links } = readPage(body.toString());
        if (title) titles++;
        await enqueueLinks({ urls: links, baseUrl: request.loadedUrl, strategy: 'all' });
      },
    },
    configuration,
  );

const cheerioCrawler = () =>
  new CheerioCrawler(
    {
      ...options,
      requestHandler: async ({ $, enqueueLinks }) => {
        if ($('title').text()) titles++;
        await enqueueLinks({ strategy: 'all' });
      },
    },
    configuration,
  );

const crawler = kind === 'cheerio' ? cheerioCrawler() : httpCrawler();
await crawler.run();
console.log(`${titles} pages with a title`);
