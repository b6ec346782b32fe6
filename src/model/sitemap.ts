/** How much of a sitemap is read: the limits of its protocol (sitemaps.org/protocol.html). */

/**
 * Bytes of a sitemap as it comes. The protocol allows 50 MB unpacked, and a list of addresses packs to a tenth of that
 * or less.
 */
export const SITEMAP_BYTES_MAX = 10 * 1024 ** 2;
/** Bytes of a sitemap when it is unpacked: what the protocol allows. */
export const SITEMAP_TEXT_BYTES_MAX = 50 * 1024 ** 2;
/** Addresses of one sitemap, or sitemaps of one index: what the protocol allows. The rest is left. */
export const SITEMAP_ENTRIES_MAX = 50_000;
