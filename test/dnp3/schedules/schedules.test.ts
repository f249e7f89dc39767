import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { PointRig } from '../rig/points.ts';
import { faultyRig } from './faulty-rig.ts';
import { begin, curve, limitOf, limitsSeen, off, registers } from './orders.ts';

const by = { source: 'modbus', peer: 'test' } as const;

describe('schedules that run', () => {
  it('a limit moves power at its instants, and gives everything back', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(10);
    const before = registers(rig);
    const power = rig.activePowerW;
    begin(rig, 1, {
      inS: 30,
      points: [
        [0, 600],
        [60, 300],
        [120, 0],
      ],
    });
    await rig.pass(29);
    expect([limitOf(rig), rig.value('AI569')]).to.deep.equal([off, 0]);
    await rig.pass(1);
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 60]);
    expect(([569, 579, 781, 782, 783, 149] as const).map((i) => rig.value(`AI${i}`))).to.deep.equal([
      1, 4, 4, 1, 600, 600,
    ]);
    await rig.pass(59);
    expect(rig.activePowerW).to.be.closeTo(6000, 100);
    await rig.pass(60);
    expect(rig.activePowerW).to.be.closeTo(3000, 100);
    expect(rig.value('AI783')).to.equal(300);
    await rig.pass(1);
    expect(registers(rig)).to.deep.equal(before);
    expect(([569, 579, 783] as const).map((i) => rig.value(`AI${i}`))).to.deep.equal([0, 2, 0]);
    expect(rig.value('BI108')).to.equal(0);
    await rig.pass(60);
    expect(rig.activePowerW).to.be.closeTo(power, 500);
  });

  it('begins at the same instant at any tick', async () => {
    const instants = await Promise.all(
      [1, 10, 100].map(async (tickIntervalS) => {
        const rig = new PointRig('PV-3Phase', { tickIntervalS });
        begin(rig, 1, {
          inS: 33,
          points: [
            [0, 600],
            [60, 0],
          ],
        });
        const changes: number[] = [];
        rig.device.bank.onChange(({ at, points }) => {
          if (points.some(({ path }) => path === 'WMaxLimPctEna')) changes.push(at - rig.device.startedAt);
        });
        await rig.plant.step(200 / tickIntervalS);
        return changes;
      }),
    );
    for (const changes of instants) expect(changes).to.deep.equal([33e6, 93e6]);
  });

  it('the greatest priority runs, and the other one before and after it', async () => {
    const rig = new PointRig('PV-3Phase');
    const before = registers(rig);
    begin(rig, 1, {
      priority: 1,
      inS: 10,
      points: [
        [0, 800],
        [100, 0],
      ],
    });
    begin(rig, 2, {
      priority: 5,
      inS: 40,
      points: [
        [0, 300],
        [30, 0],
      ],
    });
    const seen: unknown[] = [];
    for (const seconds of [15, 30, 30, 40]) {
      await rig.pass(seconds);
      seen.push([rig.register(704, 'WMaxLimPct'), rig.value('AI569'), rig.value('AI781')]);
    }
    expect(seen).to.deep.equal([
      [80, 1, 4],
      [30, 2, 3],
      [80, 1, 4],
      [100, 0, 2],
    ]);
    expect(registers(rig)).to.deep.equal(before);
  });

  it('schedules of different types take turns without leaving anything', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO203', 100], ['BO27', true]);
    const before = registers(rig);
    begin(rig, 1, {
      type: 26,
      priority: 1,
      inS: 5,
      points: [
        [0, 90],
        [60, 0],
      ],
    });
    begin(rig, 2, {
      type: 13,
      priority: 2,
      inS: 20,
      points: [
        [0, 300],
        [20, 0],
      ],
    });
    await rig.pass(10);
    expect([rig.register(704, 'PFWInjEna'), rig.register(704, 'VarSetEna')]).to.deep.equal(['ENABLED', 'DISABLED']);
    await rig.pass(15);
    expect([rig.register(704, 'VarSetEna'), ...limitOf(rig)]).to.deep.equal(['ENABLED', 'ENABLED', 30]);
    await rig.pass(60);
    expect(registers(rig)).to.deep.equal(before);
  });

  it('repeats by weekday', async () => {
    // 2026-06-03 is a Wednesday
    const day = pick({ quick: 4, ci: 3 });
    const rig = new PointRig('PV-3Phase', {
      date: `2026-06-0${day}`,
      time: '22:00:00',
      timezone: 'UTC',
      tickIntervalS: 300,
    });
    begin(rig, 1, {
      inS: 600,
      points: [
        [0, 500],
        [1200, 0],
      ],
    });
    // in the night the panels, and with them the test, have little to do
    rig.done(['BO42', false], ['BO46', true], ['BO47', true], ['BO49', true], ['BO42', true]);
    const runs = limitsSeen(rig);
    await rig.plant.step(((6 - day) * 86_400 + 3600) / 300);
    const days = [3, 4, 6].filter((each) => each >= day);
    expect(runs).to.deep.equal(
      days.flatMap((each) => [`2026-06-0${each} 22:10:00 50`, `2026-06-0${each} 22:30:00 off`]),
    );
    expect(rig.value('AI579')).to.equal(3);
  });

  it('a battery follows charge and discharge, and repeats', async () => {
    const rig = new PointRig('Batt-3Phase');
    const before = registers(rig);
    begin(rig, 1, {
      type: 14,
      unit: 2,
      interval: 5,
      points: [
        [0, -500],
        [60, 250],
        [120, 0],
      ],
    });
    const wMax = Number(rig.register(702, 'WMax'));
    for (let run = 0; run < 2; run += 1) {
      await rig.pass(55);
      expect(rig.activePowerW).to.be.closeTo(-wMax / 2, wMax * 0.03);
      await rig.pass(60);
      expect(rig.activePowerW).to.be.closeTo(wMax / 4, wMax * 0.03);
      await rig.pass(10);
      expect(registers(rig)).to.deep.equal(before);
      await rig.pass(175);
    }
  });

  it('constant var moves reactive power', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      type: 25,
      points: [
        [0, 300],
        [120, 0],
      ],
    });
    await rig.pass(60);
    expect(Number(rig.register(701, 'Var'))).to.be.closeTo(0.3 * Number(rig.register(702, 'VarMaxInj')), 100);
  });

  it('a curve is in force for as long as the schedule, locked, and the function keeps its own', async () => {
    const rig = new PointRig('PV-3Phase');
    const voltWatt = (number: number, endPct: number) =>
      curve(
        number,
        [5, 129, 5],
        [
          [1000, 1000],
          [1100, endPct],
        ],
      );
    rig.done(...voltWatt(1, 900), ...voltWatt(2, 200), ['AO173', 1], ['BO25', true]);
    const before = registers(rig);
    begin(rig, 1, {
      type: 21,
      inS: 10,
      points: [
        [0, 2],
        [60, 0],
      ],
    });
    rig.done(['AO244', 2]);
    expect(rig.operate('AO252', 300)).to.equal(10);
    await rig.pass(20);
    expect([rig.register(706, 'Crv[0].Pt[1].W'), rig.value('AI248')]).to.deep.equal([20, 1]);
    await rig.pass(60);
    expect(registers(rig)).to.deep.equal(before);
    expect(rig.value('AI248')).to.equal(1);
    rig.done(['AO252', 300]);
  });

  it('other writers win point by point, and keep what they wrote', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      points: [
        [0, 600],
        [30, 400],
        [60, 0],
      ],
    });
    await rig.pass(10);
    rig.device.bank.transact(by, (tx) => {
      tx.m704.WMaxLimPct = 25;
    });
    await rig.pass(30);
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 25]);
    await rig.pass(30);
    expect(limitOf(rig)).to.deep.equal(['DISABLED', 25]);
  });

  it('taken out of ready, it gives back at once', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      points: [
        [0, 600],
        [600, 0],
      ],
    });
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 60]);
    rig.done(['BO42', false]);
    expect([...limitOf(rig), rig.value('AI579'), rig.value('BI108')]).to.deep.equal([...off, 2, 0]);
    await rig.pass(60);
    expect(limitOf(rig)).to.deep.equal(off);
  });

  it('under local control it waits, and begins afterwards; an end comes in any case', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      inS: 10,
      points: [
        [0, 600],
        [100, 0],
      ],
    });
    const local = (on: boolean) => rig.device.command({ kind: 'local', local: on }, { source: 'rest' });
    local(true);
    await rig.pass(30);
    expect([...limitOf(rig), rig.value('AI579'), rig.value('AI569')]).to.deep.equal([...off, 3, 0]);
    local(false);
    await rig.pass(3);
    expect([...limitOf(rig), rig.value('AI579')]).to.deep.equal(['ENABLED', 60, 4]);
    local(true);
    await rig.pass(90);
    expect(limitOf(rig)).to.deep.equal(off);
  });

  for (const forget of [false, true]) {
    it(`a device that is off at the end of a schedule ${forget ? 'has forgotten it' : 'gives back when it returns'}`, async () => {
      const { rig, turnOff } = faultyRig();
      const before = registers(rig);
      begin(rig, 1, {
        points: [
          [0, 600],
          [30, 0],
        ],
      });
      await rig.pass(25);
      expect(limitOf(rig)).to.deep.equal(['ENABLED', 60]);
      turnOff({ off_s: 20, forget });
      await rig.pass(10);
      await rig.pass(20);
      expect(registers(rig)).to.deep.equal(before);
      expect(rig.value('AI569')).to.equal(0);
    });
  }

  it('a device that is off at the begin of a schedule begins when it returns', async () => {
    const { rig, turnOff } = faultyRig();
    begin(rig, 1, {
      inS: 10,
      points: [
        [0, 600],
        [60, 0],
      ],
    });
    turnOff({ off_s: 20, forget: false });
    await rig.pass(15);
    expect(limitOf(rig)).to.deep.equal(off);
    await rig.pass(10);
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 60]);
    await rig.pass(50);
    expect(limitOf(rig)).to.deep.equal(off);
  });

  it('a reset of the device ends and forgets schedules', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 5, {
      unit: 2,
      interval: 2,
      points: [
        [0, 600],
        [60, 0],
      ],
    });
    await rig.pass(10);
    rig.device.command({ kind: 'reset', scope: 'device' }, by);
    await rig.pass(1);
    expect([rig.value('AI569'), rig.value('AI570'), ...limitOf(rig)]).to.deep.equal([0, 1, ...off]);
    rig.done(['AO461', 5]);
    expect([rig.value('AI571'), rig.value('AI580'), rig.value('BI108')]).to.deep.equal([0, 0, 0]);
    await rig.pass(300);
    expect(limitOf(rig)).to.deep.equal(off);
  });

  it('the end of the outstation gives back and nothing begins any more', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      unit: 2,
      interval: 2,
      points: [
        [0, 600],
        [60, 0],
      ],
    });
    rig.points.close();
    expect(limitOf(rig)).to.deep.equal(off);
    await rig.pass(200);
    expect(limitOf(rig)).to.deep.equal(off);
  });
});
