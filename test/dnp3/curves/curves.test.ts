import { expect } from 'chai';
import { PointRig } from '../rig/points.ts';
import type { PointName } from '../../../src/dnp3/profile/types.ts';

type Orders = readonly (readonly [PointName, number | boolean])[];

/** The orders of the procedure of AN2018: selector, type, units, points, and their number last. */
function curve(
  number: number,
  type: number,
  x: number,
  y: number,
  points: readonly (readonly [number, number])[],
): Orders {
  return [
    ['AO244', number],
    ['AO245', type],
    ['AO247', x],
    ['AO248', y],
    ...points.flatMap(
      ([first, second], i): Orders => [
        [`AO${249 + 2 * i}`, first],
        [`AO${250 + 2 * i}`, second],
      ],
    ),
    ['AO246', points.length],
  ];
}
const voltWatt = (number: number, endPct = 200) =>
  curve(number, 5, 129, 5, [
    [1000, 1000],
    [1060, 1000],
    [1100, endPct],
  ]);

describe('curves by DNP3', () => {
  it('VW: a curve written point by point limits power when the voltage rises', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(10);
    const before = rig.activePowerW;
    rig.done(...voltWatt(1), ['AO173', 1], ['AO175', 1], ['BO25', true]);
    expect(rig.register(706, 'Ena')).to.equal('ENABLED');
    expect(rig.register(706, 'Crv[0].Pt[2].V')).to.equal(110);
    expect(rig.register(706, 'Crv[0].Pt[2].W')).to.equal(20);
    expect([rig.value('AI248'), rig.value('BI77')]).to.deep.equal([1, 1]);
    rig.plant.setGrid({ voltagePu: 1.08 });
    await rig.pass(60);
    expect(rig.activePowerW).to.be.lessThan(0.75 * before);
    expect(rig.activePowerW).to.be.closeTo(6000, 700);
  });

  it('VV and WV: reactive curves switch each other off', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(
      ...curve(2, 2, 129, 2, [
        [920, 300],
        [980, 0],
        [1020, 0],
        [1080, -300],
      ]),
      ['AO217', 2],
      ['BO29', true],
    );
    expect(rig.register(705, 'Crv[0].DeptRef')).to.equal('VAR_MAX_PCT');
    expect(rig.register(705, 'Crv[0].ActPt')).to.equal(4);
    rig.plant.setGrid({ voltagePu: 1.06 });
    await rig.pass(60);
    expect(Number(rig.register(701, 'Var'))).to.be.lessThan(-500);
    rig.done(
      ...curve(3, 4, 138, 2, [
        [0, 0],
        [500, 0],
        [1000, -400],
      ]),
      ['AO226', 3],
      ['BO30', true],
    );
    expect([rig.value('BI81'), rig.value('BI82')]).to.deep.equal([0, 1]);
  });

  it('VRT: a must-trip curve trips the device at its time', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(
      ...curve(4, 9, 4, 8, [
        [160, 1200],
        [3000, 1100],
      ]),
      ['AO23', 4],
    );
    expect(rig.register(708, 'Crv[0].MustTrip.Pt[1].V')).to.equal(110);
    expect(rig.register(708, 'Crv[0].MustTrip.Pt[1].Tms')).to.equal(3);
    rig.plant.setGrid({ voltagePu: 1.15 });
    await rig.pass(2);
    expect(rig.value('BI53')).to.equal(1);
    expect(rig.value('BI14')).to.equal(1);
    await rig.pass(3);
    expect(rig.value('BI14')).to.equal(0);
    expect(rig.activePowerW).to.equal(0);
  });

  it('CURVE-001: tells whether the selected curve is named', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1));
    expect(rig.value('BI107')).to.equal(0);
    rig.done(['AO173', 1]);
    expect(rig.value('BI107')).to.equal(1);
    rig.done(['AO244', 2]);
    expect(rig.value('BI107')).to.equal(0);
  });

  it('CURVE-002: a curve of an enabled function is locked, another one can be prepared and take its place', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1), ...voltWatt(2, 500), ['AO173', 1], ['BO25', true], ['AO244', 1]);
    for (const [name, value] of [
      ['AO245', 2],
      ['AO246', 1],
      ['AO249', 990],
    ] as const)
      expect(rig.operate(name, value), name).to.equal(10);
    rig.done(['AO173', 2]);
    expect(rig.register(706, 'Crv[0].Pt[2].W')).to.equal(50);
    rig.done(['AO249', 990]);
    rig.done(['AO244', 2]);
    expect(rig.operate('AO249', 990)).to.equal(10);
  });

  it('CURVE-003: wrong types, empty curves and numbers beyond the last are refused', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1));
    expect(rig.operate('AO217', 1)).to.equal(4);
    expect(rig.operate('AO173', 7)).to.equal(4);
    expect(rig.operate('AO173', 101)).to.equal(12);
    expect(rig.operate('AO244', 101)).to.equal(12);
    rig.done(['AO173', 1]);
    expect(rig.operate('AO245', 2)).to.equal(4);
  });

  it('a curve with more points than the model holds, or one that falls back, is out of range', () => {
    const rig = new PointRig('PV-3Phase');
    const capacity = Number(rig.register(706, 'NPt'));
    const many = Array.from({ length: capacity + 1 }, (_, i) => [1000 + 10 * i, 1000 - 10 * i] as const);
    rig.done(...curve(1, 5, 129, 5, many).slice(0, -1));
    expect([rig.operate('AO246', capacity + 1, true), rig.operate('AO246', capacity + 1)]).to.deep.equal([12, 12]);
    expect([rig.value('AI330'), rig.operate('AO173', 1)]).to.deep.equal([0, 4]);
    rig.done(['AO246', capacity], ['AO173', 1]);
    rig.done(
      ...curve(2, 5, 129, 5, [
        [1100, 1000],
        [1000, 200],
      ]),
    );
    expect(rig.operate('AO173', 2)).to.equal(12);
    expect(rig.register(706, 'Crv[0].ActPt')).to.not.equal(capacity + 1);
  });

  it('an operate validates a curve once: by its write, or by a check while the function is off', () => {
    const rig = new PointRig('PV-3Phase');
    const { bank } = rig.device;
    const validated: string[] = [];
    const [adopt, checkAdopt] = [bank.adopt.bind(bank), bank.checkAdopt.bind(bank)];
    bank.adopt = (...args) => {
      validated.push('adopt');
      adopt(...args);
    };
    bank.checkAdopt = (...args) => {
      validated.push('checkAdopt');
      checkAdopt(...args);
    };
    rig.done(...voltWatt(1), ['AO173', 1]);
    expect(validated.splice(0)).to.deep.equal(['checkAdopt']);
    rig.done(['BO25', true]);
    expect(validated.splice(0)).to.deep.equal(['adopt']);
    rig.done(...voltWatt(2), ['AO173', 2]);
    expect(validated.splice(0)).to.deep.equal(['adopt']);
    expect(rig.operate('AO173', 1, true)).to.equal(0);
    expect(validated).to.deep.equal(['checkAdopt']);
  });

  it('a curve that another protocol puts into force is none of the store: its number is 0', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(1), ['AO173', 1], ['BO25', true]);
    rig.device.bank.adopt({ source: 'rest' }, (_, set) => {
      set(rig.device.bank.layout.slot(706, 'Crv[0].Pt[2].W')!, 10);
    });
    expect(rig.value('AI248')).to.equal(0);
  });

  it('a reset of the device empties the store', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltWatt(5), ['AO173', 5]);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.pass(1);
    rig.done(['AO244', 5]);
    expect([rig.value('AI329'), rig.value('AI330'), rig.value('AI248')]).to.deep.equal([0, 0, 0]);
  });
});
