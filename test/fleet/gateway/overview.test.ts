import { expect } from 'chai';
import { FleetOverview } from '../../../src/fleet/gateway/overview.ts';
import type { AskOverview } from '../../../src/fleet/gateway/overview.ts';
import type { ShardPlace } from '../../../src/fleet/gateway/forward.ts';
import { HttpProblem } from '../../../src/api/http/errors.ts';

const place = (name: string, first: number, count: number): ShardPlace => ({
  name,
  first,
  room: 1000,
  count,
  epoch: 1,
  isLost: false,
  lastSeen: '',
});

const comm = (over: object) => ({
  enabled: true,
  state: 'listening',
  detail: null,
  endpoint: null,
  peers: 1,
  last_activity: null,
  rx_count: 2,
  tx_count: 3,
  error_count: 0,
  last_error: null,
  last_error_at: null,
  ...over,
});

const errorAt = (hour: string) => ({ last_error: `error at ${hour}`, last_error_at: `2026-01-01T${hour}:00:00.000Z` });

/** Shards `a` of 700 devices and `b` of 800, and an overview that asks them. */
function opened() {
  const shards = [place('a', 0, 700), place('b', 1000, 800)];
  const asked: string[] = [];
  const gone = new Set<string>();
  let nowMs = 0;
  const overview = new FleetOverview(
    () => shards,
    () => nowMs,
  );
  const ask: AskOverview = ({ name, first, count }, query) => {
    asked.push(`${name} ${query}`);
    if (gone.has(name)) return Promise.reject(new HttpProblem('shard-lost', 'gone'));
    const asking = new URLSearchParams(query);
    const limit = Number(asking.get('limit'));
    const skipped = asking.has('after') ? Number(asking.get('after')) - first + 1 : 0;
    const body = {
      device_index: Number(new URLSearchParams(query).get('device') ?? first),
      tick: 7,
      devices: Array.from({ length: Math.min(limit, count - skipped) }, (_, at) => ({
        device_index: first + skipped + at,
      })),
      comm_status: {
        modbus_tcp: comm(
          name === 'b'
            ? { state: 'error', last_activity: '2026-01-01T00:00:00.000Z', ...errorAt('11') }
            : errorAt('12'),
        ),
      },
      devices_total: count,
      devices_truncated: limit < count - skipped,
      alarms: {
        active_count: 2,
        highest_severity: name === 'a' ? 'info' : 'warning',
        active: [{ code: `${name}-1` }, { code: `${name}-2` }],
        latched_count: 1,
      },
    };
    return Promise.resolve({
      status: 200,
      type: 'application/json',
      headers: {},
      bytes: Buffer.from(JSON.stringify(body)),
    });
  };
  const answer = async (limit?: number, device?: number, after = -1) => {
    const holder = shards[device !== undefined && device >= 1000 ? 1 : 0] ?? place('a', 0, 0);
    const reply = await overview.answer(ask, { limit, after }, device === undefined ? null : { holder, device });
    return JSON.parse(reply.bytes.toString()) as Record<string, unknown> & { readonly devices: readonly unknown[] };
  };
  return { asked, gone, answer, wait: (ms: number) => (nowMs += ms) };
}

describe('fleet/gateway: the overview', () => {
  it('lists the first 1,000 devices, and joins alarms and protocols', async () => {
    const { asked, answer } = opened();
    const { devices, ...rest } = await answer();
    expect(devices).to.have.length(1000);
    expect(devices[999]).to.deep.equal({ device_index: 1299 });
    expect(asked).to.deep.equal(['a limit=1000', 'b limit=300']);
    expect(rest).to.deep.include({ device_index: 0, devices_total: 1500, devices_truncated: true, missing: [] });
    expect(rest['alarms']).to.deep.equal({
      active_count: 4,
      highest_severity: 'warning',
      active: ['a-1', 'a-2', 'b-1', 'b-2'].map((code) => ({ code })),
      latched_count: 2,
    });
    expect(rest['comm_status']).to.deep.equal({
      modbus_tcp: comm({
        state: 'error',
        peers: 2,
        rx_count: 4,
        tx_count: 6,
        last_activity: '2026-01-01T00:00:00.000Z',
        ...errorAt('12'),
      }),
    });
  });

  it('lists pages behind an index, over the end of a shard, until the last device', async () => {
    const { asked, answer } = opened();
    const page = async (after: number) => {
      const { devices, devices_truncated: isCut } = await answer(3, undefined, after);
      return [devices.map((each) => (each as { readonly device_index: number }).device_index), isCut];
    };
    expect(await page(697)).to.deep.equal([[698, 699, 1000], true]);
    expect(asked).to.deep.equal(['a limit=3&after=697', 'b limit=3']);
    expect(await page(1796)).to.deep.equal([[1797, 1798, 1799], false]);
    expect(asked.slice(2)).to.deep.equal(['a limit=0', 'b limit=3&after=1796']);
  });

  it('has the snapshot and the alarms of the device that is asked for', async () => {
    const { asked, answer } = opened();
    expect(await answer(5, 1003)).to.deep.include({ device_index: 1003, devices_total: 1500 });
    expect(asked).to.deep.equal(['b device=1003&limit=0', 'a limit=5', 'b limit=0']);
  });

  it('is shared for half a second', async () => {
    const { asked, answer, wait } = opened();
    await Promise.all([answer(), answer()]);
    wait(499);
    await answer();
    expect(asked).to.have.length(2);
    wait(1);
    await answer();
    expect(asked).to.have.length(4);
  });

  it('goes on without shards that do not answer, and is refused without any', async () => {
    const { gone, answer, wait } = opened();
    gone.add('a');
    const { devices, missing, device_index: index } = await answer();
    expect([devices.length, index]).to.deep.equal([300, 1000]);
    expect(missing).to.deep.equal([{ shard: 'a', first: 0, count: 700, code: 'shard-lost' }]);
    gone.add('b');
    wait(1000);
    for (const time of ['first', 'second'])
      expect(await answer().catch((error: unknown) => error), time).to.include({ code: 'shard-lost' });
  });
});
