import { expect } from 'chai';
import type { ControlTarget } from '../../../src/csip/control/model.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import {
  apply,
  control,
  curve,
  differences,
  event,
  point,
  points,
  standard,
  stateOf,
  target,
} from '../../support/csip-controls.ts';
import type { Base } from '../../support/csip-controls.ts';

const link = { href: '/c' };

interface Bench {
  readonly plant: SimPlant;
  readonly device: Device;
  readonly bridge: ControlTarget;
  /** power and reactive power after so many seconds under a control */
  readonly after: (
    seconds: number,
    base: Base,
    of?: ReturnType<typeof curve>,
  ) => Promise<readonly [w: number, reactive: number]>;
}

async function bench(type: string, options: TestPlantOptions = {}, revision: '2018' | '2023' = '2018'): Promise<Bench> {
  const plant = testPlant({ types: [type], tickIntervalS: 0.5, ...options });
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
  await plant.step(60);
  const device = plant.device(0);
  const bridge = target(plant, 0, revision);
  let count = 0;
  const after: Bench['after'] = async (seconds, base, of) => {
    count += 1;
    const [outcome] = apply(bridge, event(`E${count}`, control(base, of && { '/c': of })));
    expect(outcome, JSON.stringify(base)).to.deep.equal({ state: 'applied', leftOut: [], overwritten: false });
    await plant.step(seconds * 2);
    return [Number(point(device, '701.W')), Number(point(device, '701.Var'))];
  };
  return { plant, device, bridge, after };
}

describe('DERControls move registers and power', () => {
  it('limit a PV device at their start, and its power follows with 704.WRmp', async () => {
    const plant = testPlant();
    await plant.step(4);
    const before = stateOf(plant);
    const device = plant.device(0);
    const free = Number(point(device, '701.W'));
    const bridge = target(plant);
    const [outcome] = apply(bridge, event('E1', control({ opModMaxLimW: 3050 })));
    expect(outcome).to.deep.equal({ state: 'applied', leftOut: [], overwritten: false });
    expect(points(device, '704.WMaxLimPctEna', '704.WMaxLimPct', '701.W')).to.deep.equal(['ENABLED', 30.5, free]);
    expect(device.bank.provenance(device.bank.layout.slot(704, 'WMaxLimPct')!)).to.include({
      source: 'csip',
      peer: 'E1',
    });
    await plant.step(1);
    // 20 % of 10 kW per second for one tick of 1.5 s
    expect(point(device, '701.W')).to.be.within(free - 3010, free - 2990);
    await plant.step(3);
    expect(point(device, '701.W')).to.equal(3050);
    apply(bridge);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
    await plant.step(8);
    expect(point(device, '701.W')).to.be.within(free - 20, free + 20);
  });

  it('PV: limit, set-points, power factor, reactive power', async () => {
    const { device, after } = await bench('PV-3Phase');
    expect((await after(10, { opModFixedW: 2500 }))[0]).to.equal(2500);
    expect(points(device, '704.WSetEna', '704.WSetMod', '704.WSetPct')).to.deep.equal(['ENABLED', 'W_MAX_PCT', 25]);
    expect((await after(10, { opModTargetW: { multiplier: 2, value: 47 } }))[0]).to.equal(4700);
    expect(points(device, '704.WSetMod', '704.WSet')).to.deep.equal(['WATTS', 4700]);
    const [, under] = await after(10, {
      opModFixedW: 5000,
      opModFixedPFInjectW: { displacement: 90, excitation: true, multiplier: -2 },
    });
    expect(under).to.be.closeTo(-5000 * Math.tan(Math.acos(0.9)), 5);
    expect(points(device, '704.PFWInj.PF', '704.PFWInj.Ext')).to.deep.equal([0.9, 'UNDER_EXCITED']);
    const [, over] = await after(10, {
      opModFixedW: 5000,
      opModFixedPFInjectW: { displacement: 9, excitation: false, multiplier: -1 },
    });
    expect(over).to.be.closeTo(5000 * Math.tan(Math.acos(0.9)), 5);
    expect(point(device, '704.PFWInj.Ext')).to.equal('OVER_EXCITED');
    const varOf = async (refType: number) =>
      (await after(10, { opModFixedW: 3000, opModFixedVar: { refType, value: -2000 } }))[1];
    expect(await varOf(1)).to.be.closeTo(-2000, 3);
    expect(await varOf(2)).to.be.closeTo(-880, 3);
    expect(point(device, '704.VarSetMod')).to.equal('VAR_MAX_PCT');
    expect(await varOf(3)).to.be.within(-900, -500);
    expect(point(device, '704.VarSetMod')).to.equal('VAR_AVAIL_PCT');
    expect((await after(10, { opModTargetVar: { multiplier: 2, value: 11 } }))[1]).to.be.closeTo(1100, 3);
    expect(points(device, '704.VarSetMod', '704.VarSet')).to.deep.equal(['VARS', 1100]);
  });

  it('PV: volt-var with reference voltage, volt-watt, watt-var', async () => {
    const { plant, device, after } = await bench('PV-3Phase');
    plant.setGrid({ voltageAPu: 1.05, voltageBPu: 1.05, voltageCPu: 1.05 });
    const half = { opModFixedW: 4000 };
    const volt = curve(
      11,
      [
        [95, 30],
        [105, -30],
      ],
      { yRefType: 1, openLoopTms: 100 },
    );
    expect((await after(10, { ...half, opModVoltVar: link }, volt))[1]).to.be.closeTo(-3000, 40);
    // x is multiplied with the reference: at 105 % the curve is at 105 / 0.98 = 107.1 %, and at 100 / 0.98 in the next
    const shifted = {
      ...volt,
      vRef: 9800,
      CurveData: [
        { xvalue: 10_000, yvalue: 0 },
        { xvalue: 11_000, yvalue: -2000 },
      ],
    };
    const [, reactive] = await after(10, { ...half, opModVoltVar: link }, shifted);
    expect(reactive).to.be.closeTo(-(105 / 0.98 - 100) * 200, 20);
    expect(point(device, '705.Crv[0].VRef')).to.equal(98);
    const watt = curve(
      12,
      [
        [100, 100],
        [110, 0],
      ],
      { openLoopTms: 100 },
    );
    expect((await after(10, { opModVoltWatt: link }, watt))[0]).to.be.closeTo(5000, 30);
    expect(point(device, '706.Crv[0].DeptRef')).to.equal('W_MAX_PCT');
    await after(1, { opModVoltWatt: link }, { ...watt, yRefType: 7 });
    expect(point(device, '706.Crv[0].DeptRef')).to.equal('W_AVAL_PCT');
    plant.setGrid({ voltageAPu: 1, voltageBPu: 1, voltageCPu: 1 });
    const wattVar = curve(
      14,
      [
        [0, 0],
        [100, -40],
      ],
      { yRefType: 1 },
    );
    expect((await after(15, { opModFixedW: 5000, opModWattVar: link }, wattVar))[1]).to.be.closeTo(-2000, 30);
  });

  it('PV: droop follows the frequency', async () => {
    const { plant, device, after } = await bench('PV-3Phase');
    plant.setGrid({ frequencyHz: 60.6 });
    const droop = { dBOF: 100, dBUF: 100, kOF: 50, kUF: 50, openLoopTms: 50 };
    const [free] = [Number(point(device, '701.W'))];
    const [w] = await after(15, { opModFreqDroop: droop });
    // 0.5 Hz beyond the dead band of 60 Hz with 5 %: a sixth of the rating
    expect(free - w).to.be.closeTo((10_000 * 0.5) / 60 / 0.05, 350);
    expect(points(device, '711.Ctl[0].DbOf', '711.Ctl[0].KOf', '711.Ctl[0].RspTms')).to.deep.equal([0.1, 0.05, 0.5]);
  });

  it('service needs both switch and permission', async () => {
    const { plant, device, bridge } = await bench('PV-3Phase', { models: { 703: { ESDlyTms: 0, ESRmpTms: 0 } } });
    const both = async (connect: boolean, energize: boolean) => {
      apply(bridge, event('E', control({ opModConnect: connect, opModEnergize: energize })));
      await plant.step(20);
      return [device.switchClosed, point(device, '703.ES'), Number(point(device, '701.W')) > 1000];
    };
    expect(await both(true, true)).to.deep.equal([true, 'ENABLED', true]);
    expect(await both(false, true)).to.deep.equal([false, 'ENABLED', false]);
    expect(point(device, '701.ConnSt')).to.equal('DISCONNECTED');
    expect(await both(true, false)).to.deep.equal([true, 'DISABLED', false]);
    apply(bridge);
    await plant.step(60);
    expect([device.switchClosed, point(device, '703.ES')]).to.deep.equal([true, 'ENABLED']);
    expect(point(device, '701.W')).to.be.greaterThan(1000);
  });

  it('a momentary cessation curve and a must-trip curve are in force', async () => {
    const { plant, device, after } = await bench('PV-3Phase');
    await after(
      1,
      { opModHVRTMustTrip: link },
      curve(5, [
        [0.5, 120],
        [3, 104],
      ]),
    );
    expect(points(device, '708.Ena', '708.Crv[0].MustTrip.ActPt', '708.Crv[0].MustTrip.Pt[1].V')).to.deep.equal([
      'ENABLED',
      2,
      104,
    ]);
    plant.setGrid({ voltageAPu: 1.06, voltageBPu: 1.06, voltageCPu: 1.06 });
    await plant.step(4);
    expect(point(device, '701.ConnSt')).to.equal('CONNECTED');
    await plant.step(6);
    expect(point(device, '701.W')).to.equal(0);
  });

  it('battery: a negative set-point is a share of the charge rating', async () => {
    const { device, after } = await bench('Batt-3Phase', { models: { 702: { WChaRteMax: 6000 } } });
    expect((await after(15, { opModFixedW: -5000 }))[0]).to.be.closeTo(-3000, 5);
    expect(points(device, '704.WSetMod', '704.WSet')).to.deep.equal(['WATTS', -3000]);
    const [, reactive] = await after(10, {
      opModFixedW: -5000,
      opModFixedPFAbsorbW: { displacement: 95, excitation: true, multiplier: -2 },
    });
    expect(reactive).to.be.closeTo(-3000 * Math.tan(Math.acos(0.95)), 10);
    expect((await after(15, { opModStorageTargetW: { multiplier: 0, value: 2500 } }))[0]).to.be.closeTo(2500, 5);
    expect((await after(15, { opModStorageTargetW: { multiplier: 0, value: -2500 } }))[0]).to.be.closeTo(-2500, 5);
  });

  it('hybrid: a storage target moves the battery and leaves the array alone', async () => {
    const { plant, device, bridge, after } = await bench('HybridDC-3Phase');
    const detail = () => {
      if (device.detail.kind !== 'hybrid-dc') throw new Error('no hybrid');
      return device.detail;
    };
    const [policy, pvW] = [detail().policy, detail().pv.powerW];
    await after(10, { opModStorageTargetW: { multiplier: 2, value: -20 } });
    expect(detail().batteryPowerW).to.be.closeTo(-2000, 20);
    expect(detail().pv.powerW).to.be.closeTo(pvW, 300);
    await after(10, { opModStorageTargetW: { multiplier: 2, value: 15 }, opModExpLimW: { multiplier: 3, value: 5 } });
    expect(Number(point(device, '701.W'))).to.be.at.most(5001);
    apply(bridge);
    await plant.step(2);
    expect([detail().policy, detail().manualBatteryW]).to.deep.equal([policy, null]);
    expect(
      apply(bridge, event('E', control({ opModStorageTargetW: { multiplier: 3, value: 30 } })))[0]?.state,
    ).to.equal('invalid');
  });

  for (const type of ['Fuelcell-3Phase', 'Wind-T4-3Phase', 'Batt-3Phase', 'HybridDC-3Phase']) {
    it(`${type}: limit, set-point and reactive power`, async () => {
      const { device, after } = await bench(type);
      const wMax = Number(point(device, '702.WMax'));
      const [w] = await after(120, { opModFixedW: 4000, opModFixedVar: { refType: 1, value: 1000 } });
      expect(w).to.be.closeTo(0.4 * wMax, 0.02 * wMax);
      expect(Number(point(device, '701.Var'))).to.be.closeTo(0.1 * wMax, 0.01 * wMax);
      const [limited] = await after(120, { opModFixedW: 4000, opModMaxLimW: 2000 });
      expect(limited).to.be.closeTo(0.2 * wMax, 0.02 * wMax);
    });
  }

  it('EVSE: set-point and load limit hold the charging power', async () => {
    const { plant, device, after } = await bench('EVSE');
    device.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 } }, { source: 'rest' });
    await plant.step(120);
    expect(Number(point(device, '701.W'))).to.be.lessThan(-7000);
    expect((await after(20, { opModFixedW: -3000 }))[0]).to.be.closeTo(-6600, 100);
    expect((await after(20, { opModLoadLimW: { multiplier: 2, value: 80 } }))[0]).to.be.within(-8001, -7000);
  });

  it('limits of CSIP-AUS count the load beside the device for export, and not for generation', async () => {
    const { plant, device, after } = await bench('PV-3Phase');
    plant.setSurroundings({ loadKw: 2 }, 0);
    const [exported] = await after(10, { opModExpLimW: { multiplier: 0, value: 1500 } });
    expect(exported).to.be.closeTo(3500, 5);
    const [generated] = await after(30, { opModGenLimW: { multiplier: 0, value: 1500 } });
    expect(generated).to.be.closeTo(1500, 5);
    expect(plant.siteOf([0]).owners.map(({ owner }) => owner)).to.deep.equal(['csip:0']);
    expect(point(device, '704.WMaxLimPctEna')).to.equal('DISABLED');
    expect(plant.site.limits.export.limitW).to.equal(null);
  });

  it('a limit of CSIP-AUS comes and goes with rampTms, or with setGradW', async () => {
    const { plant, device, bridge } = await bench('PV-3Phase');
    const w = () => Number(point(device, '701.W'));
    const free = w();
    const gradient = standard({ ...control({}), settings: { setGradW: 100 } });
    const limitOf = (id: string, kw: number, rampTms?: number) =>
      event(
        id,
        control({ opModExpLimW: { multiplier: 2, value: 10 * kw }, ...(rampTms !== undefined && { rampTms }) }),
      );
    apply(bridge, limitOf('A', 3, 6000), gradient);
    await plant.step(60);
    expect(w()).to.be.closeTo((free + 3000) / 2, 150);
    await plant.step(60);
    expect(w()).to.be.closeTo(3000, 2);
    apply(bridge, limitOf('B', 5), gradient);
    await plant.step(20);
    // 1 % of 10 kW per second
    expect(w()).to.be.closeTo(4000, 20);
    await plant.step(30);
    expect(w()).to.be.closeTo(5000, 2);
    apply(bridge, limitOf('C', 4), gradient);
    await plant.step(10);
    expect(w()).to.be.within(4395, 4505);
    apply(bridge, limitOf('D', 5, 2000), gradient);
    const from = w();
    expect(device.gradient.w.pctPerS).to.be.closeTo((5000 - from) / 100 / 20, 0.06);
    await plant.step(20);
    expect(w()).to.be.closeTo((from + 5000) / 2, 60);
    apply(bridge, limitOf('E', 2));
    await plant.step(1);
    expect(w()).to.be.closeTo(2000, 2);
    apply(bridge);
    expect(plant.siteScopes.flatMap(({ owners }) => owners)).to.deep.equal([]);
  });

  it('2023: limit in watts, percentages of VA, limit of absorption', async () => {
    const { device, after } = await bench('Batt-3Phase', {}, '2023');
    expect((await after(10, { opModFixedW: 9000, opModMaxLimWInject: { multiplier: 2, value: 31 } }))[0]).to.equal(
      3100,
    );
    await after(1, { opModFixedVar: { refType: 8, value: 1000 } });
    expect(point(device, '704.VarSetMod')).to.equal('VA_MAX_PCT');
    const [w] = await after(20, { opModFixedW: -9000, opModMaxLimWAbsorb: { multiplier: 3, value: 2 } });
    expect(w).to.be.within(-2001, -1900);
  });

  it('watt-var below zero: 2018 refers to the rating, 2023 to the charge rating', async () => {
    const models = { 702: { WChaRteMax: 5000 } };
    const of = curve(
      14,
      [
        [-100, 30],
        [0, 0],
        [100, -30],
      ],
      { yRefType: 1 },
    );
    for (const [revision, share] of [
      ['2018', 15],
      ['2023', 30],
    ] as const) {
      const { after } = await bench('Batt-3Phase', { models }, revision);
      const [w, reactive] = await after(20, { opModFixedW: -10_000, opModWattVar: link }, of);
      expect(w, revision).to.be.closeTo(-5000, 10);
      expect(reactive, revision).to.be.closeTo(100 * share, 20);
    }
  });

  it('rampTms: exactly so long from the old power to the new one, and the slope is given back', async () => {
    const { plant, device, bridge, after } = await bench('Batt-3Phase');
    expect((await after(10, { opModTargetW: { multiplier: 0, value: 1000 } }))[0]).to.equal(1000);
    const usual = device.gradient;
    const [half] = await after(5, { opModTargetW: { multiplier: 0, value: 5000 }, rampTms: 1000 });
    expect(half).to.be.closeTo(3000, 10);
    expect(device.gradient.w).to.deep.equal({ pctPerS: 4, source: 'gradient' });
    await plant.step(10);
    expect(point(device, '701.W')).to.be.closeTo(5000, 10);
    const [, reactive] = await after(5, {
      opModTargetW: { multiplier: 0, value: 5000 },
      opModTargetVar: { multiplier: 0, value: 2000 },
      rampTms: 2000,
    });
    expect(reactive).to.be.closeTo(500, 20);
    apply(bridge);
    expect(device.gradient).to.deep.equal(usual);
  });

  it('setGradW is exact and belongs to the default control, and an event ramps as it says', async () => {
    const { plant, device, bridge } = await bench('Batt-3Phase');
    const of = standard({ ...control({ opModTargetW: { multiplier: 0, value: 0 } }), settings: { setGradW: 27 } });
    apply(bridge, event('E', control({ opModTargetW: { multiplier: 3, value: 5 }, rampTms: 0 })));
    await plant.step(4);
    expect(point(device, '701.W')).to.equal(5000);
    apply(bridge, of);
    expect(device.gradient.w).to.deep.equal({ pctPerS: 0.27, source: 'gradient' });
    await plant.step(20);
    expect(point(device, '701.W')).to.be.closeTo(5000 - 10 * 27, 2);
    apply(bridge, standard({ ...of.control, settings: { setGradW: 0 } }));
    expect(device.gradient.w.pctPerS).to.equal(1000);
    apply(bridge);
    expect(device.gradient.w.source).to.equal('register');
  });

  it('settings of a default control alone are in force', async () => {
    const { device, bridge } = await bench('PV-3Phase');
    const settings = {
      setESDelay: 12_000,
      setESRampTms: 4000,
      setSoftGradW: 100,
      setESHighFreq: 6015,
      setESLowVolt: 9100,
    };
    const [outcome] = apply(bridge, standard({ ...control({}), settings }));
    expect(outcome?.state).to.equal('applied');
    expect(points(device, '703.ESDlyTms', '703.ESRmpTms', '703.ESHzHi', '703.ESVLo')).to.deep.equal([
      120, 40, 60.15, 91,
    ]);
    apply(bridge, standard({ ...control({}), settings: { setSoftGradW: 50 } }));
    expect(points(device, '703.ESDlyTms', '703.ESRmpTms')).to.deep.equal([300, 200]);
  });
});
