/** Damage that is planted in a stored crawl is found by the survey, by its kind, and nothing else is found. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import type { Fault } from '../../src/care/verify/survey.ts';
import { DAMAGES, makeGround, type Damage, type Expected } from './stored-damages.ts';
import { foundIn, soundSurveyOf, surveyOf, type StoredBehaviour, type StoredPlace } from './stored-scene.ts';
import type { Tamper } from './stored-tamper.ts';

/** All that some damage needs. */
const NEEDED = new Set([...DAMAGES.map(({ needs }) => needs), 'ruin' as const]);

export const damageContract = <P extends StoredPlace>(
  name: string,
  it: StoredBehaviour<P>,
  tamper: Partial<Tamper<P>>,
): void => {
  it('the crawl that damage is planted into has a link in every state, and no fault', async (scene) => {
    await makeGround(scene);
    const { waiting, leased, parked, held, pages, sites } = await scene.store.census();
    assert.deepEqual([waiting, leased, parked, held, pages, sites], [4, 1, 2, 1, 4, { known: 5, parked: 1, held: 1 }]);
    await scene.stop();
    assert.equal((await soundSurveyOf(await scene.look())).links, 12);
  });

  const missing = [...NEEDED].filter((one) => tamper[one] === undefined);
  const can = (needs: keyof Tamper<P>): boolean => tamper[needs] !== undefined;
  for (const damage of DAMAGES.filter(({ needs }) => can(needs))) {
    it(`${damage.title} is found`, async (scene) => {
      await makeGround(scene);
      await scene.stop();
      await damage.plant(tamper as Tamper<P>, scene.place);
      const crawl = await scene.look();
      const { faults, whole } = await surveyOf(crawl);
      assert.ok(whole, 'the rest can be trusted');
      checkFaults(damage, faults);
      if (damage.lost !== null) assert.equal(whole.lost.size, damage.lost ?? 0, 'fingerprints that no link has');
      assert.equal(whole.repeated, damage.repeated ?? 0, 'fingerprints that are there twice');
      await foundIn(crawl, ['sites', 'robots', 'pages', 'tally']); // in no order does a walk throw
    });
  }
  if (can('ruin'))
    it('a store that is destroyed says that nothing in it can be trusted', async (scene) => {
      await makeGround(scene);
      await scene.stop();
      await tamper.ruin?.(scene.place);
      const { faults, whole } = await surveyOf(await scene.look());
      assert.equal(whole, null);
      assert.ok(faults.some((fault) => fault.kind === 'wrong' && fault.isFatal));
    });
  if (missing.length > 0)
    test(`${name}: damage that cannot be planted here is listed`, (t) => {
      t.diagnostic(`${name}: not planted: ${missing.join(', ')}`);
    });
};

const checkFaults = ({ found = [], besides = [] }: Damage, faults: readonly Fault[]): void => {
  const told = JSON.stringify(faults, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  for (const one of found)
    assert.ok(
      faults.some((fault) => isLike(fault, one)),
      `${one.kind} ${one.says ?? ''} is not among ${told}`,
    );
  const unexpected = faults.filter(
    (fault) => fault.kind !== 'wrong' && ![...found, ...besides].some((one) => isLike(fault, one)),
  );
  assert.deepEqual(unexpected, []);
};

const isLike = (fault: Fault, { says, ...fields }: Expected): boolean =>
  Object.entries(fields).every(([field, value]) => isDeepStrictEqual(fault[field as keyof Fault], value)) &&
  (says === undefined || ('says' in fault && says.test(fault.says)));
