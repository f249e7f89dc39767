import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createSunSpecClient } from '../../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { connected, failureOf, loopback, pointsOf } from '../../support/client.ts';
import type { Failure } from '../../support/client.ts';
import { oldInverter } from '../../support/foreign-map.ts';
import { openHandles, settled } from '../../support/handles.ts';
import { adu } from '../../support/modbus-client.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import type { PeerRequest, Rule } from '../../support/scripted-peer.ts';

const timeoutMs = 150;
/** two attempts, and what a busy machine takes */
const longestMs = 2 * timeoutMs + 1200;

describe('SunSpec client with devices that misbehave', () => {
  let peer: ScriptedPeer;
  let client: SunSpecClientAdapter;
  const { layout, image } = oldInverter();

  beforeEach(async () => {
    peer = await ScriptedPeer.open(Buffer.from(image), layout.base);
    ({ client } = await connected(peer.port, { timeoutMs }));
  });
  afterEach(async () => {
    await client.stop();
    await peer.close();
  });

  /** From now on; numbers count from the first request that the rule sees. */
  function from(rule: (request: PeerRequest, number: number) => ReturnType<Rule>): void {
    const begin = peer.requests.length;
    peer.rule = (request) => rule(request, request.number - begin);
  }
  const octets = (hex: string) => ({ octets: Buffer.from(hex, 'hex') });
  const read = () => client.readModel(103, 0, true);
  async function power(): Promise<unknown> {
    return pointsOf(await read()).get('W')?.value;
  }

  /** Each time, and the client lives on. */
  async function expectFailure(rule: Rule, code: string, words: RegExp): Promise<Failure> {
    peer.rule = rule;
    const failure = await failureOf(read());
    expect(failure.code, failure.message).to.equal(code);
    expect(failure.message).to.match(words);
    expect(failure.ms).to.be.below(longestMs);
    peer.rule = () => undefined;
    expect(await power(), 'afterwards').to.equal(4950);
    return failure;
  }

  /** The first answer only: the second attempt succeeds. */
  async function expectSurvival(rule: Rule): Promise<void> {
    from((request, number) => (number === 0 ? rule(request) : undefined));
    expect(await power()).to.equal(4950);
  }

  const bad: readonly (readonly [what: string, rule: Rule, code: string, words: RegExp])[] = [
    [
      'is silent',
      () => 'silence',
      'PEER_TIMEOUT',
      /^no answer from unit 1 within 0\.15 s, reading \d+ registers at \d+$/,
    ],
    [
      'answers with another transaction id',
      ({ transactionId, unitId, count }) => ({
        octets: adu((transactionId + 1) % 256, unitId, `03${(count * 2).toString(16)}${'00'.repeat(count * 2)}`),
      }),
      'PEER_TIMEOUT',
      /an answer came with transaction id \d+, which is not that of the request/,
    ],
    [
      'answers with transaction id 0',
      ({ unitId, count }) => ({
        octets: adu(0, unitId, `03${(count * 2).toString(16).padStart(2, '0')}${'00'.repeat(count * 2)}`),
      }),
      'PEER_TIMEOUT',
      /transaction id 0/,
    ],
    [
      'answers as another unit',
      ({ transactionId, count }) => ({
        octets: adu(transactionId, 9, `03${(count * 2).toString(16).padStart(2, '0')}${'00'.repeat(count * 2)}`),
      }),
      'PEER_ERROR',
      /makes no sense.*expected address 1 got 9/,
    ],
    [
      'answers with another function',
      ({ transactionId, count }) => ({
        octets: adu(transactionId, 1, `04${(count * 2).toString(16).padStart(2, '0')}${'00'.repeat(count * 2)}`),
      }),
      'PEER_ERROR',
      /makes no sense.*expected code 3 got 4/,
    ],
    [
      'answers with fewer registers',
      ({ transactionId }) => ({ octets: adu(transactionId, 1, '030400000000') }),
      'PEER_ERROR',
      /makes no sense.*length/,
    ],
    [
      'answers with a byte count that is too large',
      ({ transactionId, count }) => ({ octets: adu(transactionId, 1, `03ff${'00'.repeat(count * 2)}`) }),
      'PEER_ERROR',
      /255 octets of data|makes no sense/,
    ],
    [
      'answers with a byte count that is too small',
      ({ transactionId, count }) => ({ octets: adu(transactionId, 1, `0302${'00'.repeat(count * 2)}`) }),
      'PEER_ERROR',
      /has 2 octets of data/,
    ],
    [
      'answers with an odd byte count',
      ({ transactionId, count }) => ({ octets: adu(transactionId, 1, `0303${'00'.repeat(count * 2)}`) }),
      'PEER_ERROR',
      /3 octets|4 octets|makes no sense/,
    ],
    [
      'sends half an answer',
      (request) => ({ octets: peer.answerTo(request).subarray(0, 20) }),
      'PEER_TIMEOUT',
      /octets of an unfinished answer came/,
    ],
    [
      'sends a header alone',
      (request) => ({ octets: peer.answerTo(request).subarray(0, 5) }),
      'PEER_TIMEOUT',
      /5 octets of an unfinished answer came/,
    ],
    [
      'speaks HTTP',
      () => ({ octets: Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n') }),
      'PEER_ERROR',
      /not Modbus TCP: its protocol id is/,
    ],
    [
      'sends a length of 0',
      ({ transactionId }) => octets(`${transactionId.toString(16).padStart(4, '0')}00000000`),
      'PEER_ERROR',
      /its length field says 0/,
    ],
    [
      'sends a length of 65535',
      ({ transactionId }) => octets(`${transactionId.toString(16).padStart(4, '0')}0000ffff01`),
      'PEER_ERROR',
      /its length field says 65535/,
    ],
    ['sends noise', () => octets('deadbeefcafebabe0102030405060708'), 'PEER_ERROR', /not Modbus TCP/],
    [
      'closes the connection',
      ({ socket }) => {
        socket.end();
        return 'silence';
      },
      'PEER_ERROR',
      /the device closed the connection/,
    ],
    [
      'resets the connection',
      ({ socket }) => {
        socket.resetAndDestroy();
        return 'silence';
      },
      'PEER_ERROR',
      /the connection broke|the device closed the connection/,
    ],
    ['answers with an exception', () => ({ exception: 4 }), 'PEER_ERROR', /^exception 4 \(server device failure\)$/],
    ['is always busy', () => ({ exception: 6 }), 'PEER_ERROR', /^exception 6 \(server device busy\)$/],
    [
      'answers with an exception that there is not',
      () => ({ exception: 99 }),
      'PEER_ERROR',
      /^exception 99 \(not a code of the protocol\)$/,
    ],
  ];

  for (const [what, rule, code, words] of bad) {
    it(`that ${what}: ${code}, in time, and the client lives on`, () => expectFailure(rule, code, words));
  }

  for (const [what, rule] of bad.filter(([, , , words]) => !/exception [49]/.test(words.source))) {
    it(`that once ${what}: the second attempt has the value`, () => expectSurvival(rule));
  }

  it('fails at once, not at the time-out, when the connection is closed', async () => {
    const slow = createSunSpecClient();
    await slow.connect(loopback(peer.port, { timeoutMs: 20_000 }));
    peer.rule = ({ socket }) => {
      socket.destroy();
      return 'silence';
    };
    const failure = await failureOf(slow.readModel(103, 0, true));
    expect(failure.code).to.equal('PEER_ERROR');
    expect(failure.ms).to.be.below(2000);
    await slow.stop();
  });

  it('takes an answer that comes octet by octet', async () => {
    peer.rule = (request) => {
      const answer = peer.answerTo(request);
      for (let i = 0; i < answer.length; i += 1) request.socket.write(answer.subarray(i, i + 1));
      return 'silence';
    };
    expect(await power()).to.equal(4950);
  });

  it('is not misled by an answer that comes twice, or too late', async () => {
    from((request) => ({ octets: Buffer.concat([peer.answerTo(request), peer.answerTo(request)]) }));
    expect(await power()).to.equal(4950);
    let late: Buffer | null = null;
    from((request, number) => {
      if (number === 0) {
        late = peer.answerTo({ ...request, address: request.address + 4 });
        return 'silence';
      }
      return { octets: Buffer.concat([late ?? Buffer.alloc(0), peer.answerTo(request)]) };
    });
    expect(await power()).to.equal(4950);
  });

  it('stays bounded while a device sends without end', async () => {
    const flood = Buffer.concat(Array.from({ length: 2000 }, () => adu(7777, 1, `03fa${'00'.repeat(250)}`)));
    peer.rule = () => ({ octets: flood });
    const failure = await failureOf(read());
    expect(failure.code).to.equal('PEER_TIMEOUT');
    expect(failure.ms).to.be.below(longestMs);
  });

  it('makes a new connection after the device has closed an idle one', async () => {
    peer.drop();
    while (client.view().state === 'connected') await settled();
    expect(client.view()).to.include({ state: 'error', lastError: 'the device closed the connection' });
    expect(await power()).to.equal(4950);
    expect(client.view().state).to.equal('connected');
    expect(peer.connections).to.equal(2);
  });

  it('counts requests, answers and failures', async () => {
    const before = client.view().counters;
    from((_request, number) => (number < 2 ? 'silence' : { exception: 4 }));
    await failureOf(read());
    await failureOf(read());
    const { counters } = client.view();
    expect(counters.timeouts - before.timeouts).to.equal(2);
    expect(counters.exceptions - before.exceptions).to.be.at.least(1);
    expect(counters.errors - before.errors).to.equal(2 + counters.exceptions - before.exceptions);
    expect(counters.answers).to.equal(counters.requests - 2);
  });

  it('leaves no handle behind', async () => {
    await settled();
    const handles = openHandles();
    const { client: other } = await connected(peer.port, { timeoutMs: 5000 });
    peer.rule = () => 'silence';
    const pending = failureOf(other.readModel(103, 0, true));
    await settled();
    await other.stop();
    expect((await pending).code).to.equal('COMMAND_CONFLICT');
    await settled();
    expect(openHandles()).to.deep.equal(handles);
  });

  it('refuses operations beyond those that can wait, and ends all when it is told to leave', async () => {
    peer.rule = () => 'silence';
    const all = Array.from({ length: 18 }, () => failureOf(client.readRegisters(40_000, 1)));
    await client.disconnect();
    const codes = (await Promise.all(all)).map(({ code }) => code);
    expect(codes.filter((code) => code === 'COMMAND_QUEUE_FULL')).to.have.length(1);
    expect(codes.filter((code) => code === 'COMMAND_CONFLICT')).to.have.length(17);
    expect(client.view()).to.include({ state: 'disabled', target: null });
  });
});

describe('SunSpec client that cannot connect', () => {
  let client: SunSpecClientAdapter;
  beforeEach(() => {
    client = createSunSpecClient();
  });
  afterEach(() => client.stop());

  it('says that the connection was refused', async () => {
    const closed = await ScriptedPeer.open(Buffer.alloc(0), 0);
    await closed.close();
    const failure = await failureOf(client.connect(loopback(closed.port)));
    expect([failure.code, failure.message]).to.deep.equal([
      'PEER_ERROR',
      `cannot connect to tcp://127.0.0.1:${closed.port}: the connection was refused`,
    ]);
    expect(client.view().state).to.equal('error');
    expect((await failureOf(client.readModel(1, 0, false))).code).to.equal('NOT_CONNECTED');
  });

  it('says that nobody answers', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const { port } = silent.address() as { port: number };
    const failure = await failureOf(client.connect(loopback(port, { timeoutMs: 100 })));
    expect([failure.code, failure.message]).to.deep.equal([
      'PEER_TIMEOUT',
      'no answer from unit 1 within 0.1 s, reading 2 registers at 40000',
    ]);
    await client.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('says that a name is not known, in time', async () => {
    const failure = await failureOf(
      client.connect({
        ...loopback(502, { timeoutMs: 1000 }),
        transport: 'tcp',
        host: 'no-such-host.invalid',
        port: 502,
      }),
    );
    expect(failure.code).to.match(/^PEER_/);
    expect(failure.ms).to.be.below(3000);
  });

  for (const host of [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%lo',
    'ff02::1',
    '224.0.0.1',
    '255.255.255.255',
    'fd00:ec2::254',
  ]) {
    it(`refuses ${host} as a target`, async () => {
      const failure = await failureOf(client.connect({ ...loopback(502), transport: 'tcp', host, port: 502 }));
      expect(failure.code).to.equal('COMMAND_BAD_VALUE');
      expect(client.view().state).to.equal('disabled');
    });
  }

  it('refuses a name or a way of writing that stands for such an address', async () => {
    for (const host of ['2852039166', '0xa9fea9fe', '169.16689662']) {
      const failure = await failureOf(
        client.connect({ ...loopback(502, { timeoutMs: 1000 }), transport: 'tcp', host, port: 502 }),
      );
      expect(failure.message, host).to.match(/resolves to 169\.254\.169\.254, which is a link-local|not known/);
    }
  });

  it('gives up an attempt that has read all it needs when it is told something else', async () => {
    const { image } = oldInverter();
    const peer = await ScriptedPeer.open(image, 40_000);
    let calls = 0;
    let onCall: (call: number) => void = () => undefined;
    const clock = {
      nowMs: () => {
        calls += 1;
        onCall(calls);
        return 0;
      },
      monotonicMs: () => 0,
    };
    const watched = createSunSpecClient({ clock });
    await watched.connect(loopback(peer.port));
    const last = calls;
    calls = 0;
    onCall = (call) => {
      if (call === last) void watched.disconnect();
    };
    expect((await failureOf(watched.connect(loopback(peer.port)))).code).to.equal('COMMAND_CONFLICT');
    expect(watched.view()).to.include({ state: 'disabled', target: null });
    await watched.stop();
    await peer.close();
  });

  it('gives up an attempt when it is told something else', async () => {
    const silent = await ScriptedPeer.open(Buffer.alloc(0), 0, () => 'silence');
    const first = failureOf(client.connect(loopback(silent.port, { timeoutMs: 10_000 })));
    const second = failureOf(client.connect(loopback(silent.port, { timeoutMs: 100 })));
    expect((await first).code).to.equal('COMMAND_CONFLICT');
    expect((await second).code).to.equal('PEER_TIMEOUT');
    await client.stop();
    expect((await failureOf(client.connect(loopback(silent.port)))).code).to.equal('STOPPING');
    await silent.close();
  });
});
