/** Each control mode from the head-end to the registers, and back. */
import { expect } from 'chai';
import type { Control, Curve, Modes } from '../head-end/model.ts';
import type { Json } from '../../support/http.ts';
import { Site } from './site.ts';

type Points = Readonly<Record<string, number>>;
/** A ride-through curve: hundredths of a second, percent or hertz. */
const rideThrough = (curveType: number, ...points: readonly (readonly [number, number])[]): Curve => ({
  ...curve(curveType, 0, ...points),
  xMultiplier: -2,
});
const curve = (curveType: number, yRefType: number, ...points: readonly (readonly [number, number])[]): Curve => ({
  id: 0,
  mRID: '',
  curveType,
  yRefType,
  xMultiplier: 0,
  yMultiplier: 0,
  openLoopTms: 500,
  points: points.map(([x, y]) => ({ x, y })),
});

/** Procedure, modes, and the points by model while the control is in force. */
const rows: readonly (readonly [string, Modes, Readonly<Record<number, Points>>])[] = [
  [
    'BASIC-004 low voltage',
    { opModLVRTMustTrip: rideThrough(10, [100, 45], [200, 45], [200, 70]) },
    { 707: { 'Crv[0].MustTrip.Pt[0].Tms': 1 } },
  ],
  [
    'BASIC-004 high voltage',
    { opModHVRTMustTrip: rideThrough(5, [16, 120], [200, 120], [200, 110]) },
    { 708: { 'Crv[0].MustTrip.Pt[0].Tms': 0.16, 'Crv[0].MustTrip.Pt[2].V': 110 } },
  ],
  [
    'BASIC-005 low frequency',
    { opModLFRTMustTrip: rideThrough(7, [100, 56], [30_000, 58]) },
    { 709: { 'Crv[0].MustTrip.Pt[0].Hz': 56, 'Crv[0].MustTrip.Pt[1].Tms': 300 } },
  ],
  [
    'BASIC-005 high frequency',
    { opModHFRTMustTrip: rideThrough(2, [100, 62], [30_000, 61]) },
    { 710: { 'Crv[0].MustTrip.Pt[0].Hz': 62, 'Crv[0].MustTrip.Pt[1].Tms': 300 } },
  ],
  [
    'BASIC-006 volt-var',
    { opModVoltVar: curve(11, 2, [92, 30], [98, 0], [102, 0], [108, -30]) },
    {
      705: {
        Ena: 1,
        'Crv[0].ActPt': 4,
        'Crv[0].Pt[0].V': 92,
        'Crv[0].Pt[0].Var': 30,
        'Crv[0].Pt[3].Var': -30,
        'Crv[0].RspTms': 5,
        'Crv[0].DeptRef': 1,
      },
    },
  ],
  [
    'BASIC-008 fixed power factor',
    { opModFixedPFInjectW: { displacement: 900, excitation: true, multiplier: -3 } },
    { 704: { PFWInjEna: 1, 'PFWInj.PF': 0.9, 'PFWInj.Ext': 1 } },
  ],
  ['BASIC-010 limit', { opModMaxLimW: 4000 }, { 704: { WMaxLimPctEna: 1, WMaxLimPct: 40 } }],
  [
    'BASIC-011 volt-watt',
    { opModVoltWatt: curve(12, 1, [104, 100], [110, 20]) },
    { 706: { Ena: 1, 'Crv[0].ActPt': 2, 'Crv[0].Pt[1].V': 110, 'Crv[0].Pt[1].W': 20, 'Crv[0].DeptRef': 0 } },
  ],
  [
    'BASIC-012 frequency droop',
    { opModFreqDroop: { dBOF: 100, dBUF: 120, kOF: 40, kUF: 45, openLoopTms: 200 } },
    {
      711: {
        Ena: 1,
        'Ctl[0].DbOf': 0.1,
        'Ctl[0].DbUf': 0.12,
        'Ctl[0].KOf': 0.04,
        'Ctl[0].KUf': 0.045,
        'Ctl[0].RspTms': 2,
      },
    },
  ],
  [
    'watt-var',
    { opModWattVar: curve(14, 2, [0, 0], [50, 0], [100, -30]) },
    { 712: { Ena: 1, 'Crv[0].Pt[2].Var': -30 } },
  ],
  ['fixed power', { opModFixedW: 3000 }, { 704: { WSetEna: 1, WSetMod: 0, WSetPct: 30 } }],
  ['target power', { opModTargetW: { multiplier: 3, value: 4 } }, { 704: { WSetEna: 1, WSetMod: 1, WSet: 4000 } }],
  [
    'fixed reactive power',
    { opModFixedVar: { refType: 2, value: -2500 } },
    { 704: { VarSetEna: 1, VarSetMod: 1, VarSetPct: -25 } },
  ],
  [
    'target reactive power',
    { opModTargetVar: { multiplier: 2, value: 12 } },
    { 704: { VarSetEna: 1, VarSetMod: 4, VarSet: 1200 } },
  ],
  [
    'BASIC-015 several modes',
    {
      opModMaxLimW: 6000,
      opModFixedVar: { refType: 2, value: 1000 },
      opModFreqDroop: { dBOF: 50, dBUF: 50, kOF: 50, kUF: 50, openLoopTms: 500 },
    },
    { 704: { WMaxLimPct: 60, VarSetEna: 1, VarSetPct: 10 }, 711: { Ena: 1, 'Ctl[0].DbOf': 0.05 } },
  ],
];

describe('a client at a head-end: control modes', () => {
  let site: Site;
  let untouched: Json;

  before(async () => {
    site = await Site.open({
      prepare(headEnd, [lfdi = '']) {
        headEnd.register(lfdi);
        headEnd.program({ default: {} });
      },
    });
    await site.until('the program', 60, () => site.headEnd.sent('GET', '/edev/1/derp/1/derc')[0]);
    untouched = await site.changes();
  });
  after(() => site.close());

  const give = (modes: Modes, durationS = 90): Control => {
    const [program] = site.headEnd.programs;
    if (program === undefined) throw new Error('no program');
    const kept = Object.entries(modes).map(([mode, value]) => {
      if (typeof value !== 'object' || !('curveType' in value)) return [mode, value] as const;
      return [mode, site.headEnd.curve(program, value as Curve)] as const;
    });
    return site.headEnd.control(program, { modes: Object.fromEntries(kept), inS: 100, durationS });
  };

  for (const [title, modes, expected] of rows) {
    it(`${title}: in the registers from the start, given back at the end, answered with 1, 2 and 3`, async () => {
      const control = give(modes);
      await site.responded(control, 2);
      for (const [model, points] of Object.entries(expected)) {
        expect(await site.points(Number(model)), site.story()).to.include(points);
      }
      expect(await site.responded(control, 3)).to.deep.equal([1, 2, 3]);
      expect(await site.changes()).to.deep.equal(untouched);
    });
  }

  it('BASIC-007: the ramp rate of a default control, also where 704 cannot show it', async () => {
    const [program] = site.headEnd.programs;
    if (program === undefined) throw new Error('no program');
    site.headEnd.setDefault(program, { opModMaxLimW: 2000 }, { setGradW: 27 });
    const start = await site.watts();
    const settings = site.headEnd.sent('PUT', /derg$/).length;
    await site.until('a lower power', 200, async () => ((await site.watts()) < start - 100 ? true : undefined));
    const before = await site.watts();
    await site.advance(60);
    // 0.27 % of 10 kW per second
    expect(before - (await site.watts())).to.be.closeTo(27 * 60, 60);
    await site.until('DERSettings', 120, () => site.headEnd.sent('PUT', /derg$/)[settings]);
    site.headEnd.setDefault(program, {});
    await site.until('full power', 600, async () => ((await site.watts()) > start - 300 ? true : undefined), 10);
  });

  const fullPower = () =>
    site.until('full power', 1800, async () => ((await site.watts()) > 8000 ? true : undefined), 30);

  it('BASIC-009, ALL-12: opModConnect opens the switch and closes it again', async () => {
    const control = give({ opModConnect: false }, 60);
    await site.responded(control, 2);
    await site.until('an open switch', 5, async () => ((await site.points(701)).ConnSt === 0 ? true : undefined));
    expect(await site.watts()).to.equal(0);
    expect(await site.responded(control, 3)).to.deep.equal([1, 2, 3]);
    expect(await site.changes()).to.deep.equal(untouched);
    await fullPower();
    expect((await site.points(701)).ConnSt).to.equal(1);
  });

  it('ALL-11: opModEnergize ceases to energize through 703 and gives service back', async () => {
    const control = give({ opModEnergize: false }, 60);
    await site.responded(control, 2);
    expect((await site.points(703)).ES).to.equal(0);
    await site.until('no power', 5, async () => ((await site.watts()) === 0 ? true : undefined));
    expect(await site.responded(control, 3)).to.deep.equal([1, 2, 3]);
    expect(await site.changes()).to.deep.equal(untouched);
    await fullPower();
  });

  it('BASIC-012: the curve form of frequency-watt has no physics and is answered with 252', async () => {
    const control = give({ opModFreqWatt: curve(0, 1, [60, 100], [61, 0]) });
    expect(await site.responded(control, 252)).to.not.include(2);
    expect(await site.changes()).to.deep.equal(untouched);
  });

  it('a control with a mode that is not supported and one that is runs the latter', async () => {
    const control = give({ opModFreqWatt: curve(0, 1, [60, 100], [61, 0]), opModMaxLimW: 7000 });
    await site.responded(control, 2);
    expect((await site.points(704)).WMaxLimPct).to.equal(70);
    expect(await site.responded(control, 3)).to.deep.equal([1, 2, 3]);
  });

  it('the power follows from the next tick, and 704 is what a master of SunSpec reads', async () => {
    const control = give({ opModMaxLimW: 3000 }, 60);
    await site.responded(control, 2);
    await site.advance(30);
    expect(await site.watts()).to.be.closeTo(3000, 15);
    await site.responded(control, 3);
    await site.until('power', 300, async () => ((await site.watts()) > 8000 ? true : undefined), 10);
  });
});
