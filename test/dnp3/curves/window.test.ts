import { expect } from 'chai';
import type { PointName } from '../../../src/dnp3/profile/types.ts';
import { begin, curve, schedule } from '../schedules/orders.ts';
import { PointRig } from '../rig/points.ts';

const voltWatt = (number: number, endPct = 0) =>
  curve(
    number,
    [5, 129, 5],
    [
      [1060, 1000],
      [1100, endPct],
    ],
  );

/** Another protocol writes a register. */
function put(rig: PointRig, model: number, path: string, value: number | string) {
  const slot = rig.device.bank.layout.slot(model, path);
  if (slot === undefined) throw new Error(`there is no ${model}.${path}`);
  rig.device.bank.adopt({ source: 'modbus' }, (_, set) => {
    set(slot, value);
  });
}

/** Operates an analog output as one of several masters. */
function by(rig: PointRig, address: number, name: PointName, value: number, isSelect = false): number {
  const control = { kind: 'analog', index: Number(name.slice(2)), value, isFloat: false } as const;
  const master = { address, peer: `${address}@127.0.0.1:5000${address}` };
  return isSelect ? rig.points.controls.select(control, master) : rig.points.controls.operate(control, master);
}

describe('the window on curves', () => {
  it('shows what has been written, and the number of points commits it', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1), ['AO173', 1], ['AO252', 300]);
    expect(rig.value('AI336')).to.equal(300);
    rig.done(['BO25', true]);
    expect([rig.register(706, 'Crv[0].Pt[1].W'), rig.value('AI248')]).to.deep.equal([0, 1]);
    rig.done(['BO25', false], ['AO246', 2], ['BO25', true]);
    expect(rig.register(706, 'Crv[0].Pt[1].W')).to.equal(30);
  });

  it('with IEEE 1815.2 each write counts: its order has the number of points before the points', () => {
    const rig = new PointRig('PV-3Phase', { profile: 'ieee1815.2' });
    rig.done(['AO244', 1], ['AO245', 5], ['AO246', 2], ['AO247', 129], ['AO248', 5]);
    rig.done(['AO249', 1060], ['AO250', 1000], ['AO251', 1100], ['AO252', 400], ['AO173', 1], ['BO25', true]);
    expect(rig.register(706, 'Crv[0].Pt[1].W')).to.equal(40);
  });

  it('a type that was changed before the curve got a name is not committed under it', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1), ['AO245', 2], ['AO173', 1]);
    expect(rig.operate('AO246', 2)).to.equal(4);
    rig.done(['AO245', 5], ['AO246', 2]);
  });

  it('takes as many points as the function of the type has, and of other types as many as there are', () => {
    const rig = new PointRig('PV-3Phase');
    const capacity = Number(rig.register(706, 'NPt'));
    rig.done(['AO244', 2], ['AO246', 100], ['AO245', 5]);
    expect(rig.operate('AO246', capacity + 1)).to.equal(12);
    rig.done(['AO246', capacity], ['AO245', 7], ['AO246', 100]);
  });

  it('its selector has a range, also in REST', () => {
    const rig = new PointRig('PV-3Phase');
    const [selector] = rig.points.views({ type: 'AO', from: 244, to: 244 });
    expect([selector?.min, selector?.max]).to.deep.equal([1, 100]);
    expect([rig.operate('AO244', 0), rig.operate('AO244', 101)]).to.deep.equal([12, 12]);
  });

  it('a curve is locked while its mode waits in its time window', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1), ['AO173', 1], ['AO169', 100], ['BO25', true]);
    expect([rig.value('BI77'), rig.operate('AO252', 500)]).to.deep.equal([0, 10]);
    rig.done(['BO25', false], ['AO252', 500], ['AO246', 2], ['BO25', true]);
    await rig.pass(200);
    expect([rig.register(706, 'Ena'), rig.register(706, 'Crv[0].Pt[1].W')]).to.deep.equal(['ENABLED', 50]);
  });

  it('a curve that a ready schedule names is named', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(3));
    const points = [
      [0, 3],
      [60, 3],
    ] as const;
    begin(rig, 1, { type: 21, inS: 600, points });
    expect(rig.value('BI107')).to.equal(1);
    rig.done(['BO42', false]);
    expect(rig.value('BI107')).to.equal(0);
  });
});

describe('a window and several masters', () => {
  it('a master cannot write into a curve that another one has selected', () => {
    const rig = new PointRig('PV-3Phase');
    expect(by(rig, 4, 'AO244', 1)).to.equal(0);
    expect(by(rig, 4, 'AO249', 1000)).to.equal(0);
    expect(by(rig, 5, 'AO244', 9)).to.equal(0);
    expect([by(rig, 4, 'AO249', 1234, true), by(rig, 4, 'AO249', 1234)]).to.deep.equal([17, 17]);
    expect(by(rig, 5, 'AO249', 900)).to.equal(0);
    expect(by(rig, 4, 'AO244', 1)).to.equal(0);
    expect(rig.value('AI333')).to.equal(1000);
    expect([by(rig, 4, 'AO246', 1), by(rig, 5, 'AO246', 1)]).to.deep.equal([0, 17]);
  });

  it('nor into such a schedule', () => {
    const rig = new PointRig('PV-3Phase');
    const points = [
      [0, 400],
      [60, 0],
    ] as const;
    rig.done(...schedule(rig, 1, { points }));
    expect(by(rig, 5, 'AO463', 2)).to.equal(17);
    expect(by(rig, 5, 'AO461', 2)).to.equal(0);
    expect([rig.operate('AO463', 2), rig.operate('BO42', true), rig.operate('BO43', true)]).to.deep.equal([17, 17, 17]);
    rig.done(['AO461', 1], ['BO42', true]);
  });
});

describe('a curve in force that another protocol changes is none of the store', () => {
  const frequency = curve(
    3,
    [13, 4, 9],
    [
      [160, 1040],
      [300_000, 1020],
    ],
  );
  for (const [path, change] of [
    ['Tms', -0.04],
    ['Hz', -0.04],
  ] as const)
    it(`by one point of a trip curve (${path})`, () => {
      const rig = new PointRig('PV-3Phase');
      rig.done(...frequency, ['AO28', 3], ['BO13', true]);
      expect(rig.value('AI79')).to.equal(3);
      const point = `Crv[0].MustTrip.Pt[0].${path}`;
      put(rig, 710, point, Number(rig.register(710, point)) + change);
      expect(rig.value('AI79')).to.equal(0);
    });

  it('by its reference', () => {
    const rig = new PointRig('PV-3Phase');
    const points = [
      [920, 300],
      [980, 0],
      [1020, 0],
      [1080, -300],
    ] as const;
    rig.done(...curve(4, [2, 129, 2], points), ['AO217', 4], ['BO29', true]);
    expect(rig.value('AI297')).to.equal(4);
    put(rig, 705, 'Crv[0].DeptRef', 'W_MAX_PCT');
    expect(rig.value('AI297')).to.equal(0);
  });

  it('also where registers have rounded its points it stays the own one', () => {
    const rig = new PointRig('PV-3Phase');
    const nominalV = Number(rig.register(702, 'VNom'));
    const volts = (pct: number) => Math.round(pct * nominalV) / 10;
    const points = [
      [Math.round(volts(106.03)), 997],
      [Math.round(volts(110.07)), 3],
    ] as const;
    rig.done(...curve(5, [5, 29, 5], points), ['AO173', 5], ['BO25', true]);
    expect(rig.value('AI248')).to.equal(5);
    put(rig, 704, 'WMaxLimPct', 50);
    expect(rig.value('AI248')).to.equal(5);
  });
});

describe('a mode without a curve of the store', () => {
  it('follows the curve of the registers, which is never empty', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['BO25', true]);
    expect([rig.value('BI77'), rig.value('AI248')]).to.deep.equal([1, 0]);
    expect(rig.register(706, 'Crv[0].ActPt')).to.be.greaterThan(1);
    expect(() => put(rig, 706, 'Crv[0].ActPt', 0)).to.throw(/no points/);
  });
});
