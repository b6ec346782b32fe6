/** What a person set for all crawls they start: a file of their own, and `GOSSAMER_EMAIL`. */

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { existsSync } from 'node:fs';
import { complaintOf, UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import { FILE_NAMES, readConfigFile } from './config-file.ts';

export const EMAIL_VARIABLE = 'GOSSAMER_EMAIL';

export interface UserConfig {
  /** Settings of the user's own configuration file. */
  readonly user: Readonly<Partial<Settings>>;
  /** Settings of environment variables, which win over the user's configuration file. */
  readonly environment: Readonly<Partial<Settings>>;
}

export const NO_USER_CONFIG: UserConfig = { user: {}, environment: {} };

/** Throws a UsageError with the place of the first mistake; a file that is absent says nothing. */
export const userConfig = async (env: NodeJS.ProcessEnv): Promise<UserConfig> => {
  const path = userConfigPath(env);
  const user = existsSync(path) ? (await readConfigFile(path, Object.keys(FILE_NAMES))).settings : {};
  return { user, environment: emailIn(env) };
};

/** XDG Base Directory Specification: what is not absolute is ignored. */
const userConfigPath = ({ XDG_CONFIG_HOME: folder = '', HOME: home = homedir() }: NodeJS.ProcessEnv): string =>
  join(isAbsolute(folder) ? folder : join(home, '.config'), 'gossamer', 'config.yaml');

const emailIn = ({ [EMAIL_VARIABLE]: email = '' }: NodeJS.ProcessEnv): Partial<Settings> => {
  if (email === '') return {};
  const why = complaintOf('email', email);
  if (why !== null) throw new UsageError(`${EMAIL_VARIABLE} ${why}`);
  return { email };
};
