import { expect } from 'chai';
import { PointRig } from '../rig/points.ts';
import { begin, curve, registers, schedule, varOf } from './orders.ts';

const by = { source: 'rest', peer: 'test' } as const;
const enabled = (rig: PointRig) =>
  (
    [
      [705, 'Ena'],
      [712, 'Ena'],
      [704, 'VarSetEna'],
      [704, 'PFWInjEna'],
    ] as const
  ).map(([model, path]) => rig.register(model, path) === 'ENABLED');

/** Volt-var curves that absorb this share of the greatest reactive power from 106 % of nominal voltage on. */
const voltVar = (number: number, leastVarPct: number) =>
  curve(
    number,
    [2, 129, 2],
    [
      [940, 300],
      [980, 0],
      [1020, 0],
      [1060, 10 * leastVarPct],
    ],
  );
const wattVar = (number: number, fullVarPct: number) =>
  curve(
    number,
    [4, 138, 2],
    [
      [0, 0],
      [200, 0],
      [1000, 10 * fullVarPct],
    ],
  );

describe('curves by schedule', () => {
  it('volt-var: each point puts its curve into force, and the function has its own again', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltVar(1, -10), ...voltVar(2, -30), ...voltVar(3, -60), ['AO217', 1], ['BO29', true]);
    rig.plant.setGrid({ voltagePu: 1.08 });
    await rig.pass(60);
    const before = registers(rig);
    const maxVar = Number(rig.register(702, 'VarMaxAbs'));
    expect(varOf(rig)).to.be.closeTo(-0.1 * maxVar, 0.01 * maxVar);
    begin(rig, 1, {
      type: 27,
      inS: 10,
      points: [
        [0, 2],
        [120, 3],
        [240, 0],
      ],
    });
    await rig.pass(120);
    expect(varOf(rig)).to.be.closeTo(-0.3 * maxVar, 0.01 * maxVar);
    expect([rig.value('AI297'), rig.value('AI569'), rig.value('AI783')]).to.deep.equal([1, 1, 2]);
    await rig.pass(120);
    expect(varOf(rig)).to.be.closeTo(-0.6 * maxVar, 0.01 * maxVar);
    expect(rig.value('AI783')).to.equal(3);
    for (const number of [1, 2, 3]) {
      rig.done(['AO244', number]);
      expect(rig.operate('AO252', 10), `curve ${number}`).to.equal(10);
    }
    await rig.pass(80);
    expect(varOf(rig)).to.be.closeTo(-0.1 * maxVar, 0.01 * maxVar);
    expect(registers(rig)).to.deep.equal(before);
    expect([rig.value('AI297'), rig.value('BI81')]).to.deep.equal([1, 1]);
    rig.done(['AO252', 10]);
  });

  it('watt-var: reactive power follows power, and the function is off again', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...wattVar(1, -40));
    await rig.pass(10);
    const before = registers(rig);
    begin(rig, 1, {
      type: 28,
      points: [
        [0, 1],
        [60, 0],
      ],
    });
    await rig.pass(50);
    const loadPct = (100 * rig.activePowerW) / Number(rig.register(702, 'WMax'));
    expect(loadPct).to.be.greaterThan(50);
    const wantedPct = (-40 * (loadPct - 20)) / 80;
    expect((100 * varOf(rig)) / Number(rig.register(702, 'VarMaxAbs'))).to.be.closeTo(wantedPct, 1);
    expect([...enabled(rig), rig.value('BI82')]).to.deep.equal([false, true, false, false, 1]);
    await rig.pass(60);
    expect(registers(rig)).to.deep.equal(before);
    expect(varOf(rig)).to.be.closeTo(0, 50);
  });

  it('the five functions of reactive power give way to a schedule, and the one before acts again', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltVar(1, -30), ...wattVar(2, -40), ['AO203', 200], ['BO27', true]);
    await rig.pass(60);
    const before = registers(rig);
    const points = [
      [0, 1],
      [60, 0],
    ] as const;
    begin(rig, 1, { type: 27, inS: 10, points });
    begin(rig, 2, { type: 28, inS: 70, points: [[0, 2], points[1]] });
    begin(rig, 3, { type: 26, inS: 100, points: [[0, 95], points[1]] });
    const seen: unknown[] = [];
    for (const seconds of [20, 60, 30, 60]) {
      await rig.pass(seconds);
      seen.push([rig.value('AI569'), ...enabled(rig)]);
    }
    expect(seen).to.deep.equal([
      [1, true, false, false, false],
      [2, false, true, false, false],
      [3, false, false, false, true],
      [0, false, false, true, false],
    ]);
    expect(registers(rig)).to.deep.equal(before);
    await rig.pass(30);
    expect(varOf(rig)).to.be.closeTo(0.2 * Number(rig.register(702, 'VarMaxInj')), 50);
  });

  it('a master that gives the function another curve meanwhile wins, and keeps it', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltVar(1, -10), ...voltVar(2, -30), ...voltVar(3, -60), ['AO217', 1], ['BO29', true]);
    rig.plant.setGrid({ voltagePu: 1.08 });
    begin(rig, 1, {
      type: 27,
      points: [
        [0, 2],
        [60, 0],
      ],
    });
    await rig.pass(30);
    rig.done(['AO217', 3]);
    await rig.pass(60);
    const maxVar = Number(rig.register(702, 'VarMaxAbs'));
    expect(varOf(rig)).to.be.closeTo(-0.6 * maxVar, 0.01 * maxVar);
    expect([rig.value('AI297'), rig.value('BI81'), rig.value('AI569')]).to.deep.equal([3, 1, 0]);
  });

  it('types 27 and 28 take curves of their type alone', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltVar(1, -30), ...wattVar(2, -40));
    const validationOf = (type: number, number: number) => {
      const points = [
        [0, number],
        [60, 0],
      ] as const;
      rig.done(...schedule(rig, 1, { type, points }));
      return rig.value('AI578');
    };
    expect([validationOf(27, 1), validationOf(27, 2), validationOf(28, 1), validationOf(28, 2)]).to.deep.equal([
      1, 3, 3, 1,
    ]);
  });

  it('a curve that another protocol puts into force meanwhile stays, and is none of the store', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(...voltVar(1, -10), ...voltVar(2, -30), ['AO217', 1], ['BO29', true]);
    rig.plant.setGrid({ voltagePu: 1.08 });
    begin(rig, 1, {
      type: 27,
      points: [
        [0, 2],
        [60, 0],
      ],
    });
    await rig.pass(30);
    rig.device.bank.adopt(by, (_, set) => {
      set(rig.device.bank.layout.slot(705, 'Crv[0].Pt[3].Var')!, -50);
    });
    await rig.pass(60);
    expect(rig.register(705, 'Crv[0].Pt[3].Var')).to.equal(-50);
    expect([rig.value('AI297'), rig.value('BI81'), rig.value('AI569')]).to.deep.equal([0, 1, 0]);
  });
});
