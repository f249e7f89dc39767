/** The central system of the tests with stations of 2.0.1 and 2.1, over a real socket. */
import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { actionsOf, directionOf } from '../../../src/ocpp/v201/stack.ts';
import { answers2 } from './answers-2.ts';
import { Central } from './central.ts';
import type { CentralOptions } from './central.ts';
import { FrameJudge } from './judge.ts';

const nowMs = () => Date.UTC(2026, 5, 21, 8);

/** The least that each call must have, where that is more than nothing. */
const requests: Readonly<Record<string, Record<string, unknown>>> = {
  GetCertificateChainStatus: {
    certificateStatusRequests: [
      {
        source: 'OCSP',
        urls: ['http://x'],
        certificateHashData: { hashAlgorithm: 'SHA256', issuerNameHash: 'a', issuerKeyHash: 'b', serialNumber: '1' },
      },
    ],
  },
  VatNumberValidation: { vatNumber: 'NL1' },
  TransactionEvent: { idToken: { idToken: 'A', type: 'Central' } },
};

const event = (seqNo: number, eventType: string) => ({
  eventType,
  seqNo,
  timestamp: '2026-06-21T08:00:00Z',
  triggerReason: 'CablePluggedIn',
  transactionInfo: { transactionId: 'T1' },
});

describe('the central system of the tests, 2.x', () => {
  let central: Central;
  const wrong: string[] = [];

  async function opened(options: CentralOptions, subprotocol: string) {
    central = await Central.open({ nowMs, wrong: (text) => wrong.push(text), ...options });
    return connect(subprotocol);
  }

  async function connect(subprotocol: string) {
    const socket = new WebSocket(`${central.url}/CS-1`, subprotocol);
    const answers: unknown[] = [];
    socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    const send = async (frame: readonly unknown[], answered = true) => {
      socket.send(JSON.stringify(frame));
      if (answered) await once(socket, 'message');
      return answers.at(-1);
    };
    return { socket, send, station: central.station('CS-1') };
  }

  afterEach(async () => {
    wrong.length = 0;
    await central.close();
  });

  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`answers every call of a station of ${version.slice(4)} as the schemas say`, async () => {
      central = await Central.open();
      const sent = actionsOf(version).filter((action) => directionOf(action) !== 'central');
      const answers = answers2(version, nowMs);
      expect(Object.keys(answers).sort()).to.deep.equal([...sent].sort());
      const judge = new FrameJudge(version);
      for (const action of sent) {
        judge.issue('in', [2, action, action, {}]);
        const answer = await answers[action]?.(requests[action] ?? {});
        expect(judge.issue('out', [3, action, answer]), action).to.equal(null);
      }
    });

  it('keeps the books of a station, and answers tokens', async () => {
    const { send, station, socket } = await opened({ subprotocols: ['ocpp2.0.1'] }, 'ocpp2.0.1');
    expect(await send([2, '1', 'TransactionEvent', event(0, 'Started')])).to.deep.equal([3, '1', {}]);
    const idToken = { idToken: 'A', type: 'Central' };
    expect(await send([2, '2', 'TransactionEvent', { ...event(1, 'Updated'), idToken }])).to.deep.equal([
      3,
      '2',
      { idTokenInfo: { status: 'Accepted' } },
    ]);
    expect(wrong).to.deep.equal([]);
    await send([2, '3', 'TransactionEvent', event(3, 'Ended')]);
    expect(wrong).to.have.length(1);
    expect(wrong[0]).to.match(/number 3 follows 1/);
    expect(station.books.transaction('T1').ended).to.equal(true);
    station.booked = false;
    await send([2, '4', 'TransactionEvent', event(9, 'Ended')]);
    expect(wrong).to.have.length(1);
    socket.terminate();
  });

  it('speaks the version of each connection, with the answers that a test has set', async () => {
    const { send, station, socket } = await opened({ subprotocols: ['ocpp1.6', 'ocpp2.1'] }, 'ocpp2.1');
    station.answers['Heartbeat'] = () => ({ currentTime: '2030-01-01T00:00:00Z' });
    const idToken = { idToken: 'A', type: 'Central' };
    expect(await send([2, '1', 'Authorize', { idToken }])).to.deep.equal([
      3,
      '1',
      { idTokenInfo: { status: 'Accepted' } },
    ]);
    socket.terminate();
    await station.connection.closed;
    const again = await connect('ocpp1.6');
    expect(await again.send([2, '1', 'Authorize', { idTag: 'A' }])).to.deep.equal([
      3,
      '1',
      { idTagInfo: { status: 'Accepted' } },
    ]);
    expect(await again.send([2, '2', 'Heartbeat', {}])).to.deep.equal([
      3,
      '2',
      { currentTime: '2030-01-01T00:00:00Z' },
    ]);
    expect(wrong).to.deep.equal([]);
    again.socket.terminate();
  });

  it('keeps a SEND, and does not answer it', async () => {
    const { send, station, socket } = await opened({ subprotocols: ['ocpp2.1'] }, 'ocpp2.1');
    const payload = { id: 1, pending: 0, basetime: '2026-06-21T08:00:00Z', data: [{ t: 0, v: '1' }] };
    await send([6, '1', 'NotifyPeriodicEventStream', payload], false);
    expect((await station.next('NotifyPeriodicEventStream')).payload).to.deep.equal(payload);
    expect(await send([2, '2', 'Heartbeat', {}])).to.deep.equal([3, '2', { currentTime: '2026-06-21T08:00:00.000Z' }]);
    expect(wrong).to.deep.equal([]);
    socket.terminate();
  });

  it('notices a frame of another version', async () => {
    const { send, socket } = await opened({ subprotocols: ['ocpp2.0.1'] }, 'ocpp2.0.1');
    await send([2, '1', 'Authorize', { idTag: 'A' }]);
    expect(wrong[0]).to.match(/idToken/);
    socket.terminate();
  });
});
