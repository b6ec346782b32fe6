/** The promises hold in simulated crawls, whatever goes wrong again and again. */

import { promisesHold } from './all-promises.ts';

promisesHold(true);
