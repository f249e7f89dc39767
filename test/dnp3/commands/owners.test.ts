import { expect } from 'chai';
import { createRandom } from '../../../src/core/random.ts';
import { createDevicePort } from '../../../src/dnp3/bridge.ts';
import { builtInRows } from '../../../src/dnp3/profile/binding.ts';
import { OutstationPoints } from '../../../src/dnp3/profile/outstation-points.ts';
import { profileParts } from '../../../src/dnp3/profile/parts.ts';
import { isSupported } from '../../../src/sunspec/map/grid-support/state.ts';
import { functionTable } from '../../../src/sunspec/map/grid-support/functions.ts';
import { simulatedRemoteClock } from '../../support/remote-clock.ts';
import { PointRig } from '../rig/points.ts';

/** Another protocol writes a register. */
function put(rig: PointRig, model: number, path: string, value: number | string, source: 'modbus' | 'rest' = 'modbus') {
  const slot = rig.device.bank.layout.slot(model, path);
  if (slot === undefined) throw new Error(`there is no ${model}.${path}`);
  rig.device.bank.adopt({ source, peer: 'other' }, (_, set) => {
    set(slot, value);
  });
}
const operation = (rig: PointRig) => rig.register(715, 'OpCtl');

async function running(type = 'PV-3Phase'): Promise<PointRig> {
  const rig = new PointRig(type);
  await rig.pass(5);
  return rig;
}

describe('a lockout by DNP3', () => {
  it('ends the reversion of a stop: the device stays off', async () => {
    const rig = await running();
    rig.done(['AO15', 10], ['BO2', true], ['BO0', true]);
    await rig.pass(600);
    expect([operation(rig), rig.value('BI11'), rig.activePowerW]).to.deep.equal(['STOP', 1, 0]);
  });

  it('ends the reversion of the switch, and a close that waits in its window', async () => {
    const rig = await running();
    rig.done(['AO17', 10], ['BO5', false], ['BO0', true]);
    await rig.pass(60);
    expect(rig.device.switchClosed).to.equal(false);
    rig.done(['BO0', false], ['AO17', 0], ['AO16', 100], ['BO5', true], ['BO0', true]);
    await rig.pass(200);
    expect(rig.device.switchClosed).to.equal(false);
  });

  it('keeps reversions that begin under it from closing and starting', async () => {
    const rig = await running();
    rig.done(['BO0', true], ['AO15', 10], ['AO17', 10], ['BO2', true], ['BO5', false]);
    await rig.pass(60);
    expect([operation(rig), rig.device.switchClosed]).to.deep.equal(['STOP', false]);
  });

  it('is not slowed by the ramp time of a stop', async () => {
    const rig = await running();
    rig.done(['AO14', 3600], ['BO2', true]);
    await rig.pass(20);
    expect(rig.activePowerW).to.be.greaterThan(1000);
    rig.done(['BO0', true]);
    await rig.pass(20);
    expect([rig.activePowerW, rig.value('BI15')]).to.deep.equal([0, 1]);
  });

  it('ends when another protocol starts the device: it never stands beside a device that runs', async () => {
    const rig = await running();
    rig.done(['BO0', true]);
    await rig.pass(20);
    put(rig, 715, 'OpCtl', 'START');
    expect([rig.value('BI11'), rig.operate('BO1', true, true)]).to.deep.equal([0, 0]);
    await rig.pass(900);
    expect([rig.value('BI14'), rig.value('BI11')]).to.deep.equal([1, 0]);
    put(rig, 715, 'OpCtl', 'STOP');
    expect(rig.value('BI11')).to.equal(0);
  });
});

describe('reversions by DNP3', () => {
  it('leave a stop of another protocol alone', async () => {
    const rig = await running();
    rig.done(['AO15', 50], ['BO2', true]);
    await rig.pass(1);
    put(rig, 715, 'OpCtl', 'START');
    await rig.pass(5);
    put(rig, 715, 'OpCtl', 'STOP');
    await rig.pass(60);
    expect(operation(rig)).to.equal('STOP');
  });

  it('leave a stop that was there before', async () => {
    const rig = await running();
    put(rig, 715, 'OpCtl', 'STOP');
    rig.done(['AO15', 10], ['BO2', true]);
    await rig.pass(60);
    expect(operation(rig)).to.equal('STOP');
  });

  it('leave a switch that REST has opened', async () => {
    const rig = await running();
    rig.done(['AO17', 50], ['BO5', false]);
    await rig.pass(1);
    rig.device.command({ kind: 'switch', closed: true }, { source: 'rest' });
    rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
    await rig.pass(60);
    expect(rig.device.switchClosed).to.equal(false);
  });

  it('begin anew with a repeated command, and go back to what was there before the first', async () => {
    const rig = await running();
    rig.done(['AO17', 50], ['AO15', 50], ['BO5', false], ['BO2', true]);
    await rig.pass(30);
    rig.done(['BO5', false], ['BO2', true]);
    await rig.pass(40);
    expect([operation(rig), rig.device.switchClosed]).to.deep.equal(['STOP', false]);
    await rig.pass(20);
    expect([operation(rig), rig.device.switchClosed]).to.deep.equal(['START', true]);
  });

  it('a stop that waits goes with the permission to stop', async () => {
    const rig = await running();
    rig.done(['AO13', 100], ['BO2', true], ['BO4', false]);
    await rig.pass(300);
    expect([operation(rig), rig.value('BI17')]).to.deep.equal(['START', 0]);
  });
});

describe('the end of an outstation', () => {
  it('ends commands that wait and reversions', async () => {
    const rig = await running();
    rig.done(['AO17', 50], ['BO5', false], ['AO83', 100], ['AO88', 400], ['BO17', true]);
    rig.points.close();
    await rig.pass(200);
    expect([rig.device.switchClosed, rig.register(704, 'WMaxLimPctEna')]).to.deep.equal([false, 'DISABLED']);
  });

  it('ends its limit of load, and follows no register any more', async () => {
    const rig = await running('Batt-3Phase');
    rig.done(['AO87', 300], ['BO17', true]);
    const owners = () => rig.plant.siteOf([0]).owners.map(({ owner }) => owner);
    expect(owners()).to.deep.equal(['dnp3']);
    rig.points.close();
    expect(owners()).to.deep.equal([]);
    put(rig, 704, 'WMaxLimPctEna', 'DISABLED');
    put(rig, 704, 'WMaxLimPctEna', 'ENABLED');
    expect(owners()).to.deep.equal([]);
  });

  it('ends a ramp: the slope is what it was', async () => {
    const rig = await running('Batt-3Phase');
    rig.done(['AO91', 100], ['AO93', 500], ['BO18', true]);
    expect(rig.device.gradient.w.source).to.equal('gradient');
    rig.points.close();
    expect(rig.device.gradient.w.source).to.equal('register');
  });
});

describe('what mirrors show', () => {
  it('a set-point of another protocol in watts as percent, and one in var not at all', async () => {
    const rig = await running('Batt-3Phase');
    const maxW = Number(rig.register(702, 'WMax'));
    put(rig, 704, 'WSetMod', 'WATTS');
    put(rig, 704, 'WSet', maxW * 0.3);
    put(rig, 704, 'WSetEna', 'ENABLED');
    expect([rig.value('AI154'), rig.value('BI70')]).to.deep.equal([300, 1]);
    put(rig, 704, 'VarSetMod', 'VARS');
    put(rig, 704, 'VarSet', 1500);
    expect([rig.value('AI281'), rig.value('AI42')]).to.deep.equal([null, 0]);
    rig.done(['BO18', true]);
    expect([rig.value('AI154'), rig.register(704, 'WSetPct')]).to.deep.equal([300, 30]);
    rig.done(['AO93', 400], ['AO203', 200]);
    expect([rig.value('AI154'), rig.register(704, 'WSetMod')]).to.deep.equal([400, 'W_MAX_PCT']);
    expect([rig.value('AI281'), rig.register(704, 'VarSetMod')]).to.deep.equal([200, 'VAR_MAX_PCT']);
  });

  it('a value as it was written while the register holds its rounding, and the register as soon as it is written', () => {
    const rig = new PointRig('PV-3Phase');
    for (const value of [30_000, 15_000, 70_000, 333_333]) {
      rig.done(['AO64', value]);
      expect(rig.value('AI123')).to.equal(value);
    }
    rig.done(['AO64', 30_000]);
    const droop = Number(rig.register(711, 'Ctl[0].KOf'));
    expect(droop).to.be.closeTo(1 / 30, 0.0006);
    put(rig, 711, 'Ctl[0].KOf', droop);
    expect(rig.value('AI123')).to.equal(Math.round(1000 / droop));
    rig.done(['AO64', 30_000]);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    expect(rig.value('AI123')).to.equal(Math.round(1000 / Number(rig.register(711, 'Ctl[0].KOf'))));
  });
});

describe('the limit of load by DNP3', () => {
  const limit = (rig: PointRig) => rig.plant.siteOf([rig.device.index]).limits.load;

  it('is that of the master which switched the mode', async () => {
    const rig = await running('Batt-3Phase');
    rig.done(['AO87', 300], ['BO17', true]);
    expect([limit(rig).setBy?.source, limit(rig).setBy?.peer]).to.deep.equal(['dnp3', '4@127.0.0.1:50000']);
    put(rig, 704, 'WMaxLimPctEna', 'DISABLED');
    put(rig, 704, 'WMaxLimPctEna', 'ENABLED');
    expect(limit(rig).setBy?.source).to.equal('modbus');
  });

  it('SELECT of its switch moves nothing at a device whose generation cannot be limited', () => {
    const rig = new PointRig('EVSE');
    const port = createDevicePort(rig.device, rig.plant);
    port.supports = (name) => name !== 'max_power' && isSupported(rig.device.bank, functionTable[name]);
    const points = new OutstationPoints({
      port,
      profile: 'an2018',
      rows: builtInRows('an2018'),
      parts: profileParts,
      clock: simulatedRemoteClock(rig.plant),
      random: (purpose) => createRandom(1, purpose),
      log: { info: () => undefined, warning: () => undefined },
    });
    const master = { address: 4, peer: '4@127.0.0.1:50000' };
    const mode = { kind: 'binary', index: 17, state: 1 } as const;
    const most = { kind: 'analog', index: 87, value: 300, isFloat: false } as const;
    expect([points.controls.select(mode, master), points.controls.operate(most, master)]).to.deep.equal([0, 0]);
    expect(limit(rig).limitW).to.equal(null);
    expect(points.controls.operate(mode, master)).to.equal(0);
    expect(limit(rig).limitW).to.equal(0.3 * Number(rig.register(702, 'WChaRteMax')));
  });

  it('is gone after a reset of the device', () => {
    const rig = new PointRig('EVSE');
    rig.done(['AO87', 300], ['BO17', true]);
    expect(limit(rig).limitW).to.not.equal(null);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    expect(limit(rig).limitW).to.equal(null);
  });

  for (const type of ['EVSE', 'Batt-3Phase'])
    it(`answers a refusal of the site, and keeps nothing of it (${type})`, () => {
      const rig = new PointRig(type);
      rig.done(['AO87', 900], ['BO17', true]);
      rig.done(['BO17', false]);
      const others = Array.from({ length: 32 }, (_, i) => `csip:${i}`);
      for (const owner of others) rig.plant.setSite({ load: 1e6 }, { source: 'csip' }, { owner, devices: [0] });
      expect(rig.operate('BO17', true)).to.equal(6);
      rig.done(['AO87', 1000], ['BO17', true]);
      expect(rig.operate('AO87', 300)).to.equal(6);
      expect(rig.value('AI148')).to.equal(1000);
    });
});
