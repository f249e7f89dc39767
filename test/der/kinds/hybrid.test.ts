import { expect } from 'chai';
import type { HybridPolicy } from '../../../src/contract/kinds/hybrid.ts';
import { pick } from '../../support/depth.ts';
import { detailOf } from '../../support/detail.ts';
import { expectWithin } from '../../support/expect.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { quickEntry } from '../../support/rig.ts';
import { counters, StorageRig } from './support-storage.ts';

const sunny = { irradianceWm2: 800, cellTemperatureC: 25 } as const;

/** A hybrid whose array gives some 8 kW. */
async function inTheSun(policy?: HybridPolicy): Promise<StorageRig> {
  const rig = StorageRig.hybrid();
  rig.plant.setSurroundings(sunny);
  if (policy) rig.command({ kind: 'hybrid.policy', policy });
  await rig.run(60);
  return rig;
}

const shown = (rig: StorageRig) => {
  const { m701, m714 } = rig.map;
  return { w: m701.W ?? NaN, dcW: m714.DCW ?? NaN, pvW: m714.Prt[0]?.DCW ?? NaN, batteryW: m714.Prt[1]?.DCW ?? NaN };
};
const curtailedW = (rig: StorageRig) => detailOf(rig.device, 'hybrid-dc').curtailedW;

/** Bus balance within a watt of rounding on each side, and the efficiency of one inverter. */
function expectBalance(rig: StorageRig): void {
  const { w, dcW, pvW, batteryW } = shown(rig);
  const { busVoltageV, dcPowerW, pv, batteryPowerW, battery } = detailOf(rig.device, 'hybrid-dc');
  expect(pvW + batteryW, 'ports').to.be.closeTo(dcW, 1.01);
  expect(pv.powerW + batteryPowerW, 'bus').to.be.closeTo(dcPowerW, 1e-6);
  expect(dcPowerW, '714').to.be.closeTo(dcW, 1);
  expect(battery.powerW, 'battery').to.be.closeTo(batteryPowerW, 1e-6);
  expect(pv.powerW, 'array').to.be.within(0, pv.availableW + 1e-6);
  expect(w, 'losses').to.be.at.most(dcW + 1);
  for (const port of [0, 1]) expect(rig.map.m714.Prt[port]?.DCV).to.be.closeTo(busVoltageV, 0.1);
}

describe('hybrid device: ports and registers', () => {
  it('has a port for the array and one for the battery, on one bus', async () => {
    const rig = await inTheSun();
    const { m714 } = rig.map;
    expect([m714.NPrt, m714.Prt[0]?.PrtTyp, m714.Prt[1]?.PrtTyp]).to.deep.equal([2, 'PV', 'ESS']);
    expect(rig.m802).to.include({ SoCMin: 10, SoCMax: 95, WHRtg: 15_000 });
    expect(rig.m802.W).to.equal(m714.Prt[1]?.DCW);
    expectBalance(rig);
  });

  it('REST shows the numbers of the registers', async () => {
    const rig = await inTheSun();
    rig.demand(6000);
    await rig.run(30);
    const rest = await Rest.open(rig.plant);
    try {
      const reply = await rest.get('/hybrid-dc');
      const { w, dcW, pvW, batteryW } = shown(rig);
      expect(reply.inverter.ac_power_kw).to.equal(w / 1000);
      expect(reply.inverter.dc_power_kw).to.be.closeTo(dcW / 1000, 1e-3);
      expect(reply.pv.power_kw).to.be.closeTo(pvW / 1000, 1e-3);
      expect(reply.battery.power_kw).to.be.closeTo(batteryW / 1000, 1e-3);
      expect(reply.battery).to.include({ soc_pct: rig.map.m713.SoC, soc_min_pct: 10, soc_max_pct: 95 });
      expect(rig.snapshot.metrics).to.include({ state_of_charge_pct: rig.map.m713.SoC, dc_power_kw: dcW / 1000 });
    } finally {
      await rest.api.stop();
    }
  });

  it('802.SetOp opens the battery and leaves the array at work', async () => {
    const rig = await inTheSun('pv_priority');
    rig.demand(12_000);
    await rig.run(20);
    expect(shown(rig).w).to.equal(12_000);
    rig.write(({ m802 }) => {
      if (m802) m802.SetOp = 'DISCONNECT';
    });
    await rig.run(5);
    const { w, batteryW, pvW } = shown(rig);
    expect([batteryW, rig.m802.State]).to.deep.equal([0, 'DISCONNECTED']);
    expect(w).to.be.within(0.95 * pvW, pvW);
    expectBalance(rig);
    rig.write(({ m802 }) => {
      if (m802) m802.SetOp = 'CONNECT';
    });
    await rig.run(20);
    expect([shown(rig).w, rig.m802.State]).to.deep.equal([12_000, 'CONNECTED']);
  });

  it('a reset brings back policy, charge and counters', async () => {
    const rig = await inTheSun('manual');
    rig.demand(9000);
    await rig.run(900);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(1);
    expect(detailOf(rig.device, 'hybrid-dc')).to.include({ policy: 'self_consumption', manualBatteryW: null });
    expect([rig.map.m713.SoC, rig.map.m704.WSetEna]).to.deep.equal([50, 'DISABLED']);
    // the output itself does not jump: it goes with 704.WRmp to what the first policy asks for
    for (const wh of counters(rig)) expect(wh).to.be.at.most(5);
    await rig.run(20);
    expect(shown(rig)).to.include({ w: 0 });
  });
});

describe('hybrid device: policies while it runs', () => {
  it('self-consumption stores the sun, covers a load and follows it at once', async () => {
    const rig = await inTheSun();
    const { pvW } = shown(rig);
    expect(pvW).to.be.within(7500, 8500);
    for (const [loadKw, w] of [
      [0, 0],
      [4, 4000],
      [12, 12_000],
      [25, 15_000],
      [0, 0],
    ] as const) {
      rig.plant.setSurroundings({ loadKw });
      await rig.run(10);
      expect(shown(rig), `load of ${loadKw} kW`).to.include({ w, pvW });
      expectBalance(rig);
    }
    expect(shown(rig).batteryW).to.equal(-pvW);
  });

  it('a change of policy takes the power there with 704.WRmp, and back', async () => {
    const rig = await inTheSun();
    const ramp: number[] = [];
    rig.command({ kind: 'hybrid.policy', policy: 'pv_priority' });
    await rig.watch(4, 1, () => ramp.push(shown(rig).w));
    const { pvW, w, batteryW } = shown(rig);
    expect(ramp.slice(0, 2)).to.deep.equal([3000, 6000]);
    expect([batteryW, rig.m802.ChaSt]).to.deep.equal([0, 'HOLDING']);
    expect(w).to.be.within(0.95 * pvW, pvW);
    rig.command({ kind: 'hybrid.policy', policy: 'self_consumption' });
    await rig.run(10);
    expect(shown(rig)).to.include({ w: 0, batteryW: -pvW });
  });

  it('a set-point in force keeps the output under every policy', async () => {
    const rig = await inTheSun();
    rig.demand(6000);
    await rig.run(20);
    for (const [policy, w] of [
      ['manual', 6000],
      ['self_consumption', 6000],
      ['manual', 6000],
    ] as const) {
      rig.command({ kind: 'hybrid.policy', policy });
      await rig.watch(5, 0.5, () => {
        expect(shown(rig).w, policy).to.equal(w);
      });
    }
  });

  it('manual follows its target by 704, from the grid as well', async () => {
    const rig = await inTheSun('manual');
    const { pvW } = shown(rig);
    for (const target of [5000, 12_000, 0, -1500]) {
      rig.demand(target);
      await rig.run(20);
      expect(shown(rig), `target of ${target} W`).to.include({ w: target, pvW });
      expect(curtailedW(rig)).to.equal(0);
      expectBalance(rig);
    }
    // PV is not curtailed in order to import more: the battery is at its limit
    rig.demand(-9000);
    await rig.run(20);
    expect(shown(rig)).to.include({ pvW, batteryW: -10_000 });
    expect(shown(rig).w).to.be.within(-2400, -1900);
  });

  it('manual curtails PV for a target that a full battery cannot absorb', async () => {
    const rig = await inTheSun('manual');
    rig.fill(95);
    rig.demand(3000);
    await rig.run(30);
    const { w, pvW, batteryW } = shown(rig);
    expect([w, batteryW]).to.deep.equal([3000, 0]);
    expect(pvW).to.be.within(3000, 3250);
    expect(curtailedW(rig)).to.be.greaterThan(4000);
    expect(detailOf(rig.device, 'hybrid-dc').pv.mpptState).to.equal('limit');
  });

  for (const policy of ['self_consumption', 'pv_priority'] as const) {
    it(`704.WMaxLimPct curtails PV only once the battery is full: ${policy}`, async () => {
      const rig = await inTheSun(policy);
      const { pvW } = shown(rig);
      rig.limit(20);
      rig.plant.setSurroundings({ loadKw: 6 });
      await rig.run(20);
      expect(shown(rig)).to.include({ w: 3000, pvW });
      expect(curtailedW(rig)).to.equal(0);
      rig.fill(94.9);
      await rig.run(120);
      expect(shown(rig)).to.include({ w: 3000, batteryW: 0 });
      expect(shown(rig).pvW).to.be.within(3000, 3250);
      expect(curtailedW(rig)).to.be.closeTo(pvW - shown(rig).pvW, 2);
      expect([rig.active, rig.alarmCodes.join()]).to.deep.equal(['max_power', 'soc_high']);
      rig.fill(50);
      await rig.run(20);
      expect(shown(rig).pvW).to.be.closeTo(pvW, 5);
    });
  }

  it('by night the battery serves the load down to its floor', async () => {
    const rig = StorageRig.hybrid();
    rig.plant.setSurroundings({ irradianceWm2: 0, loadKw: 5 });
    rig.fill(11);
    await rig.run(20);
    expect(shown(rig)).to.include({ w: 5000, pvW: 0 });
    await rig.run(180);
    expect([shown(rig).w, rig.map.m713.SoC, rig.alarmCodes.join(), rig.state]).to.deep.equal([
      0,
      10,
      'soc_low',
      'on running connected',
    ]);
  });
});

describe('hybrid device: grid functions', () => {
  for (const policy of ['self_consumption', 'pv_priority', 'manual'] as const) {
    it(`droop moves the output by the same power in policy ${policy}, PV and battery share it`, async () => {
      const rig = await inTheSun(policy);
      if (policy === 'manual') rig.demand(2000);
      await rig.run(20);
      const before = shown(rig);
      for (const [frequencyHz, offW] of [
        [60.336, -1500],
        [60, 0],
        [59.664, 1500],
        [60, 0],
      ] as const) {
        rig.plant.setGrid({ frequencyHz });
        await rig.run(60);
        expect(shown(rig).w, `at ${frequencyHz}`).to.be.closeTo(before.w + offW, 1);
        expect(shown(rig).pvW, 'the battery does it').to.be.closeTo(before.pvW, 1);
        expectBalance(rig);
      }
      expect(rig.active).to.equal(policy === 'manual' ? 'active_power' : '');
    });
  }

  it('at high frequency a full battery leaves the response to the array; at low frequency an empty one cannot respond', async () => {
    const rig = await inTheSun('pv_priority');
    rig.fill(95);
    await rig.run(5);
    const { w } = shown(rig);
    rig.plant.setGrid({ frequencyHz: 60.336 });
    await rig.run(60);
    expect(shown(rig)).to.include({ batteryW: 0 });
    expect(shown(rig).w).to.be.closeTo(w - 1500, 2);
    expect(curtailedW(rig)).to.be.within(1400, 1700);
    rig.fill(10);
    rig.plant.setGrid({ frequencyHz: 59.664 });
    await rig.run(60);
    expect(shown(rig)).to.include({ batteryW: 0 });
    expect(shown(rig).w).to.be.closeTo(w, 2);
  });

  it('volt-watt stores the limited power, and imports below its second point', async () => {
    const rig = await inTheSun('pv_priority');
    const { pvW } = shown(rig);
    rig.useCurve(706, [
      [106, 100],
      [110, 0],
    ]);
    rig.plant.setGrid({ voltagePu: 1.09 });
    await rig.run(10);
    expect(shown(rig)).to.include({ w: 3750, pvW });
    expect(rig.active).to.equal('volt_watt');
    rig.useCurve(706, [
      [106, 100],
      [110, -20],
    ]);
    rig.plant.setGrid({ voltagePu: 1.0999 });
    await rig.run(20);
    // 15 kW at 106 %, -3 kW at 110 %; PV 8 kW and a battery of 10 kW
    expect(shown(rig).w).to.be.within(-3000, -1900);
    expect(shown(rig).batteryW).to.be.closeTo(-10_000, 1);
    expectBalance(rig);
  });

  it('volt-var works by night too', async () => {
    const rig = StorageRig.hybrid();
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    rig.useCurve(705, [
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ]);
    rig.plant.setGrid({ voltagePu: 0.92 });
    await rig.run(20);
    expect([rig.w, rig.q]).to.deep.equal([0, 6600]);
  });

  it('a trip rests both sources, and they return together', async () => {
    const rig = await inTheSun('pv_priority');
    quickEntry(rig, { delayS: 5 });
    rig.demand(12_000);
    await rig.run(20);
    rig.plant.setGrid({ frequencyHz: 63, durationS: 3 });
    await rig.run(2);
    expect([shown(rig), rig.state]).to.deep.equal([{ w: 0, dcW: 0, pvW: 0, batteryW: 0 }, 'off fault disconnected']);
    await rig.run(60);
    expect([shown(rig).w, rig.state]).to.deep.equal([12_000, 'on running connected']);
    expect(shown(rig).pvW).to.be.greaterThan(7500);
  });
});

describe('hybrid device: a cloudy day', () => {
  const cloudy: TestPlantOptions = { weatherSource: 'clear_sky', clouds: 'broken', seed: 4, time: '06:00:00' };
  const demands = [null, 3000, -4000, null, 8000, null] as const;
  /** of a demand; the last rate has no ticks that end with a shorter one than 1500 s */
  const stretchS = pick({ quick: 1500, ci: 4500 });

  it('ports and bus balance at every tick, under every policy', async () => {
    const rig = StorageRig.hybrid(cloudy);
    const policies = ['self_consumption', 'pv_priority', 'manual'] as const;
    const lookedAtS = pick({ quick: 150, ci: 1500 });
    let [least, most] = [Infinity, -Infinity];
    for (let i = 0; i < 18; i += 1) {
      rig.command({ kind: 'hybrid.policy', policy: policies[i % 3] ?? 'manual' });
      rig.demand(demands[i % demands.length] ?? null);
      if (i === 9) rig.plant.setGrid({ frequencyHz: 60.4, durationS: 500 });
      if (i === 12) rig.limit(30);
      // the hours are those of a day, but in short only the last ticks of each stretch are looked at
      await rig.run(1500 - lookedAtS);
      await rig.watch(lookedAtS, 3, () => {
        expectBalance(rig);
        expectWithin(rig.battery.trueSocPct, 10 - 1e-9, 95 + 1e-9, () => 'state of charge');
        const { pvW } = shown(rig);
        [least, most] = [Math.min(least, pvW), Math.max(most, pvW)];
      });
    }
    expect(most - least, 'a day with a course').to.be.greaterThan(6000);
    const { m714 } = rig.map;
    const ports = [0, 1].map((port) => m714.Prt[port]);
    expect(m714.DCWhInj).to.be.closeTo((ports[0]?.DCWhInj ?? NaN) + (ports[1]?.DCWhInj ?? NaN), 2);
    expect(ports[0]?.DCWhAbs).to.equal(0);
  });

  it('ends with the same energy and charge at every rate', async () => {
    const ends: number[][] = [];
    for (const rate of pick({ quick: [5, 1000], ci: [1, 60, 1000] })) {
      const rig = StorageRig.hybrid({ ...cloudy, tickIntervalS: 1.5, rate });
      for (const watts of demands) {
        rig.demand(watts);
        await rig.plant.step(Math.round(stretchS / (1.5 * rate)));
      }
      ends.push([...counters(rig), rig.battery.trueSocPct]);
    }
    const [fine = []] = ends;
    expect(fine[0]).to.be.greaterThan((12_000 * stretchS) / 4500);
    for (const end of ends)
      end.forEach((value, i) => {
        expect(value, `value ${i}`).to.be.closeTo(fine[i] ?? NaN, 0.005 * (fine[i] ?? NaN));
      });
  });
});
