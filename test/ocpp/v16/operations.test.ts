import { expect } from 'chai';
import type { EvseSession } from '../../../src/contract/kinds/evse.ts';
import { SimError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createAvailability } from '../../../src/ocpp/v16/availability.ts';
import { createConfiguration, createKeyEffects, profileCheck } from '../../../src/ocpp/v16/keys/keys.ts';
import { dataTransfer } from '../../../src/ocpp/data-transfer.ts';
import { createReset } from '../../../src/ocpp/v16/provisioning.ts';
import { createTrigger } from '../../../src/ocpp/v16/remote-control.ts';
import type { TriggeredMessage } from '../../../src/ocpp/v16/remote-control.ts';
import { rig, settled } from './fakes.ts';
import type { Rig } from './fakes.ts';

const session = { state: 'active' } as EvseSession;

/** What a handler asked to follow its answer. */
function afterwards() {
  const acts: (() => void)[] = [];
  return {
    after: (act: () => void) => {
      acts.push(act);
    },
    run: () => {
      for (const act of acts.splice(0)) act();
    },
    get waiting() {
      return acts.length;
    },
  };
}

describe('OCPP 1.6 ChangeAvailability (5.2)', () => {
  function available(parts: Rig = rig()) {
    const part = createAvailability({
      device: parts.device.port,
      log: silentLogger,
      slot: parts.store.slot('availability'),
    });
    const { after } = afterwards();
    const change = (connectorId: number, type: 'Operative' | 'Inoperative') =>
      (part.handlers.ChangeAvailability({ connectorId, type }, after) as { status: string }).status;
    const operative = () => parts.device.port.detail.connectors.map((each) => each.operative);
    return { ...parts, part, change, operative };
  }

  it('sets one connector, or all by connector 0; a connector that there is not is Rejected', () => {
    const s = available();
    expect(s.change(1, 'Inoperative')).to.equal('Accepted');
    expect([s.operative(), s.part.operative(1), s.part.operative(2)]).to.deep.equal([[false, true], false, true]);
    expect(s.change(1, 'Inoperative')).to.equal('Accepted');
    expect(s.change(3, 'Inoperative')).to.equal('Rejected');
    expect(s.change(0, 'Inoperative')).to.equal('Accepted');
    expect([s.operative(), s.part.stationInoperative]).to.deep.equal([[false, false], true]);
    // a connector of a station that is out of operation has no effect of its own
    expect(s.change(1, 'Operative')).to.equal('Rejected');
    expect(s.change(0, 'Operative')).to.equal('Accepted');
    expect([s.operative(), s.part.stationInoperative]).to.deep.equal([[true, true], false]);
  });

  it('a connector that a person has set inoperative before the start stays so', async () => {
    const parts = rig();
    parts.device.change(1, { operative: false });
    const s = available(parts);
    await s.part.load();
    expect([s.part.operative(1), s.part.operative(2)]).to.deep.equal([false, true]);
    expect(s.operative()).to.deep.equal([false, true]);
  });

  it('is Scheduled while a transaction runs, also for the whole station', () => {
    const s = available();
    s.device.change(2, { session });
    expect(s.change(1, 'Inoperative')).to.equal('Accepted');
    expect(s.change(2, 'Inoperative')).to.equal('Scheduled');
    expect(s.change(0, 'Inoperative')).to.equal('Scheduled');
    expect(s.change(0, 'Operative')).to.equal('Accepted');
  });

  it('survives a restart, and a reset of the device', async () => {
    const parts = rig();
    const first = available(parts);
    first.change(2, 'Inoperative');
    await settled();
    first.part.stop();
    parts.device.change(2, { operative: true });
    const second = available(parts);
    await second.part.load();
    expect(second.operative()).to.deep.equal([true, false]);
    parts.device.change(2, { operative: true }, 'lock');
    parts.device.tell({ event: 'restart', connectorId: 0 });
    expect(second.operative()).to.deep.equal([true, false]);
  });

  it('is Rejected and changes nothing while the device refuses', () => {
    const s = available();
    s.device.fail = new SimError('MAP_LOCAL_CONTROL', 'the device is under local control');
    expect(s.change(0, 'Inoperative')).to.equal('Rejected');
    expect([s.operative(), s.part.stationInoperative]).to.deep.equal([[true, true], false]);
  });

  it('a person at the station decides after it', () => {
    const s = available();
    s.change(1, 'Inoperative');
    s.device.change(1, { operative: true }, 'availability');
    expect(s.part.operative(1)).to.equal(true);
  });
});

describe('OCPP 1.6 Reset (5.14)', () => {
  function resettable() {
    const parts = rig();
    const stopped: string[] = [];
    let settle: () => void = () => undefined;
    let failures = 0;
    const part = createReset({
      device: parts.device.port,
      later: parts.timers.later,
      log: silentLogger,
      keys: parts.keys,
      connection: parts.connection,
      transactions: {
        stopAll: (reason) => {
          if (failures-- > 0) throw new SimError('COMMAND_CONFLICT', 'not now');
          stopped.push(reason);
        },
      },
      queue: {
        settled: () =>
          new Promise((resolve) => {
            settle = resolve;
          }),
      },
    });
    const then = afterwards();
    return {
      ...parts,
      part,
      stopped,
      then,
      reset: (type: 'Soft' | 'Hard') => part.handlers.Reset({ type }, then.after) as { status: string },
      settle: () => {
        settle();
      },
      failTimes: (times: number) => {
        failures = times;
      },
    };
  }

  it('Soft: the answer, then transactions end with SoftReset and are sent, then the restart', async () => {
    const s = resettable();
    expect(s.reset('Soft')).to.deep.equal({ status: 'Accepted' });
    expect(s.stopped).to.deep.equal([]);
    s.then.run();
    await settled();
    expect([s.stopped, s.connection.done]).to.deep.equal([['SoftReset'], []]);
    s.settle();
    await settled();
    expect(s.connection.done).to.deep.equal(['restart: Reset Soft of the central system']);
    expect(s.timers.waiting).to.equal(0);
  });

  it('Soft: does not wait for ever for the answers', async () => {
    const s = resettable();
    s.reset('Soft');
    s.then.run();
    await s.pass(10.1);
    expect(s.connection.done).to.have.lengthOf(1);
  });

  it('Hard: transactions end with HardReset, and the restart follows at once', async () => {
    const s = resettable();
    s.reset('Hard');
    expect(s.reset('Hard')).to.deep.equal({ status: 'Accepted' });
    s.then.run();
    await settled();
    expect([s.stopped, s.connection.done]).to.deep.equal([
      ['HardReset'],
      ['restart: Reset Hard of the central system'],
    ]);
  });

  it('9.1 ResetRetries: tries again to end the transactions, then goes on', async () => {
    const s = resettable();
    s.keys.set('ResetRetries', '2');
    s.failTimes(2);
    s.reset('Hard');
    s.then.run();
    await s.pass(2.1);
    expect([s.stopped, s.connection.done.length]).to.deep.equal([['HardReset'], 1]);
    s.failTimes(9);
    s.reset('Hard');
    s.then.run();
    await s.pass(2.1);
    expect([s.stopped.length, s.connection.done.length]).to.deep.equal([1, 2]);
  });

  for (const event of ['power_down', 'restart'] as const)
    it(`${event} of the device ends a reset under way: the connection restarts once`, async () => {
      const s = resettable();
      s.reset('Soft');
      s.then.run();
      await settled();
      s.device.tell({ event, connectorId: 0 });
      expect(s.connection.done).to.have.lengthOf(1);
      expect(s.timers.waiting).to.equal(0);
      s.settle();
      await s.pass(10.1);
      expect(s.connection.done).to.have.lengthOf(1);
      s.reset('Hard');
      s.then.run();
      await settled();
      expect(s.connection.done.at(-1)).to.equal('restart: Reset Hard of the central system');
    });

  it('is Rejected while the device is off; the device that switches off or is reset restarts the client', () => {
    const s = resettable();
    s.device.dark = true;
    s.device.tell({ event: 'power_down', connectorId: 0 });
    s.device.tell({ event: 'restart', connectorId: 0 });
    expect(s.reset('Soft')).to.deep.equal({ status: 'Rejected' });
    expect(s.connection.done).to.deep.equal(['restart: the device has switched itself off']);
    s.device.dark = false;
    s.device.tell({ event: 'power_up', connectorId: 0 });
    s.device.tell({ event: 'restart', connectorId: 0 });
    expect(s.connection.done).to.have.lengthOf(2);
    s.part.stop();
    expect(s.device.listening).to.equal(0);
  });
});

describe('OCPP 1.6 TriggerMessage (5.17) and ExtendedTriggerMessage (white paper 5.4)', () => {
  function triggers() {
    const { device } = rig();
    const sent: string[] = [];
    const send = (name: string) => (connectorId: number | undefined) => {
      sent.push(`${name} ${connectorId ?? 'all'}`);
    };
    const { handlers } = createTrigger(device.port, {
      Heartbeat: send('Heartbeat'),
      StatusNotification: send('StatusNotification'),
      SignChargePointCertificate: send('SignChargePointCertificate'),
    });
    return { sent, handlers, then: afterwards() };
  }

  it('answers first; the message follows', () => {
    const { sent, handlers, then } = triggers();
    expect(handlers.TriggerMessage({ requestedMessage: 'Heartbeat' }, then.after)).to.deep.equal({
      status: 'Accepted',
    });
    expect(sent).to.deep.equal([]);
    then.run();
    expect(sent).to.deep.equal(['Heartbeat all']);
  });

  const rows: readonly (readonly [TriggeredMessage, number | undefined, string, string?])[] = [
    ['StatusNotification', undefined, 'Accepted', 'StatusNotification all'],
    ['StatusNotification', 2, 'Accepted', 'StatusNotification 2'],
    ['StatusNotification', 0, 'Accepted', 'StatusNotification 0'],
    ['StatusNotification', 7, 'Rejected'],
    ['Heartbeat', 7, 'Accepted', 'Heartbeat all'],
    ['DiagnosticsStatusNotification', undefined, 'NotImplemented'],
    ['MeterValues', 1, 'NotImplemented'],
  ];
  for (const [requestedMessage, connectorId, status, message] of rows)
    it(`${requestedMessage} of connector ${connectorId ?? 'none'}: ${status}`, () => {
      const { sent, handlers, then } = triggers();
      const request = { requestedMessage, ...(connectorId !== undefined && { connectorId }) };
      expect(handlers.TriggerMessage(request as { requestedMessage: 'Heartbeat' }, then.after)).to.deep.equal({
        status,
      });
      expect(then.waiting).to.equal(message === undefined ? 0 : 1);
      then.run();
      expect(sent).to.deep.equal(message === undefined ? [] : [message]);
    });

  it('ExtendedTriggerMessage has the messages of the white paper', () => {
    const { sent, handlers, then } = triggers();
    void handlers.ExtendedTriggerMessage({ requestedMessage: 'SignChargePointCertificate' }, then.after);
    then.run();
    expect(sent).to.deep.equal(['SignChargePointCertificate all']);
  });
});

describe('OCPP 1.6 DataTransfer (5.6)', () => {
  const { handlers } = dataTransfer;
  it('UnknownVendorId, UnknownMessageId, and an echo of our own', () => {
    expect(handlers.DataTransfer({ vendorId: 'com.other' })).to.deep.equal({ status: 'UnknownVendorId' });
    expect(handlers.DataTransfer({ vendorId: 'derbench' })).to.deep.equal({ status: 'UnknownMessageId' });
    expect(handlers.DataTransfer({ vendorId: 'derbench', messageId: 'x' })).to.deep.equal({
      status: 'UnknownMessageId',
    });
    expect(handlers.DataTransfer({ vendorId: 'DERbench', messageId: 'echo', data: '{"a":1}' })).to.deep.equal({
      status: 'Accepted',
      data: '{"a":1}',
    });
  });
});

describe('OCPP 1.6 effects of keys (chapter 9, white paper 2)', () => {
  function effective() {
    const parts = rig();
    const effects = createKeyEffects({
      device: parts.device.port,
      connection: parts.connection,
      keys: parts.keys,
      releases: parts.releases,
      autoAuthorize: true,
    });
    const configuration = createConfiguration(parts.keys, effects, {
      connection: parts.connection,
      finding: parts.find,
    });
    const then = afterwards();
    return {
      ...parts,
      effects,
      configuration,
      then,
      change: (key: string, value: string) =>
        (configuration.handlers.ChangeConfiguration({ key, value }, then.after) as { status: string }).status,
    };
  }

  it('ConnectionTimeOut and the keys of a cable taken out of the vehicle are behaviour of the device', () => {
    const s = effective();
    s.effects.apply();
    const behaviour = {
      kind: 'evse.behaviour',
      connectionTimeoutS: 60,
      authorizationTimeoutS: 60,
      endOnEvDisconnect: true,
      unlockOnEvDisconnect: true,
      autoAuthorize: true,
    };
    expect(s.device.commands).to.deep.equal([behaviour]);
    expect(s.connection.done).to.deep.equal(['ping 60']);
    s.change('ConnectionTimeOut', '30');
    s.change('StopTransactionOnEVSideDisconnect', 'false');
    s.change('UnlockConnectorOnEVSideDisconnect', 'false');
    expect(s.device.commands.at(-1)).to.deep.equal({
      ...behaviour,
      connectionTimeoutS: 30,
      authorizationTimeoutS: 30,
      endOnEvDisconnect: false,
      unlockOnEvDisconnect: false,
    });
    s.change('WebSocketPingInterval', '7');
    expect(s.connection.done).to.deep.equal(['ping 60', 'ping 7']);
  });

  it('A01: AuthorizationKey is hexadecimal text of octets; the answer comes before the reconnect', () => {
    const s = effective();
    expect(s.change('authorizationkey', '00ff'.repeat(8))).to.equal('Accepted');
    expect(s.connection.done).to.deep.equal([`password of 16 octets: ${'00ff'.repeat(8)}`]);
    s.then.run();
    expect(s.connection.done.at(-1)).to.equal('reconnect');
    expect(s.change('AuthorizationKey', 'S3CR3T-marker')).to.equal('Rejected');
    s.then.run();
    expect(s.connection.done).to.have.lengthOf(2);
  });

  it('A05: SecurityProfile may only be raised, and only where password or certificates are there', () => {
    const check = profileCheck({ securityProfile: 1 }, (profile) => profile === 2);
    expect(['1', '2', '3'].map(check)).to.deep.equal([false, true, false]);
    const s = effective();
    expect(s.change('SecurityProfile', '2')).to.equal('Accepted');
    s.then.run();
    expect(s.connection.done).to.deep.equal(['profile 2', 'reconnect']);
  });

  it('a key that the device refuses stays, and nothing is thrown', () => {
    const s = effective();
    s.device.fail = new SimError('MAP_LOCAL_CONTROL', 'the device is under local control');
    expect(s.change('ConnectionTimeOut', '30')).to.equal('Accepted');
    expect(s.keys.integer('ConnectionTimeOut')).to.equal(30);
  });

  it('a local change reconnects too, and effects end with the station', () => {
    const s = effective();
    s.configuration.setLocal('AuthorizationKey', '11'.repeat(20));
    expect(s.connection.done.at(-1)).to.equal('reconnect');
    s.configuration.stop?.();
    s.keys.set('WebSocketPingInterval', '3');
    expect(s.connection.done).to.not.include('ping 3');
  });
});
