/** Which kind of work a sample of a profile is counted as. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindsLine } from '../bench/kinds.ts';
import { jitMap, plainName } from '../bench/kinds/jit-map.ts';
import { readSampleLine } from '../bench/kinds/samples.ts';
import { kindOf, NAMELESS, roomOf } from '../bench/kinds/table.ts';

const NODE = '/opt/node/bin/node';
const LIBC = '/usr/lib/x86_64-linux-gnu/libc.so.6';
const MADE = '/tmp/perf-7732.map';

const source = (name: string, file: string): string => `JS:*'${name} file:///somewhere/gossamer/src/${file}:69:25`;

/** Functions of real profiles by kind; in Node's binary and in a fetch thread where nothing else is said. */
const GOLDEN: Record<string, readonly (readonly [symbol: string, object?: string, thread?: string])[]> = {
  gzip: [
    ['deflate_fast'],
    ['longest_match'],
    ['compress_block'],
    ['pqdownheap.constprop.0'],
    ['_tr_flush_block'],
    ['crc32_z'],
    ['inflate_fast'],
    ['adler32_z'],
    ['BrotliDecoderDecompressStream'],
    ['ZSTD_RowFindBestMatch_noDict_5_4.constprop.0'],
    ['node::(anonymous namespace)::CompressionStream<node::(anonymous namespace)::ZlibContext>::Write<false>'],
    ["JS:+'processChunkSync node:zlib:416:26", MADE],
  ],
  digest: [
    ['sha1_block_data_order_shaext', NODE, 'fetch-1'],
    ['node::crypto::Hash::OneShotDigest'],
    ['EVP_MD_CTX_new', NODE, 'parse-1'],
    ['sha256_block_data_order_shaext', NODE, 'parse-1'],
    ['JS:wasm-function[5]-5-turbofan', MADE],
    ["JS:*'L file:///somewhere/gossamer/node_modules/xxhash-wasm/esm/xxhash-wasm.js:1:10686", MADE],
    [source('fingerprint', 'url/fingerprint.ts'), MADE],
    ["JS:+'serializeUUID node:internal/crypto/random:363:23", MADE],
  ],
  TLS: [
    ['EVP_DigestFinal_ex'],
    ['sha512_block_data_order_avx2'],
    ['x25519_fe64_sqr'],
    ['fe_mul'],
    ['__ecp_nistz256_mul_montx'],
    ['_aesni_ctr32_ghash_6x'],
    ['asn1_item_embed_d2i'],
    ['tls_get_more_records'],
    ['SSL_read'],
    ['bn_mul_mont'],
    ['ChaCha20_avx2'],
    ['cmov'],
    ['obj_cmp_BSEARCH_CMP_FN'],
    ['node::crypto::TLSWrap::ClearOut'],
    ["JS:+'TLSSocket node:_tls_wrap:549:19", MADE],
  ],
  SQLite: [
    ['sqlite3VdbeExec'],
    ['btreeParseCellPtr'],
    ['pagerWalFrames'],
    ['walChecksumBytes'],
    ['memdbRead'],
    ['pcache1Fetch'],
    ['balance_nonroot'],
    ['allocateCursor', NODE, 'store'],
    ['freeSpace', NODE, 'store'],
    ['node::sqlite::StatementSync::Run'],
  ],
  GC: [
    ['v8::internal::Scavenger::ScavengeObject<v8::internal::FullHeapObjectSlot>'],
    ['v8::internal::ConcurrentMarking::RunMajor', NODE, 'V8Worker'],
    ['v8::internal::MarkCompactCollector::ClearNonLiveReferences'],
    ['v8::internal::Sweeper::RawSweep'],
    ['v8::internal::ArrayBufferSweeper::SweepingState::SweepingJob::SweepYoung'],
    ['v8::internal::BodyDescriptorBase::IteratePointers<v8::internal::ScavengeVisitor>'],
    ['v8::internal::(anonymous namespace)::RememberedSetUpdatingItem::Process'],
    ['v8::internal::Heap::CollectGarbage'],
    ['cppgc::internal::MarkerBase::StartMarking'],
    ['Builtins_RecordWriteSaveFP'],
  ],
  compile: [
    ['v8::internal::Scanner::ScanString'],
    ['v8::internal::ParserBase<v8::internal::PreParser>::ParseLogicalExpression'],
    ['v8::internal::interpreter::BytecodeArrayWriter::Write'],
    ['v8::internal::compiler::LinearScanAllocator::ForwardStateTo', NODE, 'V8Worker'],
    ['v8::internal::maglev::MaglevCompiler::Compile'],
    ['v8::internal::maglev::GraphProcessor<v8::internal::maglev::DeadNodeSweepingProcessor, false>::ProcessNodeBase'],
    ['v8::internal::Deserializer<v8::internal::Isolate>::ReadObject'],
    ['std::_Rb_tree<v8::internal::compiler::LiveRange*, v8::internal::compiler::LiveRange*>::_M_insert'],
    ['std::_Rb_tree_insert_and_rebalance', '/usr/lib/libstdc++.so.6.0.30', 'V8Worker'],
    ['JS:wasm-function[4444]-4444-liftoff', MADE],
  ],
  scan: [
    [source('readAttributes', 'parse/html/attributes.ts'), MADE],
    [source('step', 'parse/html/scan.ts'), MADE],
    [source('readReference', 'parse/html/references.ts'), MADE],
    [source('tidyHref', 'parse/hrefs.ts'), MADE],
  ],
  text: [
    [source('readText', 'parse/html/text.ts'), MADE],
    ["JS:+'readText file:///usr/lib/node_modules/gossamer/dist/parse/html/text.js:60:25", MADE],
  ],
  URLs: [
    ['ada::parser::parse_url_impl<ada::url_aggregator, true>'],
    ['node::url::BindingData::Parse'],
    ["JS:+'URL node:internal/url:879:14", MADE],
    ["JS:*'walk /somewhere/gossamer/node_modules/tldts/dist/cjs/index.js:1053:14", MADE],
    [source('canonicalize', 'url/canonical.ts'), MADE],
  ],
  strings: [
    ['Builtins_StringIndexOf'],
    ['Builtin:StringAdd_CheckNone', MADE],
    ['Builtins_RegExpReplace'],
    ['v8::internal::String::ComputeAndSetRawHash'],
    ['v8::internal::StringTable::LookupKey<v8::internal::InternalizedStringKey, v8::internal::Isolate>'],
    ['v8::internal::FactoryBase<v8::internal::Factory>::NewRawOneByteString'],
    ['v8::String::ValueView::ValueView'],
    ['simdutf::haswell::implementation::convert_latin1_to_utf8'],
    ['node::StringBytes::Encode'],
    ["RegExp.> src: '[;,]' flags: ''", MADE],
    ['__memchr_avx2', LIBC],
  ],
  messages: [
    ['v8::internal::ValueSerializer::WriteJSObject'],
    ['v8::internal::ValueDeserializer::ReadString'],
    ['node::worker::MessagePort::PostMessage'],
    ['node::worker::Message::Serialize'],
    ["JS:+'oninit node:internal/worker/io:85:10", MADE],
  ],
  JavaScript: [
    [source('visit', 'visit/visit.ts'), MADE],
    ["JS:+'nextTick node:internal/process/task_queues:113:18", MADE],
    ['Builtins_LdaNamedPropertyHandler'],
    ['BytecodeHandler:Star.Wide', MADE],
    [NAMELESS, MADE],
  ],
  V8: [
    ['Builtins_LoadIC'],
    ['Builtins_FindOrderedHashMapEntry'],
    ['v8::internal::LookupIterator::Start<true>'],
    ['v8::internal::JsonParser<unsigned char>::ParseJsonValue'],
    ['v8::internal::JsonStringifier::Serialize_<true>'],
    ['v8::Context::Enter'],
  ],
  malloc: [
    ['_int_malloc', LIBC],
    ['malloc_consolidate', LIBC],
    ['cfree@GLIBC_2.2.5', LIBC],
    ['unlink_chunk.constprop.0', LIBC],
    ['__memmove_avx_unaligned_erms', LIBC],
    ['__memset_avx2_unaligned_erms', LIBC],
    ['operator new', '/usr/lib/libstdc++.so.6.0.30'],
  ],
  kernel: [
    ['clear_page_erms', '[kernel.kallsyms]'],
    ['nf_conntrack_in', '[nf_conntrack]'],
    ['__vdso_clock_gettime', '[vdso]'],
    ['epoll_pwait', LIBC],
    ['__GI___libc_write', LIBC],
  ],
  Node: [['uv__io_poll'], ['node::InternalCallbackScope::Close'], ['ares_process_fd']],
  profiler: [['v8::internal::CalculateLineEndsImpl<unsigned char>'], ['__vfprintf_internal', LIBC]],
  other: [
    ['pthread_mutex_lock@@GLIBC_2.2.5', LIBC],
    ['[unknown]', '[unknown]'],
  ],
};

for (const [kind, functions] of Object.entries(GOLDEN)) {
  test(`functions known to be of the kind ${kind} are counted as it`, () => {
    const wrong = functions
      .map(([symbol, object = NODE, thread = 'fetch-1']) => ({ symbol, is: kindOf({ symbol, object, thread }) }))
      .filter(({ is }) => is !== kind);
    assert.deepEqual(wrong, []);
  });
}

test('a function of JavaScript has the room of the source it is in', () => {
  const rooms = [
    source('visit', 'visit/visit.ts'),
    source('admit', 'store/sqlite/admit.ts'),
    "JS:+'send /somewhere/gossamer/node_modules/ioredis/built/Pipeline.js:1:1",
    "JS:+'nextTick node:internal/process/task_queues:113:18",
    'Builtins_LdaNamedPropertyHandler',
    NAMELESS,
  ].map(roomOf);
  assert.deepEqual(rooms, ['visit', 'store', 'ioredis', 'Node', 'interpreted', 'nameless']);
});

test('of two functions that had the same place in memory, the later one is found there', () => {
  const map = jitMap(
    '1000 100 JS:~old file:///a.ts:1:1\n1080 10 JS:*new file:///b.ts:2:2\n\n2000 10 RegExp.> src: a b\n',
  );
  assert.deepEqual([0xfff, 0x1000, 0x107f, 0x1080, 0x1090, 0x1100, 0x200f].map(map), [
    null,
    'JS:~old file:///a.ts:1:1',
    'JS:~old file:///a.ts:1:1',
    'JS:*new file:///b.ts:2:2',
    'JS:~old file:///a.ts:1:1',
    null,
    'RegExp.> src: a b',
  ]);
});

test('all tiers of a function have one name, without the folder that the clone is in', () => {
  assert.equal(
    plainName("JS:*'readText file:///somewhere/g/src/parse/html/text.ts:69:25"),
    'readText src/parse/html/text.ts:69',
  );
  assert.equal(plainName('JS:~ file:///somewhere/g/src/threads/page-work.ts:32:3'), 'src/threads/page-work.ts:32');
  assert.equal(
    plainName('JS:^walk /somewhere/node_modules/tldts/dist/cjs/index.js:10:4'),
    'walk node_modules/tldts/dist/cjs/index.js:10',
  );
  assert.equal(plainName('deflate_fast'), 'deflate_fast');
});

test('a line of perf is read whatever blanks and parentheses its names have', () => {
  const line =
    ' my thread  7732    2004008    fb21ba v8::internal::(anonymous namespace)::Invoke (/opt/node (24)/bin/node)';
  assert.deepEqual(readSampleLine(line), {
    thread: 'my thread',
    pid: '7732',
    ns: 2_004_008,
    address: 0xfb21ba,
    symbol: 'v8::internal::(anonymous namespace)::Invoke',
    object: '/opt/node (24)/bin/node',
  });
  assert.equal(
    readSampleLine('fetch-1 7 2004008 7f00 non-virtual thunk to node::A::B (/opt/node)')?.symbol,
    'node::A::B',
  );
  assert.equal(readSampleLine(''), null);
});

test('a kernel that hides its symbols is still the kernel', () => {
  const sample = readSampleLine('fetch-1 7732 2004008 ffffffff821c7384 [unknown] ([unknown])');
  assert.equal(kindOf(sample!), 'kernel');
});

test('a line about the kinds leaves out those too small to tell', () => {
  const kinds = [
    { kind: 'gzip', share: 0.1834, ms: 183.4 },
    { kind: 'URLs', share: 0.0004, ms: 0.4 },
  ];
  assert.equal(kindsLine(kinds), 'gzip 18.3 %');
});
