import { expect } from 'chai';
import type { OcppSubprotocol } from '../../../src/contract/ocpp.ts';
import { CallError, noAnswer } from '../../../src/ocpp/rpc/model.ts';
import type { CentralConnection, CentralStation } from '../central/station.ts';
import { until, useCentral } from './rig.ts';
import type { RigOptions, TransportRig } from './rig.ts';

const versions = ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] as const;
const time = { currentTime: '2026-06-21T08:00:00.000Z' };
/** An answer that a test gives when it likes. */
const kept = () => {
  let give: (payload: Record<string, unknown>) => void = () => undefined;
  const answer = new Promise<Record<string, unknown>>((resolve) => {
    give = resolve;
  });
  return { answer, give };
};

describe('answers of a charge point to its central system (OCPP-J 4)', () => {
  const stage = useCentral({ subprotocols: ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'] });
  let rig: TransportRig;
  let station: CentralStation;
  let connection: CentralConnection;
  const open = async (version: OcppSubprotocol = 'ocpp1.6', options: RigOptions = {}) => {
    ({ rig, station, connection } = await stage.connected({ subprotocols: [version], ...options }));
  };
  const heartbeat = (options?: Parameters<TransportRig['line']['call']>[2]) => rig.line.call('Heartbeat', {}, options);

  const refusals: readonly (readonly [what: string, frame: readonly unknown[], v16: string, v2: string])[] = [
    ['an action that is not known', ['NoSuchAction', {}], 'NotImplemented', 'NotImplemented'],
    ['a member missing', ['UnlockConnector', {}], 'OccurenceConstraintViolation', 'OccurrenceConstraintViolation'],
    ['a wrong type', ['DataTransfer', { vendorId: 1 }], 'TypeConstraintViolation', 'TypeConstraintViolation'],
    ['a wrong value', ['Reset', { type: 'Gently' }], 'PropertyConstraintViolation', 'PropertyConstraintViolation'],
    ['a member too many', ['ClearCache', { more: 1 }], 'FormationViolation', 'FormatViolation'],
    ['no payload', ['ClearCache'], 'FormationViolation', 'FormatViolation'],
    ['a list as payload', ['ClearCache', []], 'FormationViolation', 'FormatViolation'],
    ['an action that is no text', [5, {}], 'FormationViolation', 'FormatViolation'],
  ];
  for (const version of versions)
    for (const [what, frame, v16, v2] of refusals)
      it(`${version}: ${what} is answered ${version === 'ocpp1.6' ? v16 : v2} (1.6 4.2.3, 2.x 4.3)`, async () => {
        await open(version);
        station.sendText(JSON.stringify([2, 'id-1', ...frame]));
        const [type, id, code] = JSON.parse(await station.nextText()) as readonly unknown[];
        expect([type, id, code]).to.deep.equal([4, 'id-1', version === 'ocpp1.6' ? v16 : v2]);
        expect(rig.handled).to.deep.equal([]);
        expect(rig.violated.length + rig.broken.length).to.equal(1);
      });

  for (const version of versions)
    it(`${version}: a number that cannot be kept exactly is refused, never changed, and a finding (RFC 8259 6)`, async () => {
      await open(version);
      station.sendText('[2,"a","DataTransfer",{"vendorId":"V","customData":{"vendorId":"V","n":1732860000123456789}}]');
      station.sendText('[2,"b","CancelReservation",{"reservationId":1732860000123456789}]');
      const [[, , code], [type, , payload]] = [
        JSON.parse(await station.nextText()) as readonly unknown[],
        JSON.parse(await station.nextText()) as readonly unknown[],
      ];
      expect(code).to.equal(version === 'ocpp1.6' ? 'FormationViolation' : 'PropertyConstraintViolation');
      expect([type, payload]).to.deep.equal([3, { status: 'Rejected' }]);
      expect(rig.handled).to.deep.equal([]);
      expect(rig.violated.at(-1)?.description).to.equal('the number 1732860000123456789 cannot be held exactly');
      station.silent = true;
      const outcome = rig.line.call('Heartbeat', {}, { validate: false });
      const { messageId } = await station.next('Heartbeat');
      station.sendText(`[3,"${messageId}",{"currentTime":1e400}]`);
      expect(await outcome).to.include({ kind: 'error', code: 'PropertyConstraintViolation' });
    });

  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`${version}: an id that cannot be kept exactly is that of nothing; beside a true id such a number is an error`, async () => {
      await open(version);
      const answerTo = async (action: string, payload: string) => {
        station.sendText(`[2,"${action}${payload.length}","${action}",${payload}]`);
        const [, , answer] = JSON.parse(await station.nextText()) as readonly unknown[];
        return answer;
      };
      const long = '1732860000123456789';
      const customData = `"customData":{"vendorId":"V","n":${long}}`;
      for (const [action, member, status] of [
        ['ClearDisplayMessage', 'id', 'Unknown'],
        ['CancelReservation', 'reservationId', 'Rejected'],
      ] as const) {
        expect(await answerTo(action, `{"${member}":${long}}`), action).to.deep.equal({ status });
        expect(await answerTo(action, `{"${member}":7,${customData}}`), action).to.equal('PropertyConstraintViolation');
      }
      expect(rig.violated).to.have.length(4);
      expect(rig.handled).to.deep.equal([]);
    });

  it('ocpp1.6: an id that cannot be kept exactly is that of no transaction and no reservation, whatever its sign', async () => {
    await open();
    const ids = { RemoteStopTransaction: 'transactionId', CancelReservation: 'reservationId' };
    for (const [action, member] of Object.entries(ids))
      for (const id of ['1732860000123456789', '-1732860000123456789']) {
        station.sendText(`[2,"${action}${id}","${action}",{"${member}":${id}}]`);
        expect((JSON.parse(await station.nextText()) as readonly unknown[])[2], id).to.deep.equal({
          status: 'Rejected',
        });
      }
    expect(rig.handled).to.deep.equal([]);
  });

  it('are answered in their own order, each when its handler is done', async () => {
    await open();
    const slow = kept();
    rig.handle = (action) => (action === 'ClearCache' ? slow.answer : { status: 'Accepted' });
    station.sendText('[2,"slow","ClearCache",{}]');
    station.sendText('[2,"quick","Reset",{"type":"Soft"}]');
    expect(JSON.parse(await station.nextText())).to.deep.equal([3, 'quick', { status: 'Accepted' }]);
    rig.wall.advance(40);
    slow.give({ status: 'Rejected' });
    expect(JSON.parse(await station.nextText())).to.deep.equal([3, 'slow', { status: 'Rejected' }]);
    expect(rig.broken).to.deep.equal([
      {
        clause: 'OCPP-J 4.1.1',
        text: 'a call was sent before the previous one was answered',
        action: 'Reset',
        messageId: 'quick',
      },
    ]);
  });

  for (const [afterMs, findings] of [
    [9999, 1],
    [10_000, 0],
  ] as const)
    it(`${findings === 0 ? 'do not overlap' : 'overlap'} ${afterMs} ms after a call without answer (4.1.1)`, async () => {
      await open();
      const slow = kept();
      rig.handle = (action) => (action === 'ClearCache' ? slow.answer : { status: 'Accepted' });
      station.sendText('[2,"slow","ClearCache",{}]');
      station.sendText('[2,"flush","Heartbeat",{"x":1}]');
      await station.nextText();
      const earlier = rig.broken.length;
      rig.wall.advance(afterMs);
      station.sendText('[2,"quick","Reset",{"type":"Soft"}]');
      await station.nextText();
      expect(rig.broken.slice(earlier)).to.have.length(findings);
      slow.give({ status: 'Rejected' });
      await station.nextText();
    });

  for (const version of versions)
    it(`${version}: a second call with the id of one in progress is refused, also in the same packet (4.1.4)`, async () => {
      await open(version);
      const slow = kept();
      rig.handle = () => slow.answer;
      const { socket } = connection.request;
      // the library answers by itself what comes in one turn; and the id is that of a call of the station as well
      station.silent = true;
      const own = heartbeat({ messageId: 'twice' });
      await station.next('Heartbeat');
      socket.cork();
      station.sendText('[2,"twice","ClearCache",{}]');
      station.sendText('[2,"twice","ClearCache",{}]');
      socket.uncork();
      const code = version === 'ocpp1.6' ? 'GenericError' : 'RpcFrameworkError';
      expect((JSON.parse(await station.nextText()) as unknown[]).slice(0, 3)).to.deep.equal([4, 'twice', code]);
      slow.give({ status: 'Accepted' });
      expect(JSON.parse(await station.nextText())).to.deep.equal([3, 'twice', { status: 'Accepted' }]);
      expect(rig.handled).to.deep.equal(['ClearCache']);
      expect(rig.transport.counters).to.include({ callErrors: 0, lateAnswers: 0 });
      station.sendText(JSON.stringify([3, 'twice', time]));
      expect(await own).to.include({ kind: 'result' });
    });

  it('the id of an earlier call of the connection is answered, and a finding (4.1.4); 64 of them are remembered', async () => {
    await open();
    for (let n = 0; n < 2; n += 1)
      expect(await station.call('ClearCache', {}, 'again')).to.deep.equal({
        kind: 'result',
        payload: { status: 'Accepted' },
      });
    const again = {
      clause: 'OCPP-J 4.1.4',
      text: 'the message id is that of an earlier call',
      action: 'ClearCache',
      messageId: 'again',
    };
    expect(rig.broken).to.deep.equal([again]);
    for (let n = 1; n < 64; n += 1) await station.call('ClearCache');
    await station.call('ClearCache', {}, 'again');
    expect(rig.broken).to.deep.equal([again, again]);
    await station.call('ClearCache');
    await station.call('ClearCache', {}, 'again');
    station.cut();
    await rig.closed.take();
    rig.passWait();
    await station.nextConnection();
    await station.call('ClearCache', {}, 'again');
    expect(rig.broken).to.deep.equal([again, again]);
  });

  it('an action that the version does not have is a finding (4.2.1)', async () => {
    await open('ocpp2.0.1');
    expect(await station.brokenCall('ChangeConfiguration', { key: 'a', value: 'b' }, 'id-1')).to.include({
      code: 'NotImplemented',
    });
    const text = 'an action that the version does not have';
    expect(rig.broken).to.deep.equal([
      { clause: 'OCPP-J 4.2.1', text, action: 'ChangeConfiguration', messageId: 'id-1' },
    ]);
  });

  it('ids of more than 36 characters are a finding, and answered; beyond 255 they are none', async () => {
    await open('ocpp2.0.1');
    const long = 'x'.repeat(37);
    expect((await station.call('ClearCache', {}, long)).kind).to.equal('result');
    expect(rig.broken.map(({ clause, messageId }) => [clause, messageId])).to.deep.equal([['OCPP-J 4.1.4', long]]);
    station.sendText(JSON.stringify([2, 'x'.repeat(256), 'ClearCache', {}]));
    expect((await station.nextText()).slice(0, 4)).to.equal('[3,"');
    expect((JSON.parse(await station.nextText()) as unknown[]).slice(0, 3)).to.deep.equal([
      4,
      '-1',
      'RpcFrameworkError',
    ]);
  });

  it('no more than 64 are in progress at one time', async () => {
    await open();
    rig.handle = () => kept().answer;
    for (let n = 0; n < 64; n += 1) void station.call('ClearCache');
    expect(await station.call('ClearCache')).to.include({
      kind: 'error',
      code: 'GenericError',
      description: 'too many calls at one time',
    });
  });

  it('a burst is taken one call in each turn of the event loop; none is refused, and each is a finding (4.1.1)', async () => {
    await open();
    let turn = 0;
    let isOver = false;
    const turns: number[] = [];
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    rig.handle = async () => {
      turns.push(turn);
      await Promise.resolve();
      return { status: 'Accepted' };
    };
    const { socket } = connection.request;
    socket.cork();
    const replies = Array.from({ length: 500 }, () => station.call('ClearCache'));
    socket.uncork();
    count();
    const kinds = new Set((await Promise.all(replies)).map(({ kind }) => kind));
    isOver = true;
    expect([...kinds]).to.deep.equal(['result']);
    // both counters run in the same phase of a turn: one may be before the other
    const perTurn = turns.filter((at, n) => turns[n - 2] === at);
    expect(perTurn).to.deep.equal([]);
    expect(turns).to.have.length(500);
    expect(new Set(rig.broken.map(({ clause }) => clause))).to.deep.equal(new Set(['OCPP-J 4.1.1']));
    // those that were read together with an earlier one: how many there are is up to the network
    expect(rig.broken.length).to.be.greaterThan(0);
  });

  it('a handler refuses with its code; a failure of its own is InternalError, whose text stays here', async () => {
    await open();
    const throwing: unknown[] = [
      new CallError('NotSupported', 'no such feature', { feature: 1 }),
      new Error('S3CR3T-marker'),
      'no error at all',
    ];
    rig.handle = () => {
      throw throwing.shift();
    };
    const refused = { kind: 'error', code: 'NotSupported', description: 'no such feature', details: { feature: 1 } };
    expect(await station.call('ClearCache')).to.deep.equal(refused);
    rig.handle = async () => {
      await Promise.resolve();
      throw throwing.shift();
    };
    const failed = { kind: 'error', code: 'InternalError', description: 'internal error of the station', details: {} };
    expect(await station.call('ClearCache')).to.deep.equal(failed);
    expect(await station.call('ClearCache')).to.deep.equal(failed);
    rig.handle = () => ({ status: 'Perhaps' });
    expect(await station.call('ClearCache')).to.deep.equal(failed);
    expect(rig.lines.filter((line) => line.includes('could not be answered'))).to.have.length(3);
  });

  it('answer first, message after: what follows waits for the answer, and may fail alone', async () => {
    await open();
    const done: string[] = [];
    rig.handle = (_, __, after) => {
      after(() => {
        done.push('first');
        void heartbeat();
      });
      after(() => {
        throw new Error('broken');
      });
      after(() => done.push('last'));
      done.push('handled');
      return { status: 'Accepted' };
    };
    await station.call('ClearCache');
    await station.next('Heartbeat');
    expect(done).to.deep.equal(['handled', 'first', 'last']);
    const sent = station.frames.filter(({ direction }) => direction === 'in').map(({ frame }) => frame?.[0]);
    expect(sent.slice(0, 2)).to.deep.equal([3, 2]);
    expect(rig.lines.at(-1)).to.equal('an action after the answer to ClearCache failed: broken');
    let late: (act: () => void) => void = () => undefined;
    rig.handle = (_, __, after) => {
      late = after;
      return { status: 'Accepted' };
    };
    await station.call('ClearCache');
    late(() => done.push('at once'));
    expect(done.at(-1)).to.equal('at once');
  });

  it('nothing follows a refusal', async () => {
    await open();
    const done: string[] = [];
    rig.handle = (_, __, after) => {
      after(() => done.push('never'));
      throw new CallError('NotSupported', '');
    };
    await station.call('ClearCache');
    expect(done).to.deep.equal([]);
  });

  it('a call without an answer is forgotten at once: later ones are answered, without a finding', async () => {
    await open();
    const done: string[] = [];
    rig.handle = (action, _, after) => {
      after(() => done.push('never'));
      if (action !== 'ClearCache') return { status: 'Accepted' };
      return rig.handled.length % 2 === 0 ? noAnswer : Promise.resolve(noAnswer);
    };
    for (let n = 0; n < 100; n += 1) {
      station.sendText(`[2,"ignored-${n}","ClearCache",{}]`);
      await until(() => rig.handled.length > n);
    }
    rig.handle = () => ({ status: 'Accepted' });
    expect(await station.call('Reset', { type: 'Soft' })).to.deep.include({ kind: 'result' });
    expect(station.frames.filter(({ direction }) => direction === 'in')).to.have.length(1);
    expect([rig.broken, done]).to.deep.equal([[], []]);
  });

  it('no refusal goes out either while nothing may be answered; the findings are there', async () => {
    let isMute = true;
    await open('ocpp1.6', { isMute: () => isMute });
    for (const text of ['"NoSuchAction",{}', '"UnlockConnector",{}', '"ClearCache"', '"ClearCache",{}'])
      station.sendText(`[2,"of ${text.slice(1, 4)} ${text.length}",${text}]`);
    await until(() => rig.handled.length === 1);
    // whether they are read together, which is a finding too, is up to the network
    const clauses = rig.broken.map(({ clause }) => clause).filter((clause) => clause !== 'OCPP-J 4.1.1');
    expect([rig.violated.length, clauses]).to.deep.equal([1, ['OCPP-J 4.2.1', 'OCPP-J 4.2']]);
    isMute = false;
    await station.call('ClearCache');
    expect(station.frames.filter(({ direction }) => direction === 'in')).to.have.length(1);
  });

  it('the answer of a connection that has ended is dropped', async () => {
    await open();
    const slow = kept();
    rig.handle = (action) => (action === 'ClearCache' ? slow.answer : { status: 'Accepted' });
    void station.call('ClearCache', {}, 'old');
    await station.call('Reset', { type: 'Soft' });
    station.cut();
    await rig.closed.take();
    rig.passWait();
    await station.nextConnection();
    slow.give({ status: 'Accepted' });
    await station.call('Reset', { type: 'Soft' });
    expect(station.frames.filter(({ text, direction }) => direction === 'in' && text.includes('old'))).to.deep.equal(
      [],
    );
  });

  it('what listens to findings and fails does not end the connection, nor is the frame read twice', async () => {
    let told = 0;
    await open('ocpp1.6', {
      events: {
        broken: () => {
          told += 1;
          throw new Error('no room');
        },
      },
    });
    station.sendText('[3,"of no call",{}]');
    expect((await station.call('ClearCache')).kind).to.equal('result');
    expect([told, rig.lines.at(-1)]).to.deep.equal([1, 'a frame of the central system could not be handled: no room']);
  });
});
