import { expect } from 'chai';
import { alarmFault, secondLimiterFault, silentRevertFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { createTestBank, errorOf, named } from '../../support/map.ts';
import { DeviceEffects } from '../../../src/der/faults/device-effects.ts';
import { EffectiveRegisters } from '../../../src/der/faults/effect.ts';
import { FaultBench } from '../../support/faults.ts';
import { byTest } from '../../support/rig.ts';

const limit = { '704.WMaxLimPct': 50, '704.WMaxLimPctEna': 'ENABLED' } as const;
const sunny = () => FaultyRig.sunny({ models: { '704': { WRmp: 1000 } } });
const pctNow = (rig: FaultyRig) => Math.round(rig.w / 100);

describe('device fault silent_revert', () => {
  it('a limit is off again after its time though RvrtTms is 0, and the registers say so', async () => {
    const rig = await sunny();
    rig.inject(silentRevertFault, { after_s: 90 });
    rig.write(limit);
    await rig.run(88);
    expect([pctNow(rig), rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPctRvrtRem')]).to.deep.equal([
      50,
      'ENABLED',
      0,
    ]);
    await rig.run(4);
    expect([pctNow(rig), rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal([
      100,
      'DISABLED',
      50,
    ]);
    const writer = rig.device.bank.provenance(named(rig.device.bank.layout, '704.WMaxLimPctEna'));
    expect([writer?.source, writer?.peer]).to.deep.equal(['fault', 'silent_revert 1']);
  });

  it('counts anew with each write, and not while the function is off', async () => {
    const rig = await sunny();
    rig.inject(silentRevertFault, { after_s: 60 });
    rig.write(limit);
    await rig.run(50);
    rig.write({ '704.WMaxLimPct': 40 });
    await rig.run(50);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
    rig.write({ '704.WMaxLimPctEna': 'DISABLED' });
    rig.write({ '704.VarSetEna': 'ENABLED' });
    await rig.run(20);
    expect([rig.value('704.WMaxLimPctEna'), rig.value('704.VarSetEna')]).to.deep.equal(['DISABLED', 'ENABLED']);
    await rig.run(41);
    expect(rig.value('704.VarSetEna')).to.equal('DISABLED');
  });

  it('what is on already counts from the beginning of the fault', async () => {
    const rig = await sunny();
    rig.write(limit);
    await rig.run(600);
    rig.inject(silentRevertFault, { after_s: 30 });
    await rig.run(29);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
    await rig.run(2);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('DISABLED');
  });

  it('of the functions that its points name, of other models too; cleared, nothing reverts', async () => {
    const rig = await sunny();
    rig.inject(silentRevertFault, { after_s: 30 }, { target: { points: ['706.Ena', '704.VarSetPct'] } });
    rig.write({ ...limit, '706.Ena': 'ENABLED', '704.VarSetEna': 'ENABLED' });
    await rig.run(31);
    expect(['704.WMaxLimPctEna', '706.Ena', '704.VarSetEna'].map((name) => rig.value(name))).to.deep.equal([
      'ENABLED',
      'DISABLED',
      'DISABLED',
    ]);
    rig.write({ '706.Ena': 'ENABLED' });
    rig.faults.clear();
    await rig.run(60);
    expect(rig.value('706.Ena')).to.equal('ENABLED');
  });

  it('with its count used up, a function that is switched on anew stays on', async () => {
    const rig = await sunny();
    rig.inject(silentRevertFault, { after_s: 60 }, { count: 1 });
    rig.write(limit);
    await rig.run(10);
    rig.write({ '704.WMaxLimPctEna': 'DISABLED' });
    rig.write(limit);
    await rig.run(100);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
  });

  it('with count 1 it happens once', async () => {
    const rig = await sunny();
    rig.inject(silentRevertFault, { after_s: 10 }, { count: 1 });
    rig.write(limit);
    await rig.run(11);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('DISABLED');
    rig.write(limit);
    await rig.run(30);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
  });

  it('refuses points without a function', async () => {
    const rig = await sunny();
    expect(
      errorOf(() => {
        rig.inject(silentRevertFault, { after_s: 1 }, { target: { points: ['703.ES'] } });
      }).code,
    ).to.equal('COMMAND_BAD_VALUE');
  });
});

describe('device fault second_limiter', () => {
  it('holds the power with every function off, and shows as what decides it', async () => {
    const rig = await sunny();
    const before = rig.device.trace.now.activeDecidedBy;
    rig.inject(secondLimiterFault, { limit_pct: 35 });
    await rig.run(2);
    expect([pctNow(rig), rig.device.trace.now.activeDecidedBy]).to.deep.equal([35, 'second_limiter']);
    expect([rig.value('704.WMaxLimPctEna'), rig.snapshot.status.inverter_state]).to.deep.equal([
      'DISABLED',
      'throttled',
    ]);
    expect(Number(rig.map.m701.ThrotSrc)).to.equal(1 << 14);
    rig.faults.clear();
    await rig.run(5);
    expect([pctNow(rig), rig.device.trace.now.activeDecidedBy]).to.deep.equal([100, before]);
  });

  it('the lower of it and the limit wins; when the limit ends it takes over', async () => {
    const rig = await sunny();
    rig.inject(secondLimiterFault, { limit_pct: 70 });
    rig.write(limit);
    await rig.run(2);
    expect([pctNow(rig), rig.device.trace.now.activeDecidedBy]).to.deep.equal([50, 'max_power']);
    rig.write({ '704.WMaxLimPctEna': 'DISABLED' });
    await rig.run(2);
    expect([pctNow(rig), rig.device.trace.now.activeDecidedBy]).to.deep.equal([70, 'second_limiter']);
  });

  it('of two the lower one; 0 is nothing at all', async () => {
    const rig = await sunny();
    rig.inject(secondLimiterFault, { limit_pct: 60 });
    const lower = rig.inject(secondLimiterFault, { limit_pct: 0 });
    await rig.run(2);
    expect(pctNow(rig)).to.equal(0);
    rig.faults.clear({ id: lower.facts.id });
    await rig.run(5);
    expect(pctNow(rig)).to.equal(60);
  });

  it('also above a droop that would raise the power', async () => {
    const rig = await sunny();
    rig.write({ ...limit, '711.Ena': 'ENABLED' });
    rig.inject(secondLimiterFault, { limit_pct: 60 });
    rig.plant.setGrid({ frequencyHz: 58.8 });
    await rig.run(30);
    expect([pctNow(rig), rig.device.trace.now.activeDecidedBy]).to.deep.equal([60, 'second_limiter']);
  });

  it('ends at its own instant, wherever ticks fall', async () => {
    const energies: unknown[] = [];
    for (const pieces of [[60], Array.from({ length: 120 }, () => 0.5), [13, 7, 40]]) {
      const rig = await sunny();
      rig.inject(secondLimiterFault, { limit_pct: 10 }, { durationS: 17.3 });
      for (const piece of pieces) await rig.run(piece);
      energies.push([rig.map.m701.TotWhInj, rig.w]);
    }
    expect(energies[1]).to.deep.equal(energies[0]);
    expect(energies[2]).to.deep.equal(energies[0]);
  });

  it('comes and goes with its condition, looked at with each tick', async () => {
    const rig = await sunny();
    rig.inject(secondLimiterFault, { limit_pct: 20 }, { when: { point: '701.Hz', above: 60.5 } });
    await rig.run(2);
    expect(pctNow(rig)).to.equal(100);
    rig.plant.setGrid({ frequencyHz: 60.6 });
    await rig.run(0.1);
    await rig.run(2);
    expect(pctNow(rig)).to.equal(20);
  });

  it('with count it limits for so many ticks', async () => {
    const rig = await sunny();
    rig.inject(secondLimiterFault, { limit_pct: 20 }, { count: 3 });
    const seen: number[] = [];
    await rig.watch(0.6, 0.1, () => {
      seen.push(pctNow(rig));
    });
    expect(seen.slice(0, 3)).to.deep.equal([20, 20, 20]);
    expect(seen.at(-1)).to.be.above(20);
  });
});

describe('device fault second_limiter, ended by its count', () => {
  it('a reset of the device forgets it at once', async () => {
    const rig = await sunny();
    rig.inject(secondLimiterFault, { limit_pct: 40 }, { count: 1 });
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    await rig.run(5);
    expect(pctNow(rig)).to.equal(100);
  });
});

describe('device fault alarm', () => {
  it('bits and list show it from the next tick on, to the end of the fault', async () => {
    const rig = await sunny();
    rig.inject(alarmFault, { codes: ['cabinet_open', 'over_temp', 'memory_loss'] });
    await rig.run(1);
    expect([rig.alarmBits, rig.alarmCodes]).to.deep.equal([
      [5, 7, 14],
      ['cabinet_open', 'over_temp', 'memory_loss'],
    ]);
    expect([rig.state, pctNow(rig)]).to.deep.equal(['on running connected', 100]);
    rig.faults.clear();
    await rig.run(1);
    expect([rig.alarmBits, rig.alarmCodes]).to.deep.equal([[], []]);
  });

  it('every code is a bit of 701.Alrm of the same name', async () => {
    for (const code of alarmFault.parameters.shape['codes'].element.options as readonly string[]) {
      const rig = new FaultyRig();
      rig.inject(alarmFault, { codes: [code] });
      await rig.run(1);
      const symbols = rig.device.bank.layout.slot(701, 'Alrm')!.def.symbols!;
      expect(rig.alarmBits, code).to.deep.equal([symbols[code.toUpperCase()]]);
      expect(rig.device.alarms.map((alarm) => alarm.code)).to.deep.equal([code]);
    }
  });

  it('beside a true one, which stays', async () => {
    const rig = await sunny();
    rig.inject(alarmFault, { codes: ['ground_fault', 'ac_over_volt', 'manual_shutdown'] });
    rig.write({ '715.OpCtl': 'STOP' });
    await rig.run(5);
    // nobody is to look for a trip that never was
    expect(Object.fromEntries(rig.device.alarms.map(({ code, message }) => [code, message]))).to.deep.equal({
      ground_fault: 'raised by fault injection, without a cause',
      ac_over_volt: 'raised by fault injection, without a cause',
      manual_shutdown: 'stopped by operator',
    });
    rig.faults.clear();
    await rig.run(1);
    expect(rig.alarmCodes).to.deep.equal(['manual_shutdown']);
  });

  it('by chance it comes and goes, alike with the same seed', async () => {
    const courses: string[] = [];
    for (const seed of [5, 5, 6]) {
      const rig = await sunny();
      rig.inject(alarmFault, { codes: ['ground_fault'] }, { probability: 0.5, seed });
      let course = '';
      await rig.watch(4, 0.1, () => {
        course += String(rig.alarmBits.length);
      });
      courses.push(course);
    }
    expect(courses[1]).to.equal(courses[0]);
    expect(courses[2]).to.not.equal(courses[0]);
    expect(courses[0]).to.match(/0/).and.to.match(/1/);
  });

  it('an acknowledgement does not end it', async () => {
    const rig = await sunny();
    rig.inject(alarmFault, { codes: ['blown_string_fuse'] });
    await rig.run(1);
    rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
    await rig.run(1);
    expect(rig.alarmCodes).to.deep.equal(['blown_string_fuse']);
  });
});

describe('device faults that come or go together', () => {
  it('let physics read its settings once', () => {
    const { bank, scheduler, clock } = createTestBank();
    const bench = new FaultBench();
    let read = 0;
    const effects = new DeviceEffects({
      deviceIndex: 0,
      bank,
      scheduler,
      effective: new EffectiveRegisters(bank),
      isDown: () => false,
      now: () => clock.sim(),
      refresh: () => {
        read += 1;
      },
      powerDown: () => undefined,
      activeFaults: () => [],
      powerUp: () => undefined,
    });
    const faults = [40, 30, 20].map((pct) => bench.inject(secondLimiterFault, { limit_pct: pct }));
    effects.begin(faults);
    expect([read, effects.limitPct]).to.deep.equal([1, 20]);
    effects.end(faults.slice(1));
    expect([read, effects.limitPct]).to.deep.equal([2, 40]);
    effects.end(faults);
    expect([read, effects.limitPct]).to.deep.equal([3, undefined]);
  });
});
