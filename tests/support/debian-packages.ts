/**
 * Programs that tests need and the machine may lack: Debian packages, unpacked into a folder of the project, not
 * installed.
 */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readSync,
  closeSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Ignored by git; `rm -r` brings a machine back to where it was. */
const SERVERS_DIR = fileURLToPath(new URL('../../.servers', import.meta.url));

/** A mirror that hangs fails the tests instead of holding them. */
const COMMAND_MS_MAX = 240_000;

/** Where Debian puts shared libraries, under the folder that a package is unpacked into. */
const LIBRARY_DIRS = ['usr/lib/*-linux-gnu*', 'lib/*-linux-gnu*'];
const PROGRAM_DIRS = ['usr/bin', 'usr/sbin', 'usr/lib/postgresql/*/bin'];

/**
 * The folder with these packages and the shared libraries that they need and the machine lacks; made once per machine.
 * Throws one sentence that says what to install. Programs in it are started with `withLibraries`.
 */
export const unpackDebian = (packages: readonly string[]): string => {
  const folder = join(SERVERS_DIR, packages.join('+'));
  // The machine may have lost a library since: then what was unpacked beside it is no longer whole.
  if (existsSync(folder) && missingLibraries(folder).length === 0) return folder;
  rmSync(folder, { recursive: true, force: true });
  const making = join(SERVERS_DIR, `.making-${process.pid}-${process.hrtime.bigint()}`);
  mkdirSync(join(making, 'root'), { recursive: true });
  try {
    unpack(making, packages);
    const missing = missingLibraries(join(making, 'root'));
    if (missing.length > 0) unpack(making, librariesOf(making, packages));
    const still = missingLibraries(join(making, 'root'));
    if (still.length > 0) throw new Error(`they need ${still.join(', ')}`);
    moveTo(join(making, 'root'), folder);
    return folder;
  } catch (error) {
    throw new Error(
      `the Debian packages ${packages.join(', ')} could not be unpacked (${reasonOf(error)}): install them, or what they contain, and run the tests again`,
    );
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
};

/** The environment for a program of that folder: its own libraries are found, ours before the machine's. */
export const withLibraries = (folder: string): NodeJS.ProcessEnv => {
  const dirs = LIBRARY_DIRS.flatMap((pattern) => globSync(pattern, { cwd: folder })).map((dir) => join(folder, dir));
  const inherited = process.env.LD_LIBRARY_PATH;
  return { ...process.env, LD_LIBRARY_PATH: [...dirs, ...(inherited ? [inherited] : [])].join(':') };
};

/** A test file that unpacks the same at the same time may be first: then its folder is as good as ours. */
const moveTo = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
};

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: COMMAND_MS_MAX });

const unpack = (making: string, packages: readonly string[]): void => {
  const debs = join(making, 'debs');
  mkdirSync(debs, { recursive: true });
  try {
    run('apt-get', [...aptOptions(making), 'download', ...packages], debs);
  } catch {
    // The machine knows no package lists, or old ones. Ours are private: no lock of the machine, no right to write its
    // own.
    mkdirSync(join(making, 'lists/partial'), { recursive: true });
    run('apt-get', [...aptOptions(making), 'update'], making);
    run('apt-get', [...aptOptions(making), 'download', ...packages], debs);
  }
  for (const deb of readdirSync(debs).filter((name) => name.endsWith('.deb')))
    run('dpkg', ['-x', join(debs, deb), join(making, 'root')], making);
  rmSync(debs, { recursive: true });
};

const aptOptions = (making: string): string[] => [
  '-qq',
  '-o',
  'APT::Sandbox::User=root',
  '-o',
  'Debug::NoLocking=1',
  ...(existsSync(join(making, 'lists'))
    ? ['-o', `Dir::State::Lists=${join(making, 'lists')}`, '-o', `Dir::Cache=${making}`]
    : []),
];

/** The libraries that the packages depend on and that are not installed. */
const librariesOf = (making: string, packages: readonly string[]): string[] => {
  const wanted = new Set<string>();
  const look = (name: string): void => {
    const text = run(
      'apt-cache',
      [
        ...aptOptions(making),
        'depends',
        '--no-recommends',
        '--no-suggests',
        '--no-conflicts',
        '--no-breaks',
        '--no-replaces',
        '--no-enhances',
        name,
      ],
      '/',
    );
    for (const [, found] of text.matchAll(/(?:Pre)?Depends: (lib[\w.+-]+)/g)) {
      if (wanted.has(found!) || isInstalled(found!)) continue;
      wanted.add(found!);
      look(found!);
    }
  };
  packages.forEach(look);
  return [...wanted];
};

const isInstalled = (name: string): boolean => {
  try {
    return run('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], '/') === 'installed';
  } catch {
    return false;
  }
};

/** Libraries that programs of the folder need and the loader does not find. */
const missingLibraries = (folder: string): string[] => {
  const programs = PROGRAM_DIRS.flatMap((pattern) => globSync(`${pattern}/*`, { cwd: folder }))
    .map((name) => join(folder, name))
    .filter(isProgram);
  const missing = programs.flatMap((program) => {
    const said = execFileSync('ldd', [program], {
      encoding: 'utf8',
      env: withLibraries(folder),
      timeout: COMMAND_MS_MAX,
    });
    return [...said.matchAll(/(\S+) => not found/g)].map(([, library]) => library!);
  });
  return [...new Set(missing)];
};

/** An ELF file; scripts need no libraries, and a link may lead out of the folder. */
const isProgram = (path: string): boolean => {
  if (!existsSync(path) || !statSync(path).isFile()) return false;
  const file = openSync(path, 'r');
  try {
    const magic = Buffer.alloc(4);
    return readSync(file, magic) === 4 && magic.toString('latin1') === '\x7fELF';
  } finally {
    closeSync(file);
  }
};

/** The last line that a command wrote, or what the system said. */
const reasonOf = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim().split('\n').at(-1) || message).replace(/\s+/g, ' ');
};
