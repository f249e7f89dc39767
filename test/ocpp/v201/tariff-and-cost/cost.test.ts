/** OCPP 2.1, I12: the cost of a transaction against a sum over seconds, and examples that are counted by hand. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Tariff, TariffConditions, TaxRate } from '../../../../src/ocpp/v201/messages.ts';
import { advanceCost, startCost, withTariff } from '../../../../src/ocpp/v201/tariff-and-cost/cost.ts';
import type { CostFacts, CostState, CostStep } from '../../../../src/ocpp/v201/tariff-and-cost/cost.ts';
import { costDetails, totalCost } from '../../../../src/ocpp/v201/tariff-and-cost/rules.ts';
import { holds } from '../../../support/property.ts';
import { naiveCost } from './naive-cost.ts';
import type { NaiveStep } from './naive-cost.ts';

const facts: CostFacts = { evseKind: 'AC', localOffsetMs: 0, paymentBrand: null, paymentRecognition: null };
/** a Tuesday, five minutes before midnight: conditions on day, date and hour change while it runs */
const startMs = Date.UTC(2026, 5, 23, 23, 55);

function run(tariff: Tariff, steps: readonly NaiveStep[], at: CostFacts = facts, begin = startMs): CostState {
  let state = startCost(tariff, at, begin);
  let fromMs = begin;
  for (const { seconds, whPerS, ...rest } of steps) {
    const toMs = fromMs + seconds * 1000;
    state = advanceCost(state, tariff, at, { ...rest, fromMs, toMs, energyWh: seconds * whPerS });
    fromMs = toMs;
  }
  return state;
}

const orNone = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 3 });
const seconds = fc.integer({ min: 0, max: 900 });
const hour = fc.constantFrom('23:50', '23:57', '23:59', '00:00', '00:03', '00:07', '12:00');
const days = ['Monday', 'Tuesday', 'Wednesday'] as const;

function present<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}

const conditions = fc
  .record({
    startTimeOfDay: orNone(hour),
    endTimeOfDay: orNone(hour),
    dayOfWeek: orNone(fc.subarray([...days], { minLength: 1 })),
    validFromDate: orNone(fc.constantFrom('2026-06-23', '2026-06-24')),
    validToDate: orNone(fc.constantFrom('2026-06-24', '2026-06-25')),
    evseKind: orNone(fc.constantFrom('AC' as const, 'DC' as const)),
    // 60 is a multiple of each rate: thresholds are reached at whole seconds, as the sum needs it
    minEnergy: orNone(fc.integer({ min: 1, max: 60 }).map((n) => 60 * n)),
    maxEnergy: orNone(fc.integer({ min: 1, max: 60 }).map((n) => 60 * n)),
    minPower: orNone(fc.constantFrom(3000, 7000)),
    maxPower: orNone(fc.constantFrom(3001, 7001)),
    minCurrent: orNone(fc.constantFrom(10, 20)),
    maxCurrent: orNone(fc.constantFrom(11, 21)),
    minTime: orNone(seconds),
    maxTime: orNone(seconds),
    minChargingTime: orNone(seconds),
    maxChargingTime: orNone(seconds),
    minIdleTime: orNone(seconds),
    maxIdleTime: orNone(seconds),
  })
  .map((value) => present(value) as TariffConditions);

const startConditions = conditions.map(
  ({ startTimeOfDay, endTimeOfDay, dayOfWeek, validFromDate, validToDate, evseKind }) =>
    present({ startTimeOfDay, endTimeOfDay, dayOfWeek, validFromDate, validToDate, evseKind }),
);

const taxRates: fc.Arbitrary<readonly TaxRate[]> = fc.array(
  fc.record({ type: fc.constant('tax'), tax: fc.integer({ min: 0, max: 30 }), stack: fc.integer({ min: 0, max: 2 }) }),
  { minLength: 1, maxLength: 3 },
);
const money = fc.integer({ min: -200, max: 500 }).map((cents) => cents / 100);

function dimension<Key extends string, C>(key: Key, when: fc.Arbitrary<C>) {
  const prices = fc.array(
    fc.record({ price: money, conditions: orNone(when) }).map(({ price, conditions: c }) => ({
      ...(c !== undefined && { conditions: c }),
      ...({ [key]: price } as Record<Key, number>),
    })),
    { minLength: 1, maxLength: 3 },
  );
  return orNone(fc.record({ prices, taxRates: orNone(taxRates) }).map(present));
}

const tariffs = fc
  .record({
    tariffId: fc.constant('T'),
    currency: fc.constant('EUR'),
    energy: dimension('priceKwh', conditions),
    chargingTime: dimension('priceMinute', conditions),
    idleTime: dimension('priceMinute', conditions),
    fixedFee: dimension('priceFixed', startConditions),
  })
  .map((value) => present(value) as Tariff);

const charging: fc.Arbitrary<NaiveStep> = fc.record({
  seconds: fc.integer({ min: 1, max: 6 }).map((n) => 60 * n),
  whPerS: fc.integer({ min: 0, max: 6 }),
  powerW: fc.constantFrom(2000, 3000, 7000, 11_000),
  currentA: fc.constantFrom(9, 10, 20, 48),
  charging: fc.constant(true),
});
const idle = fc
  .integer({ min: 1, max: 300 })
  .map((s): NaiveStep => ({ seconds: s, whPerS: 0, powerW: 0, currentA: 0, charging: false }));
const steps = fc.array(fc.oneof(charging, idle), { minLength: 1, maxLength: 6 });

const energyOnly = (priceKwh: number, more: Partial<Tariff> = {}): Tariff => ({
  tariffId: 'T',
  currency: 'EUR',
  energy: { prices: [{ priceKwh }] },
  ...more,
});
/** 10 Wh in each second */
const tenWh = (s: number): NaiveStep => ({ seconds: s, whPerS: 10, powerW: 36_000, currentA: 52, charging: true });
const waiting = (s: number): NaiveStep => ({ seconds: s, whPerS: 0, powerW: 0, currentA: 0, charging: false });

describe('OCPP 2.1 I12: the cost of a transaction', () => {
  it('is the sum of what every second costs', () => {
    holds(
      'the sum of every second',
      [tariffs, steps, fc.constantFrom('AC' as const, 'DC' as const)],
      (tariff, list, evseKind) => {
        const expected = naiveCost(tariff, startMs, list, evseKind);
        const { amounts } = run(tariff, list, { ...facts, evseKind });
        for (const key of ['energy', 'chargingTime', 'idleTime', 'fixed'] as const)
          expect(amounts[key].exclTax, key).to.be.closeTo(expected[key], 1e-6);
        const gross = Object.values(amounts).reduce((sum, { inclTax }) => sum + inclTax, 0);
        expect(gross).to.be.closeTo(expected.gross, 1e-6);
      },
      { runs: 250 },
    );
  });

  it('is the same however often the meter is read', () => {
    holds(
      'cost however often it is read',
      [tariffs, steps, fc.integer({ min: 1, max: 60 })],
      (tariff, list, everyS) => {
        const often = list.flatMap((step) => {
          const whole = Math.floor(step.seconds / everyS);
          const pieces = Array.from({ length: whole }, () => ({ ...step, seconds: everyS }));
          const rest = step.seconds - whole * everyS;
          return rest === 0 ? pieces : [...pieces, { ...step, seconds: rest }];
        });
        const one = totalCost(run(tariff, list), tariff).total;
        const many = totalCost(run(tariff, often), tariff).total;
        expect(many.exclTax).to.be.closeTo(one.exclTax ?? NaN, 2e-6);
        expect(many.inclTax).to.be.closeTo(one.inclTax ?? NaN, 2e-6);
      },
      { runs: 150 },
    );
  });

  it('never passes the maximum, and its periods hold all that was used', () => {
    const bounded = fc.tuple(tariffs, fc.integer({ min: 0, max: 300 })).map(([tariff, cents]) => ({
      ...tariff,
      maxCost: { exclTax: cents / 100 },
    }));
    holds(
      'never above the maximum',
      [bounded, steps],
      (tariff, list) => {
        const state = run(tariff, list);
        const { total, typeOfCost } = totalCost(state, tariff);
        expect(total.exclTax).to.be.at.most(tariff.maxCost.exclTax + 1e-6);
        if (typeOfCost === 'MaxCost' && state.amounts.fixed.exclTax <= tariff.maxCost.exclTax)
          expect(total.exclTax).to.be.closeTo(tariff.maxCost.exclTax, 1e-5);
        const sum = (key: 'energyWh' | 'chargingS' | 'idleS') =>
          state.periods.reduce((all, period) => all + period[key], 0);
        for (const key of ['energyWh', 'chargingS', 'idleS'] as const) expect(sum(key)).to.be.closeTo(state[key], 1e-6);
      },
      { runs: 200 },
    );
  });

  it('of 10 kWh at 0.25 is 2.50', () => {
    const tariff = energyOnly(0.25);
    expect(costDetails(run(tariff, [tenWh(1000), waiting(600)]), tariff, { withPeriods: true })).to.deep.equal({
      chargingPeriods: [
        {
          tariffId: 'T',
          startPeriod: '2026-06-23T23:55:00.000Z',
          dimensions: [
            { type: 'Energy', volume: 10_000 },
            { type: 'ChargingTime', volume: 1000 },
            { type: 'IdleTIme', volume: 600 },
            { type: 'MinPower', volume: 0 },
            { type: 'MaxPower', volume: 36_000 },
            { type: 'MinCurrent', volume: 0 },
            { type: 'MaxCurrent', volume: 52 },
          ],
        },
      ],
      totalCost: {
        currency: 'EUR',
        typeOfCost: 'NormalCost',
        energy: { exclTax: 2.5, inclTax: 2.5 },
        total: { exclTax: 2.5, inclTax: 2.5 },
      },
      totalUsage: { energy: 10_000, chargingTime: 1000, idleTime: 600 },
    });
  });

  it('begins a period where another price element applies (I12.FR.35)', () => {
    const prices = [{ priceKwh: 0.5, conditions: { minEnergy: 4000 } }, { priceKwh: 0.2 }];
    const tariff = energyOnly(0, { energy: { prices } });
    const state = run(tariff, [tenWh(1000)]);
    expect(state.periods.map((period) => [period.startMs - startMs, period.energyWh])).to.deep.equal([
      [0, 4000],
      [400_000, 6000],
    ]);
    expect(state.amounts.energy.exclTax).to.be.closeTo(0.8 + 3, 1e-9);
  });

  it('follows the hours of the place (I07.FR.17)', () => {
    const prices = [{ priceKwh: 1, conditions: { startTimeOfDay: '08:00', endTimeOfDay: '18:00' } }, { priceKwh: 2 }];
    const tariff = energyOnly(0, { energy: { prices } });
    const begin = Date.UTC(2026, 5, 23, 15, 55);
    const twoHoursEast = { ...facts, localOffsetMs: 7_200_000 };
    expect(run(tariff, [tenWh(600)], twoHoursEast, begin).amounts.energy.exclTax).to.be.closeTo(3 + 6, 1e-9);
  });

  it('taxes each level on top of those below (I12.FR.13)', () => {
    const taxed = [
      { type: 'a', tax: 10 },
      { type: 'b', tax: 10 },
      { type: 'c', tax: 50, stack: 1 },
    ];
    const tariff = energyOnly(0, { energy: { prices: [{ priceKwh: 1 }], taxRates: taxed } });
    const { total, energy } = totalCost(run(tariff, [tenWh(100)]), tariff);
    expect(total).to.deep.equal({ exclTax: 1, inclTax: 1.8 });
    expect(energy).to.deep.equal({ exclTax: 1, inclTax: 1.8, taxRates: taxed });
  });

  it('is at least the minimum, and stays at the maximum', () => {
    const least = energyOnly(1, { minCost: { exclTax: 5 } });
    expect(totalCost(run(least, [tenWh(100)]), least)).to.deep.include({
      typeOfCost: 'MinCost',
      fixed: { exclTax: 5, inclTax: 1 },
    });
    const most = energyOnly(1, { maxCost: { inclTax: 3 } });
    const state = run(most, [tenWh(1000)]);
    expect(totalCost(state, most)).to.deep.include({ typeOfCost: 'MaxCost', total: { exclTax: 3, inclTax: 3 } });
    expect(state.energyWh).to.equal(10_000);
  });

  it('gives back for what is discharged', () => {
    const prices = [{ priceKwh: 0.3, conditions: { maxPower: -100_000, minPower: -1 } }, { priceKwh: 0.5 }];
    const tariff = energyOnly(0, { energy: { prices } });
    const discharge = { seconds: 100, whPerS: -10, powerW: -36_000, currentA: -52, charging: true };
    const state = run(tariff, [tenWh(100), discharge]);
    expect(state.amounts.energy.exclTax).to.be.closeTo(0.5 - 0.3, 1e-9);
    expect(state.energyWh).to.equal(0);
  });

  it('by another tariff counts from its change on (I11.FR.08)', () => {
    const first = energyOnly(1, { fixedFee: { prices: [{ priceFixed: 2 }] } });
    const second = energyOnly(3, { tariffId: 'U', fixedFee: { prices: [{ priceFixed: 7 }] } });
    const before = run(first, [tenWh(100)]);
    const atMs = startMs + 100_000;
    const step: CostStep = { ...tenWh(100), fromMs: atMs, toMs: atMs + 100_000, energyWh: 1000 };
    const state = advanceCost(withTariff(before, second, atMs), second, facts, step);
    expect(totalCost(state, second).total.exclTax).to.equal(2 + 1 + 3);
    expect(state.periods.map(({ tariffId }) => tariffId)).to.deep.equal(['T', 'U']);
  });

  it('counts a reservation that was used', () => {
    const tariff = energyOnly(1, {
      reservationTime: { prices: [{ priceMinute: 0.1 }] },
      reservationFixed: { prices: [{ priceFixed: 4 }] },
    });
    const state = startCost(tariff, facts, startMs, { reservationS: 600 });
    expect(totalCost(state, tariff)).to.deep.include({
      reservationTime: { exclTax: 1, inclTax: 1 },
      reservationFixed: { exclTax: 4, inclTax: 4 },
    });
  });
});
