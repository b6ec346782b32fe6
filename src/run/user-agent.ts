/** How the crawl names itself to sites. */

import { UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import { isProduct, tokenIn } from '../model/user-agent.ts';
import { VERSION } from '../folder/version.ts';

type Named = Pick<Settings, 'userAgent' | 'robotsToken' | 'email'>;

const givenOf = ({ userAgent }: Named): string => userAgent || `Gossamer/${VERSION}`;

/** The header: a whole one as it was given, or the product with the contact. The From field has the contact, always. */
export const userAgentOf = (settings: Named): string => {
  const given = givenOf(settings);
  return isProduct(given) ? `${given} (+contact; ${settings.email})` : given;
};

/** The name that robots.txt speaks to. */
export const productTokenOf = (settings: Named): string =>
  (settings.robotsToken || (tokenIn(givenOf(settings)) ?? '')).toLowerCase();

/** Throws a UsageError unless there is a name for robots.txt, and site owners can see it (RFC 9309, 2.2.1). */
export const checkUserAgent = (settings: Named): void => {
  const userAgent = userAgentOf(settings);
  const { robotsToken } = settings;
  if (robotsToken === '' && tokenIn(userAgent) === null)
    throw new UsageError(
      `no name for robots.txt can be read from --user-agent ${JSON.stringify(userAgent)}: give it by --robots-token NAME`,
    );
  if (!userAgent.toLowerCase().includes(robotsToken.toLowerCase()))
    throw new UsageError(
      `--robots-token ${JSON.stringify(robotsToken)} is not part of the User-Agent ${JSON.stringify(userAgent)}: site owners look there for the name to write into robots.txt`,
    );
};
