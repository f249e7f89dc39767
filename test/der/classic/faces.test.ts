import { expect } from 'chai';
import { byModbus, codeOf, errorOf, named } from '../../support/map.ts';
import { counterValue } from '../../../src/der/classic/publish.ts';
import { both, pointOf, shown, write } from '../../support/faces.ts';
import { byTest, Rig } from '../../support/rig.ts';

describe('two faces of one setting', () => {
  it('a limit by 123 and one by 704 move 701.W and 103.W to the same watts', async () => {
    const rig = await Rig.sunny(both);
    write(rig, { '123.WMaxLimPct': 40, '123.WMaxLim_Ena': 'ENABLED' });
    await rig.run(60);
    const byClassic = shown(rig, '701.W', '103.W');
    expect(byClassic[0]).to.be.closeTo(4000, 5);
    expect(byClassic[1]).to.equal(byClassic[0]);
    expect(shown(rig, '704.WMaxLimPct', '704.WMaxLimPctEna')).to.deep.equal([40, 'ENABLED']);
    write(rig, { '123.WMaxLim_Ena': 'DISABLED' });
    await rig.run(60);
    expect(shown(rig, '704.WMaxLimPctEna', '701.W')).to.deep.equal(['DISABLED', pointOf(rig, '103.W')]);
    write(rig, { '704.WMaxLimPct': 40, '704.WMaxLimPctEna': 'ENABLED' });
    await rig.run(60);
    expect(shown(rig, '701.W', '103.W')).to.deep.equal(byClassic);
    expect(shown(rig, '123.WMaxLimPct', '123.WMaxLim_Ena')).to.deep.equal([40, 'ENABLED']);
  });

  it('the writer of one face is that of the other, and one change names both', () => {
    const rig = new Rig(both);
    const { bank } = rig.device;
    const seen: string[][] = [];
    bank.onChange(({ points }) => seen.push(points.map(({ modelId, path }) => `${modelId}.${path}`)));
    write(rig, { '123.WMaxLimPct': 70 });
    expect(seen).to.deep.equal([['123.WMaxLimPct', '704.WMaxLimPct']]);
    expect(bank.provenance(named(bank.layout, '704.WMaxLimPct'))).to.include({ source: 'rest', peer: 'test' });
  });

  it('16 bits of a reversion time are those of the 32, and the limit ends on both faces', async () => {
    const rig = new Rig(both);
    write(rig, { '123.WMaxLimPct_RvrtTms': 30, '123.WMaxLimPct': 50, '123.WMaxLim_Ena': 'ENABLED' });
    expect(shown(rig, '704.WMaxLimPctRvrtTms', '704.WMaxLimPctRvrtRem')).to.deep.equal([30, 30]);
    await rig.run(31);
    expect(shown(rig, '123.WMaxLim_Ena', '704.WMaxLimPctEna')).to.deep.equal(['DISABLED', 'DISABLED']);
    write(rig, { '704.WMaxLimPctRvrtTms': 1_000_000 });
    expect(pointOf(rig, '123.WMaxLimPct_RvrtTms')).to.equal(65_534);
  });

  it('writing the same limit again starts its reversion time again', async () => {
    const rig = new Rig(both);
    write(rig, { '123.WMaxLimPct_RvrtTms': 30, '123.WMaxLimPct': 50, '123.WMaxLim_Ena': 'ENABLED' });
    await rig.run(20);
    write(rig, { '123.WMaxLimPct': 50 });
    await rig.run(20);
    expect(pointOf(rig, '123.WMaxLim_Ena')).to.equal('ENABLED');
  });

  it('a window delays the effect by a random part of it, and a write of the other face takes its place', async () => {
    const rig = new Rig(both);
    write(rig, { '123.WMaxLimPct_WinTms': 100, '123.WMaxLimPct': 50, '123.WMaxLim_Ena': 'ENABLED' });
    expect(shown(rig, '123.WMaxLim_Ena', '704.WMaxLimPctEna')).to.deep.equal(['ENABLED', 'DISABLED']);
    let delayS = 0;
    while (pointOf(rig, '704.WMaxLimPctEna') !== 'ENABLED' && delayS < 101) {
      await rig.run(1);
      delayS += 1;
    }
    expect(delayS).to.be.within(1, 100);
    expect(shown(rig, '704.WMaxLimPct', '123.WMaxLimPct')).to.deep.equal([50, 50]);
    write(rig, { '123.WMaxLimPct': 20 });
    write(rig, { '704.WMaxLimPct': 80 });
    await rig.run(101);
    expect(shown(rig, '704.WMaxLimPct', '123.WMaxLimPct')).to.deep.equal([80, 80]);
  });

  it('a ramp time is the time from the old limit to the new one, and ends with the next command without one', async () => {
    const rig = await Rig.sunny(both);
    write(rig, { '123.WMaxLimPct_RmpTms': 100, '123.WMaxLimPct': 20, '123.WMaxLim_Ena': 'ENABLED' });
    expect(rig.device.gradient.w).to.deep.equal({ pctPerS: 0.8, source: 'gradient' });
    await rig.run(50);
    expect(Number(pointOf(rig, '103.W'))).to.be.closeTo(6000, 200);
    await rig.run(60);
    expect(Number(pointOf(rig, '103.W'))).to.be.closeTo(2000, 5);
    write(rig, { '704.WMaxLimPct': 30 });
    expect(rig.device.gradient.w).to.deep.equal({ pctPerS: 20, source: 'register' });
  });

  it('a power factor has the sign of its quadrant', () => {
    const rig = new Rig(both);
    write(rig, { '123.OutPFSet': -0.95, '123.OutPFSet_Ena': 'ENABLED' });
    expect(shown(rig, '704.PFWInj.PF', '704.PFWInj.Ext', '704.PFWInjEna')).to.deep.equal([
      0.95,
      'UNDER_EXCITED',
      'ENABLED',
    ]);
    write(rig, { '704.PFWInj.Ext': 'OVER_EXCITED' });
    expect(pointOf(rig, '123.OutPFSet')).to.equal(0.95);
    expect(errorOf(() => write(rig, { '123.OutPFSet': -0.5 })).issues[0]?.outside).to.include({ given: -0.5, min: -1 });
  });

  it('the shares of reactive power: mode and value of 704, and back', () => {
    const rig = new Rig(both);
    write(rig, { '123.VArPct_Mod': 'VArMax', '123.VArMaxPct': -50, '123.VArPct_Ena': 'ENABLED' });
    expect(shown(rig, '704.VarSetMod', '704.VarSetPct', '704.VarSetEna')).to.deep.equal([
      'VAR_MAX_PCT',
      -50,
      'ENABLED',
    ]);
    write(rig, { '704.VarSetMod': 'VARS', '704.VarSet': 2200 });
    expect(shown(rig, '123.VArPct_Mod', '123.VArMaxPct')).to.deep.equal(['VArMax', 50]);
    write(rig, { '123.VArPct_Mod': 'NONE' });
    expect(pointOf(rig, '704.VarSetEna')).to.equal('DISABLED');
  });

  it('settings of 121 are those of 702, and what 702 would refuse 121 refuses', () => {
    const rig = new Rig(both);
    write(rig, { '121.WMax': 8000, '121.VArMaxQ4': -3000 });
    expect(shown(rig, '702.WMax', '702.VarMaxAbs')).to.deep.equal([8000, 3000]);
    write(rig, { '702.VarMaxAbs': 2000 });
    expect(pointOf(rig, '121.VArMaxQ4')).to.equal(-2000);
    for (const values of [
      { '121.WMax': 10_001 },
      { '121.VArMaxQ4': 10 },
      { '121.VRefOfs': 1 },
      { '123.WMaxLimPct': 101 },
    ])
      expect(
        codeOf(() => write(rig, values)),
        JSON.stringify(values),
      ).to.equal('MAP_BAD_VALUE');
  });

  it('123.Conn is the disconnect switch, with its reversion, and shows what other protocols do to it', async () => {
    const rig = await Rig.sunny(both);
    write(rig, { '123.Conn_RvrtTms': 60, '123.Conn': 'DISCONNECT' });
    expect(rig.device.switchClosed).to.equal(false);
    await rig.run(40);
    expect(shown(rig, '701.ConnSt', '103.W', '122.ECPConn')).to.deep.equal(['DISCONNECTED', 0, 0]);
    await rig.run(21);
    expect([rig.device.switchClosed, pointOf(rig, '123.Conn')]).to.deep.equal([true, 'CONNECT']);
    rig.device.command({ kind: 'switch', closed: false }, byTest);
    expect(pointOf(rig, '123.Conn')).to.equal('DISCONNECT');
  });

  it('the reserve of 124 is that of 802', async () => {
    const rig = new Rig({ types: ['Batt-3Phase'], ...both });
    write(rig, { '124.MinRsvPct': 20 });
    await rig.run(5);
    expect(shown(rig, '124.MinRsvPct', '802.SoCRsvMin')).to.deep.equal([20, 20]);
  });

  it('a classic map without shown current models works alike, and a reset puts both faces back', async () => {
    const rig = await Rig.sunny({ map: { layout: 'classic' } });
    write(rig, { '123.WMaxLimPct': 40, '123.WMaxLim_Ena': 'ENABLED', '123.Conn_WinTms': 5, '123.Conn': 'DISCONNECT' });
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    await rig.run(60);
    expect(shown(rig, '123.WMaxLim_Ena', '704.WMaxLimPct', '123.Conn')).to.deep.equal(['DISABLED', 100, 'CONNECT']);
    expect(rig.device.switchClosed).to.equal(true);
  });
});

const limit = ['123.WMaxLimPct', '123.WMaxLim_Ena', '704.WMaxLimPct', '704.WMaxLimPctEna'] as const;
const waiting = (pct: number, windowS = 100) => ({
  '123.WMaxLimPct_WinTms': windowS,
  '123.WMaxLimPct': pct,
  '123.WMaxLim_Ena': 'ENABLED',
});

describe('writes that wait within a window', () => {
  it('end without effect under local control, and the faces are equal again', async () => {
    const rig = await Rig.sunny(both);
    write(rig, { ...waiting(50), '123.Conn_WinTms': 100, '123.Conn': 'DISCONNECT' }, byModbus);
    rig.device.command({ kind: 'local', local: true }, { source: 'dashboard' });
    await rig.run(101);
    expect(shown(rig, ...limit)).to.deep.equal([100, 'DISABLED', 100, 'DISABLED']);
    expect([rig.device.switchClosed, pointOf(rig, '123.Conn')]).to.deep.equal([true, 'CONNECT']);
  });

  it('are replaced by a later write that acts at once, which keeps its writer and its reversion time', async () => {
    const rig = new Rig(both);
    const { bank } = rig.device;
    write(rig, waiting(20));
    bank.assign({ source: 'modbus', peer: 'b' }, [
      { slot: named(bank.layout, '123.WMaxLimPct'), value: 80 },
      { slot: named(bank.layout, '123.WMaxLim_Ena'), value: 'ENABLED' },
      { slot: named(bank.layout, '123.WMaxLimPct_WinTms'), value: 0 },
      { slot: named(bank.layout, '123.WMaxLimPct_RvrtTms'), value: 400 },
    ]);
    await rig.run(150);
    expect(shown(rig, ...limit, '704.WMaxLimPctRvrtRem')).to.deep.equal([80, 'ENABLED', 80, 'ENABLED', 250]);
    expect(bank.provenance(named(bank.layout, '704.WMaxLimPct'))).to.include({ source: 'modbus', peer: 'b' });
  });

  it('still act when the reversion time of an older command ends meanwhile', async () => {
    const rig = new Rig(both);
    write(rig, { '123.WMaxLimPct': 90, '123.WMaxLimPct_RvrtTms': 20, '123.WMaxLim_Ena': 'ENABLED' });
    await rig.run(10);
    write(rig, { ...waiting(25, 600), '123.WMaxLimPct_RvrtTms': 0 });
    await rig.run(601);
    expect(shown(rig, ...limit)).to.deep.equal([25, 'ENABLED', 25, 'ENABLED']);
  });
});

describe('ramps of classic faces', () => {
  it('outlast the same write again and writes of other settings, and are over after their time', async () => {
    const rig = await Rig.sunny({ types: ['Batt-3Phase'], ...both });
    write(rig, { '704.WSetEna': 'ENABLED', '704.WSetMod': 'WATTS', '704.WSet': 8000 });
    await rig.run(30);
    const ramp = { '123.WMaxLimPct_RmpTms': 100, '123.WMaxLimPct': 20, '123.WMaxLim_Ena': 'ENABLED' };
    write(rig, ramp);
    write(rig, ramp);
    write(rig, { '121.VRef': 480, '124.WChaGra': 20, '124.WDisChaGra': 20 });
    expect(rig.device.gradient.w).to.deep.equal({ pctPerS: 0.8, source: 'gradient' });
    await rig.run(101);
    expect(rig.device.gradient.w).to.deep.equal({ pctPerS: 20, source: 'register' });
  });
});

describe('classic models written back as they were read', () => {
  it('change nothing of the current ones, in forms that the classic ones do not have either', () => {
    const rig = new Rig({ types: ['Batt-3Phase'], ...both });
    const { bank } = rig.device;
    const before = { '704.VarSetMod': 'VARS', '704.VarSet': 1234, '704.VarSetRvrtTms': 100_000, '704.WRmp': 7 };
    write(rig, {
      ...before,
      '702.WMax': 7000,
      '704.WSetMod': 'W_MAX_PCT',
      '704.WSetPct': 33.33,
      '704.WSetEna': 'ENABLED',
    });
    const current = () =>
      bank.layout.slots
        .filter(({ modelId, def }) => modelId > 700 && def.access === 'RW')
        .map((slot) => bank.value(slot));
    const values = current();
    for (const model of [121, 123, 124]) {
      const slots = bank.layout.slots.filter(({ modelId, writable }) => modelId === model && writable);
      bank.assign(
        byTest,
        slots.map((slot) => ({ slot, value: bank.value(slot) })),
      );
    }
    expect(current()).to.deep.equal(values);
  });
});

describe('counters of the older models', () => {
  it('begin at 0 behind 2^32 - 1 counts, whatever their scale factor', () => {
    const end = 2 ** 32;
    expect([end - 1, end - 0.4, end, end + 7.9].map((wh) => counterValue(wh, 0))).to.deep.equal([
      end - 1,
      end - 1,
      0,
      7,
    ]);
    expect([end - 1, end, 100 * (end - 1) + 99, 100 * end].map((wh) => counterValue(wh, 2))).to.deep.equal([
      100 * Math.floor((end - 1) / 100),
      100 * Math.floor(end / 100),
      100 * (end - 1),
      0,
    ]);
  });
});
