/** nginx before a folder with a folder per host: the machine's own, or Debian's, unpacked. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { unpackDebian, withLibraries } from '../../tests/support/debian-packages.ts';
import { findProgram } from '../../tests/support/find-program.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { until } from '../../tests/support/until.ts';

export interface Nginx {
  readonly port: number;
  close(): Promise<void>;
}

/** Throws one sentence where it cannot be had. */
export const nginxProgram = (): { readonly file: string; readonly env: NodeJS.ProcessEnv } => {
  const file = findProgram('nginx');
  if (file !== null) return { file, env: process.env };
  const folder = unpackDebian(['nginx']);
  return { file: join(folder, 'usr/sbin/nginx'), env: withLibraries(folder) };
};

/** One process, as the user who starts it: it reads what that user reads, and ends with one signal. */
const settingsOf = (web: string, home: string, port: number): string => `
daemon off;
master_process off;
pid "${home}/nginx.pid";
error_log "${home}/error.log" error;
events { worker_connections 512; }
http {
  types { text/html html htm; text/plain txt; text/css css; text/javascript js; image/png png; }
  default_type application/octet-stream;
  access_log off;
  keepalive_requests 1000000;
  # Redirects of folders lead to the host that was asked, as from port 80.
  port_in_redirect off;
  client_body_temp_path "${home}/body";
  proxy_temp_path "${home}/proxy";
  fastcgi_temp_path "${home}/fastcgi";
  uwsgi_temp_path "${home}/uwsgi";
  scgi_temp_path "${home}/scgi";
  server {
    listen 127.0.0.1:${port};
    root "${web}/$host";
    index index.html;
  }
}
`;

/** `home` is a private folder for what nginx writes; it need not be there. */
export const startNginx = async (web: string, home: string): Promise<Nginx> => {
  const { file, env } = nginxProgram();
  const port = await freePort();
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'nginx.conf'), settingsOf(web, home, port));
  const errors = join(home, 'error.log');
  const args = ['-e', errors, '-p', home, '-c', join(home, 'nginx.conf')];
  // The kernel ends it with this process, also when that is killed and no longer runs its exit handlers.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', file, ...args], { env, stdio: 'ignore' });
  let fault: Error | null = null;
  child.once('error', (error) => (fault = error));
  await until('nginx answers', () => {
    if (fault) throw fault;
    if (child.exitCode !== null)
      throw new Error(`nginx ended with code ${child.exitCode}: ${readFileSync(errors, 'utf8')}`);
    return accepts(port);
  });
  return {
    port,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
};

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).once('error', () => resolve(false));
  });
