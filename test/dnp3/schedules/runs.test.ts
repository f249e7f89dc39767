import { expect } from 'chai';
import { PointRig } from '../rig/points.ts';
import { faultyRig } from './faulty-rig.ts';
import { begin, limitOf, limitsSeen, off, registers, schedule, varOf } from './orders.ts';

const by = { source: 'rest', peer: 'test' } as const;
const local = (rig: PointRig, on: boolean) => rig.device.command({ kind: 'local', local: on }, by);

describe('set-points by schedule', () => {
  it('type 14: a plant without a battery generates by it, and cannot charge', async () => {
    const rig = new PointRig('PV-3Phase');
    const points = [
      [0, 400],
      [60, 200],
      [120, 0],
    ] as const;
    begin(rig, 1, { type: 14, points });
    const maxW = Number(rig.register(702, 'WMax'));
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo(0.4 * maxW, 0.02 * maxW);
    await rig.pass(60);
    expect(rig.activePowerW).to.be.closeTo(0.2 * maxW, 0.02 * maxW);
    await rig.pass(60);
    expect(rig.register(704, 'WSetEna')).to.equal('DISABLED');
    expect(rig.activePowerW).to.be.greaterThan(0.5 * maxW);
    rig.done(...schedule(rig, 2, { type: 14, points: [[0, -400], points[2]] }));
    expect(rig.value('AI578')).to.equal(3);
  });

  it('type 14: takes percent whatever the unit of the set-point was, and gives the unit back', async () => {
    const rig = new PointRig('Batt-3Phase');
    rig.device.bank.transact(by, (tx) => {
      tx.m704.WSetMod = 'WATTS';
      tx.m704.WSet = 1000;
      tx.m704.WSetEna = 'ENABLED';
    });
    await rig.pass(60);
    const before = registers(rig);
    expect(rig.activePowerW).to.be.closeTo(1000, 100);
    begin(rig, 1, {
      type: 14,
      points: [
        [0, -300],
        [60, 0],
      ],
    });
    const maxW = Number(rig.register(702, 'WMax'));
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo(-0.3 * maxW, 0.03 * maxW);
    await rig.pass(70);
    expect(rig.activePowerW).to.be.closeTo(1000, 100);
    expect(registers(rig)).to.deep.equal(before);
  });

  it('type 25: injects and absorbs, in percent of the reference that the device has', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.device.bank.transact(by, (tx) => {
      tx.m704.VarSetMod = 'W_MAX_PCT';
    });
    const before = registers(rig);
    begin(rig, 1, {
      type: 25,
      points: [
        [0, 200],
        [60, -200],
        [120, 0],
      ],
    });
    const maxW = Number(rig.register(702, 'WMax'));
    await rig.pass(50);
    expect(varOf(rig)).to.be.closeTo(0.2 * maxW, 50);
    await rig.pass(60);
    expect(varOf(rig)).to.be.closeTo(-0.2 * maxW, 50);
    await rig.pass(60);
    expect(registers(rig)).to.deep.equal(before);
    expect(varOf(rig)).to.be.closeTo(0, 50);
  });

  it('type 26: absorbs by the excitation of the mode, at both directions of power', async () => {
    const rig = new PointRig('Batt-3Phase');
    rig.done(['BO10', true], ['BO11', true]);
    const before = registers(rig);
    const both = [
      [0, 90],
      [240, 0],
    ] as const;
    begin(rig, 1, { type: 26, points: both });
    for (const percent of [500, -500]) {
      rig.done(['AO93', percent], ['BO18', true]);
      await rig.pass(100);
      expect(Math.sign(rig.activePowerW)).to.equal(Math.sign(percent));
      const share = Math.abs(rig.activePowerW) * Math.tan(Math.acos(0.9));
      expect(varOf(rig)).to.be.closeTo(-share, 0.03 * share);
    }
    rig.done(['BO18', false]);
    await rig.pass(60);
    expect(registers(rig).filter((line) => line.includes('PFW'))).to.deep.equal(
      before.filter((line) => line.includes('PFW')),
    );
  });

  it('a reversion time of the mode does not end a schedule, and is there again afterwards', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.device.bank.transact(by, (tx) => {
      tx.m704.WMaxLimPctRvrtTms = 20;
    });
    const before = registers(rig);
    begin(rig, 1, {
      points: [
        [0, 500],
        [60, 0],
      ],
    });
    await rig.pass(50);
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 50]);
    await rig.pass(20);
    expect(registers(rig)).to.deep.equal(before);
  });
});

describe('schedules in trouble', () => {
  const steps = [
    [0, 800],
    [30, 600],
    [60, 400],
    [90, 0],
  ] as const;

  it('a device that is off in the middle has the point of its return, and gives back at the end', async () => {
    const { rig, turnOff } = faultyRig();
    const before = registers(rig);
    begin(rig, 1, { points: steps });
    await rig.pass(20);
    turnOff({ off_s: 50, forget: false });
    await rig.pass(40);
    // the registers are those of the moment without power
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 80]);
    await rig.pass(15);
    expect([...limitOf(rig), rig.value('AI783')]).to.deep.equal(['ENABLED', 40, 400]);
    await rig.pass(20);
    expect(registers(rig)).to.deep.equal(before);
  });

  it('a device that forgets its settings in the middle forgets its schedules', async () => {
    const { rig, turnOff } = faultyRig();
    begin(rig, 1, { unit: 2, interval: 2, points: steps });
    await rig.pass(20);
    turnOff({ off_s: 20, forget: true });
    await rig.pass(30);
    expect([...limitOf(rig), rig.value('AI569'), rig.value('AI570'), rig.value('BI108')]).to.deep.equal([
      ...off,
      ...[0, 1, 0],
    ]);
    await rig.pass(150);
    expect(limitOf(rig)).to.deep.equal(off);
  });

  it('a device that is off for several runs goes on with the next one', async () => {
    const { rig, turnOff } = faultyRig();
    const seen = limitsSeen(rig);
    begin(rig, 1, { unit: 2, interval: 2, inS: 10, points: [steps[0], steps[3]] });
    await rig.pass(30);
    turnOff({ off_s: 300, forget: false });
    await rig.pass(400);
    expect(seen).to.deep.equal([
      '2026-06-21 12:00:10 80',
      // it returns in the third run
      '2026-06-21 12:05:30 80',
      '2026-06-21 12:05:40 off',
      '2026-06-21 12:06:10 80',
    ]);
  });

  it('a device that returns within a long tick is asked again within a minute', async () => {
    const { rig, turnOff } = faultyRig({ tickIntervalS: 600 });
    const seen = limitsSeen(rig);
    const points = [
      [0, 800],
      [400, 0],
    ] as const;
    begin(rig, 1, { inS: 100, points });
    turnOff({ off_s: 200, forget: false });
    await rig.plant.step(1);
    expect(seen).to.have.length(2);
    const begun = Date.parse(`${(seen[0] ?? '').slice(0, 19).replace(' ', 'T')}Z`);
    expect((begun - Date.parse('2026-06-21T12:03:20Z')) / 1000).to.be.within(0, 60);
    expect(seen[1]).to.equal('2026-06-21 12:08:20 off');
  });

  it('a device that is stopped in the middle keeps the schedule, and follows it when it is started', async () => {
    const rig = new PointRig('PV-3Phase');
    const before = registers(rig);
    const points = [
      [0, 800],
      [60, 300],
      [1200, 0],
    ] as const;
    begin(rig, 1, { points });
    await rig.pass(30);
    rig.device.command({ kind: 'stop' }, by);
    await rig.pass(60);
    expect([rig.activePowerW, ...limitOf(rig), rig.value('AI783')]).to.deep.equal([0, 'ENABLED', 30, 300]);
    rig.device.command({ kind: 'start' }, by);
    await rig.pass(1000);
    expect(rig.activePowerW).to.be.closeTo(0.3 * Number(rig.register(702, 'WMax')), 100);
    await rig.pass(120);
    expect(registers(rig)).to.deep.equal(before);
  });

  it('under local control in the middle the point stays until the end, and the next one waits', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, { points: steps });
    await rig.pass(20);
    local(rig, true);
    await rig.pass(20);
    expect([...limitOf(rig), rig.value('AI569'), rig.value('AI783')]).to.deep.equal(['ENABLED', 80, 1, 800]);
    local(rig, false);
    await rig.pass(2);
    expect([...limitOf(rig), rig.value('AI569'), rig.value('AI783')]).to.deep.equal(['ENABLED', 60, 1, 600]);
    local(rig, true);
    await rig.pass(50);
    expect([...limitOf(rig), rig.value('AI569'), rig.value('AI783')]).to.deep.equal([...off, 0, 0]);
    local(rig, false);
    await rig.pass(5);
    expect(limitOf(rig)).to.deep.equal(off);
  });

  it('under local control a schedule ends also when another one takes its place, which waits', async () => {
    const rig = new PointRig('PV-3Phase');
    const before = registers(rig);
    begin(rig, 1, { points: [steps[0], [90, 0]] });
    begin(rig, 2, { priority: 2, inS: 30, points: [[0, 300], steps[1]] });
    await rig.pass(20);
    local(rig, true);
    await rig.pass(20);
    expect([...limitOf(rig), rig.value('AI569'), rig.value('AI781')]).to.deep.equal([...off, 0, 3]);
    local(rig, false);
    await rig.pass(5);
    expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['ENABLED', 30, 2]);
    await rig.pass(20);
    expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['ENABLED', 80, 1]);
    await rig.pass(30);
    expect(registers(rig)).to.deep.equal(before);
  });
});

describe('schedules of equal priority', () => {
  it('the one that began last runs, and the other one goes on after it', async () => {
    const rig = new PointRig('PV-3Phase', { time: '12:00:00' });
    const before = registers(rig);
    const seen = limitsSeen(rig);
    begin(rig, 2, {
      inS: 10,
      points: [
        [0, 800],
        [30, 700],
        [100, 0],
      ],
    });
    begin(rig, 5, {
      inS: 30,
      points: [
        [0, 300],
        [30, 0],
      ],
    });
    await rig.pass(40);
    expect(rig.value('AI569')).to.equal(5);
    rig.done(['AO461', 2]);
    expect(rig.value('AI579')).to.equal(3);
    await rig.pass(30);
    expect([rig.value('AI569'), rig.value('AI579')]).to.deep.equal([2, 4]);
    await rig.pass(60);
    expect(seen).to.deep.equal([
      '2026-06-21 12:00:10 80',
      '2026-06-21 12:00:30 30',
      '2026-06-21 12:01:00 70',
      '2026-06-21 12:01:50 off',
    ]);
    expect(registers(rig)).to.deep.equal(before);
  });

  it('of two that begin at one instant the lower number runs, whichever was written first', async () => {
    const rig = new PointRig('PV-3Phase');
    const seen = limitsSeen(rig);
    begin(rig, 7, {
      inS: 10,
      points: [
        [0, 300],
        [60, 0],
      ],
    });
    begin(rig, 3, {
      inS: 10,
      points: [
        [0, 800],
        [30, 0],
      ],
    });
    await rig.pass(80);
    expect(seen).to.deep.equal(['2026-06-21 12:00:10 80', '2026-06-21 12:00:40 30', '2026-06-21 12:01:10 off']);
  });

  it('one that begins again takes over from the other', async () => {
    const rig = new PointRig('PV-3Phase');
    const seen = limitsSeen(rig);
    begin(rig, 1, {
      unit: 1,
      interval: 60,
      points: [
        [0, 800],
        [50, 0],
      ],
    });
    begin(rig, 2, {
      inS: 20,
      points: [
        [0, 300],
        [70, 0],
      ],
    });
    await rig.pass(115);
    expect(seen).to.deep.equal([
      '2026-06-21 12:00:00 80',
      '2026-06-21 12:00:20 30',
      '2026-06-21 12:01:00 80',
      '2026-06-21 12:01:50 off',
    ]);
  });

  it('one that is taken out of ready lets the other one run at once', async () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      points: [
        [0, 800],
        [90, 0],
      ],
    });
    begin(rig, 2, {
      points: [
        [0, 300],
        [90, 0],
      ],
    });
    expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['ENABLED', 80, 1]);
    rig.done(['AO461', 1], ['BO42', false]);
    expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['ENABLED', 30, 2]);
    await rig.pass(5);
    rig.done(['BO42', true]);
    expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['ENABLED', 80, 1]);
  });
});
