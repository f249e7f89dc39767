import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { errors } from '@nats-io/transport-node';
import type { Msg } from '@nats-io/transport-node';
import { FleetError } from '../../../src/fleet/link.ts';
import type { FleetAnswer, FleetFault, FleetMessage } from '../../../src/fleet/link.ts';
import { Endpoints } from '../../../src/fleet/nats/service.ts';
import { sendAnswer, sendSignOfLife } from '../../../src/fleet/nats/parts.ts';
import { Requests } from '../../../src/fleet/nats/requests.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { NatsStub } from '../support/nats.ts';

const text = (body: string, headers: Readonly<Record<string, string>> = {}): FleetMessage => ({
  headers,
  body: Buffer.from(body),
});
const wordsOf = ({ body }: FleetMessage) => Buffer.from(body).toString();
const shown = (answer: FleetAnswer) => (answer instanceof FleetError ? answer.code : wordsOf(answer));

function rig() {
  const nats = new NatsStub();
  const timers = new HandTimers(new HandWall());
  const requests = new Requests(nats.connection, '_INBOX_lab', timers.later);
  const lines: string[] = [];
  const endpoints = new Endpoints({
    connection: nats.connection,
    service: { name: 'derbench-shard', version: '1.2.3', description: 'a shard', metadata: { shard: 'a' } },
    log: { warning: (line) => lines.push(line) },
    keep: () => undefined,
  });
  const one = (subject: string, request = text('?'), timeoutMs = 5000) => requests.one(subject, request, timeoutMs, {});
  /** What a tool of NATS gets for a request of the service protocol. */
  const discovered = (subject: string): readonly Record<string, unknown>[] => {
    const answers: string[] = [];
    const tool = nats.subscribe('tool', { callback: (_error, { data }) => answers.push(data.toString()) });
    nats.publish(subject, '', { reply: 'tool' });
    tool.unsubscribe();
    // an empty one is the server's, that nobody is there
    return answers.filter((answer) => answer !== '').map((answer) => JSON.parse(answer) as Record<string, unknown>);
  };
  return { nats, timers, requests, endpoints, lines, one, discovered };
}

async function failureOf(work: Promise<unknown>): Promise<readonly [FleetFault, string]> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(FleetError);
  const { code, message } = error as FleetError;
  return [code, message];
}

describe('fleet/nats: requests', () => {
  it('get the answer of their subject, each its own', async () => {
    const { endpoints, one } = rig();
    const ends: (() => void)[] = [];
    endpoints.add('op', 'lab.op.a', async (request) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return text(`${wordsOf(request)} ${request.headers['Derbench-Method'] ?? ''}`, { 'Derbench-Status': '204' });
    });
    const both = [one('lab.op.a', text('first', { 'Derbench-Method': 'GET' })), one('lab.op.a', text('second'))];
    for (const end of ends.reverse()) end();
    expect((await Promise.all(both)).map(wordsOf)).to.deep.equal(['first GET', 'second ']);
    expect((await both[0]!).headers).to.deep.equal({ 'Derbench-Status': '204' });
  });

  it('end at once where nobody serves the subject, and after the endpoint has gone', async () => {
    const { endpoints, one } = rig();
    expect(await failureOf(one('lab.op.z'))).to.deep.equal(['no-responder', 'nobody serves "lab.op.z"']);
    const stop = endpoints.add('op', 'lab.op.a', () => Promise.resolve(text('!')));
    await one('lab.op.a');
    stop();
    expect((await failureOf(one('lab.op.a')))[0]).to.equal('no-responder');
  });

  it('have the failure of an endpoint, whose reason is for people', async () => {
    const { endpoints, one } = rig();
    endpoints.add('op', 'lab.op.a', () => Promise.reject(new Error('out of order')));
    expect(await failureOf(one('lab.op.a'))).to.deep.equal(['refused', 'out of order']);
  });

  it('end with their time, unless a sign of life comes and lengthens it', async () => {
    const { nats, timers, requests } = rig();
    const asked: Msg[] = [];
    nats.subscribe('lab.op.a', { callback: (_error, message) => asked.push(message) });
    const ask = (whileAlive: boolean) => requests.one('lab.op.a', text('?'), 40, { whileAlive });
    const works = [ask(true), ask(false)];
    const failure = failureOf(works[1]!);
    const [alive, patient] = asked;
    timers.pass(39);
    for (const message of [alive!, patient!]) sendSignOfLife(message);
    timers.pass(1);
    expect(await failure).to.deep.equal(['timeout', '"lab.op.a" has not answered within 0.04 s']);
    timers.pass(38);
    sendAnswer(alive!, text('done'));
    expect(wordsOf(await works[0]!)).to.equal('done');
    expect(timers.waiting).to.equal(0);
  });

  it('end with the reason of a signal, also where it was given before', async () => {
    const { nats, requests } = rig();
    nats.subscribe('lab.op.a', { callback: () => undefined });
    const controller = new AbortController();
    const { signal } = controller;
    const open = requests.one('lab.op.a', text('?'), 5000, { signal });
    controller.abort(new FleetError('no-responder', 'the shard is lost'));
    expect(await failureOf(open)).to.deep.equal(['no-responder', 'the shard is lost']);
    const before = nats.published.length;
    expect((await failureOf(requests.one('lab.op.a', text('?'), 5000, { signal })))[0]).to.equal('no-responder');
    expect(nats.published, 'nothing was sent').to.have.length(before);
    const plain = requests.one('lab.op.a', text('?'), 5000, { signal: AbortSignal.abort() });
    expect(await failureOf(plain)).to.deep.equal(['timeout', 'the request was given up']);
  });

  it('all end when the connection is lost, or those of a subject that the server denies', async () => {
    const { nats, requests, one } = rig();
    for (const subject of ['lab.op.a', 'lab.op.b']) nats.subscribe(subject, { callback: () => undefined });
    const [a, b] = [failureOf(one('lab.op.a')), failureOf(one('lab.op.b'))];
    requests.fail(new FleetError('denied', 'no permission'), 'lab.op.b');
    expect(await b).to.deep.equal(['denied', 'no permission']);
    requests.fail(new FleetError('offline', 'away'));
    expect(await a).to.deep.equal(['offline', 'away']);
  });

  it('are not sent where they are longer than the server takes, headers and body together', async () => {
    const { nats, endpoints, one } = rig();
    endpoints.add('op', 'lab.op.a', () => Promise.resolve(text('!')));
    nats.maxPayload = 1000;
    await one('lab.op.a', text('x'.repeat(900)));
    expect((await failureOf(one('lab.op.a', text('x'.repeat(1000)))))[0]).to.equal('too-large');
    expect((await failureOf(one('lab.op.a', text('x'.repeat(900), { path: 'y'.repeat(60) }))))[0]).to.equal(
      'too-large',
    );
  });

  it('tell why the connection did not take them', async () => {
    const { nats, one } = rig();
    nats.failure = new errors.ClosedConnectionError();
    expect(await failureOf(one('lab.op.a'))).to.deep.equal([
      'offline',
      'request to "lab.op.a": the connection is closed',
    ]);
  });

  it('to all get as many answers as there are, or as were wanted', async () => {
    const { timers, requests, endpoints } = rig();
    endpoints.add('set', 'lab.set', () => Promise.resolve(text('one')));
    endpoints.add('set', 'lab.set', () => Promise.reject(new Error('no')));
    endpoints.add('set', 'lab.set', () => Promise.resolve(text('x'.repeat(600_000))));
    const all = await requests.all('lab.set', text('?'), 3, 5000);
    expect(all.map(shown).sort()).to.deep.equal(['one', 'refused', 'too-large']);
    expect(await requests.all('lab.set', text('?'), 1, 5000)).to.have.length(1);
    const tooFew = requests.all('lab.set', text('?'), 4, 10);
    await turn();
    timers.pass(10);
    expect(await tooFew, 'the time is over').to.have.length(3);
  });
});

describe('fleet/nats: the service protocol', () => {
  it('shows the process and its endpoints to tools, by kind, name and id', async () => {
    const { endpoints, one, discovered } = rig();
    endpoints.add('op', 'lab.op.a', ({ body }) =>
      body.length > 1 ? Promise.reject(new Error('too long')) : Promise.resolve(text('!')),
    );
    const [ping] = discovered('$SRV.PING');
    expect(ping).to.include({ type: 'io.nats.micro.v1.ping_response', name: 'derbench-shard', version: '1.2.3' });
    for (const selector of ['derbench-shard', `derbench-shard.${String(ping?.['id'])}`])
      expect(discovered(`$SRV.PING.${selector}`)).to.deep.equal([ping]);
    expect(discovered('$SRV.PING.another')).to.deep.equal([]);
    expect(discovered('$SRV.INFO')[0]).to.deep.include({
      metadata: { shard: 'a' },
      endpoints: [{ name: 'op', subject: 'lab.op.a', queue_group: '', metadata: {} }],
    });
    await one('lab.op.a');
    await failureOf(one('lab.op.a', text('too long')));
    const [stats] = discovered('$SRV.STATS')[0]?.['endpoints'] as readonly Record<string, number | string>[];
    expect(stats).to.include({ num_requests: 2, num_errors: 1, last_error: 'too long', queue_group: '' });
    expect(stats?.['average_processing_time']).to.be.closeTo(Number(stats?.['processing_time']) / 2, 1);
  });

  it('goes on where an answer cannot be sent, and says so', async () => {
    const { nats, timers, endpoints, lines, one } = rig();
    endpoints.add('op', 'lab.op.a', () => {
      nats.failure = new Error('payload');
      return Promise.resolve(text('!'));
    });
    const failure = failureOf(one('lab.op.a', text('?'), 10));
    await turn();
    timers.pass(10);
    expect((await failure)[0]).to.equal('timeout');
    expect(lines).to.deep.equal(['an answer on "lab.op.a" cannot be sent: payload']);
  });
});
