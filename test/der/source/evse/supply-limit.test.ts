/** A limit of the station in amperes, on each phase of its grid connection. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import type { EvseProfileLimit } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvseSource } from '../../../../src/der/source/evse/evse-source.ts';
import { holds } from '../../../support/property.ts';
import { at, input, plug, run, station, step } from './rig.ts';

const none = { limitW: null, limitA: null };
const single = { type: 'ac', phases: 1, max_power_w: 7400 } as const;
const triple = { type: 'ac', phases: 3 } as const;
const dc = { type: 'dc', max_power_w: 50_000, max_current_a: 150 } as const;
const ev = { battery_capacity_wh: 200_000, soc_pct: 20, ac_max_charge_w: 22_000, dc_max_charge_w: 50_000 } as const;

function charging(block: EvseInput, ratedW = 100_000): EvseSource {
  const source = station({ ev, ...block }, ratedW);
  for (const { connectorId } of source.detail().connectors) plug(source, connectorId);
  run(source, 30);
  return source;
}

function limit(source: EvseSource, profile: Partial<EvseProfileLimit>, connectorId = 0): void {
  source.command({ kind: 'evse.profile_limit', connectorId, ...none, ...profile });
}

/** Current on each phase of the supply, A. */
function phasesA(source: EvseSource): number[] {
  const sums = [0, 0, 0];
  for (const { type, supplyPhases, currentA, powerW, phases } of source.detail().connectors) {
    if (type === 'dc') for (const i of [0, 1, 2]) sums[i]! += powerW / 690;
    else for (const phase of supplyPhases) sums[phase - 1]! += currentA[phases === 1 ? 0 : phase - 1]!;
  }
  return sums.map((a) => Math.round(a * 1000) / 1000);
}

const powers = (source: EvseSource) => source.detail().connectors.map(({ powerW }) => Math.round(powerW));
const perA = 230 * 0.99;

describe('EVSE: limit of the station in amperes', () => {
  const alone: readonly (readonly [string, EvseInput, readonly number[]])[] = [
    ['a three-phase connector', { connectors: [triple] }, [10, 10, 10]],
    [
      'a single-phase vehicle at a three-phase connector',
      { connectors: [triple], ev: { ...ev, phases: 1 } },
      [10, 0, 0],
    ],
    ['a single-phase connector', { connectors: [single] }, [10, 0, 0]],
    ['a DC connector', { connectors: [dc] }, [10, 10, 10]],
  ];
  for (const [name, block, expected] of alone) {
    it(`10 A are 10 A on each phase that carries current: ${name}`, () => {
      const source = charging(block);
      limit(source, { limitA: 10 });
      run(source, 20);
      expect(phasesA(source)).to.deep.equal(expected);
      const { limitSource, limitW, powerW, allocatedW, status } = at(source);
      expect([limitSource, status]).to.deep.equal(['charging_profile', 'charging']);
      expect(limitW).to.be.closeTo(powerW, 1e-6);
      expect(allocatedW).to.be.closeTo(powerW, 1e-6);
      if (at(source).type === 'ac') expect(at(source).allocatedA).to.be.closeTo(10, 1e-9);
      limit(source, {});
      run(source, 30);
      expect(at(source).powerW).to.be.above(powerW * 1.5);
    });
  }

  it('no sub-step is above it, from the one after the command on', () => {
    for (const [, block] of alone) {
      const source = charging(block);
      limit(source, { limitA: 10 });
      for (let i = 0; i < 50; i += 1) {
        step(source, 0.02);
        expect(Math.max(...phasesA(source))).to.be.at.most(10.001);
      }
    }
  });

  it('connectors on different phases have it each, on the same phase they share it', () => {
    const source = charging({ connectors: [single, single, single, single], ev: { ...ev, phases: 1 } });
    expect(phasesA(source).map(Math.round)).to.deep.equal([64, 32, 32]);
    limit(source, { limitA: 16 });
    run(source, 20);
    expect(phasesA(source)).to.deep.equal([16, 16, 16]);
    expect(at(source, 1).powerW).to.be.closeTo(8 * perA, 1e-6);
    expect(at(source, 4).powerW).to.be.closeTo(8 * perA, 1e-6);
    expect(at(source, 2).powerW).to.be.closeTo(16 * perA, 1e-6);
    for (const id of [1, 2, 3, 4]) expect(at(source, id).limitSource).to.equal('charging_profile');
  });

  it('below two minimums on one phase one of its connectors pauses, those on other phases go on', () => {
    const source = charging({ connectors: [single, single, single, single], ev: { ...ev, phases: 1 } });
    limit(source, { limitA: 10 });
    run(source, 20);
    expect(phasesA(source)).to.deep.equal([10, 10, 10]);
    expect([1, 2, 3, 4].map((id) => at(source, id).status)).to.deep.equal([
      'charging',
      'charging',
      'charging',
      'suspended_evse',
    ]);
    limit(source, { limitA: 5.9 });
    run(source, 20);
    expect(powers(source)).to.deep.equal([0, 0, 0, 0]);
    expect(at(source, 2)).to.deep.include({ status: 'suspended_evse', limitSource: 'charging_profile' });
  });

  it('what a three-phase connector takes of its fullest phase it takes of the others; the rest is for those', () => {
    const source = charging({ connectors: [triple, single] });
    limit(source, { limitA: 20 });
    run(source, 20);
    const [l1, l2, l3] = phasesA(source) as [number, number, number];
    expect(l2).to.equal(20);
    expect(l1).to.equal(l3);
    expect(l1).to.be.within(6, 14);
    expect(phasesA(source)[1]).to.be.above(l1);
    // the own limit of the single-phase connector leaves more to the other one
    limit(source, { limitA: 8 }, 2);
    run(source, 20);
    expect(phasesA(source)[1]).to.equal(20);
    expect(at(source, 2).powerW).to.be.at.most(8 * perA + 1e-6);
    expect(phasesA(source)[0]).to.be.above(l1);
  });

  it('with limits of connectors beside it the lower one holds, and the source is a charging profile', () => {
    const source = charging({ connectors: [triple, single], ev: { ...ev, phases: 1 } });
    limit(source, { limitA: 12 });
    limit(source, { limitA: 7 }, 1);
    limit(source, { limitW: 5000 }, 2);
    run(source, 20);
    expect(phasesA(source)).to.deep.equal([7, 12, 0]);
    source.command({ kind: 'evse.limit', connectorId: 2, powerW: 2000 });
    run(source, 20);
    expect(at(source, 2)).to.deep.include({ powerW: 2000, limitSource: 'local' });
    limit(source, { limitA: 12, limitW: 3000 });
    run(source, 20);
    expect(source.detail().powerW).to.be.closeTo(3000, 1e-6);
  });

  it('AC and DC share a phase; a set-point of the device below it holds as well', () => {
    const source = charging({ connectors: [dc, triple] });
    limit(source, { limitA: 40 });
    run(source, 20);
    expect(phasesA(source)).to.deep.equal([40, 40, 40]);
    expect(at(source, 1).powerW).to.be.above(at(source, 2).powerW);
    run(source, 20, 1, { floorW: -15_000 });
    expect(source.detail().powerW).to.be.closeTo(15_000, 1e-6);
    run(source, 20, 1, { targetW: -90_000 });
    expect(phasesA(source)).to.deep.equal([40, 40, 40]);
  });

  it('one phase of three: the current of all phases together counts', () => {
    const source = charging({ connectors: [single, single], ev: { ...ev, phases: 1 } });
    limit(source, { limitA: 20, phases: 1 });
    run(source, 20);
    expect(phasesA(source)).to.deep.equal([10, 10, 0]);
    const onDc = charging({ connectors: [dc] });
    limit(onDc, { limitA: 20, phases: 1 });
    run(onDc, 20);
    expect(at(onDc).powerW).to.be.closeTo(20 * 230, 1e-6);
    const three = charging({ connectors: [triple] });
    limit(three, { limitA: 20, phases: 1 });
    run(three, 20);
    expect(phasesA(three)).to.deep.equal([20, 0, 0]);
  });

  it('what the station draws itself counts, and yet a limit of just the minimum charges', () => {
    const source = charging({ connectors: [single], standby_w: 69, ev: { ...ev, phases: 1 } });
    limit(source, { limitA: 10 });
    run(source, 20);
    expect(at(source).currentA[0]).to.be.closeTo(9.9, 1e-9);
    limit(source, { limitA: 6 });
    run(source, 20);
    expect(at(source)).to.deep.include({ status: 'charging' });
    expect(at(source).currentA[0]).to.be.closeTo(5.9, 1e-9);
    limit(source, { limitA: 0 });
    run(source, 20);
    expect(at(source)).to.deep.include({ status: 'suspended_evse', powerW: 0 });
  });

  it('unequal voltages: amperes hold on each phase, and a sagging one does not pause the minimum', () => {
    const source = charging({ connectors: [single, single, triple], ev: { ...ev, phases: 1 } });
    limit(source, { limitA: 12 });
    const volts: [number, number, number] = [200, 250, 230];
    for (let i = 0; i < 100; i += 1) {
      source.prepare(1, { ...input, phaseLnV: volts });
      source.draw(source.answer({ targetW: null, floorW: -1e9, ceilingW: 1e9 }), true);
    }
    expect(phasesA(source)).to.deep.equal([12, 12, 0]);
    expect(at(source, 1).status).to.equal('charging');
    expect(at(source, 1).powerW).to.be.closeTo(6 * 200 * 0.99, 1e-6);
  });

  it('the result does not depend on the length of the sub-steps', () => {
    const energies = [0.1, 1, 7].map((dtS) => {
      const source = charging({ connectors: [triple, single, dc, single], ev: { ...ev, soc_pct: 78 } });
      limit(source, { limitA: 25 });
      run(source, 30, 0.1);
      const before = source.detail().connectors.map(({ energyWh }) => energyWh);
      run(source, 120, dtS);
      return source.detail().connectors.map(({ energyWh }, i) => energyWh - before[i]!);
    });
    for (const each of energies.slice(1))
      for (const [i, wh] of each.entries()) expect(wh).to.be.closeTo(energies[0]![i]!, 0.5);
  });

  it('any station, any vehicles, any limits: no phase is above the limit in any sub-step', () => {
    const connector = fc.constantFrom(single, triple, dc);
    const amperes = fc.option(fc.double({ min: 0, max: 80, noNaN: true }));
    holds(
      'no phase above the limit',
      [
        fc.array(fc.tuple(connector, fc.constantFrom(1, 3), fc.double({ min: 10, max: 90, noNaN: true }), amperes), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.double({ min: 0, max: 80, noNaN: true }),
        fc.constantFrom(1, 3),
        fc.constantFrom(null, -8000, -60_000),
      ],
      (places, limitA, phases, targetW) => {
        const source = station(
          { ev, connectors: places.map(([each]) => each), start_delay_min_s: 0, start_delay_max_s: 0 },
          300_000,
        );
        for (const [i, [, evPhases, socPct, ownA]] of places.entries()) {
          const connectorId = i + 1;
          source.command({ kind: 'evse.plug', connectorId, ev: { phases: evPhases, socPct } });
          limit(source, { limitA: ownA }, connectorId);
        }
        run(source, 5);
        limit(source, { limitA, phases: phases });
        for (let i = 0; i < 12; i += 1) {
          step(source, i % 3 === 0 ? 0.1 : 1, { targetW });
          const used = phasesA(source);
          const worst = phases === 1 ? used[0]! + used[1]! + used[2]! : Math.max(...used);
          expect(worst, JSON.stringify(used)).to.be.at.most(limitA + 0.002);
        }
      },
      { runs: 60 },
    );
  });
});
