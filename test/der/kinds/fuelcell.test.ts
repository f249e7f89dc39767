import { expect } from 'chai';
import { fuelCellStates } from '../../../src/contract/kinds/fuelcell.ts';
import { codeOf } from '../../support/map.ts';
import { KindRig } from './support.ts';
import type { KindSpec } from './support.ts';

const pem: KindSpec = { args: ['-d', 'Fuelcell-3Phase'] };
const reversible: KindSpec = { args: ['-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-PEM-5kW-reversible-3Phase'] };
const sofc: KindSpec = { args: ['-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-SOFC-200kW-3Phase'] };
const ratedW = 5000;
/** 15 % of the rated DC power per second, at the AC terminals, and what rounds it */
const rampWS = 0.15 * ratedW * 1.02;
const nothing = () => undefined;

/** Commands act at once: what ramps is the plant. */
function rigOf(spec: KindSpec, changes: Partial<KindSpec> = {}): KindRig {
  const rig = new KindRig({ ...spec, ...changes });
  rig.write(({ m704 }) => {
    m704.WRmp = 1000;
  });
  return rig;
}

const fc = (rig: KindRig) => rig.detail('fuelcell');

describe('fuel cell device: set-points', () => {
  it('a fuel cell runs at its rating without a set-point; a negative set-point is refused', async () => {
    const rig = rigOf(pem);
    await rig.run(10);
    expect([rig.w, fc(rig).mode, fc(rig).state, rig.state]).to.deep.equal([ratedW, 'FC', 'fc', 'on running connected']);
    rig.demand(1500);
    await rig.run(10);
    expect([rig.w, rig.active]).to.deep.equal([1500, 'active_power']);
    rig.limit(20);
    await rig.run(10);
    expect([rig.w, rig.active, rig.state]).to.deep.equal([1000, 'max_power', 'on throttled connected']);
    expect(
      codeOf(() => {
        rig.demand(-1000);
      }),
    ).to.equal('MAP_BAD_VALUE');
    rig.demand(0);
    await rig.run(10);
    expect([rig.w, fc(rig).state, fc(rig).h2FlowKgH]).to.deep.equal([0, 'idle', 0]);
  });

  it('a reversible plant rests, delivers and takes; after 30 s of dwell it turns round', async () => {
    const rig = rigOf(reversible);
    await rig.run(10);
    expect([rig.w, fc(rig).mode, rig.state]).to.deep.equal([0, 'idle', 'on running connected']);
    rig.demand(4000);
    await rig.run(20);
    expect([rig.w, fc(rig).mode]).to.deep.equal([4000, 'FC']);
    expect(fc(rig).h2FlowKgH).to.be.within(0.2, 0.32);
    rig.demand(-3000);
    const stopsS = await rig.until(() => rig.w <= 0, 0.1, 5);
    expect(stopsS).to.be.below(0.5);
    expect([rig.w, fc(rig).state]).to.deep.equal([0, 'transition']);
    const seen: number[] = [];
    const waitS = await rig.until(
      () => {
        seen.push(fc(rig).dwellRemainingS);
        return rig.w < 0;
      },
      0.1,
      40,
    );
    expect(waitS).to.be.closeTo(30, 0.35);
    expect(seen[10]).to.be.closeTo(29, 0.2);
    await rig.run(20);
    expect([rig.w, fc(rig).mode, fc(rig).state]).to.deep.equal([-3000, 'EL', 'el']);
    expect(fc(rig).h2FlowKgH).to.be.below(0);
    rig.demand(2000);
    await rig.run(20);
    expect(fc(rig).state).to.equal('transition');
    await rig.run(25);
    expect([rig.w, fc(rig).mode]).to.deep.equal([2000, 'FC']);
  });

  it('rises at 15 % of its rating per second, falls at once', async () => {
    const rig = rigOf(reversible);
    rig.demand(5000);
    let before = 0;
    let limited = 0;
    await rig.watch(1, 0.5, () => {
      before = rig.w;
    });
    await rig.watch(8, 0.5, () => {
      expect(rig.w - before).to.be.at.most(0.5 * rampWS + 2);
      if (fc(rig).rampLimited) {
        limited += 1;
        expect(rig.w - before).to.be.above(0.45 * rampWS);
      }
      before = rig.w;
    });
    expect(limited).to.be.within(8, 12);
    expect([rig.w, fc(rig).rampLimited]).to.deep.equal([5000, false]);
    rig.demand(500);
    await rig.watch(0.5, 0.1, nothing);
    expect(rig.w).to.equal(500);
  });

  it('rests below its minimum load: 3 % as a fuel cell, 10 % as an electrolyser', async () => {
    for (const [demandW, expectedW] of [
      [100, 0],
      [200, 200],
      [-400, 0],
      [-600, -600],
    ] as const) {
      const rig = rigOf(reversible);
      rig.demand(demandW);
      await rig.run(20);
      expect(rig.w, `${demandW} W`).to.equal(expectedW);
    }
  });

  it('WChaRteMax bounds electrolysis', async () => {
    const rig = rigOf(reversible);
    rig.demand(-4000);
    await rig.run(20);
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 2000;
    });
    await rig.run(20);
    expect(
      codeOf(() => {
        rig.demand(-3000);
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(rig.w).to.equal(-2000);
    expect([rig.map.m714.Prt[0]?.PrtTyp, (rig.map.m714.DCW ?? 0) < 0]).to.deep.equal(['BIDIR', true]);
  });
});

describe('fuel cell device: functions of the grid', () => {
  it('droop reduces power above the band', async () => {
    const rig = rigOf(pem);
    rig.plant.setGrid({ frequencyHz: 60.5 });
    await rig.watch(40, 1, nothing);
    expect(rig.w).to.be.closeTo(ratedW - ((0.5 - 0.036) / 3) * ratedW, 2);
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.watch(40, 1, nothing);
    expect(rig.w).to.equal(ratedW);
  });

  it('droop adds below the band with the response of 711, within the ramp of the plant', async () => {
    const rig = rigOf(reversible);
    rig.demand(2000);
    await rig.run(30);
    rig.plant.setGrid({ frequencyHz: 59.5 });
    const goalW = 2000 + ((0.5 - 0.036) / 3) * ratedW;
    let before = rig.w;
    await rig.watch(5, 0.5, () => {
      expect(rig.w - before).to.be.at.most(0.5 * rampWS + 2);
      before = rig.w;
    });
    // RspTms 5 s is the time to 90 %
    expect(rig.w).to.be.closeTo(2000 + 0.9 * (goalW - 2000), 0.03 * (goalW - 2000));
    await rig.watch(25, 1, nothing);
    expect(rig.w).to.be.closeTo(goalW, 2);
  });

  it('droop acts on electrolysis as on any load', async () => {
    const rig = rigOf(reversible);
    rig.demand(-3000);
    await rig.run(30);
    rig.plant.setGrid({ frequencyHz: 59.4 });
    await rig.watch(40, 1, nothing);
    expect(rig.w).to.be.closeTo(-3000 + ((0.6 - 0.036) / 3) * ratedW, 2);
    rig.plant.setGrid({ frequencyHz: 60.4 });
    await rig.watch(40, 1, nothing);
    expect(rig.w).to.be.closeTo(-3000 - ((0.4 - 0.036) / 3) * ratedW, 2);
  });

  it('volt-watt and volt-var', async () => {
    const rig = rigOf(pem);
    rig.useCurve(706, [
      [106, 100],
      [110, 0],
    ]);
    rig.plant.setGrid({ voltagePu: 1.07 });
    await rig.run(30);
    expect(rig.w).to.be.closeTo(0.75 * ratedW, 2);
    const other = rigOf(pem);
    other.useCurve(705, [
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ]);
    other.plant.setGrid({ voltagePu: 0.95 });
    await other.run(30);
    expect(other.q).to.be.closeTo(0.22 * ratedW, 5);
    expect(Math.hypot(other.w, other.q)).to.be.at.most(ratedW + 2);
  });

  it('trips on low voltage and ramps up again through enter service; STOP leaves it on standby', async () => {
    const rig = rigOf(pem);
    await rig.run(10);
    rig.quickEntry(10, 20);
    rig.plant.setGrid({ voltagePu: 0.4, durationS: 3 });
    await rig.watch(2.5, 0.5, nothing);
    expect([rig.w, rig.state, rig.alarms.includes('ac_under_volt'), fc(rig).state]).to.deep.equal([
      0,
      'off fault disconnected',
      true,
      'standby',
    ]);
    await rig.watch(10, 0.5, nothing);
    expect([rig.w, rig.state]).to.deep.equal([0, 'off standby disconnected']);
    await rig.watch(11, 0.5, nothing);
    expect(rig.state).to.equal('on starting connected');
    expect(rig.w).to.be.within(0.3 * ratedW, 0.65 * ratedW);
    await rig.run(20);
    expect([rig.w, rig.alarms.length]).to.deep.equal([ratedW, 0]);
    rig.write(({ m715 }) => {
      m715.OpCtl = 'STOP';
    });
    await rig.run(10);
    expect([rig.w, rig.state, fc(rig).state, fc(rig).h2FlowKgH]).to.deep.equal([
      0,
      'off off disconnected',
      'standby',
      0,
    ]);
  });
});

describe('fuel cell device: hydrogen', () => {
  it('the alarm h2_tank_low comes at its level; an empty tank ends the power; a refill brings both back', async () => {
    const rig = rigOf(pem, { fuelCell: { tankCapacityKg: 1, tankLevelPct: 15.1 } });
    await rig.run(5);
    expect(rig.alarms).to.deep.equal([]);
    await rig.until(() => rig.alarms.includes('h2_tank_low'), 1, 200);
    expect(fc(rig).tankLevelPct).to.be.closeTo(15, 0.02);
    expect([rig.w, fc(rig).tankState]).to.deep.equal([ratedW, 'low']);
    await rig.run(1500);
    expect([rig.w, fc(rig).tankState, fc(rig).state, rig.alarms]).to.deep.equal([
      0,
      'empty',
      'tank_empty',
      ['h2_tank_low'],
    ]);
    expect(fc(rig).tankLevelPct).to.be.closeTo(5, 1e-4);
    expect(rig.state).to.equal('on sleeping connected');
    rig.command({ kind: 'fuelcell.tank', levelPct: 60 });
    await rig.run(20);
    expect([rig.w, rig.alarms.length, fc(rig).tankState]).to.deep.equal([ratedW, 0, 'ok']);
    expect(rig.refusalOf({ kind: 'fuelcell.tank', levelPct: 101 })).to.equal('COMMAND_BAD_VALUE');
  });

  it('a full tank ends electrolysis', async () => {
    const rig = rigOf(reversible, { fuelCell: { tankCapacityKg: 1, tankLevelPct: 94.5 } });
    rig.demand(-5000);
    await rig.run(1800);
    expect([rig.w, fc(rig).tankState, fc(rig).state]).to.deep.equal([0, 'full', 'tank_full']);
    expect(fc(rig).tankLevelPct).to.be.closeTo(95, 1e-4);
    rig.demand(3000);
    await rig.run(60);
    expect(rig.w).to.equal(3000);
  });

  it('hydrogen in less hydrogen out is the change of the tank, to 1e-9', async () => {
    const rig = rigOf(reversible, { fuelCell: { tankCapacityKg: 2, tankLevelPct: 50 } });
    const startKg = fc(rig).tankMassKg ?? NaN;
    const demands = [4000, 1200, -3500, -700, 5000, 0, -5000, 250, null];
    for (const [i, demandW] of demands.entries()) {
      rig.demand(demandW);
      await rig.watch(60 + 7 * i, [0.3, 1.5, 10][i % 3] ?? 1, nothing);
      const { h2ConsumedKg, h2ProducedKg, tankMassKg } = fc(rig);
      expect((tankMassKg ?? NaN) - startKg - h2ProducedKg + h2ConsumedKg).to.be.closeTo(0, 1e-9);
    }
    expect(fc(rig).h2ConsumedKg).to.be.above(0.01);
    expect(fc(rig).h2ProducedKg).to.be.above(0.001);
  });

  it('the counters agree with the hydrogen used: efficiency by lower heating value', async () => {
    const rig = rigOf(pem, { fuelCell: { tankCapacityKg: 10, tankLevelPct: 90 } });
    await rig.run(60);
    const [wh0, kg0] = [rig.map.m714.DCWhInj ?? 0, fc(rig).h2ConsumedKg];
    await rig.run(7200);
    const efficiencyPct = (((rig.map.m714.DCWhInj ?? 0) - wh0) / ((fc(rig).h2ConsumedKg - kg0) * 33_330)) * 100;
    expect(efficiencyPct).to.be.closeTo(fc(rig).efficiencyPct, 0.02);
    expect(efficiencyPct).to.be.within(40, 50);
  });

  it('a continuous supply has no tank and no alarm of one', async () => {
    const rig = rigOf(sofc);
    await rig.run(600);
    expect(fc(rig)).to.include({
      tankLevelPct: null,
      tankMassKg: null,
      tankPressureBar: null,
      tankState: null,
      fuel: 'continuous',
    });
    expect([rig.w, rig.alarms.length]).to.deep.equal([200_000, 0]);
    expect(fc(rig).h2FlowKgH).to.be.within(8, 16);
    expect(rig.refusalOf({ kind: 'fuelcell.tank', levelPct: 50 })).to.be.oneOf([
      'COMMAND_NOT_APPLICABLE',
      'COMMAND_CONFLICT',
    ]);
  });
});

describe('fuel cell device: start and reset', () => {
  it('a cold PEM stack gives a part at first and warms up', async () => {
    const rig = rigOf(pem, { fuelCell: { startTemperatureC: 5 } });
    await rig.run(10);
    const coldW = rig.w;
    expect(coldW).to.be.within(0.2 * ratedW, 0.6 * ratedW);
    expect(rig.map.m701.InvSt).to.be.oneOf(['STARTING', 'THROTTLED', 'RUNNING']);
    const t0 = fc(rig).stackTemperatureC;
    await rig.run(300);
    expect(fc(rig).stackTemperatureC).to.be.above(t0 + 10);
    await rig.run(3600);
    expect(rig.w).to.equal(ratedW);
  });

  it('a reset of the device fills the tank as on the first day and clears the counters', async () => {
    const rig = rigOf(pem, { fuelCell: { tankCapacityKg: 1, tankLevelPct: 90 } });
    await rig.run(1200);
    expect(fc(rig).tankLevelPct).to.be.below(80);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(1);
    expect(fc(rig).tankLevelPct).to.be.closeTo(90, 0.02);
    expect(rig.counters[0]).to.be.at.most(2);
  });

  it('shows only documented states during a random course', async () => {
    const rig = rigOf(reversible, { fuelCell: { tankCapacityKg: 0.1, tankLevelPct: 30, dwellS: 5 } });
    const seen = new Set<string>();
    for (const demandW of [5000, -5000, 5000, 0, -5000]) {
      rig.demand(demandW);
      await rig.watch(400, 4, () => seen.add(fc(rig).state));
    }
    expect([...seen].filter((state) => !(fuelCellStates as readonly string[]).includes(state))).to.deep.equal([]);
    expect([...seen]).to.include.members(['fc', 'el', 'transition', 'tank_empty']);
  });
});
