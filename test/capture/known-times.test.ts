import { expect } from 'chai';
import { verdictOf } from '../../src/capture/verdict.ts';
import type { AbnormalCategory } from '../../src/contract/abnormal-conditions.ts';
import { courseOf, tripAt } from './course-support.ts';

/** IEEE 1547-2018, typed from its tables: voltage or frequency, default clearing time, minimum ride-through. */
const known: readonly (readonly [
  AbnormalCategory,
  'lv_trip' | 'hv_trip' | 'lf_trip' | 'hf_trip',
  number,
  number,
  number,
])[] = [
  // Tables 11 and 14
  ['CAT_1', 'lv_trip', 40, 0.16, 0],
  ['CAT_1', 'lv_trip', 60, 2, 0.16],
  ['CAT_1', 'hv_trip', 112, 2, 1],
  ['CAT_1', 'hv_trip', 121, 0.16, 0],
  // Tables 12 and 15
  ['CAT_2', 'lv_trip', 40, 0.16, 0.16],
  ['CAT_2', 'lv_trip', 60, 10, 0.32],
  ['CAT_2', 'lv_trip', 65, 10, 3],
  ['CAT_2', 'hv_trip', 116, 2, 0.5],
  // Tables 13 and 16
  ['CAT_3', 'lv_trip', 40, 2, 1],
  ['CAT_3', 'lv_trip', 60, 21, 10],
  ['CAT_3', 'lv_trip', 80, 21, 20],
  ['CAT_3', 'hv_trip', 115, 13, 12],
  // Tables 18 and 19
  ['CAT_3', 'lf_trip', 58, 300, 299],
  ['CAT_1', 'lf_trip', 56, 0.16, 0],
  ['CAT_2', 'hf_trip', 61.5, 300, 299],
  ['CAT_3', 'hf_trip', 62.5, 0.16, 0],
];

const out = { kw: 0, state: 'tripped' } as const;

describe('verdicts follow the known times of IEEE 1547-2018', () => {
  for (const [category, name, value, clearingS, rideS] of known) {
    const at = name.includes('v_') ? { vPct: value } : { hz: value };
    const facts = {
      category,
      cessations: [],
      trips: [{ name, value: name.startsWith('l') ? value + 0.1 : value - 0.1, seconds: clearingS }],
    } as const;
    const trippedAt = (tS: number) =>
      verdictOf(
        courseOf(
          [
            { toS: tS, ...at },
            { toS: tS + 1, ...at, ...out },
          ],
          { facts, changes: [tripAt(tS, name)] },
        ),
      );

    it(`${category} at ${value}: trips after ${clearingS} s, rides through ${rideS} s`, () => {
      expect(trippedAt(clearingS).verdict, 'at the clearing time').to.equal('tripped');
      const staysOn = courseOf(
        [
          { toS: clearingS, ...at },
          { toS: clearingS + 1, ...at },
        ],
        { facts },
      );
      expect(verdictOf(staysOn).verdict, 'beyond it without a trip').to.equal('against_the_rule');
      if (rideS === 0) return;
      expect(trippedAt(rideS).verdict, 'after the ride-through').to.equal('tripped');
      expect(trippedAt(rideS - 0.01).verdict, 'within it').to.equal('against_the_rule');
    });
  }
});
