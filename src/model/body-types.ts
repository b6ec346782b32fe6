/** Which bodies are archived: the names that `--types` takes, with the media types and file endings behind each. */

import { nearest } from '../lib/nearest.ts';

interface BodyKind {
  /** Media types; a star stands for any characters. */
  readonly types: readonly string[];
  /** Endings of paths that plainly name such a file; a link with one is followed only where its kind is wanted. */
  readonly endings?: string;
}

/**
 * Endings left out on purpose: those that often serve a page (php, asp, html, txt, xml, md, json, csv, cgi), and those
 * that are also top-level domains (com, ps, so, ai, app, mobi, cab, dot, pub, ...), for many paths end with the name of
 * a host. zip and mov are such domains too, but files first.
 */
const KINDS = {
  html: { types: ['text/html', 'application/xhtml+xml'] },
  text: { types: ['text/*'] },
  xml: { types: ['application/xml', 'text/xml', '*+xml'] },
  feed: { types: ['application/rss+xml', 'application/atom+xml', 'application/rdf+xml'] },
  json: { types: ['application/json', 'application/*+json', 'application/*-ndjson', 'application/jsonl', 'text/json'] },
  pdf: { types: ['application/pdf', 'application/x-pdf'], endings: 'pdf' },
  image: {
    types: ['image/*'],
    endings:
      'jpg jpeg jpe jfif png gif webp avif bmp ico icns tif tiff svg svgz psd xcf heic heif jp2 jxl eps cr2 nef dng',
  },
  audio: {
    types: ['audio/*', 'application/ogg', 'application/vnd.apple.mpegurl', 'application/x-mpegurl'],
    endings: 'mp3 ogg oga opus wav flac aac m4a m4b m3u m3u8 wma aif aiff mid midi amr mka weba',
  },
  video: {
    types: ['video/*', 'application/mp4', 'application/x-shockwave-flash'],
    endings: 'mp4 m4v m4s mkv webm avi mov qt wmv flv f4v mpg mpeg mpe m2ts 3gp 3g2 ogv swf vob rmvb asf',
  },
  css: { types: ['text/css'], endings: 'css scss less' },
  js: {
    types: ['text/javascript', 'application/javascript', 'application/x-javascript', 'application/ecmascript'],
    endings: 'js mjs cjs jsx tsx',
  },
  font: {
    types: ['font/*', 'application/font-*', 'application/x-font-*', 'application/vnd.ms-fontobject'],
    endings: 'woff woff2 ttf otf eot',
  },
  office: {
    types: [
      'application/msword',
      'application/rtf',
      'text/rtf',
      'application/vnd.ms-excel*',
      'application/vnd.ms-powerpoint*',
      'application/vnd.ms-word*',
      'application/vnd.openxmlformats-officedocument*',
      'application/vnd.oasis.opendocument*',
      'application/vnd.visio',
      'application/epub+zip',
      'application/vnd.amazon.ebook',
      'image/vnd.djvu',
    ],
    endings:
      'doc docx docm dotx xls xlsx xlsm xlsb ppt pptx pptm pps ppsx odt ods odp odg odf rtf vsd vsdx epub azw azw3 djvu',
  },
  zip: {
    types: [
      'application/zip',
      'application/x-zip-compressed',
      'application/gzip',
      'application/x-gzip',
      'application/x-tar',
      'application/x-gtar',
      'application/x-bzip*',
      'application/x-xz',
      'application/zstd',
      'application/x-7z-compressed',
      'application/vnd.rar',
      'application/x-rar*',
      'application/java-archive',
      'application/x-iso9660-image',
      'application/x-apple-diskimage',
      'application/x-bittorrent',
    ],
    endings: 'zip rar 7z gz tgz bz2 tbz tbz2 xz txz zst lz lzma lz4 tar jar war ear iso img dmg vhd vmdk ova torrent',
  },
  program: {
    types: [
      'application/x-msdownload',
      'application/x-msdos-program',
      'application/x-msi',
      'application/vnd.microsoft.portable-executable',
      'application/vnd.debian.binary-package',
      'application/x-debian-package',
      'application/x-rpm',
      'application/vnd.android.package-archive',
      'application/x-executable',
      'application/wasm',
    ],
    endings:
      'exe msi msix dll dylib bin deb rpm apk aab ipa xpi crx whl gem nupkg pkg snap appimage flatpak class pyc dex elf wasm',
  },
  // stored tables, models, drawings, keys
  data: {
    types: [
      'application/vnd.sqlite3',
      'application/x-sqlite3',
      'application/x-msaccess',
      'application/vnd.apache.parquet',
      'application/x-hdf*',
      'model/*',
      'application/x-pkcs12',
      'application/x-x509-ca-cert',
      'application/pkix-cert',
    ],
    endings:
      'sqlite sqlite3 mdb accdb parquet avro orc feather npy npz pkl h5 hdf5 onnx safetensors gguf dwg dxf stl obj fbx glb blend shp pfx p12 crt der cer',
  },
} as const satisfies Readonly<Record<string, BodyKind>>;

/** The names that a person may write, each with what it means. */
export const BODY_KINDS: Readonly<Record<string, BodyKind>> = KINDS;

/** What is archived when nobody says: all that is read for its text and links. */
export const TEXT_KINDS: readonly (keyof typeof KINDS)[] = ['html', 'text', 'xml', 'feed'];

/** How a person asks for every body. */
export const ALL_TYPES = 'all';

/** Types that say nothing: what the address ends with tells more. */
const OPAQUE: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream']);

/** The types that are wanted, ready to be asked. */
export interface BodyTypes {
  /** Whether a body of this media type is archived; `ending` is that of its path, empty where there is none. */
  readonly wants: (type: string, ending: string) => boolean;
  /** Whether a link whose path has this ending, which plainly names a file, is followed. */
  readonly wantsEnding: (ending: string) => boolean;
}

/** HTML is always among them, for the links are in it; so is what comes without a type, for it may be HTML. */
export const bodyTypesOf = (names: readonly string[]): BodyTypes => {
  if (names.includes(ALL_TYPES)) return { wants: () => true, wantsEnding: () => true };
  const matchers = ['html', ...names].flatMap((name) => typesOf(name).map(matcherOf));
  const endings = new Set(names.flatMap(kindsBehind).flatMap(endingsOf));
  const wantsEnding = (ending: string): boolean => endings.has(ending);
  return {
    wants: (type, ending) =>
      type === '' || matchers.some((matches) => matches(type)) || (OPAQUE.has(type) && wantsEnding(ending)),
    wantsEnding,
  };
};

export const endingsOf = ({ endings }: BodyKind): string[] => endings?.split(' ') ?? [];

/** The first of these names whose bodies are not all text; null when there is none. */
export const firstNotText = (names: readonly string[]): string | null => {
  const matchers = TEXT_KINDS.flatMap((name) => KINDS[name].types).map(matcherOf);
  const isText = (type: string): boolean => matchers.some((matches) => matches(type));
  return names.find((name) => name === ALL_TYPES || !typesOf(name).every(isText)) ?? null;
};

/** What is wrong with a name, completing "--types ..."; null when nothing is. */
export const bodyTypeComplaint = (name: string): string | null => {
  if (name === ALL_TYPES || Object.hasOwn(BODY_KINDS, name) || MEDIA_TYPE.test(name)) return null;
  const best = nearest(name, [...Object.keys(BODY_KINDS), ALL_TYPES]);
  return `${JSON.stringify(name)} is not a type${best === null ? '' : ` (did you mean ${best}?)`}: ${BODY_TYPES_ADVICE}`;
};

export const BODY_TYPES_ADVICE = `write names out of ${Object.keys(BODY_KINDS).join(', ')}, media types such as application/ld+json or image/*, or ${ALL_TYPES}`;

/** RFC 6838, 4.2: the characters of a type and its subtype; the subtype may be any. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]*)$/;

const typesOf = (name: string): readonly string[] => BODY_KINDS[name]?.types ?? [name];

/** The kind of this name, or those that a media type belongs to: `image/png` follows links to all images. */
const kindsBehind = (name: string): BodyKind[] => {
  const kind = BODY_KINDS[name];
  if (kind) return [kind];
  const isIn = matcherOf(name);
  return Object.values(BODY_KINDS).filter(({ types }) => types.some((type) => isIn(type) || matcherOf(type)(name)));
};

const matcherOf = (pattern: string): ((type: string) => boolean) => {
  const star = pattern.indexOf('*');
  if (star < 0) return (type) => type === pattern;
  const [before, behind] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return (type) => type.length >= before.length + behind.length && type.startsWith(before) && type.endsWith(behind);
};
