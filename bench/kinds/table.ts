/** What a sample of a profile was spent on: one ordered table; and for JavaScript, the room of the source. */

export interface Sample {
  /** The name of its thread: `fetch-1`, `parse-2`, `store`, `MainThread`, `V8Worker`. */
  readonly thread: string;
  /** A function of the binary, C++ without its parameters, or the name that V8 gave to code of its making. */
  readonly symbol: string;
  /** The file that the code is in; the kernel and its modules are in brackets. */
  readonly object: string;
}

/** All that are given must match. */
interface Rule {
  readonly kind: string;
  readonly symbol?: RegExp;
  readonly thread?: RegExp;
  readonly object?: RegExp;
}

/** What the profile itself costs: V8 writes down where its code is. Those who count leave it out. */
export const PROFILER = 'profiler';
export const OTHER = 'other';
/** Code made at run time that V8 did not tell of, or that was gone when it did. */
export const NAMELESS = '[nameless code]';

/** Patterns with white space between them, any of which may match. */
const any = (patterns: string): string => `(?:${patterns.trim().split(/\s+/).join('|')})`;
const begins = (patterns: string): RegExp => new RegExp(`^_*${any(patterns)}`);
const v8 = (patterns: string): RegExp => new RegExp(`v8::internal::(?:\\(anonymous.namespace\\)::)?${any(patterns)}`);
/** In the binary `Builtins_StringAdd_CheckNone`; in V8's copy of them near the code it makes, `Builtin:StringAdd…`. */
const builtin = (patterns: string): RegExp => new RegExp(`^Builtins?[_:]${any(patterns)}`);
/** `JS:*readText file:///…/src/parse/html/text.ts:69:25`: the star is the tier; a built package has `dist`, `.js`. */
const ours = (patterns: string): RegExp => new RegExp(`^(?:JS|Script|Eval):.*/(?:src|dist)/${any(patterns)}`);
const nodes = (patterns: string): RegExp => new RegExp(`^(?:JS|Script|Eval):.* node:${any(patterns)}`);

const LIBC = /\/(libc|libm|libpthread|ld)[.-][^/]*$/;
const NODE_BINARY = /\/node[^/]*$/;
/** A C name, with what the compiler appends to it: `pqdownheap.constprop.0`. */
const C_NAME = /^(?!Builtins_)[A-Za-z_]\w*(\.\w+)*$/;

/**
 * The first that matches wins. A function counts as the purpose it serves where its name tells (the JavaScript of
 * `node:zlib` is gzip), else as what it is (JavaScript, V8, malloc).
 *
 * A sample has no callers. So what many share counts as itself: memory that OpenSSL asks for is `malloc`, what a socket
 * does is `kernel`. And what V8 inlined counts as the optimized function that took it in: small functions move between
 * `scan`, `text`, `URLs` and the rooms when V8 changes its mind. The large loops, readText and readAttributes, stand
 * alone.
 */
const RULES: readonly Rule[] = [
  { kind: 'kernel', object: /^\[(?!unknown|JIT|anon|heap|stack)/ },
  // The doors to it.
  {
    kind: 'kernel',
    object: LIBC,
    symbol: begins(
      `(?:GI_+)?(?:libc_)?${any(`epoll_ p?(?:read|write)v?(?:64)?(?:@|_|$) recv send(?:to|m?msg) accept
      connect close socket shutdown [gs]etsockopt fsync fdatasync fstat openat? lseek ioctl fcntl mmap munmap mprotect
      madvise futex clock_gettime gettimeofday syscall sched_yield`)}`,
    ),
  },
  { kind: PROFILER, symbol: /PerfBasicLogger|CodeEventLogger|CalculateLineEnds/ },
  { kind: PROFILER, object: LIBC, symbol: /printf|^_IO_|^_itoa/ },

  {
    kind: 'gzip',
    symbol: begins(`deflate inflate longest_match compress_block (?:build|scan|send)_tree gen_(?:bitlen|codes)
      pqdownheap fill_window slide_hash updatewindow tr_ bi_(?:flush|windup) flush_pending init_block copy_block
      (?:Cr_z_)?(?:crc32|crc_fold|adler32) zcalloc zcfree Brotli ZSTD HUF_ FSE_ HIST_`),
  },
  { kind: 'gzip', symbol: /^node::.*(Zlib|Brotli|Zstd|CompressionStream|CRC32)/ },
  { kind: 'gzip', symbol: nodes('zlib') },

  { kind: 'SQLite', symbol: /^sqlite3|^node::sqlite::/ },
  {
    kind: 'SQLite',
    symbol: begins(`btree pager pcache wal[A-Z] vdbe memdb balance(?:_nonroot)?\\b moveTo(?:Root|Child|Leftmost)
      getPageNormal getAndInitPage cellSizePtr yy_(?:reduce|destructor) where[A-Z] resolveExprStep releaseMemArray
      unix(?:Read|Write|Lock|Fetch)`),
  },
  { kind: 'SQLite', symbol: nodes('sqlite') },

  // xxhash is the only WebAssembly of a crawl, and small; what strips types at a start has thousands of functions.
  { kind: 'digest', symbol: /wasm-function\[\d{1,2}\]|\/xxhash-wasm\/|WebAssemblyMemoryGetBuffer/ },
  { kind: 'digest', symbol: builtin('\\w*Wasm') },
  { kind: 'digest', symbol: ours('url/fingerprint politeness/robots-digest') },
  { kind: 'digest', symbol: nodes('internal/crypto/(?:hash|random|hashnames)') },
  { kind: 'digest', symbol: begins('sha1 SHA1 node::crypto::Hash') },
  // Parse and store threads speak no TLS: OpenSSL makes digests there, and the random part of a record's id.
  { kind: 'digest', thread: /^(parse|store)/, symbol: begins('sha\\d SHA\\d EVP_ RAND_ CRYPTO_ OPENSSL_ ossl_') },
  { kind: 'digest', thread: /^(parse|store)/, symbol: /^(node::crypto|ncrypto)::/ },

  { kind: 'TLS', symbol: /^(node::(crypto|tls|TLSWrap)|ncrypto)::/ },
  { kind: 'TLS', symbol: nodes('_tls tls internal/tls internal/crypto') },
  { kind: 'TLS', symbol: ours('fetch/tls-') },
  {
    kind: 'TLS',
    symbol: begins(`EVP_ ossl_ OSSL_ OPENSSL_ CRYPTO_ SSL_ ssl\\d?_ tls\\w*_ BIO_ BN_ bn_ EC_ ecp?_ ecdsa ECDSA x25519
      X25519 fe\\d*_ ge_ ED25519 RSA rsa asn1_ ASN1_ X509 x509 OBJ_ ERR_ RAND_ rand_ drbg PEM_ aes AES_ vpaes gcm_ ghash
      chacha ChaCha20 poly1305 Poly1305 sha\\d SHA\\d md5 MD5 hkdf HKDF HMAC_ hmac d2i_ i2d_ lh_ statem_ WPACKET_`),
  },

  { kind: 'URLs', symbol: /^ada::|^node::url::|^JS:.*\/tldts[\w-]*\// },
  { kind: 'URLs', symbol: nodes('internal/(?:url|idna|querystring) url querystring') },
  { kind: 'URLs', symbol: ours('url/') },

  { kind: 'messages', symbol: v8('Value(?:Des|S)erializer') },
  { kind: 'messages', symbol: /v8::Value(Des|S)erializer|^node::worker::(?!Worker\b)/ },
  { kind: 'messages', symbol: nodes('internal/(?:worker|per_context/messageport)') },
  // Which objects a message has already.
  { kind: 'messages', thread: /^(fetch|parse|store|Main)/, symbol: v8('IdentityMap') },

  {
    kind: 'GC',
    symbol:
      v8(`\\w*(?:Scaveng|Mark(?:ing|Compact|er\\b)|Sweep|Evacuat|Ephemeron|RememberedSet|SemiSpace|PagedSpace|Visitor)
      BodyDescriptor FreeList MemoryAllocator MemoryChunk MutablePage WriteBarrier WeakObjects GCTracer SlotSet
      ArrayBufferList GlobalHandles::(?:Iterate|Process|Update|Invoke|Post) TracedHandles HeapObjectIterator
      HeapObject::SizeFromMap Heap::(?!Allocate)`),
  },
  { kind: 'GC', symbol: /heap::base::|cppgc::/ },
  { kind: 'GC', symbol: builtin('RecordWrite RecordEphemeron') },

  { kind: 'compile', symbol: v8('(?:compiler|maglev|turboshaft|interpreter|baseline|wasm)::') },
  {
    kind: 'compile',
    symbol:
      v8(`\\w*(?:(?<!Json)Parser|Scanner|Assembler|Compil|Optimizing|Bytecode|Deserializer|Serializer|Snapshot|Feedback)
      Utf16CharacterStream Ast DeclarationScope Scope:: Scope< PerfectKeywordHash Zone:: Tiering Deopt
      Translated FrameTranslation SharedFunctionInfo SourcePosition RelocI ThreadIsolation InstructionStream
      RegExp(?:Macro|Node|Tree) TextNode
      ChoiceNode Bootstrapper Genesis JSFunction::Ensure`),
  },
  { kind: 'compile', symbol: /wasm-function\[|^node::.*CompileCache/ },
  { kind: 'compile', symbol: nodes('internal/(?:deps/amaro|deps/cjs-module-lexer|modules)') },
  // V8's own threads mark and compile, and name their containers when they compile.
  { kind: 'compile', thread: /^V8Worker/, symbol: /^std::/ },

  { kind: 'text', symbol: ours('parse/html/text parse/xml') },
  { kind: 'scan', symbol: ours('parse/html/ parse/hrefs parse/directives parse/sitemap') },

  // Regular expressions are here, too.
  { kind: 'strings', symbol: /^simdutf::|^icu_\d|^v8::String\b|^RegExp/ },
  { kind: 'strings', symbol: /^node::(StringBytes|encoding_binding|Utf8Value|TwoByteValue|stringsearch)/ },
  { kind: 'strings', symbol: builtin('\\w*String(?!if) SubString RegExp \\w*CharCode') },
  {
    kind: 'strings',
    symbol: v8(
      `\\w*String(?!if) \\w*RegExp Factory\\w*(?:<[^>]*>)?::\\w*String Utf8 CopyChars
      WriteNonCons DoubleTo NumberTo IntTo libc_memchr`,
    ),
  },
  { kind: 'strings', object: LIBC, symbol: begins('memr?chr') },
  { kind: 'strings', symbol: nodes('internal/encoding string_decoder') },

  { kind: 'JavaScript', symbol: /^(JS|Script|Eval|BytecodeHandler):|^Builtins_\w+Handler$/ },
  { kind: 'JavaScript', symbol: new RegExp(RegExp.escape(NAMELESS)) },
  { kind: 'Node', symbol: /^(node|nbytes|absl)::|^(uv_|ares_|hdr_|llhttp|nghttp2)/ },
  { kind: 'V8', symbol: /^Builtins?[_:]|^Stub:|v8::/ },
  // Bytes copied, filled and compared by libc are with the memory they are in.
  {
    kind: 'malloc',
    object: /\.so(\.|$)/,
    symbol: /malloc|^_*(GI_+|libc_|int_)*(c?free|calloc|realloc|mem[a-z]+)|^unlink_chunk|^operator (new|delete)/,
  },
  { kind: 'malloc', object: LIBC, symbol: begins('(?:mem|str|bcmp|sysmalloc|systrim|tcache|arena_)') },
  // Static functions of C whose names tell nothing: SQLite's run in the store thread, OpenSSL's in the others.
  { kind: 'SQLite', thread: /^store/, object: NODE_BINARY, symbol: C_NAME },
  { kind: 'digest', thread: /^parse/, object: NODE_BINARY, symbol: C_NAME },
  { kind: 'TLS', object: NODE_BINARY, symbol: C_NAME },
];

const matches = (rule: Rule, { symbol, thread, object }: Sample): boolean =>
  (rule.thread?.test(thread) ?? true) && (rule.object?.test(object) ?? true) && (rule.symbol?.test(symbol) ?? true);

export const kindOf = (sample: Sample): string => RULES.find((rule) => matches(rule, sample))?.kind ?? OTHER;

/** For JavaScript: our room (`fetch`), a package, `Node`, or that the function cannot be told. */
export const roomOf = (symbol: string): string => {
  const packaged = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(symbol);
  if (packaged !== null) return packaged[1]!;
  const room = /^\w+:.*\/(?:src|dist|bench|bin)\/([\w-]+)/.exec(symbol);
  if (room !== null) return room[1]!;
  if (/^\w+:.* node:/.test(symbol)) return 'Node';
  return /Handler/.test(symbol) ? 'interpreted' : 'nameless';
};
