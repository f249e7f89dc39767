import { expect } from 'chai';
import { tripElements } from '../../src/contract/abnormal-conditions.ts';
import { curveTrips, isVoltage } from '../../src/capture/facts.ts';
import { summaryOf, verdictOf } from '../../src/capture/verdict.ts';
import { courseOf, tripAt } from './course-support.ts';

const out = { kw: 0, state: 'tripped' } as const;

/** Default trips of category II (Tables 12 and 18). */
const categoryTwo = {
  category: 'CAT_2',
  trips: curveTrips.flatMap((name) =>
    tripElements(name, 'CAT_2').map(({ threshold, clearingS }) => ({
      name,
      value: isVoltage(name) ? threshold.value : 60 + threshold.value,
      seconds: clearingS.value,
    })),
  ),
  cessations: [],
} as const;

describe('verdicts of captures', () => {
  it('rode through, with the time that was left to the trip', () => {
    const verdict = verdictOf(courseOf([{ toS: 5, vPct: 80 }, { toS: 8 }], { gridBackS: 5 }));
    expect(verdict).to.deep.include({
      verdict: 'rode_through',
      reason: 'Below 88 % for 5.00 s, trips after 21 s',
      function: 'lv_trip',
      category: 'III',
      clause: '6.4.2, Table 16',
      marginS: 16,
      backAfterS: null,
    });
  });

  it('rode through, with momentary cessation on the way', () => {
    const ceased = { vPct: 42, kw: 0, state: 'momentary_cessation' } as const;
    const spans = [
      { toS: 0.083, vPct: 42 },
      { toS: 1.2, ...ceased },
      { toS: 1.62, kw: 100, ramp: true as const },
      { toS: 4 },
    ];
    expect(verdictOf(courseOf(spans.slice(0, 2))).reason).to.equal(
      'Ceased below 50 % (Category III), still so at the end',
    );
    expect(verdictOf(courseOf(spans, { gridBackS: 1.2 }))).to.deep.include({
      verdict: 'rode_through',
      reason: 'Ceased below 50 % (Category III), came back',
      marginS: 0.8,
      beforeKw: 100,
      duringKw: 0,
      afterKw: 100,
      backAfterS: 0.42,
    });
  });

  it('is back where a row without a slope begins', () => {
    const spans = [{ toS: 1.2, vPct: 60, kw: 40 }, { toS: 1.7 }];
    expect(verdictOf(courseOf(spans, { gridBackS: 1.2 })).backAfterS).to.equal(0);
  });

  it('has as power during the disturbance none that the wind has made after it', () => {
    const before = { kw: 40, possibleKw: 40 };
    const spans = [
      { toS: 0.5, vPct: 60, kw: 35, possibleKw: 35 },
      { toS: 1, kw: 41, possibleKw: 41 },
      { toS: 300, kw: 100 },
    ];
    expect(verdictOf(courseOf(spans, { before, gridBackS: 0.5 }))).to.deep.include({
      beforeKw: 40,
      duringKw: 35,
      afterKw: 100,
    });
    const still = verdictOf(courseOf([{ toS: 300, kw: 100 }], { before }));
    expect(still).to.include({ verdict: 'not_concerned', reason: 'Nothing changed at its terminals', duringKw: 40 });
  });

  it('is back as soon as it passes the power before, on its way to what the wind gives by then', () => {
    const before = { kw: 40, possibleKw: 40 };
    const ramping = { state: 'ramping', ramp: true } as const;
    const spans = [
      { toS: 0.5, vPct: 30, kw: 40 },
      { toS: 300, ...out },
      { toS: 310, kw: 40, ...ramping },
      { toS: 320, kw: 95, ...ramping },
    ];
    expect(verdictOf(courseOf(spans, { before, changes: [tripAt(0.5)], gridBackS: 1 }))).to.include({
      duringKw: 0,
      afterKw: 95,
      backAfterS: 309,
    });
  });

  it('is not back while the power differs by more than 1 % of the rating', () => {
    expect(
      verdictOf(
        courseOf([
          { toS: 1, kw: 60 },
          { toS: 2, kw: 98.9 },
        ]),
      ).backAfterS,
    ).to.equal(null);
    expect(
      verdictOf(
        courseOf([
          { toS: 1, kw: 60 },
          { toS: 2, kw: 99.1 },
        ]),
      ).backAfterS,
    ).to.equal(1);
  });

  it('tripped, and by how much the disturbance was longer', () => {
    const spans = [
      { toS: 0.16, vPct: 42 },
      { toS: 1.2, vPct: 42, ...out },
      { toS: 3, ...out },
    ];
    const course = courseOf(spans, { facts: categoryTwo, changes: [tripAt(0.16)], gridBackS: 1.2 });
    expect(verdictOf(course)).to.deep.include({
      verdict: 'tripped',
      reason: 'Low-voltage trip, Category II: below 45 % for 0.16 s',
      function: 'lv_trip',
      category: 'II',
      clause: '6.4.1, Table 12',
      marginS: -1.04,
    });
  });

  it('tripped by a relay or an islanding, without a margin', () => {
    const of = (cause: string) => verdictOf(courseOf([{ toS: 3, ...out }], { changes: [tripAt(0, cause)] }));
    expect(of('anti_islanding')).to.include({
      verdict: 'tripped',
      function: 'anti_islanding',
      clause: '8.1',
      marginS: null,
    });
    expect(of('rocof')).to.include({ verdict: 'tripped', function: null, clause: '6.5.2.5' });
    expect(of('vector_shift')).to.include({ verdict: 'tripped', clause: '6.5.2.6' });
  });

  it('interrupted is a charger that stopped charging', () => {
    const charger = { facts: { assetType: 'evse', ratingW: 11_000 }, before: { kw: -6 }, gridBackS: 1 } as const;
    const paused = [
      { toS: 1, vPct: 60, kw: 0 },
      { toS: 1.9, kw: 0 },
      { toS: 4, kw: -6 },
    ];
    expect(verdictOf(courseOf(paused, charger))).to.include({
      verdict: 'interrupted',
      reason: 'Charging paused and went on',
      backAfterS: 0.9,
    });
    const reduced = [
      { toS: 1, vPct: 60, kw: -3 },
      { toS: 4, kw: -6 },
    ];
    expect(verdictOf(courseOf(reduced, charger)).verdict).to.equal('rode_through');
  });

  it('ceased and came back is one that left service without a trip, still out one that did not come back', () => {
    const waiting = { kw: 0, state: 'waiting' } as const;
    const left = { tS: 0, from: 'in_service', to: 'ceased', cause: null } as const;
    const back = courseOf([{ toS: 2, ...waiting }, { toS: 4 }], { changes: [left] });
    expect(verdictOf(back).verdict).to.equal('ceased_and_came_back');
    expect(verdictOf(courseOf([{ toS: 2, ...waiting }], { changes: [left] })).verdict).to.equal('still_out');
  });

  it('not concerned: idle, without a vehicle, out of service, or nothing at its terminals', () => {
    const reasonOf = (...args: Parameters<typeof courseOf>) => {
      const { verdict, reason } = verdictOf(courseOf(...args));
      return [verdict, reason];
    };
    const sag = { toS: 2, vPct: 60, kw: 0 };
    const idle = { before: { kw: 0 } };
    expect(reasonOf([sag], idle)).to.deep.equal(['not_concerned', 'Idle before and after']);
    expect(reasonOf([sag], { ...idle, facts: { isEmpty: true } })).to.deep.equal(['not_concerned', 'No vehicle']);
    expect(reasonOf([{ ...sag, state: 'off' }], { before: { kw: 0, state: 'off' } })[1]).to.equal(
      'Out of service before and after',
    );
    expect(reasonOf([{ toS: 2, vPct: 99 }])[1]).to.equal('Nothing changed at its terminals');
    expect(reasonOf([{ toS: 2, vPct: 97 }])[0]).to.equal('rode_through');
  });

  describe('against the rule', () => {
    it('tripped before the time that the category must ride through', () => {
      const tripped = (tripS: number) =>
        verdictOf(
          courseOf(
            [
              { toS: tripS, vPct: 60 },
              { toS: 30, vPct: 60, ...out },
            ],
            { changes: [tripAt(tripS)] },
          ),
        );
      expect(tripped(9.9)).to.deep.include({
        verdict: 'against_the_rule',
        reason: 'Category III: tripped at 60 % after 9.90 s, must ride through 10 s',
        clause: '6.4.2, Table 16',
      });
      expect(tripped(10).verdict).to.equal('tripped');
    });

    it('tripped in continuous operation', () => {
      const course = courseOf(
        [
          { toS: 1, vPct: 95 },
          { toS: 2, vPct: 95, ...out },
        ],
        { changes: [tripAt(1)] },
      );
      expect(verdictOf(course).reason).to.equal('Category III: tripped at 95 %, inside continuous operation');
    });

    it('is not said where the disturbance may have begun before the recording', () => {
      const course = courseOf([{ toS: 1, vPct: 60, ...out }], { changes: [tripAt(0.5)] });
      course.columns.vLowPct.fill(60, 0, 2);
      expect(verdictOf(course).verdict).to.equal('tripped');
    });

    it('not tripped after the whole time of a threshold', () => {
      const stays = (toS: number) => verdictOf(courseOf([{ toS: 2, vPct: 45 }, { toS, vPct: 45 }, { toS: 5 }]));
      expect(stays(2.1)).to.deep.include({
        verdict: 'against_the_rule',
        reason: 'Not tripped below 50 % for 2.10 s, must trip after 2.00 s',
        clause: '6.4.1, Table 13',
        marginS: -0.1,
      });
      expect(verdictOf(courseOf([{ toS: 2, vPct: 45 }, { toS: 5 }])).verdict).to.equal('rode_through');
      // exactly on the threshold is not beyond it
      expect(verdictOf(courseOf([{ toS: 3, vPct: 50 }, { toS: 5 }])).verdict).to.equal('rode_through');
    });

    it('counts frequency only where it can be measured', () => {
      const at = (vPct: number) =>
        verdictOf(
          courseOf(
            [
              { toS: 0.16, vPct, hz: 50 },
              { toS: 1, vPct, hz: 50 },
            ],
            { facts: { cessations: [], trips: [{ name: 'lf_trip', value: 56.5, seconds: 0.16 }] } },
          ),
        );
      expect(at(31).verdict).to.equal('against_the_rule');
      expect(at(30).verdict).to.equal('rode_through');
    });
  });

  it('are summed up in a sentence', () => {
    const of = (...words: Parameters<typeof summaryOf>[0][number]['verdict'][]) =>
      summaryOf(words.map((verdict) => ({ verdict })));
    expect(
      of('tripped', 'rode_through', 'rode_through', 'rode_through', 'interrupted', 'not_concerned', 'not_concerned'),
    ).to.equal('1 of 7 tripped, 1 interrupted, 3 rode through.');
    expect(of('rode_through', 'rode_through')).to.equal('All rode through.');
    expect(of('rode_through', 'not_concerned')).to.equal('1 of 2 rode through.');
    expect(of('not_concerned')).to.equal('No device was concerned.');
  });
});
