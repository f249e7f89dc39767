import { expect } from 'chai';
import type { InverterParameters } from '../../../src/contract/device.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { codeOf } from '../../support/map.ts';
import { KindRig } from './support.ts';
import type { KindSpec } from './support.ts';

interface MachineCase {
  readonly name: string;
  readonly args: readonly string[];
  readonly ratedW: number;
  readonly vaMaxVa: number;
  readonly ratedRpm: number;
  /** resolution of 701.W, W */
  readonly stepW: number;
}

const t3: MachineCase = {
  name: 'type III, 5 MW',
  args: ['-d', 'Wind-T3-3Phase'],
  ratedW: 5e6,
  vaMaxVa: 5.3e6,
  ratedRpm: 12.1,
  stepW: 1000,
};
const t4: MachineCase = {
  name: 'type IV, 100 kW',
  args: ['-d', 'Wind-T4-3Phase', '-f', 'Wind-100kW-T4-3Phase'],
  ratedW: 1e5,
  vaMaxVa: 111_400,
  ratedRpm: 59.206,
  stepW: 10,
};
const machines = [t3, t4];

/** 5 s at most: above rate 50 there would be no rotor to watch. */
const tickS = 5;

/** A turbine that has run under this steady wind at the hub for two minutes. */
async function under({ args }: MachineCase, windMS: number, changes: Partial<KindSpec> = {}): Promise<KindRig> {
  const rig = new KindRig({ args, ...changes, wind: { turbulenceClass: 'none', ...changes.wind } });
  rig.command({ kind: 'wind.override', speedMS: windMS, height: 'hub' });
  await rig.watch(120, tickS, () => undefined);
  return rig;
}

for (const machine of machines) {
  const { name, ratedW, vaMaxVa, ratedRpm, stepW } = machine;
  const near = stepW + 1;

  describe(`wind device, ${name}: power`, () => {
    it('delivers its rating above rated wind and follows the curve below', async () => {
      const strong = await under(machine, 14);
      expect(strong.w).to.equal(ratedW);
      expect([strong.detail('wind').region, strong.state]).to.deep.equal(['3', 'on running connected']);
      const weak = await under(machine, 8);
      expect(weak.detail('wind').region).to.equal('2');
      expect(weak.w).to.be.within(0.3 * ratedW, 0.5 * ratedW);
      expect(weak.detail('wind').pitchDeg).to.equal(0);
    });

    it('starts settled under a limit: the pitch fits the limit', async () => {
      const rig = new KindRig({
        args: machine.args,
        wind: { turbulenceClass: 'none' },
        models: { 704: { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 40 } },
      });
      await rig.watch(60, 0.5, () => {
        expect(rig.w).to.be.closeTo(0.4 * ratedW, near);
        expect(rig.detail('wind').rotorRpm / ratedRpm).to.be.at.most(1.055);
        expect(rig.alarms).to.deep.equal([]);
      });
    });

    it('WMaxLimPct curtails by pitch with the rotor at 105 % at most; without it the full power returns', async () => {
      const rig = await under(machine, 14);
      const before = rig.detail('wind');
      let mostRpm = 0;
      const alarms = new Set<string>();
      const watched = () => {
        mostRpm = Math.max(mostRpm, rig.detail('wind').rotorRpm);
        rig.alarms.forEach((code) => alarms.add(code));
      };
      rig.limit(40);
      await rig.watch(60, 0.5, watched);
      const held = rig.detail('wind');
      expect(rig.w).to.be.closeTo(0.4 * ratedW, near);
      expect(held.pitchDeg).to.be.above(before.pitchDeg + 2);
      expect(held.rotorRpm / ratedRpm).to.be.closeTo(1.05, 0.003);
      expect([rig.state, rig.active, rig.map.m701.ThrotPct]).to.deep.equal(['on throttled connected', 'max_power', 40]);
      rig.limit(null);
      await rig.watch(120, 0.5, watched);
      expect(rig.w).to.equal(ratedW);
      expect(rig.detail('wind').pitchDeg).to.be.closeTo(before.pitchDeg, 0.1);
      expect(rig.detail('wind').rotorRpm / ratedRpm).to.be.closeTo(1, 0.002);
      expect(rig.state).to.equal('on running connected');
      expect(mostRpm / ratedRpm).to.be.below(1.055);
      expect([...alarms]).to.deep.equal([]);
    });

    for (const [i, limitPct] of [60, 10, 0].entries()) {
      it(`a limit of ${limitPct} % at 11.5 to 20 m/s is no overspeed`, async () => {
        for (const windMS of pick({ quick: dealt([11.5, 15, 20], 3, i), ci: [11.5, 15, 20] })) {
          const rig = await under(machine, windMS);
          rig.limit(limitPct);
          let mostRpm = 0;
          await rig.watch(60, 1, () => {
            mostRpm = Math.max(mostRpm, rig.detail('wind').rotorRpm);
            expect(rig.alarms, `${windMS} m/s`).to.deep.equal([]);
          });
          expect(mostRpm / ratedRpm, `${windMS} m/s`).to.be.below(1.07);
          expect(rig.w, `${windMS} m/s`).to.be.closeTo((limitPct / 100) * ratedW, near);
        }
      });
    }

    it('follows set-points in watts and percent, at 704.WRmp', async () => {
      const rig = await under(machine, 14);
      rig.demand(0.3 * ratedW);
      await rig.watch(1, 0.1, () => undefined);
      expect(rig.w).to.be.closeTo(0.8 * ratedW, 0.01 * ratedW);
      await rig.watch(10, 1, () => undefined);
      expect(rig.w).to.be.closeTo(0.3 * ratedW, near);
      expect(rig.active).to.equal('active_power');
      rig.write(({ m704 }) => {
        Object.assign(m704, { WSetMod: 'W_MAX_PCT', WSetPct: 70 });
      });
      await rig.watch(20, 1, () => undefined);
      expect(rig.w).to.be.closeTo(0.7 * ratedW, near);
      rig.demand(null);
      await rig.watch(30, 1, () => undefined);
      expect(rig.w).to.equal(ratedW);
    });

    it('a set-point above the wind gives the available power, 0 none, and a negative one is refused', async () => {
      const rig = await under(machine, 8);
      const freeW = rig.w;
      rig.demand(0.9 * ratedW);
      await rig.watch(30, 1, () => undefined);
      expect(rig.w).to.be.closeTo(freeW, 0.002 * freeW);
      expect(
        codeOf(() => {
          rig.demand(-0.5 * ratedW);
        }),
      ).to.equal('MAP_BAD_VALUE');
      rig.demand(0);
      await rig.watch(30, 1, () => undefined);
      expect(rig.w).to.equal(0);
      expect(rig.detail('wind').pitchDeg).to.be.above(5);
    });

    it('droop reduces power above 60.036 Hz and adds it below 59.964 Hz if there is a reserve', async () => {
      const rig = await under(machine, 14);
      const perHz = ratedW / (0.05 * 60);
      rig.plant.setGrid({ frequencyHz: 60.6 });
      await rig.watch(60, 1, () => undefined);
      expect(rig.w).to.be.closeTo(ratedW - (0.6 - 0.036) * perHz, near);
      expect(rig.active).to.equal('freq_droop');
      rig.plant.setGrid({ frequencyHz: 60 });
      await rig.watch(60, 1, () => undefined);
      expect(rig.w).to.equal(ratedW);
      rig.plant.setGrid({ frequencyHz: 59.4 });
      await rig.watch(60, 1, () => undefined);
      expect(rig.w, 'no reserve').to.equal(ratedW);
      rig.plant.setGrid({ frequencyHz: 60 });
      rig.limit(50);
      await rig.watch(60, 1, () => undefined);
      rig.plant.setGrid({ frequencyHz: 59.4 });
      await rig.watch(60, 1, () => undefined);
      expect(rig.w, 'with reserve').to.be.closeTo(0.5 * ratedW + (0.6 - 0.036) * perHz, near);
      rig.plant.setGrid({ frequencyHz: 60 });
      await rig.watch(60, 1, () => undefined);
      expect(rig.w).to.be.closeTo(0.5 * ratedW, near);
    });

    it('volt-watt limits it at high voltage', async () => {
      const rig = await under(machine, 14);
      rig.useCurve(706, [
        [106, 100],
        [110, 0],
      ]);
      rig.plant.setGrid({ voltagePu: 1.08 });
      await rig.watch(30, 1, () => undefined);
      expect(rig.w).to.be.closeTo(0.5 * ratedW, near);
      expect(rig.active).to.equal('volt_watt');
    });
  });

  describe(`wind device, ${name}: reactive power`, () => {
    const curve = [
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ] as const;
    const fullVar = 0.44 * vaMaxVa;
    const nearVar = 2 * stepW;

    it('volt-var gives all of it from 20 % of rated power on, in proportion below, nothing under 5 %', async () => {
      for (const windMS of [9, 5, 3.4]) {
        const rig = await under(machine, windMS);
        rig.useCurve(705, curve);
        rig.plant.setGrid({ voltagePu: 0.92 });
        await rig.watch(20, 1, () => undefined);
        const share = rig.w / ratedW;
        const part = share >= 0.2 ? 1 : share < 0.05 ? 0 : share / 0.2;
        expect(rig.q, `${windMS} m/s`).to.be.closeTo(part * fullVar, nearVar + 0.002 * fullVar);
        rig.plant.setGrid({ voltagePu: 1.08 });
        await rig.watch(20, 1, () => undefined);
        expect(rig.q, `${windMS} m/s`).to.be.closeTo(-part * fullVar, nearVar + 0.01 * fullVar);
      }
    });

    it('a converter with full vars delivers them in any wind that turns the rotor, and none when parked', async () => {
      const inverter: Partial<InverterParameters> = { lowPowerVars: 'full' };
      const rig = await under(machine, 3.4, { inverter });
      rig.useCurve(705, curve);
      rig.plant.setGrid({ voltagePu: 0.92 });
      await rig.watch(30, 1, () => undefined);
      expect(rig.w).to.be.within(1, 0.05 * ratedW);
      expect(rig.q).to.be.closeTo(fullVar, nearVar);
      rig.command({ kind: 'wind.override', speedMS: 1, height: 'hub' });
      await rig.watch(300, tickS, () => undefined);
      expect([rig.w, rig.q, rig.detail('wind').region]).to.deep.equal([0, 0, 'parked']);
    });

    it('constant var and power factor stay inside the apparent-power circle', async () => {
      const rig = await under(machine, 14);
      rig.write(({ m704 }) => {
        Object.assign(m704, { VarSetMod: 'VAR_MAX_PCT', VarSetPct: -100, VarSetEna: 'ENABLED' });
      });
      await rig.watch(30, 1, () => undefined);
      expect(rig.q).to.be.closeTo(-(rig.map.m702.VarMaxAbs ?? 0), nearVar);
      expect(Math.hypot(rig.w, rig.q)).to.be.at.most(vaMaxVa + nearVar);
      expect(rig.w).to.be.closeTo(Math.min(ratedW, Math.sqrt(vaMaxVa ** 2 - rig.q ** 2)), near);
    });
  });
}

describe('wind device: cut-in, storm and override', () => {
  it('parks below cut-in, starts a minute after the wind has come', async () => {
    const rig = await under(t3, 2);
    expect([rig.w, rig.detail('wind').state, rig.detail('wind').region, rig.state]).to.deep.equal([
      0,
      'stopped',
      'parked',
      'on sleeping connected',
    ]);
    rig.command({ kind: 'wind.override', speedMS: 8, height: 'hub' });
    const startS = await rig.until(() => rig.detail('wind').state === 'starting', 0.5, 120);
    expect(startS).to.be.closeTo(60, 0.6);
    await rig.until(() => rig.detail('wind').state === 'run_mppt', 1, 120);
    await rig.watch(120, tickS, () => undefined);
    expect(rig.w).to.be.closeTo(1_719_600, 2000);
  });

  it('stops in a storm over some seconds, and comes back after five minutes of less wind', async () => {
    const rig = await under(t3, 20);
    const seen: number[] = [];
    rig.command({ kind: 'wind.override', speedMS: 27, height: 'hub' });
    await rig.watch(20, 1, () => seen.push(rig.w));
    expect([rig.detail('wind').state, rig.detail('wind').region, rig.state]).to.deep.equal([
      'high_wind_stop',
      'cut_out',
      'on sleeping connected',
    ]);
    expect(seen.filter((w) => w > 0 && w < 5e6).length, 'led down').to.be.above(2);
    expect(seen.at(-1)).to.equal(0);
    seen.slice(1).forEach((w, i) => {
      expect(w).to.be.at.most(seen[i]!);
    });
    rig.command({ kind: 'wind.override', speedMS: 20, height: 'hub' });
    expect(await rig.until(() => rig.detail('wind').state !== 'high_wind_stop', 1, 400)).to.be.closeTo(300, 2);
    expect(rig.w).to.equal(0);
    await rig.watch(180, tickS, () => undefined);
    expect(rig.w).to.equal(5e6);
  });

  it('an override is echoed as given; null ends it, and a reset of the device too', async () => {
    const rig = new KindRig({ args: t4.args });
    rig.command({ kind: 'wind.override', speedMS: -3, height: 'hub' });
    await rig.watch(200, tickS, () => undefined);
    expect(rig.detail('wind')).to.include({ source: 'override', overrideSpeedMS: -3, windSpeedMS: 0 });
    expect(rig.w).to.equal(0);
    rig.command({ kind: 'wind.override', speedMS: null, height: 'hub' });
    expect(rig.detail('wind')).to.include({ source: 'dataset', overrideSpeedMS: null });
    rig.command({ kind: 'wind.override', speedMS: 9, height: 'anemometer' });
    await rig.watch(60, tickS, () => undefined);
    expect(rig.detail('wind').windSpeedMeasuredMS).to.be.closeTo(9, 1e-9);
    expect(rig.detail('wind').windSpeedMS).to.be.closeTo(9 * (37 / 5) ** 0.14, 1e-6);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(1);
    expect(rig.detail('wind').source).to.equal('dataset');
  });

  it('refuses commands of another kind, and bad speeds', () => {
    const rig = new KindRig({ args: t4.args });
    expect(rig.refusalOf({ kind: 'fuelcell.tank', levelPct: 50 })).to.equal('COMMAND_NOT_APPLICABLE');
    expect(rig.refusalOf({ kind: 'wind.override', speedMS: NaN, height: 'hub' })).to.equal('COMMAND_BAD_VALUE');
    expect(codeOf(() => rig.device.dcCurve(undefined, 20))).to.equal('COMMAND_NOT_APPLICABLE');
  });
});
