import { expect } from 'chai';
import { FleetSource } from '../../../src/fleet/gateway/source.ts';
import { TickBook } from '../../../src/fleet/gateway/tick-book.ts';
import type { StreamDeviceChange, StreamTick } from '../../../src/ws/source.ts';
import { yieldToLoop } from '../../../src/core/turns.ts';
import { openStream, StreamClient } from '../../support/stream.ts';
import { snapshotText, ticksOf } from '../support/ticks.ts';

const textsOf = ({ published }: StreamTick) => published.map(({ json }) => json.toString());
const indexesOf = ({ published }: StreamTick) => published.map(({ snapshot }) => snapshot.device_index);

function opened() {
  const failures: unknown[] = [];
  const source = new FleetSource((error) => failures.push(error));
  const book = new TickBook({
    nowMs: () => 0,
    onTick: (tick) => {
      source.take(tick);
    },
  });
  const events: StreamTick[] = [];
  /** parts that the listener takes for an event */
  const parts = { count: 0 };
  source.onTickInParts(function* (event) {
    events.push(event);
    for (let part = 0; part < parts.count; part += 1) yield;
  });
  const take = (shard: string, tick: number, indexes: readonly number[]) => {
    for (const message of ticksOf({ tick }, indexes)) book.take(shard, message);
  };
  return { source, events, take, parts, failures };
}

/** Lets works of several parts end. */
async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await yieldToLoop();
}

describe('fleet/gateway: the stream of all shards', () => {
  it('has each device and tick once, in index order within a shard, with numbers that ascend', async () => {
    const { events, take } = opened();
    take('b', 1, [10, 11]);
    take('a', 1, [0, 1]);
    await settled();
    take('a', 2, [0, 1]);
    await settled();
    const expected = [
      [10, 11],
      [0, 1],
      [0, 1],
    ];
    expect(events.map(indexesOf)).to.deep.equal(expected);
    expect(events.map(({ tick }) => tick)).to.deep.equal([1, 2, 3]);
    expect(events.flatMap(textsOf).at(-1)).to.equal(snapshotText(1, 2));
    expect(events[2]?.published[1]?.snapshot.metrics.power_kw).to.equal(1.002);
  });

  it('has each device and tick once for a client of a bounded rate too', async () => {
    const { source, take } = opened();
    const stream = await openStream(1, {}, { source });
    take('a', 1, [0, 1]);
    take('b', 1, [10]);
    await settled();
    const client = new StreamClient(`ws://127.0.0.1:${stream.port}/api/sim/ws/telemetry?max_rate=10`);
    await client.received(3);
    const expected = [0, 1, 10].map((index) => [index, 1]);
    for (const [shard, tick, indexes] of [
      ['a', 2, [0, 1]],
      ['b', 2, [10]],
      ['a', 3, [0, 1]],
    ] as const) {
      stream.pass(100);
      take(shard, tick, indexes);
      expected.push(...indexes.map((index) => [index, tick]));
      await client.received(expected.length);
    }
    expect(client.messages.map(({ device_index: index, tick }) => [index, tick])).to.deep.equal(expected);
    client.socket.terminate();
    await stream.close();
  });

  it('goes on after a listener that fails', async () => {
    const { source, events, take, failures } = opened();
    source.onTickInParts(() => {
      throw new Error('closed');
    });
    take('a', 1, [0]);
    await settled();
    take('a', 2, [0]);
    await settled();
    expect(failures.map(String)).to.deep.equal(['Error: closed', 'Error: closed']);
    expect(events).to.have.length(2);
  });

  it('shows a new client the newest snapshot of each device in index order, without lost shards', async () => {
    const { source, take } = opened();
    take('b', 7, [10]);
    take('a', 1, [0, 1]);
    take('a', 2, [0, 1]);
    await settled();
    expect(textsOf(source.latest)).to.deep.equal([snapshotText(0, 2), snapshotText(1, 2), snapshotText(10, 7)]);
    source.lose('a');
    expect(indexesOf(source.latest)).to.deep.equal([10]);
    expect(source.devices.map(({ index }) => index)).to.deep.equal([0, 1, 10]);
    take('a', 9, [0, 1]);
    await settled();
    expect(indexesOf(source.latest)).to.deep.equal([0, 1, 10]);
  });

  it('goes on with the newest tick of a shard where sending takes longer than a tick, and counts the others', async () => {
    const { source, events, take, parts } = opened();
    parts.count = 1_000_000;
    take('a', 1, [0]);
    await yieldToLoop();
    parts.count = 0;
    for (const tick of [2, 3, 4]) take('a', tick, [0]);
    // the client that joins now has the tick that is being sent, and gets the next one
    expect(source.latest.tick).to.equal(events.at(-1)?.tick);
    while (events.length < 2) await yieldToLoop();
    expect(events.flatMap(textsOf)).to.deep.equal([snapshotText(0, 1), snapshotText(0, 4)]);
    expect(source.dropped).to.equal(2);
  });

  it('tells which devices have joined and left', async () => {
    const { source, take } = opened();
    const changes: StreamDeviceChange[] = [];
    source.onDevices((change) => changes.push(change));
    take('a', 1, [0, 1]);
    take('b', 1, [5]);
    await settled();
    take('a', 2, [1, 2]);
    await settled();
    const joined = (index: number) => ({ added: { index }, removed: null });
    expect(changes).to.deep.equal([joined(0), joined(1), joined(5), { added: null, removed: { index: 0 } }, joined(2)]);
    expect(source.devices).to.deep.equal([1, 2, 5].map((index) => ({ index })));
  });
});
