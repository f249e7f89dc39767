/** Transactions of a 2.x station on a real device (E). */
import { expect } from 'chai';
import { Central, points, Station, valueOf } from './station.ts';
import type { TxEvent } from './station.ts';

const numbers = (events: readonly TxEvent[]) => events.map(({ seqNo }) => seqNo);

interface Course {
  readonly start: string;
  readonly stop: string;
  /** plugs, authorises, charges, stops by token, unplugs */
  readonly story: readonly string[];
}

const charging = 'Updated ChargingStateChanged Charging';
const plugged = 'Updated CablePluggedIn EVConnected';
const authorized = 'Updated Authorized EVConnected';

/** One course of a visit for each start and stop point (E01 and E06). */
const courses: readonly Course[] = [
  {
    start: 'ParkingBayOccupancy',
    stop: 'ParkingBayOccupancy',
    story: [
      'Started EVDetected',
      plugged,
      authorized,
      charging,
      'Updated StopAuthorized EVConnected',
      'Updated EVCommunicationLost Idle',
      'Ended EVDeparted Local',
    ],
  },
  {
    start: 'EVConnected',
    stop: 'EVConnected',
    story: [
      'Started CablePluggedIn EVConnected',
      authorized,
      charging,
      'Updated StopAuthorized EVConnected',
      'Ended EVCommunicationLost Local',
    ],
  },
  {
    start: 'Authorized',
    stop: 'Authorized',
    story: ['Started Authorized EVConnected', charging, 'Ended StopAuthorized Local'],
  },
  {
    start: 'PowerPathClosed',
    stop: 'PowerPathClosed',
    story: ['Started Authorized EVConnected', charging, 'Ended StopAuthorized Local'],
  },
  {
    start: 'EnergyTransfer',
    stop: 'EnergyTransfer',
    story: ['Started ChargingStateChanged Charging', 'Ended StopAuthorized Local'],
  },
  {
    start: 'EVConnected,Authorized',
    stop: 'EVConnected,Authorized',
    story: ['Started CablePluggedIn EVConnected', authorized, charging, 'Ended StopAuthorized Local'],
  },
];

async function visit(station: Station): Promise<void> {
  await station.plug();
  await station.run(5);
  await station.authorize('04AA11BB');
  await station.run(600);
  const token = { idToken: '04AA11BB', type: 'ISO14443' };
  station.transactions.stop(1, { reason: 'Local', trigger: 'StopAuthorized', idToken: token });
  await station.run(5);
  await station.unplug();
}

describe('OCPP 2.x transactions (E01 to E17)', () => {
  for (const { start, stop, story } of courses)
    it(`TxStartPoint ${start}, TxStopPoint ${stop}: one transaction with each change once (E01, E06)`, async () => {
      const station = await Station.open({ variables: points(start, stop) });
      const { central } = station;
      await visit(station);
      // events of the device tell the charging state also at the end
      expect(central.story).to.deep.equal(story);
      const { events } = central;
      expect(numbers(events)).to.deep.equal(events.map((_, at) => at));
      expect(new Set(events.map(({ transactionInfo }) => transactionInfo.transactionId)).size).to.equal(1);
      expect(events.filter(({ idToken }) => idToken !== undefined).length, 'token, and the one that stops').to.equal(2);
      expect(station.transactions.running).to.deep.equal([]);
      expect(events[0]?.evse?.id).to.equal(1);
      expect(events.filter(({ evse }) => evse?.connectorId !== undefined)).to.have.lengthOf(1);
      expect(events.some(({ offline }) => offline !== undefined)).to.equal(false);
    });

  it('energies of Started and Ended are those of the meter, and time of charging that of the energy (E02, J02)', async () => {
    const station = await Station.open();
    await visit(station);
    const { events, last } = station.central;
    const { energyWh } = station.connector();
    expect(energyWh).to.be.above(1000);
    const register = 'Energy.Active.Import.Register';
    expect(valueOf(events[0]?.meterValue?.[0]?.sampledValue, register)).to.equal(0);
    expect(valueOf(last.meterValue?.at(-1)?.sampledValue, register)).to.equal(Math.round(energyWh));
    expect(last.meterValue?.map(({ sampledValue }) => sampledValue[0]?.context)).to.deep.equal([
      'Transaction.Begin',
      'Transaction.End',
    ]);
    expect(last.transactionInfo.timeSpentCharging).to.equal(598);
    const [entry] = station.transactions.entries();
    expect(entry).to.include({
      stopReason: 'Local',
      meterStopWh: Math.round(energyWh),
      idToken: '04AA11BB',
      queued: 0,
    });
  });

  it('no event is dated before an earlier one, though the central system sets the clock back', async () => {
    const station = await Station.open();
    const { clock } = station.parts;
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(60);
    const startedMs = clock.nowMs();
    clock.sync(startedMs - 3_600_000, 0);
    await station.do({ kind: 'evse.suspend', connectorId: 1, by: 'ev' });
    clock.sync(startedMs + 3_600_000, 0);
    await station.unplug();
    const instants = station.central.events.map(({ timestamp }) => Date.parse(timestamp));
    const [first = NaN, charging = NaN, suspended, ended] = instants;
    expect(charging).to.be.above(first);
    expect([suspended, ended]).to.deep.equal([charging, startedMs + 3_600_000]);
  });

  it('2.0.1 sends the same events by its own schema (E01)', async () => {
    const station = await Station.open({ version: 'ocpp2.0.1' });
    await visit(station);
    expect(station.central.story).to.deep.equal([
      'Started Authorized EVConnected',
      charging,
      'Ended StopAuthorized Local',
    ]);
  });

  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`${version}: what tariffs add is told in 2.1 alone (I07)`, async () => {
      const asked: string[] = [];
      const total = { currency: 'EUR', typeOfCost: 'NormalCost', total: { exclTax: 1 } } as const;
      const costDetails = { totalCost: total, totalUsage: { energy: 1, chargingTime: 1, idleTime: 0 } };
      const costs = {
        extras: (_: unknown, eventType: string) => {
          asked.push(eventType);
          return eventType === 'Ended' ? { costDetails } : { tariffId: 'T1' };
        },
      };
      const station = await Station.open({ version, costs });
      await visit(station);
      const { events, last } = station.central;
      expect(asked).to.deep.equal(events.map(({ eventType }) => eventType));
      const is21 = version === 'ocpp2.1';
      expect(events[0]?.transactionInfo.tariffId).to.equal(is21 ? 'T1' : undefined);
      expect(last.costDetails).to.deep.equal(is21 ? costDetails : undefined);
    });

  it('a remote start waits for the cable: token, remoteStartId once, then the connector (F01, E03)', async () => {
    const station = await Station.open({ variables: points('Authorized', 'EVConnected,Authorized') });
    await station.authorize('REMOTE', { remoteStartId: 77 });
    const { events } = station.central;
    expect(events[0]).to.deep.include({ triggerReason: 'RemoteStart', evse: { id: 1 } });
    expect(events[0]?.transactionInfo.remoteStartId).to.equal(77);
    await station.plug();
    expect(events[1]).to.deep.include({ triggerReason: 'CablePluggedIn', evse: { id: 1, connectorId: 1 } });
    expect(events[1]?.transactionInfo.remoteStartId).to.equal(undefined);
    expect(events[1]?.idToken).to.equal(undefined);
  });

  it('no cable in time: EVConnectTimeout ends it with Timeout (E03.FR.05)', async () => {
    const station = await Station.open({
      variables: { ...points('Authorized', 'Authorized'), 'TxCtrlr/EVConnectionTimeOut': '30' },
    });
    await station.authorize('04AA11BB');
    await station.run(31);
    expect(station.central.story).to.deep.equal(['Started Authorized', 'Ended EVConnectTimeout Timeout']);
  });

  it('a vehicle that leaves unauthorised ends its transaction whatever the stop point (E03)', async () => {
    const station = await Station.open({ variables: points('EVConnected', 'PowerPathClosed') });
    await station.plug();
    await station.unplug();
    expect(station.central.story).to.deep.equal([
      'Started CablePluggedIn EVConnected',
      'Ended EVCommunicationLost EVDisconnected',
    ]);
  });

  it('StopTxOnEVSideDisconnect false: the transaction waits for the cable (E10)', async () => {
    const station = await Station.open({
      variables: { ...points('PowerPathClosed', 'Authorized'), 'TxCtrlr/StopTxOnEVSideDisconnect': 'false' },
    });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(10);
    await station.do({ kind: 'evse.unplug', connectorId: 1, evSide: true });
    await station.do({ kind: 'evse.plug', connectorId: 1, evSide: true, ev: { socPct: 30 } });
    await station.run(10);
    expect(station.central.story).to.deep.equal([
      'Started Authorized EVConnected',
      charging,
      'Updated EVCommunicationLost Idle',
      plugged,
      charging,
    ]);
  });

  it('the vehicle suspends and resumes; with EnergyTransfer as stop point the suspension ends it (E02, E06)', async () => {
    const station = await Station.open({ variables: points('PowerPathClosed', 'Authorized') });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(10);
    await station.do({ kind: 'evse.suspend', connectorId: 1, by: 'ev' });
    await station.do({ kind: 'evse.resume', connectorId: 1, by: 'ev' });
    expect(station.central.story.slice(-2)).to.deep.equal(['Updated ChargingStateChanged SuspendedEV', charging]);
    station.variables.set('TxCtrlr', 'TxStopPoint', 'EnergyTransfer');
    await station.do({ kind: 'evse.suspend', connectorId: 1, by: 'ev' });
    expect(station.central.story.at(-1)).to.equal('Ended ChargingStateChanged StoppedByEV');
    expect(station.connector().authorised, 'no session goes on after its transaction').to.equal(false);
  });

  it('a fault opens the power path: AbnormalCondition, and the reason of the fault where it ends (E06)', async () => {
    const station = await Station.open({ variables: points('PowerPathClosed', 'EnergyTransfer') });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(10);
    await station.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'GroundFailure' });
    expect(station.central.story.at(-1)).to.equal('Ended AbnormalCondition GroundFault');
    expect(station.connector().phase).to.equal('finishing');
  });

  it('the same cable and another token: a new transaction with start point EVConnected (E01)', async () => {
    const station = await Station.open({ variables: points('EVConnected', 'Authorized') });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(10);
    station.transactions.stop(1, { reason: 'Remote', trigger: 'RemoteStop' });
    await station.settle();
    await station.authorize('04AA11CC');
    expect(station.central.story.slice(-2)).to.deep.equal([
      'Ended RemoteStop Remote',
      'Started Authorized EVConnected',
    ]);
    expect(station.central.last).to.deep.include({ seqNo: 0, idToken: { idToken: '04AA11CC', type: 'ISO14443' } });
  });

  it('a stop without authorisation ends a transaction of the cable alone (F03)', async () => {
    const station = await Station.open({ variables: points('EVConnected', 'EVConnected') });
    await station.plug();
    station.transactions.stop(1, { reason: 'Remote', trigger: 'RemoteStop' });
    await station.settle();
    expect(station.central.story.at(-1)).to.equal('Ended RemoteStop Remote');
    expect(() => station.transactions.stop(1, { reason: 'Remote', trigger: 'RemoteStop' })).to.throw();
  });

  it('stopAll ends each of them whatever the stop points (B12)', async () => {
    const station = await Station.open({ variables: points('EVConnected', 'EVConnected') });
    await station.plug(1);
    await station.plug(2);
    await station.authorize('04AA11BB');
    await station.run(10);
    station.transactions.stopAll({ reason: 'ImmediateReset', trigger: 'ResetCommand' });
    await station.settle();
    const ended = station.central.story.filter((each) => each.startsWith('Ended'));
    expect(ended).to.deep.equal(['Ended ResetCommand ImmediateReset', 'Ended ResetCommand ImmediateReset']);
    expect(station.connector().authorised).to.equal(false);
  });
});

describe('OCPP 2.x refused tokens and limits (E05, E16)', () => {
  async function running(central: Central, variables: Readonly<Record<string, string>>): Promise<Station> {
    const station = await Station.open({ central, variables });
    await station.plug();
    await station.authorize('04AA11BB');
    await station.run(10);
    return station;
  }

  it('StopTxOnInvalidId true: Deauthorized ends it (E05.FR.10)', async () => {
    const central = new Central();
    central.reply = ({ idToken }) => (idToken === undefined ? {} : { idTokenInfo: { status: 'Blocked' } });
    const station = await running(central, {});
    expect(central.story.at(-1)).to.equal('Ended Deauthorized DeAuthorized');
    expect(station.connector().phase).to.equal('finishing');
  });

  it('without a stop point for it the authorisation ends, and the transaction goes on (E05.FR.09)', async () => {
    const central = new Central();
    central.reply = ({ idToken }) => (idToken === undefined ? {} : { idTokenInfo: { status: 'Blocked' } });
    await running(central, points('Authorized', 'EVConnected'));
    expect(central.story.at(-1)).to.equal('Updated Deauthorized EVConnected');
  });

  for (const maxWh of [0, 100])
    it(`StopTxOnInvalidId false: energy up to MaxEnergyOnInvalidId ${maxWh}, then SuspendedEVSE (E05)`, async () => {
      const central = new Central();
      central.reply = ({ idToken }) => (idToken === undefined ? {} : { idTokenInfo: { status: 'Invalid' } });
      const station = await running(central, {
        'TxCtrlr/StopTxOnInvalidId': 'false',
        'TxCtrlr/MaxEnergyOnInvalidId': String(maxWh),
      });
      await station.run(600);
      expect(station.connector().energyWh).to.be.closeTo(maxWh, 0.001);
      expect(central.story.at(-1)).to.equal('Updated ChargingStateChanged SuspendedEVSE');
      expect(station.transactions.running).to.have.lengthOf(1);
    });

  const limits: readonly (readonly [object, string])[] = [
    [{ maxEnergy: 500 }, 'Ended EnergyLimitReached EnergyLimitReached'],
    [{ maxTime: 300 }, 'Ended TimeLimitReached TimeLimitReached'],
    [{ maxSoC: 31 }, 'Ended SoCLimitReached SOCLimitReached'],
    [{ maxCost: 2 }, 'Ended CostLimitReached LocalOutOfCredit'],
  ];
  for (const [limit, ending] of limits)
    it(`transactionLimit ${JSON.stringify(limit)}: LimitSet, then ${ending} (E16)`, async () => {
      const central = new Central();
      central.reply = ({ eventType }) => (eventType === 'Started' ? { transactionLimit: limit } : {});
      const station = await running(central, {});
      await station.run(30);
      // as the tariffs tell it
      if ('maxCost' in limit) station.transactions.spent(station.transactions.at(1)?.transactionId ?? '', 2);
      for (let i = 0; i < 60; i++) await station.run(30);
      expect(central.story[1]).to.equal('Updated LimitSet EVConnected');
      expect(central.events[1]?.transactionInfo.transactionLimit).to.deep.equal(limit);
      expect(central.story.at(-1)).to.equal(ending);
      expect(central.story.filter((each) => each.includes('LimitSet'))).to.have.lengthOf(1);
      const spentMs = Date.parse(central.last.timestamp) - Date.parse(central.events[0]?.timestamp ?? '');
      if ('maxEnergy' in limit) expect(station.connector().energyWh).to.be.closeTo(500, 0.001);
      if ('maxTime' in limit) expect(spentMs).to.be.closeTo(300_000, 1);
      if ('maxSoC' in limit) expect(station.connector().ev?.socPct).to.be.within(31, 31.01);
      expect(station.connector().phase).to.equal('finishing');
    });
});
