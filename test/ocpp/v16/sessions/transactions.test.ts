/** Transactions of a 1.6 station on a real device. */
import { expect } from 'chai';
import { stopReasonOf } from '../../../../src/ocpp/v16/transactions/state.ts';
import { SessionRig } from './rig.ts';

/** Stop reasons of the device in words of 1.6. */
const reasons: readonly (readonly [string | null, string])[] = [
  ['DeAuthorized', 'DeAuthorized'],
  ['EmergencyStop', 'EmergencyStop'],
  ['EVDisconnected', 'EVDisconnected'],
  ['HardReset', 'HardReset'],
  ['Local', 'Local'],
  ['Other', 'Other'],
  ['PowerLoss', 'PowerLoss'],
  ['Reboot', 'Reboot'],
  ['Remote', 'Remote'],
  ['SoftReset', 'SoftReset'],
  ['UnlockCommand', 'UnlockCommand'],
  ['ImmediateReset', 'HardReset'],
  ['MasterPass', 'Local'],
  ['SOCLimitReached', 'Other'],
  ['whatever', 'Other'],
  [null, 'Local'],
];

describe('OCPP 1.6 transactions (3.7, 3.13, 4.8, 4.10)', () => {
  it('a stop is not dated before its start, though the central system sets the clock back (3.16)', async () => {
    const rig = await SessionRig.open();
    const { clock } = rig.parts;
    for (const [wrongMs, laterMs] of [
      [-7_200_000, 0],
      [7_200_000, 7_200_000],
    ] as const) {
      await rig.plug();
      await rig.tap('TAG-1');
      const startedMs = clock.nowMs();
      clock.sync(startedMs + wrongMs, 0);
      await rig.unplug();
      expect(Date.parse(rig.central.starts.at(-1)?.timestamp ?? '')).to.equal(startedMs);
      expect(Date.parse(rig.central.stops.at(-1)?.timestamp ?? '')).to.equal(startedMs + laterMs);
    }
  });

  it('local start, charging and local stop by the same tag: one start, one stop, energy of the meter (4.8, 4.10)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.tap('TAG-1');
    expect(rig.central.asked).to.deep.equal(['TAG-1']);
    await rig.run(600);
    const { energyWh } = rig.connector();
    expect(energyWh).to.be.above(1000);
    await rig.tap('tag-1');
    expect(rig.central.asked).to.have.lengthOf(1);
    const [start] = rig.central.starts;
    const [stop] = rig.central.stops;
    expect(start).to.include({ connectorId: 1, idTag: 'TAG-1', meterStart: 0 });
    expect(stop).to.include({
      transactionId: start?.id,
      idTag: 'tag-1',
      reason: 'Local',
      meterStop: Math.round(energyWh),
    });
    expect(Date.parse(stop?.timestamp ?? '') - Date.parse(start?.timestamp ?? '')).to.be.closeTo(600_000, 200);
    expect(rig.connector().phase).to.equal('finishing');
    expect(rig.transactions.running).to.deep.equal([]);
    expect(rig.transactions.entries()[0]).to.include({
      transactionId: '1000',
      idToken: 'TAG-1',
      stopReason: 'Local',
      meterStopWh: Math.round(energyWh),
      queued: 0,
    });
  });

  it('the meter goes on from one transaction to the next (4.8)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    for (const tag of ['A', 'B']) {
      await rig.tap(tag);
      await rig.run(120);
      await rig.tap(tag);
    }
    const { starts, stops } = rig.central;
    expect(starts[1]?.meterStart).to.equal(stops[0]?.meterStop);
    expect(stops[1]?.meterStop).to.be.above(starts[1]?.meterStart ?? NaN);
  });

  it('unplugging at the vehicle ends it: EVDisconnected (4.10)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.tap('A');
    await rig.run(30);
    await rig.unplug();
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['EVDisconnected']);
    expect(rig.central.stops[0]).not.to.have.property('idTag');
  });

  it('StopTransactionOnEVSideDisconnect false: the transaction waits for the cable, one start and one stop (9.1)', async () => {
    const rig = await SessionRig.open();
    rig.port.command({ kind: 'evse.behaviour', endOnEvDisconnect: false });
    await rig.plug();
    await rig.tap('A');
    await rig.run(30);
    await rig.do({ kind: 'evse.unplug', connectorId: 1, evSide: true, evseSide: false });
    expect(rig.central.stops).to.deep.equal([]);
    await rig.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 }, evseSide: false });
    await rig.run(30);
    await rig.tap('A');
    expect(rig.central.starts).to.have.lengthOf(1);
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['Local']);
  });

  it('offline start and stop are sent in order after the reconnect, with the instants of the events (3.7.1)', async () => {
    const rig = await SessionRig.open({ keys: { AllowOfflineTxForUnknownId: 'true' } });
    await rig.connect(false);
    await rig.plug();
    await rig.tap('OFF');
    await rig.run(60);
    const [transaction] = rig.transactions.running;
    expect(transaction?.transactionId).to.equal(null);
    const values = { connectorId: 1, meterValue: [{ timestamp: rig.inMs(0), sampledValue: [{ value: '7' }] }] };
    expect(rig.transactions.pushMeterValues(transaction?.key ?? '', values)).to.equal(true);
    const startedMs = transaction?.startedMs;
    await rig.tap('OFF');
    expect(rig.transactions.pushMeterValues(transaction?.key ?? '', values)).to.equal(false);
    const stoppedMs = rig.parts.clock.nowMs();
    await rig.run(3600);
    expect(rig.transactions.entries()[0]).to.include({ transactionId: null, queued: 3 });
    await rig.connect(true);
    const { starts, values: told, stops } = rig.central;
    expect([starts.length, told.length, stops.length]).to.deep.equal([1, 1, 1]);
    expect(told[0]?.transactionId).to.equal(starts[0]?.id);
    expect(stops[0]?.transactionId).to.equal(starts[0]?.id);
    expect(Date.parse(starts[0]?.timestamp ?? '')).to.be.closeTo(startedMs ?? NaN, 1);
    expect(Date.parse(stops[0]?.timestamp ?? '')).to.be.closeTo(stoppedMs, 1);
    expect(rig.transactions.entries()[0]).to.include({ transactionId: '1000', queued: 0 });
  });

  it('a refused tag in StartTransaction.conf stops it: DeAuthorized (4.8, 9.1)', async () => {
    const rig = await SessionRig.open({ keys: { StopTransactionOnInvalidId: 'true' } });
    rig.central.startInfos.set('BAD', { status: 'Blocked' });
    await rig.plug();
    await rig.tap('BAD');
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['DeAuthorized']);
    expect(rig.tokens.find('BAD')?.status).to.equal('Blocked');
  });

  it('an id that another transaction has is wrong, unless the start is refused', async () => {
    for (const status of ['Accepted', 'Invalid'] as const) {
      const rig = await SessionRig.open({ keys: { StopTransactionOnInvalidId: 'false' } });
      rig.central.fixedId = 0;
      rig.central.startInfos.set('TAG', { status });
      for (const connectorId of [1, 2]) {
        await rig.plug(connectorId);
        await rig.tap('TAG', connectorId);
      }
      expect(rig.brokenRules).to.deep.equal([status === 'Accepted' ? 'transaction_id' : null]);
    }
  });

  it('StopTransactionOnInvalidId false: the energy stops, the transaction goes on (4.8)', async () => {
    const rig = await SessionRig.open({ keys: { StopTransactionOnInvalidId: 'false' } });
    rig.central.startInfos.set('BAD', { status: 'ConcurrentTx' });
    await rig.plug();
    await rig.tap('BAD');
    await rig.run(60);
    expect(rig.connector()).to.include({ status: 'suspended_evse', powerW: 0 });
    expect(rig.connector().energyWh).to.be.below(1);
    expect(rig.central.stops).to.deep.equal([]);
    await rig.tap('BAD');
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['Local']);
  });

  for (const tickS of [0.1, 1, 360]) {
    it(`MaxEnergyOnInvalidId: energy flows up to it, and no further, in ticks of ${tickS} s (9.1)`, async () => {
      const rig = await SessionRig.open({ keys: { StopTransactionOnInvalidId: 'false', MaxEnergyOnInvalidId: '100' } });
      rig.central.startInfos.set('BAD', { status: 'Expired' });
      await rig.plug();
      await rig.tap('BAD');
      await rig.kind.watch(Math.max(tickS, 70), tickS, () => undefined);
      expect(rig.connector().status).to.equal('suspended_evse');
      expect(rig.connector().energyWh).to.be.closeTo(100, 1e-3);
      expect(rig.timers.waiting).to.equal(0);
      await rig.tap('BAD');
      expect(rig.central.stops[0]).to.include({ meterStop: 100, reason: 'Local' });
      rig.central.startInfos.clear();
      await rig.tap('GOOD');
      await rig.run(60);
      expect(rig.connector().status).to.equal('charging');
    });
  }

  for (const allowedWh of [0, 100]) {
    it(`MaxEnergyOnInvalidId ${allowedWh} counts from the moment at which the token is known to be invalid (9.1)`, async () => {
      const keys = {
        StopTransactionOnInvalidId: 'false',
        MaxEnergyOnInvalidId: String(allowedWh),
        AllowOfflineTxForUnknownId: 'true',
      };
      const rig = await SessionRig.open({ keys });
      rig.central.startInfos.set('BAD', { status: 'Invalid' });
      await rig.connect(false);
      await rig.plug();
      await rig.tap('BAD');
      await rig.run(300);
      const { energyWh } = rig.connector();
      expect(energyWh).to.be.above(400);
      await rig.connect(true);
      await rig.run(600);
      expect(rig.connector()).to.include({ status: 'suspended_evse', powerW: 0 });
      expect(rig.connector().energyWh - energyWh).to.be.closeTo(allowedWh, 1e-3);
    });
  }

  it('a device under local control takes the limit as soon as it can; what has flowed counts (9.1)', async () => {
    const rig = await SessionRig.open({ keys: { StopTransactionOnInvalidId: 'false', MaxEnergyOnInvalidId: '200' } });
    rig.central.startInfos.set('BAD', { status: 'Expired' });
    await rig.connect(false);
    rig.keys.set('AllowOfflineTxForUnknownId', 'true');
    await rig.plug();
    await rig.tap('BAD');
    await rig.run(30);
    const { energyWh } = rig.connector();
    rig.kind.device.command({ kind: 'local', local: true }, { source: 'rest' });
    await rig.connect(true);
    await rig.run(60);
    expect(rig.connector().energyWh).to.be.within(energyWh + 100, energyWh + 150);
    rig.kind.device.command({ kind: 'local', local: false }, { source: 'rest' });
    rig.timers.pass(1000);
    await rig.run(600);
    expect(rig.connector().status).to.equal('suspended_evse');
    expect(rig.connector().energyWh - energyWh).to.be.closeTo(200, 1e-3);
  });

  it('a device under local control ends the transaction as soon as it can (4.8)', async () => {
    const rig = await SessionRig.open();
    rig.central.startInfos.set('BAD', { status: 'Blocked' });
    await rig.connect(false);
    rig.keys.set('AllowOfflineTxForUnknownId', 'true');
    await rig.plug();
    await rig.tap('BAD');
    await rig.run(30);
    rig.kind.device.command({ kind: 'local', local: true }, { source: 'rest' });
    await rig.connect(true);
    await rig.run(5);
    expect(rig.central.stops).to.deep.equal([]);
    rig.kind.device.command({ kind: 'local', local: false }, { source: 'rest' });
    rig.timers.pass(1000);
    await rig.run(3);
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['DeAuthorized']);
  });

  it('a start that the central system never takes: its values and its stop are not sent with another id (3.7.1)', async () => {
    const rig = await SessionRig.open();
    rig.central.refuses.add('StartTransaction');
    await rig.plug();
    await rig.tap('A');
    await rig.run(60);
    expect(rig.connector().status).to.equal('charging');
    await rig.tap('A');
    expect(rig.central.stops).to.deep.equal([]);
    expect(rig.disk.queued).to.deep.equal([]);
    rig.central.refuses.clear();
    await rig.tap('A');
    await rig.tap('A');
    expect([rig.central.starts.length, rig.central.stops.length]).to.deep.equal([1, 1]);
  });

  it('a restart of the process ends what ran: PowerLoss with the last known meter, once (3.7.1)', async () => {
    const first = await SessionRig.open();
    await first.plug();
    await first.tap('A');
    await first.run(300);
    const { energyWh } = first.connector();
    first.kill();
    await first.settle();
    const { disk, central } = first;
    const second = await SessionRig.open({ disk, central });
    expect(central.stops).to.have.lengthOf(1);
    expect(central.stops[0]).to.include({ transactionId: 1000, reason: 'PowerLoss', meterStop: Math.round(energyWh) });
    second.kill();
    const third = await SessionRig.open({ disk, central });
    expect(central.stops).to.have.lengthOf(1);
    await third.plug();
    await third.tap('B');
    expect(third.transactions.running[0]?.key).to.equal('2');
  });

  it('what was queued when the process ended is sent by the next one, with the id told then (3.7.1)', async () => {
    const first = await SessionRig.open({ keys: { AllowOfflineTxForUnknownId: 'true' } });
    await first.connect(false);
    await first.plug();
    await first.tap('A');
    await first.run(60);
    first.kill();
    await first.settle();
    const { disk, central } = first;
    central.online = true;
    await SessionRig.open({ disk, central });
    expect(central.starts.map(({ idTag }) => idTag)).to.deep.equal(['A']);
    expect(central.stops.map(({ reason, transactionId }) => [reason, transactionId])).to.deep.equal([
      ['PowerLoss', 1000],
    ]);
  });

  it('a reset of the device ends it: Reboot, with the meter before the reset (4.10)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.tap('A');
    await rig.run(300);
    const { energyWh } = rig.connector();
    rig.kind.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.settle();
    expect(rig.central.stops).to.have.lengthOf(1);
    expect(rig.central.stops[0]).to.include({ reason: 'Reboot', meterStop: Math.round(energyWh) });
  });

  it('what ran before a loss of power ends when it is back: PowerLoss, each once (4.10)', async () => {
    const rig = await SessionRig.open();
    for (const connectorId of [1, 2]) {
      await rig.plug(connectorId);
      await rig.tap(`T${connectorId}`, connectorId);
    }
    await rig.run(60);
    await rig.tell('power_down');
    expect(rig.central.stops).to.deep.equal([]);
    await rig.tell('power_up');
    await rig.tell('power_up');
    expect(rig.central.stops.map(({ reason, transactionId }) => [reason, transactionId])).to.deep.equal([
      ['PowerLoss', 1000],
      ['PowerLoss', 1001],
    ]);
  });

  it('a session that runs when the station begins is adopted, and stopped once (4.8)', async () => {
    const rig = await SessionRig.open({
      before: ({ device }) => device.command({ kind: 'evse.plug', connectorId: 1 }, { source: 'rest' }),
    });
    expect(rig.central.starts[0]).to.include({ idTag: 'AUTO', meterStart: 0 });
    await rig.do({ kind: 'evse.stop', connectorId: 1, reason: 'EmergencyStop' });
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['EmergencyStop']);
  });

  it('a session without any token has the idTag NoAuthorization (4.8)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.do({ kind: 'evse.start', connectorId: 1, authorize: false });
    expect(rig.central.starts[0]).to.include({ idTag: 'NoAuthorization', meterStart: 0 });
    await rig.do({ kind: 'evse.stop', connectorId: 1, reason: 'EmergencyStop' });
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['EmergencyStop']);
  });

  for (const [device, told] of reasons)
    it(`reason ${device ?? 'unknown'} is ${told} (7.36)`, () => {
      expect(stopReasonOf(device)).to.equal(told);
    });

  it('200 cuts at random messages: every session has one start and one stop, with its own id (3.7.1)', async function () {
    this.timeout(30_000);
    const rig = await SessionRig.open({ startDelayS: 1, keys: { AllowOfflineTxForUnknownId: 'true' } });
    let seed = 7;
    const random = (n: number): number => (seed = (seed * 48271) % 0x7fff_ffff) % n;
    await rig.plug();
    for (let i = 0; i < 200; i++) {
      rig.central.cutAfter = random(4);
      await rig.tap('A');
      if (random(2) === 0) await rig.connect(random(2) === 0);
      await rig.tap('A');
      if (random(3) === 0) await rig.connect(true);
    }
    await rig.connect(true);
    const { starts, stops } = rig.central;
    expect(starts).to.have.lengthOf(200);
    expect(stops.map(({ transactionId }) => transactionId)).to.deep.equal(starts.map(({ id }) => id));
  });
});
