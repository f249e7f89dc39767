/** Rules of charging profiles of 1.6 at their bounds: the last value that is permitted and the first that is not. */
import { expect } from 'chai';
import { allowedUnits, brokenPlace, brokenRule } from '../../../../src/ocpp/v16/charging.ts';
import type { Place } from '../../../../src/ocpp/v16/charging.ts';
import { periods, profile } from './rig.ts';

const unitsOf = (...names: readonly string[]) => ({ list: () => names });
const keys = {
  integer: (key: string) => (key === 'ChargeProfileMaxStackLevel' ? 9 : 3),
  list: () => ['Current', 'Power'],
};
type Change = Parameters<typeof profile>[0];
/** Clause of the rule that a profile breaks; null: none. */
const clause = (change: Change) => brokenRule(profile(change), keys)?.clause.replace('OCPP 1.6 ', '') ?? null;
const textOf = (change: Change) => brokenRule(profile(change), keys)?.text ?? '';
const startSchedule = '2026-06-21T00:00:00Z';
const recurring = { chargingProfileKind: 'Recurring', recurrencyKind: 'Daily' } as const;

describe('OCPP 1.6 rules of a profile, at their bounds', () => {
  it('units are those that the key names, and it may name others (9.4)', () => {
    expect(allowedUnits(unitsOf('Current', 'Power'))).to.deep.equal(['A', 'W']);
    expect(allowedUnits(unitsOf('Power'))).to.deep.equal(['W']);
    expect(allowedUnits(unitsOf('Current', 'Frequency'))).to.deep.equal(['A']);
    expect(allowedUnits(unitsOf(''))).to.deep.equal([]);
  });

  it('stackLevels and counts of periods have their highest (9.4)', () => {
    expect([-1, 0, 9, 10].map((stackLevel) => clause({ stackLevel }))).to.deep.equal(['9.4', null, null, '9.4']);
    const all = [0, 1, 2, 3].map((startS) => [startS, 6] as const);
    expect(clause({ chargingSchedule: periods(...all.slice(0, 3)) })).to.equal(null);
    expect(clause({ chargingSchedule: periods(...all) })).to.equal('9.4');
  });

  it('what recurs needs its recurrency and its start, and nothing else does (7.8, 7.13)', () => {
    expect(clause({ ...recurring, chargingSchedule: { startSchedule } })).to.equal(null);
    expect(clause({ ...recurring })).to.equal('7.13');
    expect(clause({ chargingProfileKind: 'Recurring', chargingSchedule: { startSchedule } })).to.equal('7.8');
    expect(clause({ chargingProfileKind: 'Relative' })).to.equal(null);
  });

  it('the maximum of the station may be relative, which is forbidden in 2.x alone (7.9)', () => {
    const max = { chargingProfilePurpose: 'ChargePointMaxProfile' } as const;
    expect(clause({ ...max, chargingProfileKind: 'Relative' })).to.equal(null);
    expect(clause(max)).to.equal(null);
  });

  it('each instant is a date, and the validity ends after it begins (7.8)', () => {
    const [early, late] = [startSchedule, '2026-06-21T00:00:00.001Z'];
    expect(clause({ validFrom: early, validTo: late })).to.equal(null);
    expect(clause({ validFrom: early, validTo: early })).to.equal('7.8');
    expect(clause({ validFrom: late, validTo: early })).to.equal('7.8');
    expect(clause({ validFrom: early })).to.equal(null);
    expect(clause({ validTo: early })).to.equal(null);
    expect(clause({ validFrom: 'noon' })).to.equal('7.8');
    expect(clause({ validTo: 'noon' })).to.equal('7.8');
    expect(clause({ chargingSchedule: { startSchedule: 'noon' } })).to.equal('7.8');
    expect(textOf({ validFrom: 'noon', validTo: early })).to.match(/not a date/);
  });

  it('a duration is above 0 (7.13)', () => {
    expect([-1, 0, 1].map((duration) => clause({ chargingSchedule: { duration } }))).to.deep.equal([
      '7.13',
      '7.13',
      null,
    ]);
    expect(textOf({ chargingSchedule: { duration: -1 } })).to.equal(
      'profile 1: the duration -1 must be greater than 0',
    );
  });

  it('periods begin at 0 and ascend (5.16.4, 7.14)', () => {
    const of = (...starts: readonly number[]) => ({
      chargingSchedule: periods(...starts.map((each) => [each, 6] as const)),
    });
    expect(clause(of(0, 1, 2))).to.equal(null);
    expect(clause(of(0, 5, 5))).to.equal('7.14');
    expect(clause(of(0, 5, 4))).to.equal('7.14');
    expect(textOf(of(0, 5, 4))).to.match(/period 3: startPeriod 4 must be later than 5/);
    expect(clause(of(1))).to.equal('5.16.4');
    expect(clause(of(-1))).to.equal('5.16.4');
    expect(textOf(of())).to.match(/a schedule needs a period/);
  });

  it('a limit is at least 0, and phases are one to three (7.14)', () => {
    expect([-0.1, 0, NaN].map((limit) => clause({ chargingSchedule: periods([0, limit]) }))).to.deep.equal([
      '7.14',
      null,
      '7.14',
    ]);
    const phases = (numberPhases: number) =>
      clause({ chargingSchedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, numberPhases }] } });
    expect([0, 1, 2, 3, 4].map(phases)).to.deep.equal(['7.14', null, null, null, '7.14']);
  });
});

describe('OCPP 1.6 rules of the place of a profile', () => {
  const place: Place = { connectorIds: [1, 2], transaction: null };
  const at = (connectorId: number, change: Change = {}, changed: Partial<Place> = {}) =>
    brokenPlace(connectorId, profile(change), { ...place, ...changed })?.clause.replace('OCPP 1.6 ', '') ?? null;

  it('is a connector of the station, or all of them', () => {
    expect(brokenPlace(3, profile({}), place)?.rule).to.equal(null);
    expect([0, 1, 2, 3].map((id) => at(id))).to.deep.equal([null, null, null, '6.43']);
    const max = { chargingProfilePurpose: 'ChargePointMaxProfile' } as const;
    expect([0, 1].map((id) => at(id, max))).to.deep.equal([null, '3.13.1']);
  });

  it('of a TxProfile is the connector of its transaction', () => {
    const tx = { chargingProfilePurpose: 'TxProfile' } as const;
    const running = (transactionId: number | null) => ({ transaction: { transactionId } });
    expect(at(0, tx, running(7))).to.equal('3.13.1');
    expect(at(1, tx)).to.equal('5.16.4');
    expect(at(1, tx, running(7))).to.equal(null);
    expect(at(1, tx, running(null))).to.equal(null);
    expect(at(1, { ...tx, transactionId: 7 }, running(7))).to.equal(null);
    expect(at(1, { ...tx, transactionId: 8 }, running(7))).to.equal('5.16');
    expect(at(1, { ...tx, transactionId: 7 }, running(null))).to.equal('5.16');
    expect(at(1, { transactionId: 8 })).to.equal(null);
  });
});
