import { expect } from 'chai';
import type { FeederSpec } from '../../src/der/surroundings/grid/feeder.ts';
import { Rig } from '../support/rig.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

const ratedW = 10_000;
const ratedV = 480;
/** 701.LLV holds tenths of a volt, 701.W and Var whole ones. */
const toleranceV = 0.06;

const feeders: readonly FeederSpec[] = [
  { scr: 6, xOverR: 0.5 },
  { scr: 8, xOverR: 2 },
  { scr: 10, xOverR: 10 },
  { scr: 20, xOverR: 1 },
];
/**
 * Voltage before the line, power of the device and of the load beside it, per unit of the ratings: the terminals stay
 * between the trip thresholds.
 */
const operations = [
  { grid: 1, p: 0.3, q: 0, load: 0 },
  { grid: 0.95, p: 0.5, q: 0.4, load: 0 },
  { grid: 1.02, p: 0.5, q: -0.4, load: 0 },
  { grid: 1, p: 0.2, q: 0.2, load: 0.6 },
  { grid: 1.03, p: 0.6, q: -0.3, load: 1.1 },
] as const;

/** A case as the power flow takes it, and what 701 says. */
interface Case {
  readonly request: Readonly<Record<'grid' | 'r' | 'x' | 'p' | 'q' | 'load', number>>;
  readonly measuredV: number;
  readonly label: string;
}

describeWith(['pandapower'], 'a power flow of its own, of the grid, the feeder and the device at its end', () => {
  let powerFlow: PythonPeer;
  before(() => {
    powerFlow = new PythonPeer('power_flow', null);
  });
  after(() => powerFlow.stop());

  function caseOf(rig: Rig, { scr, xOverR }: FeederSpec, grid: number, load: number): Case {
    const angle = Math.atan(xOverR);
    const { W, Var, LLV } = rig.map.m701;
    const request = {
      grid,
      r: Math.cos(angle) / scr,
      x: Math.sin(angle) / scr,
      p: (W ?? NaN) / ratedW,
      q: (Var ?? NaN) / ratedW,
      load,
    };
    return { request, measuredV: LLV ?? NaN, label: JSON.stringify({ scr, xOverR, ...request }) };
  }

  async function compare(cases: readonly Case[]): Promise<void> {
    const voltagesPu = (await powerFlow.ask('terminal_voltages', {
      cases: cases.map(({ request }) => request),
    })) as readonly number[];
    expect(voltagesPu).to.have.length(cases.length);
    cases.forEach(({ measuredV, label }, at) => {
      expect(measuredV, label).to.be.closeTo((voltagesPu[at] ?? NaN) * ratedV, toleranceV);
    });
  }

  it('has the voltage of 701 at the terminals, for any power, load and line', async () => {
    const cases: Case[] = [];
    for (const feeder of feeders) {
      const rig = await Rig.sunny({ feeder });
      for (const { grid, p, q, load } of operations) {
        rig.plant.setGrid({ voltagePu: grid });
        rig.plant.setSurroundings({ loadKw: (load * ratedW) / 1000 });
        rig.set(({ m704 }) => {
          Object.assign(m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 100 * p });
          Object.assign(m704, { VarSetEna: 'ENABLED', VarSetMod: 'VA_MAX_PCT', VarSetPct: 100 * q });
        });
        await rig.run(60);
        const one = caseOf(rig, feeder, grid, load);
        // otherwise a trip or a limit would make the comparison empty
        expect([one.request.p, one.request.q], one.label).to.deep.equal([p, q]);
        cases.push(one);
      }
    }
    await compare(cases);
  });

  it('agrees where volt-var and the line have found their balance', async () => {
    const cases: Case[] = [];
    for (const feeder of feeders) {
      const rig = await Rig.sunny({ feeder });
      rig.set(({ m704, m705 }) => {
        Object.assign(m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 50 });
        m705.Ena = 'ENABLED';
      });
      rig.plant.setGrid({ voltagePu: 1.01 });
      await rig.run(300);
      const one = caseOf(rig, feeder, 1.01, 0);
      // the default curve of category B falls from 102 % to -44 % at 108 %
      const curve = -0.44 * Math.min(1, Math.max(0, (one.measuredV / ratedV - 1.02) / 0.06));
      expect(one.request.q, one.label).to.be.closeTo(curve, 0.002);
      cases.push(one);
    }
    expect(cases.filter(({ request }) => request.q < -0.02)).to.have.length.of.at.least(3);
    await compare(cases);
  });
});
