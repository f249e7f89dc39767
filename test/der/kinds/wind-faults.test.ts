/** A turbine when the grid is not well: ride-through, cessation, trip, stop and return. */
import { expect } from 'chai';
import { KindRig } from './support.ts';
import type { KindSpec } from './support.ts';

const t3: KindSpec = { args: ['-d', 'Wind-T3-3Phase'] };
const t4: KindSpec = { args: ['-d', 'Wind-T4-3Phase', '-f', 'Wind-100kW-T4-3Phase'] };
const machines = [
  { name: 'type III, 5 MW', spec: t3, ratedW: 5e6, vaMaxVa: 5.3e6, stepW: 1000 },
  { name: 'type IV, 100 kW', spec: t4, ratedW: 1e5, vaMaxVa: 111_400, stepW: 10 },
];

async function running(spec: KindSpec, windMS = 14): Promise<KindRig> {
  const rig = new KindRig({ ...spec, wind: { turbulenceClass: 'none' } });
  rig.command({ kind: 'wind.override', speedMS: windMS, height: 'hub' });
  await rig.watch(120, 5, () => undefined);
  return rig;
}

const nothing = () => undefined;

for (const { name, spec, ratedW, vaMaxVa, stepW } of machines) {
  describe(`wind device, ${name}: voltage dips`, () => {
    it('a dip to 0.7 pu: 2 pu/pu of reactive current, lvrt_active, and the power back within a second', async () => {
      const rig = await running(spec);
      rig.plant.setGrid({ voltagePu: 0.7 });
      await rig.watch(1, 0.1, () => {
        expect(rig.q).to.be.closeTo(2 * (0.9 - 0.7) * 0.7 * vaMaxVa, 2 * stepW);
        expect(rig.w).to.be.within(0.6 * ratedW, 0.77 * ratedW);
        expect(rig.detail('wind').lvrtState).to.equal('active');
        expect(rig.alarms).to.deep.equal(['lvrt_active']);
        expect(rig.state).to.match(/^on .* connected$/);
      });
      expect(rig.detail('wind').chopperPowerW).to.be.above(0.2 * ratedW);
      rig.plant.setGrid({ voltagePu: 1 });
      await rig.watch(0.4, 0.1, nothing);
      expect(rig.detail('wind').lvrtState).to.equal('recovering');
      expect(rig.w).to.be.within(0.75 * ratedW, 0.999 * ratedW);
      await rig.watch(0.4, 0.1, nothing);
      expect(rig.detail('wind').lvrtState).to.equal('normal');
      expect([rig.w, rig.q, rig.alarms.length]).to.deep.equal([ratedW, 0, 0]);
    });

    it('the deeper the dip, the more reactive current, until none remains for active power', async () => {
      let before = 0;
      for (const pu of [0.87, 0.8, 0.7, 0.6, 0.52]) {
        const rig = await running(spec);
        rig.plant.setGrid({ voltagePu: pu });
        await rig.watch(0.5, 0.1, nothing);
        const currentPu = rig.q / pu / vaMaxVa;
        expect(currentPu, `${pu}`).to.be.closeTo(2 * (0.9 - pu), 0.005);
        expect(currentPu).to.be.above(before);
        expect(Math.hypot(rig.w, rig.q) / pu / vaMaxVa, `${pu}`).to.be.below(1.1 + 0.001);
        before = currentPu;
      }
    });

    it('0.88 pu and above is no dip', async () => {
      const rig = await running(spec);
      rig.plant.setGrid({ voltagePu: 0.885 });
      await rig.watch(1, 0.1, nothing);
      expect([rig.detail('wind').lvrtState, rig.q, rig.alarms.length]).to.deep.equal(['normal', 0, 0]);
    });

    for (const pu of [0.45, 0.3]) {
      it(`${pu} pu: momentary cessation, connected and throttled, and back`, async () => {
        const rig = await running(spec);
        rig.plant.setGrid({ voltagePu: pu, durationS: 1 });
        await rig.watch(0.1, 0.1, nothing);
        await rig.watch(0.8, 0.1, () => {
          expect([rig.w, rig.q]).to.deep.equal([0, 0]);
          expect(rig.alarms).to.deep.equal(['lvrt_active']);
        });
        expect(rig.state).to.equal('on throttled connected');
        await rig.watch(5, 0.5, nothing);
        expect([rig.w, rig.alarms.length, rig.state]).to.deep.equal([ratedW, 0, 'on running connected']);
      });
    }
  });

  describe(`wind device, ${name}: trip, stop and return`, () => {
    it('trips on low voltage after 2 s, feathers, and returns through enter service', async () => {
      const rig = await running(spec);
      rig.quickEntry(20);
      rig.plant.setGrid({ voltagePu: 0.4, durationS: 5 });
      await rig.watch(1.9, 0.1, nothing);
      expect(rig.state).to.match(/connected$/);
      await rig.watch(0.6, 0.1, nothing);
      expect(rig.state).to.equal('off fault disconnected');
      expect(rig.alarms).to.include('ac_under_volt');
      expect(rig.detail('wind').lvrtState).to.equal('tripped');
      await rig.watch(10, 0.5, () => {
        expect([rig.w, rig.q, rig.map.m714.DCW]).to.deep.equal([0, 0, 0]);
      });
      expect(rig.state).to.equal('off standby disconnected');
      expect(rig.detail('wind').pitchDeg).to.be.above(30);
      expect(rig.device.enterService.delayRemainingS).to.be.within(10, 20);
      await rig.until(() => rig.map.m701.ConnSt === 'CONNECTED', 0.5, 30);
      await rig.watch(300, 5, nothing);
      expect([rig.w, rig.state, rig.alarms.length]).to.deep.equal([ratedW, 'on running connected', 0]);
      expect(rig.detail('wind').lvrtState).to.equal('normal');
    });

    it('the enter-service ramp is followed', async () => {
      const rig = await running(spec);
      rig.quickEntry(1, 100);
      rig.plant.setGrid({ voltagePu: 0.4, durationS: 2.3 });
      await rig.until(() => rig.map.m701.InvSt === 'STARTING', 0.1, 10);
      let passedS = 0.1;
      await rig.watch(90, 1, () => {
        passedS += 1;
        expect(rig.w).to.be.at.most((passedS / 100) * ratedW + 0.005 * ratedW);
      });
      await rig.watch(30, 1, nothing);
      expect(rig.w).to.be.above(0.99 * ratedW);
    });

    it('OpCtl STOP ramps the power down at 704.WRmp and START brings it back', async () => {
      const rig = await running(spec);
      rig.quickEntry();
      rig.write(({ m715 }) => {
        m715.OpCtl = 'STOP';
      });
      await rig.watch(1, 0.1, nothing);
      expect(rig.state).to.equal('off shutting_down connected');
      expect(rig.w).to.be.closeTo(0.8 * ratedW, 0.01 * ratedW);
      await rig.watch(6, 0.5, nothing);
      expect([rig.w, rig.state, rig.alarms.includes('manual_shutdown')]).to.deep.equal([
        0,
        'off off disconnected',
        true,
      ]);
      await rig.watch(120, 5, nothing);
      expect(rig.detail('wind').rotorRpm).to.equal(0);
      rig.write(({ m715 }) => {
        m715.OpCtl = 'START';
      });
      await rig.watch(240, 5, nothing);
      expect([rig.w, rig.state, rig.alarms.length]).to.deep.equal([ratedW, 'on running connected', 0]);
    });
  });
}

describe('wind device: crowbar and overspeed', () => {
  it('a doubly fed machine below 0.3 pu takes 0.2 pu of reactive current at first', async () => {
    const rig = await running(t3);
    rig.plant.setGrid({ voltagePu: 0.2, durationS: 0.5 });
    await rig.watch(0.06, 0.02, () => {
      expect(rig.q).to.be.closeTo(-0.2 * 0.2 * 5.3e6, 2000);
      expect(rig.w).to.equal(0);
    });
    const full = await running(t4);
    full.plant.setGrid({ voltagePu: 0.2, durationS: 0.5 });
    await full.watch(0.06, 0.02, () => {
      expect(full.q).to.be.above(0);
    });
  });

  it('load loss near rated wind: overspeed with its bit and text, which physics clears', async () => {
    const rig = await running(t4, 13);
    rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
    rig.plant.setGrid({ outage: true });
    const seen: string[][] = [];
    await rig.watch(20, 0.5, () => {
      if (rig.alarms.includes('overspeed'))
        seen.push([String((rig.map.m701.Alrm ?? 0) & (1 << 16)), rig.map.m701.MnAlrmInfo ?? '']);
    });
    expect(seen.length).to.be.above(0);
    expect(seen[0]).to.deep.equal(['65536', 'the rotor turns too fast']);
    expect(rig.alarms).not.to.include('overspeed');
    expect((rig.map.m701.Alrm ?? 0) & (1 << 16)).to.equal(0);
    expect(rig.device.latchedAlarmCount).to.equal(0);
  });
});
