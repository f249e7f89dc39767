import { expect } from 'chai';
import { differences, stateOf } from '../../../support/csip-controls.ts';
import { loadedRig, request } from './rig.ts';
import type { DerRig } from './rig.ts';

const states = (rig: DerRig) => rig.part.entries().map(({ controlId, state }) => `${controlId} ${state}`);

describe('OCPP 2.1 R01, R04: DER controls over restarts, lost lines, and other writers', () => {
  it('R01.FR.03: controls survive a restart of the process', async () => {
    const rig = await loadedRig();
    await rig.set(request('D', 'VoltVar', { isDefault: true, priority: 3 }));
    await rig.set(request('D2', 'VoltVar', { isDefault: true, priority: 2 }));
    await rig.set(request('S', 'FixedVar', { startTime: rig.at(100), duration: 50 }));
    await rig.set(request('L', 'LimitMaxDischarge', { duration: 300 }));
    const before = rig.part.entries();
    rig.end();
    await rig.restart();
    expect(rig.part.entries()).to.deep.equal(before);
    await rig.pass(110, 10);
    expect(states(rig)).to.deep.equal(['D superseded', 'D2 outweighed', 'S applied', 'L applied']);
    expect(rig.point('704.VarSetEna')).to.equal('ENABLED');
  });

  it('what has ended while the station was off is gone; its end is told where its start was', async () => {
    const rig = await loadedRig();
    await rig.set(request('A', 'FixedVar', { duration: 60 }));
    await rig.set(request('B', 'LimitMaxDischarge', { startTime: rig.at(70), duration: 20 }));
    await rig.set(request('C', 'VoltWatt', { startTime: rig.at(80), duration: 500 }));
    rig.end();
    rig.line.calls.length = 0;
    await rig.pass(100, 50);
    await rig.restart();
    expect(states(rig)).to.deep.equal(['C applied']);
    // B has never been in force
    expect(rig.told('NotifyDERStartStop')).to.deep.equal([
      { controlId: 'A', started: false, timestamp: 60 },
      { controlId: 'C', started: true, timestamp: 80 },
    ]);
  });

  it('notices wait for the line, also over a restart, and keep their time and order', async () => {
    const rig = await loadedRig();
    rig.registration.end();
    await rig.set(request('A', 'FixedVar', { startTime: rig.at(10), duration: 10 }));
    await rig.pass(30, 5);
    expect(rig.line.calls).to.deep.equal([]);
    rig.end();
    await rig.restart();
    rig.registration.accept();
    await rig.pass(1);
    expect(rig.told('NotifyDERStartStop')).to.deep.equal([
      { controlId: 'A', started: true, timestamp: 10 },
      { controlId: 'A', started: false, timestamp: 20 },
    ]);
    rig.end();
    rig.line.calls.length = 0;
    await rig.restart();
    await rig.pass(1);
    expect(rig.line.calls).to.deep.equal([]);
  });

  it('another writer keeps its points, and the control shows it', async () => {
    const rig = await loadedRig();
    await rig.set(request('L', 'LimitMaxDischarge'));
    rig.kind.write(({ m704 }) => {
      m704.WMaxLimPct = 77;
    });
    const [entry] = rig.part.entries();
    expect(entry).to.include({ state: 'applied', overwritten: true });
    await rig.call('ClearDERControl', { isDefault: false });
    expect([rig.point('704.WMaxLimPct'), rig.point('704.WMaxLimPctEna')]).to.deep.equal([77, 'DISABLED']);
  });

  it('waits while the device is under local control, gives back meanwhile, and refuses bad values then too', async () => {
    const rig = await loadedRig();
    await rig.set(request('V', 'FixedVar'));
    rig.device.command({ kind: 'local', local: true }, { source: 'rest', peer: 'test' });
    expect((await rig.set(request('L', 'LimitMaxDischarge', { duration: 100 }))).status).to.equal('Accepted');
    const low = { priority: 1, displacement: 0.3, excitation: true };
    const bad = await rig.set({ ...request('P', 'FixedPFInject'), fixedPFInject: low });
    expect(bad.status).to.equal('Rejected');
    await rig.pass(5);
    expect(states(rig)).to.deep.equal(['V applied', 'L waiting']);
    await rig.call('ClearDERControl', { isDefault: false, controlId: 'V' });
    expect(rig.point('704.VarSetEna')).to.equal('DISABLED');
    rig.device.command({ kind: 'local', local: false }, { source: 'rest', peer: 'test' });
    await rig.pass(2);
    expect(states(rig)).to.deep.equal(['L applied']);
    expect(rig.point('704.WMaxLimPct')).to.equal(40);
  });

  it('a reset of the device brings back its start values, and then the controls in force', async () => {
    const rig = await loadedRig();
    await rig.pass(1);
    const before = stateOf(rig.plant);
    await rig.set(request('G', 'Gradients'));
    await rig.set(request('L', 'LimitMaxDischarge'));
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest', peer: 'test' });
    expect([rig.point('704.WMaxLimPctEna'), rig.device.gradient.w.pctPerS]).to.deep.equal(['ENABLED', 0.5]);
    await rig.call('ClearDERControl', { isDefault: false });
    await rig.call('ClearDERControl', { isDefault: true });
    expect(differences(before, stateOf(rig.plant))).to.deep.equal({});
  });

  it('a station that leaves while it is restored begins nothing', async () => {
    const rig = await loadedRig();
    await rig.set(request('A', 'FixedVar', { startTime: rig.at(10) }));
    rig.end();
    const restarted = rig.restart();
    rig.end();
    await restarted;
    await rig.pass(20, 5);
    expect([rig.part.entries(), rig.point('704.VarSetEna')]).to.deep.equal([[], 'DISABLED']);
  });

  it('stop ends listeners and timers', async () => {
    const rig = await loadedRig();
    await rig.set(request('A', 'FixedVar', { startTime: rig.at(10) }));
    rig.end();
    rig.line.calls.length = 0;
    await rig.pass(20, 5);
    expect([rig.line.calls.length, rig.point('704.VarSetEna')]).to.deep.equal([0, 'DISABLED']);
  });
});
