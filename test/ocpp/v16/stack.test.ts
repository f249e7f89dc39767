import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createRandom } from '../../../src/core/random.ts';
import { CallError, noAnswer, noDisturber } from '../../../src/ocpp/rpc/model.ts';
import type { CallOutcome, QueuedMessage } from '../../../src/ocpp/rpc/model.ts';
import { centralActions, directions, createStack16 } from '../../../src/ocpp/v16/stack.ts';
import type { Action } from '../../../src/ocpp/v16/messages.ts';
import { mergeHandlers } from '../../../src/ocpp/station/stack.ts';
import { rig, settled } from './fakes.ts';
import type { Rig } from './fakes.ts';

const time = '2026-06-21T08:00:00.000Z';

function boot(status: string, interval = 300): () => CallOutcome {
  return () => ({ kind: 'result', payload: { status, interval, currentTime: time }, durationMs: 0 });
}

function stackOn(parts: Rig = rig()) {
  const queued: QueuedMessage[] = [];
  const moves: string[] = [];
  const stack = createStack16({
    id: 'CP1',
    device: parts.device.port,
    clock: parts.clock,
    clockSet: () => undefined,
    wall: parts.wall,
    later: parts.timers.later,
    random: createRandom(1, 'test'),
    log: silentLogger,
    store: (name) => parts.store.slot(name),
    line: parts.line,
    connection: parts.connection,
    limits: parts.limits,
    releases: parts.releases,
    finding: parts.find,
    disturber: noDisturber,
    autoAuthorize: false,
    ready: () => true,
    queue: () => ({
      get length() {
        return queued.length;
      },
      lengthOf: () => 0,
      droppedMiddles: 0,
      push: (message) => {
        queued.push(message);
      },
      resume: () => {
        moves.push(`resume after ${parts.line.of('StatusNotification').length} states`);
      },
      pause: () => {
        moves.push('pause');
      },
      settled: () => Promise.resolve(),
      load: () => Promise.resolve(),
      stop: () => {
        moves.push('stop');
      },
    }),
  });
  parts.line.answers.set('BootNotification', boot('Accepted'));
  parts.line.answers.set('Heartbeat', () => ({ kind: 'result', payload: { currentTime: time }, durationMs: 3 }));
  const acts: (() => void)[] = [];
  return {
    ...parts,
    stack,
    moves,
    handle: async (action: string, payload: Record<string, unknown> = {}) =>
      stack.handle(action, payload, (act) => {
        acts.push(act);
      }),
    then: async () => {
      for (const act of acts.splice(0)) act();
      await settled();
    },
    open: async () => {
      await stack.load();
      stack.opened({ subprotocol: 'ocpp1.6' });
      await settled();
    },
  };
}

/** enough for each handler to begin; those that need more fail in another way */
const anything = { connectorId: 9, vendorId: 'x', expiryDate: time, key: '' };

async function codeOf(answer: Promise<unknown>): Promise<string> {
  try {
    return `answered: ${JSON.stringify(await answer)}`;
  } catch (error) {
    return error instanceof CallError || error instanceof SimError ? error.code : String(error);
  }
}

describe('OCPP 1.6 station as a whole', () => {
  it('has a direction for each action: 28 of the standard, 11 of the white paper', () => {
    expect(Object.keys(directions)).to.have.lengthOf(39);
    expect(centralActions).to.have.lengthOf(26);
  });

  it('refuses two handlers for one action', () => {
    const part = { handlers: { ClearCache: () => ({ status: 'Accepted' }) as const } };
    expect(() => mergeHandlers([part, part])).to.throw(SimError);
  });

  it('4.2: boots, reports every connector, and only then sends what the queue has kept', async () => {
    const s = stackOn();
    await s.open();
    expect(s.line.calls.map(({ action }) => action)).to.deep.equal([
      'BootNotification',
      'StatusNotification',
      'StatusNotification',
      'StatusNotification',
      'SecurityEventNotification',
    ]);
    expect(s.moves).to.deep.equal(['resume after 3 states']);
    expect([s.stack.bootStatus, s.stack.heartbeatIntervalS]).to.deep.equal(['accepted', 300]);
    s.stack.closed({ code: 1006, reason: '' });
    s.stack.opened({ subprotocol: 'ocpp1.6' });
    await settled();
    expect(s.line.of('BootNotification')).to.have.lengthOf(1);
    expect(s.moves.slice(1)).to.deep.equal(['pause', 'resume after 3 states']);
  });

  it('takes authority over the device from its start to its end', async () => {
    const s = stackOn();
    await s.open();
    expect(s.device.commands.map(({ kind }) => kind)).to.deep.equal(['evse.authority', 'evse.behaviour']);
    s.stack.stop();
    expect(s.device.commands.slice(2)).to.deep.equal([
      { kind: 'evse.authority', central: false },
      {
        kind: 'evse.behaviour',
        connectionTimeoutS: null,
        authorizationTimeoutS: null,
        endOnEvDisconnect: null,
        unlockOnEvDisconnect: null,
        autoAuthorize: null,
      },
    ]);
    const sent = s.line.calls.length;
    s.device.status(1, 'preparing');
    await s.pass(1_000);
    expect(s.line.calls.length).to.equal(sent);
    expect([s.device.listening, s.timers.waiting]).to.deep.equal([0, 0]);
  });

  it('a device that has left is left alone', async () => {
    const s = stackOn();
    await s.open();
    s.device.fail = new SimError('UNKNOWN_DEVICE', 'it has left');
    s.stack.stop();
    expect(s.moves).to.include('stop');
  });

  it('J 4.2.3: NotImplemented for what there is not, NotSupported for what only a station sends', async () => {
    const s = stackOn();
    await s.open();
    expect(await codeOf(s.handle('Nonsense'))).to.equal('NotImplemented');
    expect(await codeOf(s.handle('constructor'))).to.equal('NotImplemented');
    for (const [action, direction] of Object.entries(directions))
      if (direction === 'station') expect(await codeOf(s.handle(action)), action).to.equal('NotSupported');
    const stationActions = Object.keys(directions).filter((action) => !centralActions.includes(action as Action));
    expect(s.findings).to.deep.equal(
      stationActions.map((action) => ['OCPP 1.6 5', `only charge points send ${action}`, action]),
    );
  });

  it('9.1: more keys than GetConfigurationMaxKeys are refused, and a finding', async () => {
    const s = stackOn();
    await s.open();
    const key = Array.from({ length: 101 }, (_, n) => `K${n}`);
    expect(await codeOf(s.handle('GetConfiguration', { key: key.slice(1) }))).to.match(/^answered/);
    expect(s.findings).to.deep.equal([]);
    expect(await codeOf(s.handle('GetConfiguration', { key }))).to.equal('OccurenceConstraintViolation');
    expect(s.findings).to.deep.equal([
      ['OCPP 1.6 9.1', '101 keys, GetConfigurationMaxKeys is 100', 'GetConfiguration'],
    ]);
  });

  it('4.2: before the answer calls are answered, and nothing is started or sent', async () => {
    const s = stackOn();
    const number = { configurationKey: [{ key: 'NumberOfConnectors', readonly: true, value: '2' }] };
    expect(await s.handle('GetConfiguration', { key: ['NumberOfConnectors'] })).to.deep.equal(number);
    expect(await s.handle('ClearCache')).to.deep.equal({ status: 'Accepted' });
    expect(s.findings).to.deep.equal([]);
    expect(await s.handle('RemoteStartTransaction', { idTag: 'A' })).to.deep.equal({ status: 'Rejected' });
    expect(await s.handle('TriggerMessage', { requestedMessage: 'Heartbeat' })).to.deep.equal({ status: 'Rejected' });
    expect(s.findings.map(([clause, , action]) => [clause, action])).to.deep.equal([
      ['OCPP 1.6 4.2', 'RemoteStartTransaction'],
    ]);
    await s.then();
    expect(s.line.calls).to.deep.equal([]);
  });

  it('4.2: after Rejected no answer, while Pending no remote start', async () => {
    const s = stackOn();
    s.line.answers.set('BootNotification', boot('Rejected'));
    await s.open();
    expect(await s.handle('ClearCache')).to.equal(noAnswer);
    expect(s.stack.isMute).to.equal(true);
    s.line.answers.set('BootNotification', boot('Pending'));
    await s.stack.functions.boot(null);
    expect(s.stack.isMute).to.equal(false);
    expect(await s.handle('RemoteStartTransaction', { idTag: 'A' })).to.deep.equal({ status: 'Rejected' });
    expect(await s.handle('RemoteStopTransaction', { transactionId: 1 })).to.deep.equal({ status: 'Rejected' });
    expect(await s.handle('GetConfiguration', { key: ['NumberOfConnectors'] })).to.deep.equal({
      configurationKey: [{ key: 'NumberOfConnectors', readonly: true, value: '2' }],
    });
    expect(await s.handle('TriggerMessage', { requestedMessage: 'StatusNotification', connectorId: 1 })).to.deep.equal({
      status: 'Accepted',
    });
    const before = s.line.calls.length;
    s.device.status(2, 'preparing');
    await s.then();
    expect(s.line.calls.slice(before).map(({ payload }) => payload.connectorId)).to.deep.equal([1]);
    expect(s.findings.map(([clause, , action]) => [clause, action])).to.deep.equal([
      ['OCPP 1.6 4.2', 'ClearCache'],
      ['OCPP 1.6 4.2', 'RemoteStartTransaction'],
      ['OCPP 1.6 4.2', 'RemoteStopTransaction'],
    ]);
  });

  it('a call that comes in one piece with the answer to BootNotification finds the station accepted', async () => {
    const s = stackOn();
    await s.stack.load();
    s.stack.opened({ subprotocol: 'ocpp1.6' });
    expect(await codeOf(s.handle('ClearCache'))).to.match(/^answered/);
    expect(s.findings).to.deep.equal([]);
  });

  for (const ending of ['leave', 'stop'] as const)
    it(`after ${ending} calls of the central system are not carried out and get no answer`, async () => {
      const s = stackOn();
      await s.open();
      void s.stack[ending]('Other');
      const commands = s.device.commands.length;
      const sent = s.line.calls.length;
      for (const action of centralActions) expect(await s.handle(action, anything), action).to.equal(noAnswer);
      expect(await s.handle('RemoteStartTransaction', { connectorId: 1, idTag: 'A' })).to.equal(noAnswer);
      expect(await s.handle('Reset', { type: 'Hard' })).to.equal(noAnswer);
      await s.then();
      expect(s.stack.isMute).to.equal(true);
      expect([s.device.commands.length, s.line.calls.length]).to.deep.equal([commands, sent]);
      expect(s.connection.done.filter((done) => done.startsWith('restart'))).to.deep.equal([]);
      expect(s.findings).to.deep.equal([]);
    });

  it('5.14: after a Reset the next connection begins with BootNotification, and the queue waits', async () => {
    const s = stackOn();
    await s.open();
    expect(await s.handle('Reset', { type: 'Hard' })).to.deep.equal({ status: 'Accepted' });
    await s.then();
    expect(s.connection.done.at(-1)).to.equal('restart: Reset Hard of the central system');
    expect(s.stack.bootStatus).to.equal('none');
    expect(s.moves.at(-1)).to.equal('pause');
    s.stack.closed({ code: 1000, reason: '' });
    s.stack.opened({ subprotocol: 'ocpp1.6' });
    await settled();
    expect(s.line.of('BootNotification')).to.have.lengthOf(2);
    expect(s.line.of('StatusNotification')).to.have.lengthOf(6);
  });

  it('5.2: Unavailable is reported, for the station too, and is there again after a restart', async () => {
    const s = stackOn();
    await s.open();
    await s.handle('ChangeAvailability', { connectorId: 0, type: 'Inoperative' });
    await settled();
    const words = () => s.line.of('StatusNotification').map(({ connectorId, status }) => [connectorId, status]);
    expect(words().slice(3)).to.deep.equal([
      [1, 'Unavailable'],
      [2, 'Unavailable'],
      [0, 'Unavailable'],
    ]);
    s.stack.stop();
    const again = stackOn(s);
    await again.open();
    expect(words().slice(6)).to.deep.equal([
      [0, 'Unavailable'],
      [1, 'Unavailable'],
      [2, 'Unavailable'],
    ]);
  });

  it('REST: boot, heartbeat and keys, with the errors of a connection', async () => {
    const s = stackOn();
    await s.open();
    const { functions } = s.stack;
    const beat = await functions.heartbeat();
    expect(beat).to.deep.include({
      action: 'Heartbeat',
      durationMs: 3,
      answer: { kind: 'result', payload: { currentTime: time } },
    });
    expect(s.line.calls.at(-1)?.options.messageId).to.equal(beat.messageId);
    expect(s.stack.lastHeartbeatMs).to.equal(s.wall.nowMs());
    s.line.answers.set('Heartbeat', () => ({ kind: 'timeout' }));
    expect(await codeOf(functions.heartbeat())).to.equal('PEER_TIMEOUT');
    s.line.answers.set('Heartbeat', () => ({ kind: 'lost' }));
    expect(await codeOf(functions.heartbeat())).to.equal('PEER_ERROR');
    s.line.open = false;
    expect(await codeOf(functions.boot(null))).to.equal('NOT_CONNECTED');
    expect(() => {
      functions.sendMeterValues(1);
    })
      .to.throw(SimError)
      .with.property('code', 'NOT_CONNECTED');
    const by = { source: 'rest' } as const;
    expect(functions.setConfiguration({ name: 'HeartbeatInterval', value: '12' }, by)).to.deep.equal({
      kind: 'keys',
      keys: [{ key: 'HeartbeatInterval', value: '12', readonly: false, rebootRequired: false }],
    });
    expect(s.stack.heartbeatIntervalS).to.equal(12);
  });

  it('what it has begun leaves the device where its state cannot be restored', async () => {
    const parts = rig();
    const reservation = { reservationId: 7, idToken: 'TAG' };
    const of = { connectorId: 1, tokenKey: 'tag', groupKey: null, madeMs: 0 };
    const expiresMs = parts.wall.nowMs() + 3_600_000;
    await parts.store.slot('reservations').replace([{ ...reservation, ...of, expiresMs }]);
    parts.store.slot('profiles').read = () => Promise.reject(new Error('the store is broken'));
    const { stack, device } = stackOn(parts);
    const reserve = (present: object | null) => ({ kind: 'evse.reserve', connectorId: 1, reservation: present });
    expect(await codeOf(stack.load())).to.equal('Error: the store is broken');
    expect(device.commands).to.deep.include(reserve({ ...reservation, expiresInS: null }));
    device.change(1, { status: 'reserved', reservation: { ...reservation, expiresAtS: null } });
    stack.stop();
    expect(device.commands).to.deep.include(reserve(null));
  });

  it('6.1: each action of the central system has a handler', async () => {
    const s = stackOn();
    await s.open();
    const silent: string[] = [];
    for (const action of centralActions)
      if (/^Not(Supported|Implemented)$/.test(await codeOf(s.handle(action, anything)))) silent.push(action);
    expect(silent).to.deep.equal([]);
  });
});
