import { expect } from 'chai';
import fc from 'fast-check';
import type { ModeName } from '../../../src/csip/control/model.ts';
import { modeNames, showModes } from '../../../src/csip/control/modes.ts';
import { testPlant } from '../../support/plant.ts';
import { apply, control, curve, differences, event, stateOf, target } from '../../support/csip-controls.ts';
import type { Base } from '../../support/csip-controls.ts';
import { holds } from '../../support/property.ts';

const number = fc.oneof(
  fc.integer({ min: -40_000, max: 70_000 }),
  fc.constantFrom(0, -0, 1e308, -1e308, Number.NaN, Infinity, -Infinity, 0.5, 2 ** 53),
);
const some = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const multiplied = fc.record({
  multiplier: some(fc.oneof(fc.integer({ min: -12, max: 12 }), number)),
  value: some(number),
});
const factor = fc.record({ displacement: some(number), excitation: some(fc.boolean()), multiplier: some(number) });
const referred = fc.record({ refType: some(fc.integer({ min: -1, max: 9 })), value: some(number) });
const link = fc.constantFrom({ href: '/c' }, { href: '/unreadable' }, { href: '/unknown' }, {});
const droop = fc.record({
  dBOF: some(number),
  dBUF: some(number),
  kOF: some(number),
  kUF: some(number),
  openLoopTms: some(number),
  pMin: some(multiplied),
});

/** A value of the type of a mode, sensible or not. */
function valueOf(mode: ModeName): fc.Arbitrary<unknown> {
  if (/Connect|Energize|Permit/.test(mode)) return fc.boolean();
  if (mode.startsWith('opModFixedPF')) return factor;
  if (mode === 'opModFixedVar' || mode.includes('PctVar')) return referred;
  if (mode === 'opModFreqDroop') return droop;
  if (/^opMod(FixedW|FixedV|MaxLimW|MaxLimPctVA|MaxLimPctW)/.test(mode) && !/W(Inject|Absorb)$/.test(mode))
    return number;
  if (/Trip|Cessation|Volt|Watt/.test(mode)) return link;
  return multiplied;
}

const absurd = fc
  .uniqueArray(fc.constantFrom(...modeNames), { minLength: 1, maxLength: 5 })
  .chain((modes) => fc.tuple(...modes.map((mode) => fc.tuple(fc.constant(mode), valueOf(mode)))))
  .map((entries): Base => Object.fromEntries(entries));
// a sensible one among them is carried out, whatever the seed
const base = fc.oneof(
  { weight: 3, arbitrary: absurd },
  { weight: 1, arbitrary: fc.record({ opModConnect: fc.boolean() }) },
);
const points = fc.array(fc.tuple(fc.integer({ min: -50, max: 250 }), fc.integer({ min: -150, max: 150 })), {
  maxLength: 12,
});
const anyCurve = fc
  .record({
    type: fc.integer({ min: 0, max: 15 }),
    points,
    yRefType: fc.integer({ min: 0, max: 9 }),
    openLoopTms: some(number),
    vRef: some(number),
  })
  .map(({ type, points: of, yRefType, openLoopTms, vRef }) => ({
    ...curve(type, of, { yRefType }),
    ...(openLoopTms !== undefined && { openLoopTms }),
    ...(vRef !== undefined && { vRef }),
  }));

describe('Absurd DERControls', () => {
  for (const revision of ['2018', '2023'] as const) {
    it(`${revision}: are refused or carried out, and no value that is no number comes into the map`, async () => {
      const plant = testPlant({ types: ['Batt-3Phase'] });
      await plant.step(2);
      const before = stateOf(plant);
      const bridge = target(plant, 0, revision);
      const { bank } = plant.device(0);
      const states = new Set<string>();
      holds(
        `${revision}: absurd values`,
        [base, anyCurve, some(number)],
        (of, some, rampTms) => {
          const ramped = rampTms === undefined ? of : { ...of, rampTms };
          const asked = control(ramped, { '/c': some, '/unreadable': null });
          expect(JSON.parse(JSON.stringify(showModes(asked)))).to.be.an('object');
          const checked = bridge.check(asked);
          const [outcome] = apply(bridge, event('E', asked));
          expect(outcome?.state).to.equal(checked.state);
          states.add(checked.state);
          if (outcome?.state !== 'applied') expect(differences(before, stateOf(plant))).to.deep.equal({});
          for (const slot of bank.layout.slots) {
            const value = bank.value(slot);
            if (typeof value === 'number') expect(Number.isFinite(value), slot.path).to.equal(true);
          }
          apply(bridge);
          expect(differences(before, stateOf(plant))).to.deep.equal({});
        },
        { runs: 120 },
      );
      expect([...states].sort()).to.deep.equal(['applied', 'invalid', 'unsupported']);
    }).timeout(60_000);
  }
});
