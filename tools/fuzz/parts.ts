/** All that is searched for trouble, in the order in which it is searched. */

import type { Part } from './growth.ts';
import { charset } from './parts/charset.ts';
import { header } from './parts/header.ts';
import { html } from './parts/html.ts';
import { robots } from './parts/robots.ts';
import { sitemap } from './parts/sitemap.ts';
import { url } from './parts/url.ts';

export const PARTS: readonly Part[] = [url, html, robots, sitemap, charset, header];
