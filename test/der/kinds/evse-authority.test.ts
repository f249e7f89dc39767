/** Whole sessions under a central authority, told as an OCPP station reports them. Simulated seconds, Wh, W. */
import { expect } from 'chai';
import type { Verdict } from '../../support/evse-authority.ts';
import { on, stationOf } from './support-authority.ts';
import type { StationOptions } from './support-authority.ts';

const byToken = (idToken: string): Verdict =>
  idToken === 'BAD' ? 'refused' : idToken === 'SLOW' ? 'later' : 'accepted';

describe('EVSE under a central authority: local tokens', () => {
  it('a refused token changes nothing, an answer that comes late starts the session then', async () => {
    const { rig, central } = stationOf({ verdict: byToken });
    rig.command({ kind: 'evse.plug', ...on });
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'BAD' });
    expect(central.take()).to.deep.equal(['Status 1 preparing/occupied', 'Authorize BAD refused']);
    await rig.run(100);
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'SLOW' });
    await rig.run(10);
    expect(central.take()).to.deep.equal(['Authorize SLOW later']);
    expect([rig.connector().authorised, rig.connector().powerW]).to.deep.equal([false, 0]);
    central.answer(1, true);
    await rig.run(3605);
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'TAG' });
    rig.command({ kind: 'evse.unplug', ...on });
    expect(central.take()).to.deep.equal([
      'T1#0 Started Authorized ev_connected 110s 0Wh 0W SLOW',
      'Status 1 charging/occupied',
      'T1#1 Updated ChargingStateChanged charging 115s 0Wh 0W',
      'Authorize TAG accepted',
      'Status 1 finishing/occupied',
      'T1#2 Ended StopAuthorized Local 3715s 10997Wh 0W',
      'Status 1 available/available',
    ]);
  });

  it('a token first: without a vehicle the authorisation ends after the connection timeout', async () => {
    const { rig, central } = stationOf({ behaviour: { connectionTimeoutS: 20 } });
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'TAG' });
    await rig.run(30);
    expect(central.take()).to.deep.equal([
      'Status 1 available/available',
      'Authorize TAG accepted',
      'Status 1 preparing/available',
      'T1#0 Started Authorized idle 0s 0Wh 0W TAG',
      'Status 1 available/available',
      'T1#1 Ended EVConnectTimeout Timeout 20s 0Wh 0W',
    ]);
    expect(central.told.at(-1)).to.include({ event: 'withdraw', cause: 'timeout', connectorId: 1 });
    expect(central.told.at(-1)?.by).to.deep.equal({ source: 'default' });
  });

  it('a vehicle without a token is taken for finished after the authorisation timeout, and a token still starts', async () => {
    const { rig, central } = stationOf({ behaviour: { authorizationTimeoutS: 60 } });
    rig.command({ kind: 'evse.plug', ...on });
    await rig.run(100);
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'TAG' });
    expect(central.take()).to.deep.equal([
      'Status 1 preparing/occupied',
      'Status 1 finishing/occupied',
      'Authorize TAG accepted',
      'Status 1 preparing/occupied',
      'T1#0 Started Authorized ev_connected 100s 0Wh 0W TAG',
    ]);
  });

  it('plugging presents AUTO if the behaviour says so, whatever the profile says', async () => {
    for (const [autoAuthorize, behaviour, asked] of [
      [true, {}, true],
      [true, { autoAuthorize: false }, false],
      [false, { autoAuthorize: true }, true],
      [false, {}, false],
    ] as const) {
      const { rig, central } = stationOf({ autoAuthorize, behaviour, verdict: () => 'refused' });
      rig.command({ kind: 'evse.plug', ...on });
      await rig.run(30);
      expect(central.take()).to.deep.equal([
        'Status 1 preparing/occupied',
        ...(asked ? ['Authorize AUTO refused'] : []),
      ]);
      expect(rig.connector()).to.include({ phase: 'connected', authorised: false });
    }
  });

  it('nobody but the central system authorises; a start without authorisation is a choice of its own', () => {
    const { rig } = stationOf({ verdict: () => 'refused' });
    rig.command({ kind: 'evse.plug', ...on });
    expect(rig.refusalOf({ kind: 'evse.start', ...on, idToken: 'TAG' })).to.equal('COMMAND_CONFLICT');
    expect(rig.connector().phase).to.equal('connected');
    rig.command({ kind: 'evse.start', ...on, authorize: false });
    expect(rig.connector().phase).to.equal('starting');
  });

  it('without central authority a token authorises by itself, and none is presented', () => {
    const { rig, central } = stationOf();
    central.command({ kind: 'evse.authority', central: false });
    rig.command({ kind: 'evse.plug', ...on });
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'TAG' });
    expect(rig.connector()).to.include({ phase: 'starting' });
    expect(central.told.map(({ event }) => event)).to.deep.equal(['cable', 'plugged', 'authorize']);
  });
});

describe('EVSE under a central authority: remote control', () => {
  it('starts without a cable and waits for it, then ends by command', async () => {
    const { rig, central } = stationOf();
    central.requestStart(1, 'APP', 78);
    await rig.run(10);
    rig.command({ kind: 'evse.plug', ...on });
    await rig.run(365);
    central.requestStop(1);
    expect(central.take()).to.deep.equal([
      'Status 1 preparing/available',
      'T1#0 Started RemoteStart idle 0s 0Wh 0W APP',
      'Status 1 preparing/occupied',
      'T1#1 Updated CablePluggedIn ev_connected 10s 0Wh 0W remote 78',
      'Status 1 charging/occupied',
      'T1#2 Updated ChargingStateChanged charging 15s 0Wh 0W',
      'Status 1 finishing/occupied',
      'T1#3 Ended RemoteStop Remote 375s 1097Wh 0W',
    ]);
    expect(central.told.at(-1)).to.include({ cause: 'central', sessionChange: 'ended' });
  });

  it('starts with the cable in', () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    expect(central.take().at(-1)).to.equal('T1#0 Started RemoteStart ev_connected 0s 0Wh 0W APP remote 5');
  });

  it('unlocks: the session ends first, then the cable is free', async () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    await rig.run(100);
    central.take();
    central.unlockConnector(1);
    expect(central.take()).to.deep.equal([
      'Status 1 finishing/occupied',
      `T1#2 Ended UnlockCommand UnlockCommand 100s ${Math.round(rig.connector().energyWh)}Wh 0W`,
    ]);
    expect(central.told.slice(-2).map(({ event, cause }) => [event, cause])).to.deep.equal([
      ['stop', 'central'],
      ['unlock', 'central'],
    ]);
    rig.command({ kind: 'evse.lock', ...on });
    expect(central.told.at(-1)).to.include({ event: 'lock', cause: 'person' });
    rig.command({ kind: 'evse.unlock', ...on });
    rig.command({ kind: 'evse.unplug', ...on });
  });

  it('reset immediate: sessions end, the device goes on', async () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    await rig.run(100);
    central.reset();
    expect(central.take().at(-1)).to.match(/^T1#2 Ended ResetCommand ImmediateReset 100s \d+Wh 0W$/);
    expect(rig.connector().energyWh).to.be.above(200);
  });
});

describe('EVSE under a central authority: cable out at the vehicle', () => {
  const running = async (options: StationOptions) => {
    const made = stationOf(options);
    made.rig.command({ kind: 'evse.plug', ...on });
    made.central.requestStart(1, 'APP', 5);
    await made.rig.run(365);
    made.central.take();
    return made;
  };

  it('ends the session and frees the cable', async () => {
    const { rig, central } = await running({});
    rig.command({ kind: 'evse.unplug', ...on });
    expect(central.take()).to.deep.equal([
      'Status 1 available/available',
      'T1#2 Ended EVDeparted EVDisconnected 365s 1097Wh 0W',
    ]);
    const last = central.told.at(-1);
    expect(last).to.include({ event: 'unplugged', cause: 'person', transactionId: '1', sessionChange: 'ended' });
    expect(rig.connector().session).to.equal(null);
  });

  it('ends the session and leaves a locked cable, if that is the behaviour', async () => {
    const { rig, central } = await running({ behaviour: { unlockOnEvDisconnect: false } });
    rig.command({ kind: 'evse.unplug', ...on });
    expect(central.take()).to.deep.equal([
      'Status 1 finishing/occupied',
      'T1#2 Ended EVDeparted EVDisconnected 365s 1097Wh 0W',
    ]);
    expect(rig.connector().cable).to.deep.equal({ evPlugged: false, evsePlugged: true, locked: true });
    expect(rig.refusalOf({ kind: 'evse.unplug', ...on })).to.equal('COMMAND_CONFLICT');
    central.unlockConnector(1);
    rig.command({ kind: 'evse.unplug', ...on });
    expect(central.take()).to.deep.equal(['Status 1 available/available']);
  });

  it('one side at a time: the session ends at the vehicle, the connector is free at the station', async () => {
    const { rig, central } = await running({});
    rig.command({ kind: 'evse.unplug', ...on, evseSide: false });
    rig.command({ kind: 'evse.unplug', ...on, evseSide: true });
    expect(central.take()).to.deep.equal([
      'Status 1 finishing/occupied',
      'T1#2 Ended EVDeparted EVDisconnected 365s 1097Wh 0W',
      'Status 1 available/available',
    ]);
  });

  it('only suspends, and plugging back resumes the same session', async () => {
    const { rig, central } = await running({ behaviour: { endOnEvDisconnect: false }, stopAt: ['Authorized'] });
    rig.command({ kind: 'evse.unplug', ...on });
    expect(rig.connector()).to.deep.include({ phase: 'detached', ev: null, powerW: 0 });
    expect(rig.connector().cable).to.deep.equal({ evPlugged: false, evsePlugged: true, locked: true });
    expect(rig.refusalOf({ kind: 'evse.unplug', ...on })).to.equal('COMMAND_CONFLICT');
    await rig.run(600);
    rig.command({ kind: 'evse.plug', ...on });
    await rig.run(365);
    expect(rig.connector().session).to.include({ transactionId: '1', state: 'active' });
    central.requestStop(1);
    expect(central.take()).to.deep.equal([
      'Status 1 suspended_ev/occupied',
      'T1#2 Updated EVCommunicationLost idle 365s 1097Wh 0W',
      'T1#3 Updated CablePluggedIn ev_connected 965s 1097Wh 0W',
      'Status 1 charging/occupied',
      'T1#4 Updated ChargingStateChanged charging 970s 1097Wh 0W',
      'Status 1 finishing/occupied',
      'T1#5 Ended RemoteStop Remote 1330s 2194Wh 0W',
    ]);
    expect(rig.device.chargingSessions()[0]?.energyWh).to.be.closeTo(rig.connector().energyWh, 1e-9);
  });

  it('a stop while the vehicle is away leaves a cable to take out', async () => {
    const { rig, central } = await running({ behaviour: { endOnEvDisconnect: false }, stopAt: ['Authorized'] });
    rig.command({ kind: 'evse.unplug', ...on });
    central.take();
    central.requestStop(1);
    rig.command({ kind: 'evse.unplug', ...on });
    expect(central.take()).to.deep.equal([
      'Status 1 finishing/occupied',
      'T1#3 Ended RemoteStop Remote 365s 1097Wh 0W',
      'Status 1 available/available',
    ]);
  });

  it('a fixed cable goes back to its place', async () => {
    const { rig } = await running({ profile: 'EVSE-DC-150kW-CCS-1port', behaviour: { endOnEvDisconnect: false } });
    expect(rig.refusalOf({ kind: 'evse.unplug', ...on, evseSide: true })).to.equal('COMMAND_CONFLICT');
    rig.command({ kind: 'evse.unplug', ...on });
    expect(rig.connector().phase).to.equal('detached');
    rig.command({ kind: 'evse.stop', ...on });
    expect(rig.connector()).to.include({ phase: 'free', status: 'available' });
  });
});
