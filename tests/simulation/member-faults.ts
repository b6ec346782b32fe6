/** What goes wrong between the members of a crawl and its store. */

import { pick } from '../../src/world/random.ts';
import type { Durable } from './holding.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { Witness } from './witness.ts';

export interface MemberFaultParts {
  readonly clock: VirtualClock;
  readonly durable: Durable;
  readonly witness: Witness;
  readonly dice: (below: number) => number;
  /** Those at work. */
  readonly members: () => readonly string[];
  readonly kill: () => void;
  /** Nothing goes wrong any more. */
  readonly isOver: () => boolean;
}

export interface MemberFaults {
  /** A member hears nothing of its store before that moment, and the store nothing of it. */
  cutUntil(member: string): number;
  cutOff(): void;
  /** The store forgets the last seconds: at any moment from now, and sometimes twice, or while a member is away. */
  goBack(): void;
}

/** A replica that lags by more is not one to fail over to. */
const BACK_MS_MAX = 10_000;
const CUT_MS_LEAST = 1_000;
const CUT_MS_MAX = 40_000;

export const createMemberFaults = (parts: MemberFaultParts): MemberFaults => {
  const { clock, durable, witness, dice } = parts;
  const cuts = new Map<string, number>();
  const cutUntil = (member: string): number => cuts.get(member) ?? 0;
  /** Moments that the store may go back to: a state that it went back behind is gone for good. */
  let saves: object[] = [];
  const later = async (ms: number, act: () => unknown): Promise<void> => {
    await clock.sleep(ms);
    if (!parts.isOver()) await act();
  };
  const cutOff = (): void => {
    const members = parts.members();
    if (members.length === 0) return;
    const member = pick(members, dice(members.length));
    cuts.set(member, Math.max(cutUntil(member), clock.now() + CUT_MS_LEAST + dice(CUT_MS_MAX - CUT_MS_LEAST)));
  };
  return {
    cutUntil,
    cutOff,
    goBack: () => {
      const [first, more] = [dice(BACK_MS_MAX), dice(6)];
      const second = first + dice(BACK_MS_MAX - first);
      const awayAt = dice(second + 1_000);
      const forget = witness.save();
      void (async () => {
        const save = {};
        const restore = await clock.standFor(durable.save!(dice));
        saves.push(save);
        const back = async (): Promise<void> => {
          if (!saves.includes(save)) return;
          saves = saves.slice(0, saves.indexOf(save) + 1);
          await clock.standFor(restore());
          forget();
        };
        void later(first, back);
        if (more === 0 || more === 1) void later(second, back);
        if (more === 1 || more === 2) void later(awayAt, cutOff);
        if (more === 3) void later(awayAt, parts.kill);
      })();
    },
  };
};
