import { expect } from 'chai';
import fc from 'fast-check';
import { at, input, plug, run, station, step, v2g } from './rig.ts';
import { sharePower } from '../../../../src/der/source/evse/plan.ts';
import { real } from '../../../support/arbitrary.ts';
import { holds } from '../../../support/property.ts';

/** A single-phase vehicle of 7.4 kW and more at a three-phase connector. */
const onePhase = { ev: { phases: 1 as const, ac_max_charge_w: 7400 } };
const quick = { start_delay_min_s: 0, start_delay_max_s: 0 };

function charging(block: Parameters<typeof station>[0], ratedW = 22_000, connectors = [1]) {
  const source = station({ ...quick, ...block }, ratedW);
  for (const connectorId of connectors) plug(source, connectorId);
  source.settle(input);
  source.draw(source.answer({ targetW: null, floorW: -1e9, ceilingW: 1e9 }), true);
  return source;
}

describe('EVSE: limits', () => {
  it('a limit below 6 A per phase pauses', () => {
    const source = charging({});
    const minW = 3 * 230 * 6 * 0.99;
    expect(at(source).minPowerW).to.be.closeTo(minW, 1e-9);
    for (const [powerW, expected] of [
      [minW - 1, 0],
      [minW + 1, minW + 1],
      [100, 0],
      [8000, 8000],
      [0, 0],
    ] as const) {
      source.command({ kind: 'evse.limit', connectorId: 1, powerW });
      run(source, 10);
      expect(at(source).powerW, `limit ${powerW}`).to.be.closeTo(expected, 1e-6);
      expect(at(source).status).to.equal(expected === 0 ? 'suspended_evse' : 'charging');
      expect(at(source).limitSource).to.equal('local');
    }
    source.command({ kind: 'evse.limit', connectorId: 1, powerW: null });
    run(source, 10);
    expect(at(source)).to.deep.include({ powerW: 11_000, status: 'charging', limitSource: 'ev' });
  });

  it('a charging profile in amperes counts the phases in use', () => {
    for (const [block, phases] of [
      [{}, 3],
      [onePhase, 1],
    ] as const) {
      const source = charging(block);
      for (const limitA of [6, 10, 5.9]) {
        source.command({ kind: 'evse.profile_limit', connectorId: 1, limitW: null, limitA });
        run(source, 10);
        expect(at(source).powerW, `${phases} x ${limitA} A`).to.be.closeTo(
          limitA < 6 ? 0 : phases * 230 * 0.99 * limitA,
          1e-6,
        );
        expect(at(source).limitSource).to.equal('charging_profile');
      }
    }
  });

  it('a single-phase vehicle draws on L1 only', () => {
    const source = charging(onePhase);
    const [l1, l2, l3] = at(source).currentA;
    expect(at(source).powerW).to.be.closeTo(230 * 32 * 0.99, 1e-6);
    expect([l1, l2, l3]).to.deep.equal([32, 0, 0]);
    expect(at(source).limitSource).to.equal('hardware');
    expect(at(charging({})).currentA.map((a) => Math.round(a * 100))).to.deep.equal([1610, 1610, 1610]);
  });

  it('a set-point of the DER side curtails, and its end restores the power', () => {
    const source = charging({ standby_w: 3 });
    expect(step(source, 1)).to.equal(-11_003);
    expect(step(source, 1, { floorW: -6000 })).to.equal(-6000);
    expect(at(source)).to.deep.include({ status: 'charging', limitSource: 'der' });
    // 6 A on three phases are 4.1 kW: 3 kW is too little, and the bound is hard
    expect(step(source, 1, { floorW: -3000 })).to.equal(-3);
    expect(at(source)).to.deep.include({ status: 'suspended_evse', powerW: 0 });
    expect(step(source, 1, { floorW: 0, ceilingW: 0 })).to.equal(0);
    run(source, 10);
    expect(at(source)).to.deep.include({ status: 'charging', powerW: 11_000 });
  });

  it('the plan is the nearest to the set-point that the vehicle can reach', () => {
    const source = charging({ standby_w: 3 });
    const minW = 3 * 230 * 6 * 0.99;
    for (const [targetW, expected] of [
      [-8000, -8000],
      [-30_000, -11_003],
      [-3000, -minW - 3],
      [-1500, -3],
      [0, -3],
      [5000, -3],
    ] as const) {
      run(source, 30, 1, { targetW });
      expect(step(source, 1, { targetW }), `target ${targetW}`).to.be.closeTo(expected, 1e-9);
    }
    run(source, 30);
    expect(step(source, 1, { targetW: -2500, ceilingW: -2500 })).to.be.closeTo(-minW - 3, 1e-9);
  });

  it('the drawn power is followed exactly', () => {
    const source = charging({ standby_w: 3, connectors: [{ phases: 3 }, { phases: 3 }] }, 30_000, [1, 2]);
    for (const dcW of [-17_000, -2000, -22_003, -3, -1, 0]) {
      source.prepare(1, input);
      const before = source.detail().energyWh;
      source.draw(dcW, true);
      const { powerW, standbyW, energyWh } = source.detail();
      expect(powerW + standbyW).to.be.closeTo(-dcW, 1e-9);
      expect(energyWh - before).to.be.closeTo(-dcW / 3600, 1e-9);
      run(source, 30);
    }
    source.prepare(1, input);
    source.draw(0, false);
    expect(source.detail()).to.deep.include({ powerW: 0, standbyW: 0 });
    expect(at(source).status).to.equal('suspended_evse');
  });

  it('shares in proportion to demand', () => {
    const source = charging({ connectors: [{}, {}], ev: { ac_max_charge_w: 11_000 } }, 15_000, [1, 2]);
    for (const id of [1, 2]) expect(at(source, id).powerW).to.be.closeTo(7500, 1e-9);
    expect([1, 2].map((id) => at(source, id).limitSource)).to.deep.equal(['sharing', 'sharing']);
    source.command({ kind: 'evse.limit', connectorId: 2, powerW: 5500 });
    run(source, 20);
    expect([1, 2].map((id) => Math.round(at(source, id).powerW))).to.deep.equal([10_000, 5000]);
    source.command({ kind: 'evse.profile_limit', connectorId: 0, limitW: 9000, limitA: null });
    run(source, 20);
    // two thirds and one third would leave the second below 6 A
    expect(at(source, 2).powerW).to.be.closeTo(3 * 230 * 6 * 0.99, 1e-6);
    expect(source.detail().powerW).to.be.closeTo(9000, 1e-6);
    expect(at(source, 1).limitSource).to.equal('charging_profile');
    source.command({ kind: 'evse.profile_limit', connectorId: 0, limitW: 7000, limitA: null });
    run(source, 20);
    expect([1, 2].map((id) => at(source, id).status)).to.deep.equal(['charging', 'suspended_evse']);
    expect(source.detail().powerW).to.be.closeTo(7000, 1e-6);
  });

  it('demands that fill the limit exactly are not cut', () => {
    const demand = Float64Array.from([10, 20]);
    const out = new Float64Array(2);
    const isCut = (limitW: number) => sharePower(demand, new Float64Array(2), limitW, out);
    expect([29.9, 30, 30.1].map(isCut)).to.deep.equal([true, false, false]);
    expect([...out]).to.deep.equal([10, 20]);
  });

  it('shares of any demands: all of the limit, none above its demand, and none below its minimum but those that pause', () => {
    const participant = fc.record({
      demandW: fc.oneof(fc.constant(0), real(0, 20_000)),
      minW: fc.constantFrom(1380, 4140),
    });
    holds(
      'shares of any demands',
      [fc.array(participant, { minLength: 1, maxLength: 6 }), real(0, 40_000)],
      (list, limitW) => {
        const columns = [list.map(({ demandW }) => demandW), list.map(({ minW }) => minW)] as const;
        const shares = new Float64Array(list.length);
        const binds = sharePower(Float64Array.from(columns[0]), Float64Array.from(columns[1]), limitW, shares);
        const claims = list.map(({ demandW, minW }, i) => ({
          demandW,
          leastW: Math.min(minW, demandW),
          w: shares[i]!,
        }));
        const running = claims.filter(({ w }) => w > 0);
        const paused = claims.filter(({ demandW, w }) => demandW > 0 && w === 0);
        const sum = (of: typeof claims, name: 'demandW' | 'leastW' | 'w') =>
          of.reduce((total, each) => total + each[name], 0);
        expect(binds).to.equal(sum(claims, 'demandW') > limitW);
        expect(sum(claims, 'w')).to.be.closeTo(Math.min(limitW, sum(running, 'demandW')), 1e-6);
        for (const { w, leastW, demandW } of running) expect(w).to.be.within(leastW - 1e-9, demandW + 1e-9);
        // the smallest demands pause, and no more of them than the minimums of the others leave no room for
        const [last] = paused.sort((a, b) => b.demandW - a.demandW);
        if (last === undefined) return;
        for (const { demandW } of running) expect(demandW).to.be.at.least(last.demandW);
        expect(sum(running, 'leastW') + last.leastW).to.be.above(limitW);
      },
      { runs: 250 },
    );
  });

  it('sharing never exceeds the limit or goes below a minimum', () => {
    const share = (demand: number[], minimums: number[], limitW: number) => {
      const out = new Float64Array(demand.length);
      sharePower(Float64Array.from(demand), Float64Array.from(minimums), limitW, out);
      return [...out];
    };
    expect(share([10, 20, 30], [1, 1, 1], 30)).to.deep.equal([5, 10, 15]);
    expect(share([10, 100], [4, 4], 20)).to.deep.equal([4, 16]);
    expect(share([10, 10], [4, 4], 6)).to.deep.equal([6, 0]);
    expect(share([10, 10], [4, 4], 3)).to.deep.equal([0, 0]);
    expect(share([2, 10], [4, 4], 8)).to.deep.equal([2, 6]);
    for (let i = 0; i < 500; i++) {
      const demand = [0, 1, 2].map((k) => ((i * 7 + k * 13) % 11) * ((i + k) % 3));
      const limitW = i % 23;
      const out = share(demand, [4, 4, 4], limitW);
      expect(out.reduce((a, b) => a + b, 0)).to.be.at.most(limitW + 1e-9);
      out.forEach((w, k) =>
        expect(w === 0 || w >= Math.min(4, demand[k]!) - 1e-9, JSON.stringify([demand, limitW, out])).to.equal(true),
      );
    }
  });
});

describe('EVSE: vehicle to grid', () => {
  it('discharges by command down to the reserve', () => {
    const source = charging(v2g, 50_000);
    expect(step(source, 1)).to.be.closeTo(-50_000 * 0.8, 2500);
    source.command({ kind: 'evse.discharge', connectorId: 1, powerW: 20_000 });
    run(source, 30);
    const before = at(source).ev!.socPct;
    const energyWh = run(source, 600);
    expect(energyWh).to.be.closeTo(-20_000 / 6, 1e-6);
    expect(before - at(source).ev!.socPct).to.be.closeTo((100 * 20_000) / 6 / 0.95 / 75_000, 1e-6);
    expect(at(source)).to.deep.include({ powerW: -20_000, status: 'charging' });
    expect(at(source).session!.energyDischargedWh).to.be.above(3300);
    expect(source.ports[0]!.powerW).to.equal(20_000);
    run(source, 3600);
    expect(at(source).ev!.socPct).to.be.closeTo(40, 1e-6);
    expect(at(source)).to.deep.include({ powerW: 0, status: 'suspended_ev' });
    expect(source.availableDcW).to.equal(0);
    source.command({ kind: 'evse.discharge', connectorId: 1, powerW: null });
    run(source, 30);
    expect(at(source).powerW).to.be.above(30_000);
  });

  it('discharges for a set-point, also from full', () => {
    const source = charging({ ...v2g, standby_w: 5, ev: { ...v2g.ev, target_soc_pct: 50 } }, 50_000);
    expect(at(source).status).to.equal('suspended_ev');
    run(source, 30, 1, { targetW: 10_000 });
    expect(step(source, 1, { targetW: 10_000 })).to.equal(10_000);
    expect(at(source)).to.deep.include({ powerW: -10_005, status: 'charging', limitSource: 'der' });
    expect(step(source, 1, { targetW: 90_000 })).to.be.above(10_000);
    run(source, 60, 1, { targetW: 90_000 });
    expect(step(source, 1, { targetW: 90_000 })).to.equal(29_995);
    expect(step(source, 1, { targetW: 90_000, ceilingW: 12_000 })).to.equal(12_000);
  });

  it('no vehicle discharges without a request, nor a connector that cannot', () => {
    expect(step(charging(v2g, 50_000), 1)).to.be.below(0);
    const source = charging({});
    run(source, 10, 1, { targetW: 5000 });
    expect([source.availableDcW, at(source).powerW]).to.deep.equal([0, 0]);
  });
});
