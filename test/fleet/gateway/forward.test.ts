import { expect } from 'chai';
import { Forwarder } from '../../../src/fleet/gateway/forward.ts';
import { RequestCounts } from '../../../src/fleet/gateway/request-counts.ts';
import { FleetError } from '../../../src/fleet/link.ts';
import type { FleetMessage } from '../../../src/fleet/link.ts';

const shardOf = (name: string) => ({ name, first: 0, room: 1, count: 1, epoch: 4, isLost: false, lastSeen: '' });
const request = { method: 'GET', path: '/', body: new Uint8Array(0), by: { source: 'rest' }, id: '1' } as const;
const answered: FleetMessage = { headers: { 'Derbench-Status': '200' }, body: new Uint8Array(0) };

/** A forwarder whose requests wait until a test ends them, and a clock of its own. */
function rig() {
  const waiting: ((outcome: FleetMessage | FleetError) => void)[] = [];
  const sent: FleetMessage['headers'][] = [];
  const nobody: string[] = [];
  let nowMs = 0;
  const link: ConstructorParameters<typeof Forwarder>[0] = {
    state: 'connected',
    request: (_subject, { headers }, _limitMs, { signal } = {}) =>
      new Promise((resolve, reject) => {
        sent.push(headers);
        signal?.addEventListener('abort', () => {
          reject(signal.reason as FleetError);
        });
        waiting.push((outcome) => {
          if (outcome instanceof FleetError) reject(outcome);
          else resolve(outcome);
        });
      }),
  };
  const counts = new RequestCounts(() => nowMs);
  const forwarder = new Forwarder(link, 'lab', (shard) => nobody.push(shard), counts);
  const outcome = (name: string, more: { readonly isPrivate?: boolean } = {}) =>
    forwarder.forward(shardOf(name), { ...request, ...more }).then(
      ({ status }) => status,
      (error: unknown) => (error as { readonly code: string }).code,
    );
  const pass = (ms: number) => (nowMs += ms);
  return { waiting, counts, outcome, pass, forwarder, sent, nobody };
}

describe('fleet/gateway: requests under way', () => {
  it('are at most 256 of one shard, and another one is still asked', async () => {
    const { waiting, outcome } = rig();
    const open = Array.from({ length: 256 }, () => outcome('a'));
    expect(await outcome('a')).to.equal('too-many-requests');
    const other = outcome('b');
    for (const end of waiting) end(answered);
    expect(new Set(await Promise.all([...open, other]))).to.deep.equal(new Set([200]));
    const next = outcome('a');
    waiting.at(-1)?.(answered);
    expect(await next).to.equal(200);
  });

  it('are at most 2,048 of all shards, and an end makes room whether it is an answer or not', async () => {
    const { waiting, outcome } = rig();
    const open = Array.from({ length: 2048 }, (_, at) => outcome(`s${at % 16}`));
    expect([waiting.length, await outcome('other')]).to.deep.equal([2048, 'too-many-requests']);
    waiting[0]?.(new FleetError('timeout', ''));
    expect(await open[0]).to.equal('upstream-timeout');
    const late = outcome('other');
    expect([waiting.length, await outcome('other')]).to.deep.equal([2049, 'too-many-requests']);
    for (const end of waiting) end(answered);
    expect(await late).to.equal(200);
  });

  it('end at once when their shard is declared lost, and those of others go on', async () => {
    const { waiting, outcome, forwarder, nobody } = rig();
    const [open, other] = [outcome('a'), outcome('b')];
    forwarder.lose('a');
    expect([await open, nobody]).to.deep.equal(['shard-lost', []]);
    waiting[1]?.(answered);
    const again = outcome('a');
    waiting[2]?.(answered);
    expect([await other, await again]).to.deep.equal([200, 200]);
  });

  it('say that private keys may travel, where that is so', async () => {
    const { waiting, outcome, sent } = rig();
    const both = [outcome('a', { isPrivate: true }), outcome('a')];
    for (const end of waiting) end(answered);
    await Promise.all(both);
    expect(sent.map((headers) => 'Derbench-Private' in headers)).to.deep.equal([true, false]);
  });

  it('are counted by shard, class of status and time', async () => {
    const { waiting, counts, outcome, pass } = rig();
    const first = outcome('a');
    pass(5);
    waiting[0]?.(answered);
    await first;
    const second = outcome('a');
    pass(40_000);
    waiting[1]?.(new FleetError('no-responder', ''));
    await second;
    expect([...counts.of('a')]).to.deep.equal([
      ['2xx', 1],
      ['5xx', 1],
    ]);
    const { within, count, sumS } = counts.times;
    // bounds of 2.5 ms, of 5 ms and of 30 s
    expect([within[1], within[2], within.at(-1), count, sumS]).to.deep.equal([0, 1, 1, 2, 40.005]);
  });
});
