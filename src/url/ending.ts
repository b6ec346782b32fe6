/** Does a path name a file that is plainly not text? */

/**
 * Endings that never serve a page. Left out on purpose: what often does (php, asp, html, txt, xml,
 * md, json, csv, cgi), and what is also a top-level domain (com, ps, so, ai, app, mobi, cab, dot,
 * pub, ...), for many paths end with the name of a host. zip and mov are such domains too, but files
 * first.
 */
const ENDINGS = new Set(
  [
    // images
    'jpg jpeg jpe jfif png gif webp avif bmp ico icns tif tiff svg svgz psd xcf heic heif jp2 jxl eps cr2 nef dng',
    // audio
    'mp3 ogg oga opus wav flac aac m4a m4b m3u m3u8 wma aif aiff mid midi amr mka weba',
    // video
    'mp4 m4v m4s mkv webm avi mov qt wmv flv f4v mpg mpeg mpe m2ts 3gp 3g2 ogv swf vob rmvb asf',
    // fonts, style, script
    'woff woff2 ttf otf eot css scss less js mjs cjs jsx tsx wasm',
    // archives and images of disks
    'zip rar 7z gz tgz bz2 tbz tbz2 xz txz zst lz lzma lz4 tar jar war ear iso img dmg vhd vmdk ova torrent',
    // programs and packages
    'exe msi msix dll dylib bin deb rpm apk aab ipa xpi crx whl gem nupkg pkg snap appimage flatpak class pyc dex elf',
    // office files and books
    'pdf doc docx docm dotx xls xlsx xlsm xlsb ppt pptx pptm pps ppsx odt ods odp odg odf rtf vsd vsdx epub azw azw3 djvu',
    // stored tables, models, keys
    'sqlite sqlite3 mdb accdb parquet avro orc feather npy npz pkl h5 hdf5 onnx safetensors gguf dwg dxf stl obj fbx glb blend shp pfx p12 crt der cer',
  ].flatMap((line) => line.split(' ')),
);

/**
 * Programs that web servers run: with a query (`/shop.dll?item=7`, `/find.exe?q=a`) what comes is what the program
 * writes, mostly a page; without one, mostly the file. Every other ending says the same with a query as without:
 * `photo.jpg?w=200` is a smaller photo, `app.js?v=3` a newer script, `a.zip?mirror=2` the file from another place.
 */
const RUN_BY_SERVERS: ReadonlySet<string> = new Set(['dll', 'exe']);

/** No ending listed is longer. */
const ENDING_CHARS_MAX = Math.max(...Array.from(ENDINGS, (ending) => ending.length));

export const FILE_ENDINGS: ReadonlySet<string> = ENDINGS;

/** Looks at the end of the path, not of the query: `/get?file=a.zip` may well answer with a page. */
export const namesFile = (path: string): boolean => {
  const query = path.indexOf('?');
  const end = query < 0 ? path.length : query;
  const dot = path.lastIndexOf('.', end - 1);
  if (dot < 0 || end - dot - 1 > ENDING_CHARS_MAX || end - dot < 2) return false;
  const ending = path.slice(dot + 1, end).toLowerCase();
  if (!ENDINGS.has(ending)) return false; // a slash behind the dot ends here too
  if (query >= 0 && RUN_BY_SERVERS.has(ending)) return false;
  return !isPageAboutIt(path, path.lastIndexOf('/', dot) + 1, dot);
};

/** Wikis have pages such as `/wiki/Node.js` and `/w/File:Cat.jpg`; directories have `/info/www.example.zip`. */
const isPageAboutIt = (path: string, segmentAt: number, dot: number): boolean => {
  if (path.startsWith('/wiki/') || path.startsWith('www.', segmentAt)) return true;
  const segment = path.slice(segmentAt, dot);
  return segment.includes(':') || segment.includes('%3A');
};
