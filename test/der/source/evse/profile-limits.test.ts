import { expect } from 'chai';
import fc from 'fast-check';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import type { EvseProfileLimit } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvseSource } from '../../../../src/der/source/evse/evse-source.ts';
import { codeOf } from '../../../support/map.ts';
import { holds } from '../../../support/property.ts';
import { at, input, plug, run, station, v2g } from './rig.ts';
import { activeShare } from '../../../../src/der/source/evse/connector.ts';

const none = { limitW: null, limitA: null };
const perA = 230 * 0.99;

function charging(block: EvseInput = {}, ratedW = 22_000): EvseSource {
  const source = station(block, ratedW);
  for (const { connectorId } of source.detail().connectors) plug(source, connectorId);
  run(source, 30);
  return source;
}

function limit(source: EvseSource, profile: Partial<EvseProfileLimit>, connectorId = 1): void {
  source.command({ kind: 'evse.profile_limit', connectorId, ...none, ...profile });
}

describe('EVSE: charging profile', () => {
  it('one phase: amperes count once, the hardware gives one phase, and the meter shows L1', () => {
    const source = charging();
    expect(at(source).supplyPhases).to.deep.equal([1, 2, 3]);
    limit(source, { limitA: 10, phases: 1 });
    expect(at(source).powerW).to.equal(0);
    run(source, 20);
    expect(at(source).powerW).to.be.closeTo(10 * perA, 1e-6);
    expect(at(source)).to.deep.include({ supplyPhases: [1], currentA: [10, 0, 0], limitSource: 'charging_profile' });
    expect(source.phaseLoads?.watts.map(Math.round)).to.deep.equal([-2277, 0, 0]);
    expect(source.phaseLoads?.vars[0]).to.be.closeTo(source.ownVar, 1e-9);
    limit(source, { phases: 1 });
    run(source, 20);
    expect(at(source).powerW).to.be.closeTo(32 * perA, 1e-6);
    limit(source, { limitA: 10 });
    run(source, 20);
    expect(at(source).powerW).to.be.closeTo(30 * perA, 1e-6);
    expect(source.phaseLoads).to.equal(null);
  });

  it('the minimum is that of the phases in use, so 2 kW charge on one phase and pause on three', () => {
    const source = charging();
    limit(source, { limitW: 2000, phases: 1 });
    run(source, 20);
    expect(at(source)).to.deep.include({ status: 'charging', powerW: 2000 });
    limit(source, { limitW: 2000, phases: 3 });
    run(source, 20);
    expect(at(source)).to.deep.include({ status: 'suspended_evse', powerW: 0 });
  });

  it('no vehicle exceeds one phase while the contactors switch', () => {
    const source = charging();
    limit(source, { phases: 1 });
    for (let i = 0; i < 200; i += 1) {
      run(source, 0.1, 0.1);
      expect(at(source).powerW).to.be.at.most(32 * perA + 1e-6);
    }
  });

  it('supply phases of single-phase connectors take turns, DC has none', () => {
    const single = { type: 'ac', phases: 1 } as const;
    const source = charging({ connectors: [single, single, single, single], ev: { phases: 1 } }, 44_000);
    expect([1, 2, 3, 4].map((id) => at(source, id).supplyPhases)).to.deep.equal([[1], [2], [3], [1]]);
    expect(at(station(v2g, 50_000)).supplyPhases).to.deep.equal([]);
    expect(at(station()).supplyPhases).to.deep.equal([1, 2, 3]);
  });

  it('a set-point is met exactly in both directions, in watts and in amperes', () => {
    const source = charging(v2g, 50_000);
    for (const setpointW of [20_000, -15_000, 8000, 0, -30_000]) {
      limit(source, { setpointW });
      run(source, 30);
      expect(at(source).powerW).to.be.closeTo(setpointW, 1e-6);
      if (setpointW !== -30_000) expect(at(source).limitSource).to.equal('charging_profile');
    }
    expect(at(source).status).to.equal('charging');
    limit(source, { setpointA: -20 });
    run(source, 30);
    expect(at(source).powerW / at(source).voltageV).to.be.closeTo(-20, 0.05);
    const ac = charging();
    limit(ac, { setpointA: 7 });
    run(ac, 20);
    expect(at(ac).powerW).to.be.closeTo(3 * 7 * perA, 1e-6);
    limit(ac, { setpointA: 5.9 });
    run(ac, 20);
    expect(at(ac).status).to.equal('suspended_evse');
  });

  it('a set-point replaces a discharge by command, which comes back after it', () => {
    const source = charging(v2g, 50_000);
    source.command({ kind: 'evse.discharge', connectorId: 1, powerW: 5000 });
    run(source, 20);
    limit(source, { setpointW: 12_000 });
    run(source, 20);
    expect(at(source)).to.deep.include({ powerW: 12_000, dischargeW: 5000 });
    limit(source, {});
    run(source, 20);
    expect(at(source).powerW).to.equal(-5000);
  });

  it('a discharge limit holds discharges by command, set-point and grid; 0 permits none', () => {
    const source = charging(v2g, 50_000);
    source.command({ kind: 'evse.discharge', connectorId: 1, powerW: 25_000 });
    limit(source, { dischargeLimitW: 10_000 });
    run(source, 30);
    expect(at(source)).to.deep.include({ powerW: -10_000, limitSource: 'charging_profile', limitW: 10_000 });
    expect(source.availableDcW).to.equal(10_000);
    run(source, 10, 1, { targetW: 20_000 });
    expect(at(source).powerW).to.equal(-10_000);
    limit(source, { dischargeLimitW: 0 });
    run(source, 10);
    expect(at(source)).to.deep.include({ powerW: 0, status: 'suspended_evse' });
    limit(source, { dischargeLimitA: 10 });
    run(source, 10);
    expect(at(source).powerW / at(source).voltageV).to.be.closeTo(-10, 0.05);
  });

  it('of the station: phases for all, and one discharge limit for all vehicles together', () => {
    const bidirectional = { type: 'dc', bidirectional: true, max_power_w: 50_000, max_current_a: 150 } as const;
    const source = charging({ ...v2g, connectors: [bidirectional, bidirectional], standby_w: 10 }, 100_000);
    for (const connectorId of [1, 2])
      source.command({ kind: 'evse.discharge', connectorId, powerW: connectorId * 10_000 });
    run(source, 30);
    expect(source.detail().powerW).to.equal(-30_000);
    limit(source, { dischargeLimitW: 12_000 }, 0);
    run(source, 30);
    expect(source.detail().powerW).to.be.closeTo(-12_000, 1e-6);
    expect(source.potentialDcW).to.be.at.most(12_000);
    limit(source, { dischargeLimitW: 0 }, 0);
    run(source, 30);
    expect(source.detail().powerW).to.equal(0);
    const ac = charging({ connectors: [{ type: 'ac' }, { type: 'ac' }] }, 44_000);
    limit(ac, { phases: 1 }, 0);
    run(ac, 20);
    expect([1, 2].map((id) => at(ac, id).supplyPhases)).to.deep.equal([[1], [1]]);
    limit(ac, { phases: 1 }, 2);
    limit(ac, {}, 0);
    run(ac, 20);
    expect([1, 2].map((id) => at(ac, id).supplyPhases)).to.deep.equal([[1, 2, 3], [1]]);
  });

  it('refuses set-points outside of the limits beside them, in two units, of the station, or of a discharge that cannot be', () => {
    const source = charging(v2g, 50_000);
    const bad: [Partial<EvseProfileLimit>, number][] = [
      [{ setpointW: 11_000, limitW: 10_000 }, 1],
      [{ setpointW: -11_000, dischargeLimitW: 10_000 }, 1],
      [{ setpointA: 11, limitA: 10 }, 1],
      [{ setpointA: -11, dischargeLimitA: 10 }, 1],
      [{ setpointW: 1, setpointA: 1 }, 1],
      [{ setpointW: NaN }, 1],
      [{ dischargeLimitW: -1 }, 1],
      [{ dischargeLimitA: Infinity }, 1],
      [{ phases: 2 as 1 }, 1],
      [{ setpointW: 1 }, 0],
    ];
    const before = JSON.stringify(source.detail());
    for (const [profile, id] of bad)
      expect(
        codeOf(() => limit(source, profile, id)),
        JSON.stringify(profile),
      ).to.equal('COMMAND_BAD_VALUE');
    expect(codeOf(() => limit(charging(), { setpointW: -1 }))).to.equal('COMMAND_CONFLICT');
    expect(JSON.stringify(source.detail())).to.equal(before);
  });

  it('amperes without voltage are no power, and nothing is NaN', () => {
    const source = charging(v2g, 50_000);
    limit(source, { limitA: 10, dischargeLimitA: 5, phases: 1 });
    const ac = charging();
    limit(ac, { limitA: 10 });
    for (const each of [source, ac]) {
      each.prepare(1, { ...input, terminalPu: 0 });
      each.draw(each.answer({ targetW: null, floorW: -1e9, ceilingW: 1e9 }), true);
      expect(at(each).powerW).to.satisfy(Number.isFinite);
    }
  });

  it('any profile: power stays within its limits once the ramps are over', () => {
    const watts = fc.option(fc.double({ min: 0, max: 60_000, noNaN: true }));
    const amperes = fc.option(fc.double({ min: 0, max: 150, noNaN: true }));
    const profiles = fc.record({
      limitW: watts,
      limitA: amperes,
      dischargeLimitW: watts,
      dischargeLimitA: amperes,
      setpointW: fc.option(fc.double({ min: -60_000, max: 60_000, noNaN: true })),
      phases: fc.constantFrom(1, 3, null),
    });
    holds(
      'a profile of any form',
      [profiles, fc.option(fc.double({ min: 0, max: 30_000, noNaN: true }))],
      (profile, powerW) => {
        const source = charging(v2g, 50_000);
        source.command({ kind: 'evse.discharge', connectorId: 1, powerW });
        if (codeOf(() => limit(source, profile)) !== null) return;
        run(source, 30);
        const { powerW: w, voltageV } = at(source);
        const volts = voltageV === 0 ? 1000 : voltageV * 1.01;
        expect(w).to.be.at.most(
          Math.min(profile.limitW ?? Infinity, (profile.limitA ?? Infinity) * volts, 50_000) + 1e-6,
        );
        expect(-w).to.be.at.most(
          Math.min(profile.dischargeLimitW ?? Infinity, (profile.dischargeLimitA ?? Infinity) * volts, 30_000) + 1e-6,
        );
        if (profile.setpointW !== null) expect(Math.abs(w)).to.be.at.most(Math.abs(profile.setpointW) + 1e-6);
      },
      { runs: 60 },
    );
  });
});

describe('active part of a limit in amperes beside reactive current', () => {
  it('is what the circle leaves, at least a tenth, and a number for a limit of 0 A too', () => {
    expect(activeShare(10, 6)).to.be.closeTo(0.8, 1e-12);
    expect(activeShare(10, 0)).to.equal(1);
    expect(activeShare(10, 12)).to.equal(0.1);
    expect(activeShare(Infinity, 6)).to.equal(1);
    for (const reactiveA of [0, 6]) expect(activeShare(0, reactiveA)).to.equal(1);
  });
});
