/** Transactions of a 2.x station offline, without power and over restarts (E04, E12, E17). */
import { expect } from 'chai';
import { rebootFault } from '../../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../../support/faulty-rig.ts';
import { Central, newDisk, points, Station, valueOf } from './station.ts';
import type { TxEvent } from './station.ts';

const numbers = (events: readonly TxEvent[]) => events.map(({ seqNo }) => seqNo);
const charging = 'Updated ChargingStateChanged Charging';

describe('OCPP 2.x transactions offline and over restarts (E04, E12, E17)', () => {
  it('offline events keep their instants and are marked; those made online and sent later are not (E04, E12)', async () => {
    const station = await Station.open();
    const { central } = station;
    await station.plug();
    await station.authorize('04AA11BB');
    await station.connect(false);
    await station.run(10);
    await station.unplug();
    const offMs = station.parts.clock.nowMs();
    await station.run(100);
    await station.connect(true);
    expect(central.events.map(({ offline }) => offline)).to.deep.equal([undefined, true, true]);
    expect(numbers(central.events)).to.deep.equal([0, 1, 2]);
    expect(Date.parse(central.last.timestamp)).to.be.closeTo(offMs, 200);
  });

  it('a restart of the process ends what ran: PowerLoss with the last known meter and number (E04, E06)', async () => {
    const [disk, central] = [newDisk(), new Central()];
    const first = await Station.open({ disk, central });
    await first.plug();
    await first.authorize('04AA11BB');
    await first.run(600);
    const { energyWh } = first.connector();
    first.kill();
    await Station.open({ disk, central });
    await Station.open({ disk, central });
    expect(central.story).to.deep.equal([
      'Started Authorized EVConnected',
      charging,
      'Ended AbnormalCondition PowerLoss',
    ]);
    expect(numbers(central.events)).to.deep.equal([0, 1, 2]);
    const values = central.last.meterValue?.at(-1)?.sampledValue;
    expect(valueOf(values, 'Energy.Active.Import.Register')).to.equal(Math.round(energyWh));
  });

  const outages: readonly (readonly [string, string])[] = [
    ['0', 'Ended AbnormalCondition PowerLoss'],
    ['59', 'Ended AbnormalCondition PowerLoss'],
    ['61', 'Updated TxResumed Charging'],
  ];
  for (const [timeout, story] of outages)
    it(`60 s without power, ResumptionTimeout ${timeout}: ${story} (E17)`, async () => {
      const station = await Station.open({ variables: { 'TxCtrlr/ResumptionTimeout': timeout } });
      await station.plug();
      await station.authorize('04AA11BB');
      await station.run(10);
      await station.tell('power_down');
      await station.run(60);
      await station.tell('power_up');
      expect(station.central.story.at(-1)).to.equal(story);
      expect(station.connector().authorised).to.equal(timeout === '61');
    });

  const reboots: readonly (readonly [timeout: string, stop: string, story: readonly string[]])[] = [
    ['0', 'EVConnected,Authorized', ['Ended AbnormalCondition PowerLoss']],
    ['60', 'EVConnected,Authorized', ['Updated TxResumed SuspendedEVSE', charging]],
    ['60', 'EnergyTransfer', ['Ended AbnormalCondition PowerLoss']],
  ];
  for (const [timeout, stop, story] of reboots)
    it(`a device that reboots, ResumptionTimeout ${timeout}, TxStopPoint ${stop}: ${story.join(', ')} (E17)`, async () => {
      const kind = new FaultyRig({ types: ['EVSE'] });
      const variables = { ...points('PowerPathClosed', stop), 'TxCtrlr/ResumptionTimeout': timeout };
      const station = await Station.open({ kind, variables });
      await station.plug();
      await station.authorize('04AA11BB');
      await station.run(60);
      const before = station.central.events.length;
      kind.inject(rebootFault, { off_s: 40 });
      await station.run(39);
      await station.run(600);
      expect(station.central.story.slice(before)).to.deep.equal(story);
      expect(station.connector().authorised).to.equal(story.length === 2);
    });

  it('a reset of the device ends each with the meter before it: Reboot (E06)', async () => {
    const station = await Station.open({ variables: points('EVConnected', 'EVConnected') });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(600);
    const { energyWh } = station.connector();
    station.kind.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await station.settle();
    const ended = station.central.events.filter(({ eventType }) => eventType === 'Ended');
    expect(ended.map(({ transactionInfo }) => transactionInfo.stoppedReason)).to.deep.equal(['Reboot']);
    const values = ended[0]?.meterValue?.at(-1)?.sampledValue;
    expect(valueOf(values, 'Energy.Active.Import.Register')).to.equal(Math.round(energyWh));
  });

  it('a session that runs when the station begins is adopted (E01)', async () => {
    const station = await Station.open({
      before: (kind) => {
        // the station itself authorises by plugging in before a central system decides
        kind.device.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 } }, { source: 'rest' });
      },
    });
    expect(station.central.story).to.deep.equal(['Started Authorized EVConnected']);
    expect(station.central.last.idToken).to.deep.equal({ idToken: 'AUTO', type: 'KeyCode' });
  });

  it('GetTransactionStatus tells what runs and what waits (E14)', async () => {
    const station = await Station.open();
    const ask = (transactionId?: string) =>
      station.transactions.part.handlers?.GetTransactionStatus?.(
        transactionId === undefined ? {} : { transactionId },
        () => undefined,
      );
    expect(ask()).to.deep.equal({ messagesInQueue: false });
    expect(ask('unknown')).to.deep.equal({ ongoingIndicator: false, messagesInQueue: false });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.connect(false);
    await station.run(10);
    const id = station.transactions.at(1)?.transactionId ?? '';
    expect(ask(id)).to.deep.equal({ ongoingIndicator: true, messagesInQueue: true });
    await station.unplug();
    await station.connect(true);
    expect(ask(id)).to.deep.equal({ ongoingIndicator: false, messagesInQueue: false });
  });

  it('leave ends all with Other (E06)', async () => {
    const station = await Station.open({ variables: points('EVConnected', 'EVConnected') });
    await station.plug(1);
    await station.plug(2);
    await station.authorize('04AA11BB');
    station.transactions.leave('Other');
    await station.settle();
    const reasons = station.central.events.map(({ transactionInfo }) => transactionInfo.stoppedReason);
    expect(reasons.filter((each) => each === 'Other')).to.have.lengthOf(2);
    expect(station.transactions.running).to.deep.equal([]);
    expect(station.connector().authorised).to.equal(false);
  });
});
