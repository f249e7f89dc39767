import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { InverterParameters } from '../../../src/contract/device.ts';
import { Relays } from '../../../src/der/inverter/protection.ts';
import type { RelayInput } from '../../../src/der/inverter/protection.ts';
import { IdealRig, ratedW } from './ideal-rig.ts';

const codes = (rig: IdealRig) => rig.device.alarms.map((alarm) => alarm.code);
/** What the device has tripped on so far; an alarm ends with its cause. */
const causes = (rig: IdealRig) => rig.device.trace.transitions.flatMap(({ cause }) => cause ?? []);
const gridDisconnect = 1 << 4;
const shortEntry = (rig: IdealRig) => {
  rig.set((tx) => {
    Object.assign(tx.m703, { ESDlyTms: 1, ESRmpTms: 0 });
  });
};

describe('Unintentional islanding (IEEE 1547-2018 8.1; 704.AntiIslEna)', () => {
  for (const antiIslandingS of [0.5, 1.5, 2]) {
    it(`trips ${antiIslandingS} s after the island began, at its instant`, async () => {
      const rig = new IdealRig({ inverter: { antiIslandingS } });
      rig.grid({ island: true });
      await rig.run(antiIslandingS - 0.001);
      expect(rig.w).to.equal(ratedW);
      expect(rig.device.trace.now.timeToTripS.anti_islanding).to.be.closeTo(0.001, 1e-6);
      await rig.run(0.002);
      expect(rig.state).to.equal('off fault disconnected');
      expect(rig.map.m701.Alrm).to.equal(gridDisconnect);
      expect(codes(rig)).to.deep.equal(['grid_disconnect']);
      expect(rig.device.statusMessage).to.equal('tripped on islanding');
    });
  }

  it('is detected within 2 s by default', async () => {
    const rig = new IdealRig();
    rig.grid({ island: true });
    await rig.run(2);
    expect(rig.map.m701.ConnSt).to.equal('DISCONNECTED');
  });

  it('stays in an island with AntiIslEna off, and trips when it is switched on there', async () => {
    const rig = new IdealRig({ inverter: { antiIslandingS: 1 } });
    rig.set((tx) => {
      tx.m704.AntiIslEna = 'DISABLED';
    });
    rig.grid({ island: true });
    await rig.run(300);
    expect([rig.w, rig.state]).to.deep.equal([ratedW, 'on running connected']);
    rig.set((tx) => {
      tx.m704.AntiIslEna = 'ENABLED';
    });
    await rig.run(0.999);
    expect(rig.w).to.equal(ratedW);
    await rig.run(0.002);
    expect(codes(rig)).to.deep.equal(['grid_disconnect']);
  });

  it('an island that ends in time causes no trip', async () => {
    const rig = new IdealRig({ inverter: { antiIslandingS: 1 } });
    for (let i = 0; i < 3; i += 1) {
      rig.grid({ island: true, durationS: 0.9 });
      await rig.run(1);
    }
    expect(rig.state).to.equal('on running connected');
  });

  it('stays out while the island lasts; permit service and a reset of the alarms do not change that', async () => {
    const rig = new IdealRig({ inverter: { antiIslandingS: 1 } });
    shortEntry(rig);
    rig.grid({ island: true });
    await rig.run(2);
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(2);
    rig.set((tx) => {
      tx.m703.ES = 'ENABLED';
      tx.m715.AlarmReset = 1;
    });
    await rig.run(60);
    expect(rig.state).to.equal('off fault disconnected');
    expect(codes(rig)).to.deep.equal(['grid_disconnect']);
    rig.grid({ island: false });
    await rig.run(0.5);
    expect(rig.state).to.equal('off standby disconnected');
    expect(codes(rig)).to.deep.equal([]);
    await rig.run(2);
    expect(rig.w).to.equal(ratedW);
  });
});

describe('Rate of change of frequency (IEEE 1547-2018 6.5.2.5)', () => {
  for (const rate of [0.5, 2, 3]) {
    it(`${rate} Hz/s down and up is ridden through by default`, async () => {
      const rig = new IdealRig();
      rig.grid({ frequencyHz: 57.5, rampS: 2.5 / rate });
      await rig.run(2.5 / rate + 1);
      rig.grid({ frequencyHz: 61.5, rampS: 4 / rate });
      await rig.run(4 / rate + 1);
      expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
      expect(rig.device.trace.transitions).to.deep.equal([]);
    });
  }

  it('an optional relay trips above its setting, and not below', async () => {
    for (const [rocofRelayHzS, trips] of [
      [1, true],
      [2.7, true],
      [3.4, false],
    ] as const) {
      const rig = new IdealRig({ inverter: { rocofRelayHzS } });
      await rig.run(10);
      rig.grid({ frequencyHz: 58, rampS: 2 / 3 });
      await rig.run(1);
      expect(causes(rig), `${rocofRelayHzS} Hz/s`).to.deep.equal(trips ? ['rocof'] : []);
      expect(rig.map.m701.ConnSt).to.equal(trips ? 'DISCONNECTED' : 'CONNECTED');
    }
  });

  it('a relay detects a step of frequency as well, even after a long calm', async () => {
    for (const quietS of [0.1, 10, 300]) {
      const rig = new IdealRig({ inverter: { rocofRelayHzS: 2 } });
      await rig.run(quietS);
      rig.grid({ frequencyHz: 60.5 });
      await rig.run(0.1);
      expect(causes(rig), `after ${quietS} s`).to.deep.equal(['rocof']);
    }
  });

  it('trips at the same instant in ticks of any length', async () => {
    const instants = new Set<number>();
    for (const parts of [1, 10, 100]) {
      const rig = new IdealRig({ inverter: { rocofRelayHzS: 2 } });
      await rig.run(1);
      rig.grid({ frequencyHz: 59, rampS: 1 / 3 });
      for (let i = 0; i < parts; i += 1) await rig.run(2 / parts);
      instants.add(rig.device.trace.transitions[0]!.at);
    }
    expect(instants.size).to.equal(1);
  });

  it('returns through enter service: the cause of a relay does not persist', async () => {
    const rig = new IdealRig({ inverter: { rocofRelayHzS: 1 } });
    shortEntry(rig);
    rig.grid({ frequencyHz: 59.7, rampS: 0.1 });
    await rig.run(0.2);
    expect(causes(rig)).to.deep.equal(['rocof']);
    expect(rig.state).to.equal('off standby disconnected');
    await rig.run(5);
    expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
  });
});

describe('Phase angle changes (IEEE 1547-2018 6.5.2.6)', () => {
  it('20 and 60 degrees are ridden through by default', async () => {
    const rig = new IdealRig();
    for (const phaseAngleDeg of [20, -40, 20, 160]) {
      rig.grid({ phaseAngleDeg });
      await rig.run(1);
    }
    expect([rig.w, rig.state]).to.deep.equal([ratedW, 'on running connected']);
  });

  it('an optional relay trips at its setting, by the smaller angle', async () => {
    for (const [from, to, trips] of [
      [0, 12, true],
      [0, 10, true],
      [0, 9.9, false],
      [175, -176, false],
      [175, -175, true],
      [0, -30, true],
    ] as const) {
      const rig = new IdealRig({ inverter: { vectorShiftRelayDeg: 10 } });
      rig.set((tx) => {
        Object.assign(tx.m703, { ESDlyTms: 0, ESRmpTms: 0 });
      });
      rig.grid({ phaseAngleDeg: from });
      await rig.run(10);
      expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
      const before = causes(rig).length;
      rig.grid({ phaseAngleDeg: to });
      await rig.run(1);
      expect(causes(rig).slice(before), `${from} to ${to}`).to.deep.equal(trips ? ['vector_shift'] : []);
    }
  });
});

describe('Relays', () => {
  const fitted = { rocofRelayHzS: 2, vectorShiftRelayDeg: 10, antiIslandingS: 1 } as InverterParameters;
  const start = simTimeFromMs(1_000_000);
  const calm: RelayInput = { hz: 60, angleDeg: 0, island: false, watching: true, antiIslanding: true };

  it('restart after a time without watching', () => {
    const relays = new Relays(fitted);
    expect(relays.update(start, { ...calm, island: true })).to.equal(null);
    expect(relays.islandDue).to.equal(addSeconds(start, 1));
    expect(
      relays.update(addSeconds(start, 2), { ...calm, hz: 62, angleDeg: 90, island: true, watching: false }),
    ).to.equal(null);
    expect([relays.islandDue, relays.moving]).to.deep.equal([null, false]);
    expect(relays.update(addSeconds(start, 3), { ...calm, hz: 62, angleDeg: 90 })).to.equal(null);
  });

  it('give the detection instant of an island, never a past one', () => {
    const relays = new Relays(fitted);
    relays.update(start, { ...calm, island: true });
    expect(relays.nextDue(start)).to.equal(addSeconds(start, 1));
    expect(relays.nextDue(addSeconds(start, 1))).to.equal(Infinity);
    expect(relays.update(addSeconds(start, 1), { ...calm, island: true })).to.equal('island');
  });
});
