import { expect } from 'chai';
import { StorageRig } from './support-storage.ts';

describe('battery device: bounds of the state of charge', () => {
  for (const tickS of [0.3, 1.5, 20, 300]) {
    it(`stops exactly at the floor and at the ceiling in ticks of ${tickS} s`, async () => {
      const rig = StorageRig.battery();
      for (const [fromPct, watts, boundPct, alarm, event, state] of [
        [12, 8000, 10, 'soc_low', 14, 'EMPTY'],
        [88, -8000, 90, 'soc_high', 16, 'FULL'],
      ] as const) {
        rig.fill(fromPct);
        rig.demand(watts);
        await rig.watch(300, tickS, () => {
          expect(rig.battery.trueSocPct).to.be.within(10 - 1e-9, 90 + 1e-9);
        });
        expect([rig.w, rig.map.m714.DCW, rig.alarmCodes.join()], alarm).to.deep.equal([0, 0, alarm]);
        expect([rig.m802.State, rig.m802.ChaSt, rig.map.m713.Sta]).to.deep.equal(['SOC PROTECTION', state, 'WARNING']);
        expect(rig.m802.Evt1, alarm).to.equal(2 ** event);
        expect([rig.map.m713.SoC, rig.m802.SoC]).to.deep.equal([boundPct, boundPct]);
        // standby loss takes a little after the ceiling
        expect(rig.battery.trueSocPct).to.be.closeTo(boundPct, 0.02);
      }
    });
  }

  it('the instant and the energy of the stop do not depend on the tick', async () => {
    const runs: { readonly whInj: number; readonly stopS: number }[] = [];
    for (const tickS of [0.1, 1.5, 30]) {
      const rig = StorageRig.battery();
      rig.fill(11);
      rig.demand(9000);
      let stopS = NaN;
      let passedS = 0;
      await rig.watch(120, tickS, () => {
        passedS += tickS;
        if (Number.isNaN(stopS) && rig.w === 0) stopS = passedS;
      });
      runs.push({ whInj: rig.map.m701.TotWhInj ?? NaN, stopS });
    }
    const [fine] = runs;
    for (const { whInj } of runs) expect(whInj).to.be.closeTo(fine?.whInj ?? NaN, 1);
    // 150 Wh of the nameplate; the voltage down there is below its mean
    expect(fine?.stopS).to.be.within(45, 60);
    expect(runs[1]?.stopS).to.be.closeTo(fine?.stopS ?? NaN, 1.5);
  });

  it('opens the blocked direction after one per cent, the other at once', async () => {
    const rig = StorageRig.battery();
    rig.fill(10.2);
    rig.demand(5000);
    await rig.run(30);
    expect([rig.w, rig.alarmCodes.join()]).to.deep.equal([0, 'soc_low']);
    rig.demand(-5000);
    await rig.run(60);
    expect([rig.w, rig.alarmCodes.join()]).to.deep.equal([-5000, 'soc_low']);
    expect(rig.map.m713.SoC).to.be.within(10.5, 10.7);
    rig.demand(5000);
    await rig.run(10);
    expect(rig.w).to.equal(0);
    rig.demand(-5000);
    await rig.run(80);
    expect(rig.map.m713.SoC).to.be.within(11.1, 11.6);
    expect(rig.alarmCodes).to.deep.equal([]);
    rig.demand(5000);
    await rig.run(10);
    expect(rig.w).to.equal(5000);
  });

  it('an empty battery is awake and charges; droop on low frequency cannot discharge it', async () => {
    const rig = StorageRig.battery();
    rig.fill(10);
    await rig.run(2);
    expect(rig.state).to.equal('on running connected');
    rig.plant.setGrid({ frequencyHz: 59.2 });
    await rig.run(30);
    expect([rig.w, rig.map.m713.SoC]).to.deep.equal([0, 10]);
    rig.plant.setGrid({ frequencyHz: 60.336 });
    await rig.run(30);
    expect(rig.w).to.equal(-1000);
  });
});

describe('battery device: reserve (802.SoCRsvMin, 802.SocRsvMax)', () => {
  it('limits set-points between the hard bounds; bounds out of order are refused', async () => {
    const rig = StorageRig.battery();
    const reserve = (min: number, max: number) =>
      rig.refusalOf((tx) => {
        if (tx.m802) Object.assign(tx.m802, { SoCRsvMin: min, SocRsvMax: max });
      });
    for (const [min, max] of [
      [9.9, 80],
      [30, 90.1],
      [60, 50],
      [-1, 80],
      [20, 101],
    ] as const)
      expect(reserve(min, max), `${min}..${max}`).to.equal('MAP_BAD_VALUE');
    expect([rig.m802.SoCRsvMin, rig.m802.SocRsvMax]).to.deep.equal([10, 90]);
    expect(reserve(30, 70)).to.equal(null);
    expect(
      rig.refusalOf(({ m802 }) => {
        if (m802) m802.SoCRsvMin = 71;
      }),
    ).to.equal('MAP_BAD_VALUE');
    await rig.run(1);
    expect([rig.m802.SoCRsvMin, rig.m802.SocRsvMax]).to.deep.equal([30, 70]);
    expect(rig.battery).to.include({ socReserveMinPct: 30, socReserveMaxPct: 70, socMinPct: 10, socMaxPct: 90 });
    for (const [fromPct, watts, boundPct, alarm] of [
      [31, 8000, 30, 'soc_low'],
      [69, -8000, 70, 'soc_high'],
    ] as const) {
      rig.fill(fromPct);
      rig.demand(watts);
      await rig.run(200);
      expect([rig.w, rig.map.m713.SoC, rig.alarmCodes.join()]).to.deep.equal([0, boundPct, alarm]);
    }
  });

  it('the hard bounds of the device cannot be written', () => {
    const rig = StorageRig.battery();
    for (const name of ['SoCMin', 'SoCMax'] as const) {
      expect(
        rig.refusalOf(({ m802 }) => {
          if (m802) Object.assign(m802, { [name]: 50 });
        }),
        name,
      ).to.be.a('string');
    }
    expect([rig.m802.SoCMin, rig.m802.SoCMax]).to.deep.equal([10, 90]);
  });

  it('under-frequency and a forced discharge may use it, a set-point may not', async () => {
    const rig = StorageRig.battery();
    rig.write(({ m802 }) => {
      if (m802) m802.SoCRsvMin = 30;
    });
    rig.fill(25);
    rig.demand(5000);
    await rig.run(20);
    expect([rig.w, rig.alarmCodes.join()]).to.deep.equal([0, 'soc_low']);
    rig.plant.setGrid({ frequencyHz: 59.664 });
    await rig.run(60);
    expect([rig.w, rig.active, rig.m802.ChaSt]).to.deep.equal([1000, 'freq_droop', 'DISCHARGING']);
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(60);
    expect(rig.w).to.equal(0);
    rig.command({ kind: 'battery.control', mode: 'discharge', powerW: 3000 });
    await rig.run(20);
    expect(rig.m802.W).to.equal(3000);
    rig.command({ kind: 'battery.control', mode: 'auto' });
    await rig.run(20);
    expect(rig.w).to.equal(0);
  });

  it('the reserve lasts down to the hard floor and no further', async () => {
    const rig = StorageRig.battery();
    rig.write(({ m802 }) => {
      if (m802) m802.SoCRsvMin = 30;
    });
    rig.fill(11);
    rig.plant.setGrid({ frequencyHz: 58.9 });
    await rig.run(60);
    expect(rig.w).to.be.within(3500, 3600);
    await rig.watch(200, 10, () => {
      expect(rig.battery.trueSocPct).to.be.at.least(10 - 1e-9);
    });
    expect([rig.w, rig.map.m713.SoC]).to.deep.equal([0, 10]);
  });
});
