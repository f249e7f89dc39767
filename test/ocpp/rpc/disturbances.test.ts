import { expect } from 'chai';
import {
  callErrorFault,
  clockSkewFault,
  delayFault,
  dropSocketFault,
  duplicateFault,
  flappingFault,
  ignoreCallFault,
  malformedFault,
  missingMemberFault,
  noPongFault,
  noResponseFault,
  wrongMessageIdFault,
} from '../../../src/fault-kinds/ocpp.ts';
import { createOcppDisturber } from '../../../src/ocpp/faults/disturber.ts';
import { skewed } from '../../../src/ocpp/rpc/outlet.ts';
import { FaultBench } from '../../support/faults.ts';
import type { Central } from '../central/central.ts';
import type { CentralConnection, CentralStation } from '../central/station.ts';
import { openCentral, TransportRig, until } from './rig.ts';

const accepted = { status: 'Accepted' };

describe('faults of a charge point on a connection', () => {
  let central: Central;
  let rig: TransportRig;
  let station: CentralStation;
  let connection: CentralConnection;
  let bench: FaultBench;
  beforeEach(async () => {
    bench = new FaultBench([0]);
    central = await openCentral();
    station = central.station('CP-1');
    const disturber = createOcppDisturber({ registry: bench.registry, holds: () => true });
    rig = new TransportRig(central.url, { disturber });
    await rig.connect();
    connection = await station.nextConnection();
  });
  afterEach(async () => {
    await rig.transport.stop();
    await central.close();
  });
  const heartbeat = () => rig.line.call('Heartbeat', {});
  /** Frames that the station has sent so far. */
  const sent = () => station.frames.filter(({ direction }) => direction === 'in').map(({ text }) => text);

  it('drop_socket cuts the connection in place of a message that is sent', async () => {
    bench.inject(dropSocketFault, {}, { count: 1, target: { actions: ['Heartbeat'] } });
    expect(await station.call('ClearCache')).to.deep.equal({ kind: 'result', payload: accepted });
    expect(await heartbeat()).to.deep.equal({ kind: 'lost' });
    expect((await connection.closed).code).to.equal(1006);
    expect(station.calls).to.have.length(0);
    await rig.closed.take();
    rig.passWait();
    await rig.opened.take();
    expect((await heartbeat()).kind).to.equal('result');
  });

  it('drop_socket cuts it in place of a message that is received', async () => {
    bench.inject(dropSocketFault, {}, { count: 1 });
    expect(await station.call('ClearCache')).to.deep.equal({ kind: 'lost' });
    expect(rig.handled).to.deep.equal([]);
    expect(await rig.closed.take()).to.include({ code: 1006 });
  });

  it('no_pong leaves pings unanswered', async () => {
    bench.inject(noPongFault, {}, { count: 1 });
    const pongs: string[] = [];
    connection.socket.on('pong', (data) => pongs.push(data.toString()));
    connection.socket.ping('first');
    connection.socket.ping('second');
    await until(() => pongs.length === 1);
    expect(pongs).to.deep.equal(['second']);
  });

  it('delay sends late, and what is delayed ends with its connection', async () => {
    bench.inject(delayFault, { delay_ms: 700 });
    const reply = station.call('ClearCache');
    await until(() => rig.timers.waiting === 1);
    expect(sent()).to.have.length(0);
    rig.timers.pass(700);
    expect(await reply).to.deep.equal({ kind: 'result', payload: accepted });
    void station.call('ClearCache', {}, 'never');
    await until(() => rig.timers.waiting === 1);
    station.cut();
    await rig.closed.take();
    rig.timers.pass(1500);
    await station.nextConnection();
    bench.registry.clear();
    await station.call('ClearCache');
    expect(sent().filter((text) => text.includes('never'))).to.deep.equal([]);
  });

  it('delay: what follows an answer waits for it', async () => {
    bench.inject(delayFault, { delay_ms: 700 });
    rig.handle = (_action, _payload, after) => {
      after(() => {
        rig.link.reconnect('AuthorizationKey was changed');
      });
      return accepted;
    };
    const reply = station.call('ClearCache');
    await until(() => rig.timers.waiting === 1);
    rig.timers.pass(700);
    expect(await reply).to.deep.equal({ kind: 'result', payload: accepted });
    expect((await connection.closed).code).to.equal(1000);
  });

  it('no_response: the call is not carried out, or only its answer is missing', async () => {
    bench.inject(noResponseFault, {}, { count: 1 });
    void station.call('ClearCache', {}, 'passed over');
    await station.call('Reset', { type: 'Soft' });
    expect(rig.handled).to.deep.equal(['Reset']);
    bench.inject(noResponseFault, { carried_out: true }, { count: 1 });
    void station.call('ClearCache', {}, 'carried out');
    await station.call('Reset', { type: 'Soft' });
    expect(rig.handled).to.deep.equal(['Reset', 'ClearCache', 'Reset']);
    expect(sent()).to.have.length(2);
    expect(rig.count('out', 'result')).to.equal(2);
  });

  it('no_response: what follows an answer is carried out without it too', async () => {
    bench.inject(noResponseFault, { carried_out: true }, { count: 1 });
    const followUps: string[] = [];
    rig.handle = (action, _payload, after) => {
      after(() => followUps.push(action));
      return accepted;
    };
    void station.call('Reset', { type: 'Soft' });
    await until(() => rig.handled.length === 1);
    expect(followUps).to.deep.equal(['Reset']);
  });

  it('call_error answers in place of the handler', async () => {
    bench.inject(callErrorFault, { code: 'MadeUp', description: 'by a fault' }, { count: 1 });
    expect(await station.call('ClearCache')).to.deep.equal({
      kind: 'error',
      code: 'MadeUp',
      description: 'by a fault',
      details: {},
    });
    expect(rig.handled).to.deep.equal([]);
    expect((await station.call('ClearCache')).kind).to.equal('result');
  });

  it('ignore_call accepts in place of the handler', async () => {
    bench.inject(ignoreCallFault, {}, { count: 1 });
    expect(await station.call('ClearCache')).to.deep.equal({ kind: 'result', payload: accepted });
    expect(rig.handled).to.deep.equal([]);
    expect((await station.call('ClearCache')).kind).to.equal('result');
    expect(rig.handled).to.have.length(1);
  });

  it('malformed: what goes out is no frame, and the message book shows it', async () => {
    rig.transport.channel.record(true, { source: 'rest', peer: 'test' });
    const texts = [];
    for (const mode of ['truncated', 'not_array', 'wrong_type', 'missing_payload', 'null_members', 'empty']) {
      bench.inject(malformedFault, { mode }, { count: 1 });
      station.sendText('[2,"m","ClearCache",{}]');
      texts.push(await station.nextText());
    }
    expect(texts).to.deep.equal([
      '[3,"m",{"status',
      '{"frame":[3,"m",{"status":"Accepted"}]}',
      '[9,"m",{"status":"Accepted"}]',
      '[3,"m"]',
      '[3,"m",{"status":null}]',
      '',
    ]);
    const shown = rig.transport.messages.list({ direction: 'out' }).map(({ payload }) => payload);
    expect(shown).to.deep.equal([texts[0], texts[1], accepted, null, { status: null }, '']);
  });

  it('duplicate: twice with the same id; the second answer of the central system changes nothing', async () => {
    bench.inject(duplicateFault, {}, { count: 1 });
    expect((await heartbeat()).kind).to.equal('result');
    await station.call('ClearCache');
    const ids = station.calls.map(({ messageId }) => messageId);
    expect(ids).to.have.length(2);
    expect(ids[0]).to.equal(ids[1]);
    expect(rig.transport.counters.lateAnswers).to.equal(1);
    expect(rig.count('out', 'call')).to.equal(2);
  });

  it('wrong_message_id: an answer that the central system awaits from nobody', async () => {
    bench.inject(wrongMessageIdFault, { message_id: 'other' }, { count: 1 });
    void station.call('ClearCache', {}, 'asked');
    expect(JSON.parse(await station.nextText())).to.deep.equal([3, 'other', accepted]);
  });

  it('missing_member: the message goes out without it, though its schema is broken', async () => {
    bench.inject(missingMemberFault, { members: ['status', 'vendorId'] });
    station.sendText('[2,"m","ClearCache",{}]');
    expect(JSON.parse(await station.nextText())).to.deep.equal([3, 'm', {}]);
    await rig.line.call('DataTransfer', { vendorId: 'v', data: 'd' });
    expect(station.calls[0]?.payload).to.deep.equal({ data: 'd' });
    station.sendText('[2,"e","NoSuchAction",{}]');
    expect(JSON.parse(await station.nextText())).to.deep.equal([
      4,
      'e',
      'NotImplemented',
      'this action is not known',
      {},
    ]);
  });

  it('flapping cuts each connection after its period, from now on and until it is cleared', async () => {
    bench.inject(flappingFault, { period_s: 4 });
    for (let n = 0; n < 2; n += 1) {
      rig.timers.pass(3999);
      expect(rig.link.state).to.equal('connected');
      rig.timers.pass(1);
      await rig.closed.take();
      rig.passWait();
      await station.nextConnection();
      await rig.opened.take();
    }
    bench.registry.clear();
    rig.timers.pass(60_000);
    expect(rig.link.state).to.equal('connected');
    expect(rig.transport.counters).to.include({ connects: 3, drops: 2 });
  });

  it('flapping that is limited drops so many connections, whatever other faults begin and end meanwhile', async () => {
    const flapping = bench.inject(flappingFault, { period_s: 4 }, { count: 1 });
    rig.timers.pass(3000);
    const other = bench.inject(delayFault, { delay_ms: 1 });
    bench.registry.clear({ id: other.facts.id });
    expect([flapping.occasions, rig.link.state]).to.deep.equal([0, 'connected']);
    rig.timers.pass(1000);
    await rig.closed.take();
    expect([flapping.occasions, flapping.strikeCount, flapping.end]).to.deep.equal([1, 1, 'count']);
    rig.passWait();
    await station.nextConnection();
    await rig.opened.take();
    rig.timers.pass(60_000);
    expect(rig.transport.counters).to.include({ connects: 2, drops: 1 });
  });

  it('flapping that spares a connection asks again at the next one only', async () => {
    const flapping = bench.inject(flappingFault, { period_s: 4 }, { every: 2 });
    rig.timers.pass(4000);
    bench.inject(delayFault, { delay_ms: 1 });
    rig.timers.pass(60_000);
    expect([flapping.occasions, flapping.strikeCount, rig.link.state]).to.deep.equal([1, 0, 'connected']);
    rig.link.reconnect('test');
    await rig.opened.take();
    rig.timers.pass(4000);
    await rig.closed.take();
    expect([flapping.occasions, flapping.strikeCount]).to.deep.equal([2, 1]);
  });

  it('clock_skew moves every time that is sent', async () => {
    bench.inject(clockSkewFault, { skew_s: -3600 });
    const status = { connectorId: 1, errorCode: 'NoError', status: 'Available' };
    await rig.line.call('StatusNotification', { ...status, timestamp: '2026-06-21T08:00:00.000Z' });
    expect(station.calls[0]?.payload).to.deep.equal({ ...status, timestamp: '2026-06-21T07:00:00.000Z' });
  });

  it('a time is text of RFC 3339 with its zone, at any depth; nothing else moves', () => {
    const value = { a: ['2026-01-01T00:00:00Z', { b: '2026-01-01T01:00:00.5+01:00' }], c: '2026-01-01', d: 5, e: null };
    expect(skewed(value, 60)).to.deep.equal({
      ...value,
      a: ['2026-01-01T00:01:00.000Z', { b: '2026-01-01T00:01:00.500Z' }],
    });
    expect(skewed('2026-13-01T00:00:00Z', 60)).to.equal('2026-13-01T00:00:00Z');
  });
});
