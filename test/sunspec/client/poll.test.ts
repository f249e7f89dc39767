import { expect } from 'chai';
import { createRandom } from '../../../src/core/random.ts';
import type { RemoteSample } from '../../../src/contract/sunspec-client.ts';
import { createSunSpecClient } from '../../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { Poller } from '../../../src/sunspec/client/poll.ts';
import type { Round } from '../../../src/sunspec/client/poll.ts';
import { failureOf, loopback } from '../../support/client.ts';
import { oldInverter } from '../../support/foreign-map.ts';
import { settled } from '../../support/handles.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import type { PeerRequest } from '../../support/scripted-peer.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

describe('rounds of polling', () => {
  let wall: HandWall;
  let timers: HandTimers;
  let outcome: Round;
  let begun: number[];
  let poller: Poller;

  const fine: Round = { polled: [{ id: 701, index: 0, readAtMs: 1, error: null }], cut: false, lost: false };

  function create(seed = 1): void {
    wall = new HandWall();
    timers = new HandTimers(wall);
    outcome = fine;
    begun = [];
    poller = new Poller({
      monotonicMs: () => wall.monotonicMs(),
      nowMs: () => wall.nowMs(),
      later: timers.later,
      random: createRandom(seed, 'test'),
      round: () => {
        begun.push(wall.nowMs());
        return Promise.resolve(outcome);
      },
    });
    poller.settings = { enabled: true, intervalMs: 1000, models: null };
  }
  beforeEach(() => {
    create();
  });

  async function pass(ms: number): Promise<void> {
    timers.pass(ms);
    await settled();
  }
  const gaps = () => begun.slice(1).map((at, i) => at - (begun[i] ?? 0));

  it('come at the interval, the first one at once', async () => {
    poller.start();
    for (let i = 0; i < 4; i += 1) await pass(i === 0 ? 0 : 1000);
    expect(gaps()).to.deep.equal([1000, 1000, 1000]);
    expect(poller.status()).to.include({ rounds: 4, failedRounds: 0, lateRounds: 0, retryInMs: null });
  });

  it('never overlap: what a long one has covered is left out', async () => {
    poller.start();
    for (let i = 0; i < 3; i += 1) {
      timers.pass(i === 0 ? 0 : timers.nextMs);
      wall.advance(2300);
      await settled();
    }
    expect(gaps()).to.deep.equal([3000, 3000]);
    expect(poller.status()).to.include({ lateRounds: 6, lastDurationMs: 2300 });
  });

  it('follow at growing intervals with a random part when the connection is lost, and come back to the interval', async () => {
    outcome = { ...fine, cut: true, lost: true };
    poller.start();
    await pass(0);
    expect(poller.retrying).to.equal(true);
    for (let i = 0; i < 9; i += 1) {
      expect(poller.status().retryInMs).to.be.closeTo(timers.nextMs, 1e-6);
      await pass(timers.nextMs);
    }
    gaps().forEach((gap, i) => {
      const ceiling = Math.min(60_000, 1000 * 2 ** i);
      expect(gap, `attempt ${i}`).to.be.within(ceiling / 2, ceiling);
    });
    outcome = fine;
    await pass(timers.nextMs);
    expect([timers.nextMs, poller.retrying, poller.status().retryInMs]).to.deep.equal([1000, false, null]);
    expect(poller.status().failedRounds).to.equal(10);
  });

  it('have the same random part from the same seed, another from another', async () => {
    const runs = new Map<number, number[]>();
    for (const seed of [1, 1, 2]) {
      create(seed);
      outcome = { ...fine, cut: true, lost: true };
      poller.start();
      for (let i = 0; i < 6; i += 1) await pass(i === 0 ? 0 : timers.nextMs);
      if (runs.has(seed)) expect(gaps()).to.deep.equal(runs.get(seed));
      runs.set(seed, gaps());
    }
    expect(runs.get(1)).not.to.deep.equal(runs.get(2));
  });

  it('wait for one that is under way when polling is set anew, however often', async () => {
    let finish: () => void = () => undefined;
    const long = new Poller({
      monotonicMs: () => wall.monotonicMs(),
      nowMs: () => wall.nowMs(),
      later: timers.later,
      random: createRandom(1, 'test'),
      round: () =>
        new Promise((resolve) => {
          finish = () => {
            resolve(fine);
          };
        }),
    });
    long.settings = { enabled: true, intervalMs: 1000, models: null };
    for (let i = 0; i < 5; i += 1) {
      long.start();
      await pass(0);
      expect(long.rounds).to.equal(1);
    }
    finish();
    await settled();
    expect(long.rounds, 'of the last start only').to.equal(2);
    let rest = false;
    long.stop();
    const settling = long.settled().then(() => {
      rest = true;
    });
    await settled();
    expect(rest).to.equal(false);
    finish();
    await settling;
    expect(timers.waiting).to.equal(0);
  });

  it('end with stop, also one that is under way', async () => {
    poller.start();
    poller.stop();
    expect(timers.waiting).to.equal(0);
    poller.start();
    timers.pass(0);
    poller.stop();
    await settled();
    expect(timers.waiting).to.equal(0);
    poller.settings = { ...poller.settings, enabled: false };
    poller.start();
    expect(timers.waiting).to.equal(0);
  });
});

describe('SunSpec client that polls', () => {
  let peer: ScriptedPeer;
  let client: SunSpecClientAdapter;
  let wall: HandWall;
  let timers: HandTimers;
  let samples: RemoteSample[];
  const { layout, image } = oldInverter();

  beforeEach(async () => {
    peer = await ScriptedPeer.open(Buffer.from(image), layout.base);
    wall = new HandWall();
    timers = new HandTimers(wall);
    client = createSunSpecClient({ clock: wall, later: timers.later });
    samples = [];
    client.onSample((sample) => {
      samples.push(sample);
    });
    await client.connect(loopback(peer.port, { timeoutMs: 200 }));
  });
  afterEach(async () => {
    await client.stop();
    await peer.close();
  });

  /** Lets the next round come, and waits for its end. */
  async function round(): Promise<void> {
    const { rounds } = client.view().poll;
    timers.pass(timers.nextMs);
    expect(client.view().poll.rounds).to.equal(rounds + 1);
    while (timers.waiting === 0)
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
  }
  const begin = (models: readonly number[] | null = null) => client.poll({ enabled: true, intervalMs: 1000, models });

  it('makes the metrics of a snapshot from older models', async () => {
    begin();
    await round();
    expect(samples).to.have.length(1);
    expect(samples[0]).to.deep.equal({
      atMs: wall.nowMs(),
      round: 1,
      metrics: {
        power_kw: 4.95,
        reactive_power_kvar: -0.31,
        apparent_power_kva: 4.96,
        voltage_ll_v: 400.2,
        voltage_ln_v: 231,
        current_a: 21.5,
        frequency_hz: 50.01,
        power_factor: 0.998,
        dc_power_kw: 5.1,
        dc_voltage_v: 612.3,
        dc_current_a: 0,
        state_of_charge_pct: null,
        soc_reserve_min_pct: null,
        soc_reserve_max_pct: null,
        soc_min_pct: null,
        soc_max_pct: null,
        service_state: null,
        inverter_state: 'running',
        connection_state: null,
      },
    });
    expect(client.view().poll.polled.map(({ id, error }) => [id, error])).to.deep.equal([
      [103, null],
      [160, null],
    ]);
    expect(client.view().sample).to.equal(samples[0]);
  });

  it('serves what was polled without asking again', async () => {
    begin([103]);
    await round();
    const { requests } = client.view().counters;
    const known = await client.readModel(103, 0, false);
    expect([known.readAtMs, client.view().counters.requests]).to.deep.equal([wall.nowMs(), requests]);
    await client.readModel(103, 0, true);
    expect(client.view().counters.requests).to.equal(requests + 1);
  });

  it('goes on with the other models when the device refuses one', async () => {
    const from = layout.models.find(({ def }) => def.id === 103)!.address;
    peer.rule = ({ address, count }) => (address < from + 52 && address + count > from ? { exception: 2 } : undefined);
    begin([103, 701, 160]);
    await round();
    const { polled, failedRounds } = client.view().poll;
    expect(polled.map(({ id, error }) => [id, error])).to.deep.equal([
      [103, 'exception 2 (illegal data address)'],
      [701, 'The device does not have model 701; it has 1, 103, 120, 123, 160.'],
      [160, null],
    ]);
    expect([failedRounds, client.view().state]).to.deep.equal([1, 'connected']);
    expect(samples[0]!.metrics).to.include({ power_kw: null, dc_power_kw: 5.1 });
  });

  it('tries again and again when the device is gone, and goes on when it is back', async () => {
    begin();
    await round();
    const { port } = peer;
    await peer.close();
    await round();
    const { errors } = client.view().counters;
    for (let i = 0; i < 2; i += 1) await round();
    expect(client.view().counters.errors - errors, 'one attempt to connect each time').to.equal(2);
    expect(client.view()).to.include({
      state: 'error',
      lastError: `cannot connect to tcp://127.0.0.1:${port}: the connection was refused`,
    });
    expect(client.status()).to.include({ state: 'retrying', enabled: true, peers: 0 });
    expect(client.view().poll.retryInMs).to.be.within(2000, 4000);
    expect(samples).to.have.length(1);
    peer = await ScriptedPeer.open(Buffer.from(image), layout.base, undefined, port);
    await round();
    expect(client.view().state).to.equal('connected');
    expect(samples.map((sample) => sample.round)).to.deep.equal([1, 5]);
  });

  it('counts a round that could not begin as one that failed', async () => {
    peer.rule = () => 'silence';
    const others = Array.from({ length: 17 }, () => failureOf(client.readRegisters(40_000, 1)));
    begin();
    await round();
    expect(client.view().poll).to.deep.include({ rounds: 1, failedRounds: 1, retryInMs: null, polled: [] });
    await client.disconnect();
    expect(new Set((await Promise.all(others)).map(({ code }) => code))).to.deep.equal(new Set(['COMMAND_CONFLICT']));
  });

  it('counts a silent device as time-outs, and lives on', async () => {
    begin();
    await round();
    const { timeouts } = client.view().counters;
    peer.rule = () => 'silence';
    await round();
    expect(client.view().counters.timeouts - timeouts).to.equal(2);
    expect(client.view().state).to.equal('error');
    peer.rule = () => undefined;
    await round();
    expect(client.view().state).to.equal('connected');
  });

  it('finds the map when it could not be found at first', async () => {
    peer.rule = () => ({ exception: 4 });
    const failure = await failureOf(client.connect(loopback(peer.port, { timeoutMs: 200 })));
    expect(failure.code).to.equal('PEER_ERROR');
    begin();
    await round();
    expect(client.view().state).to.equal('error');
    peer.rule = () => undefined;
    await round();
    expect(client.view().state).to.equal('connected');
    expect(samples).to.have.length(1);
  });

  it('tells whose map was found, once, also where nothing of the summary can be read', async () => {
    const found: number[] = [];
    client.onDevice(({ unitId }) => {
      found.push(unitId);
    });
    peer.rule = () => ({ exception: 4 });
    await failureOf(client.connect(loopback(peer.port, { unitId: 2 })));
    begin([1]);
    await round();
    expect(found).to.deep.equal([]);
    peer.rule = () => undefined;
    await round();
    await round();
    expect([found, samples]).to.deep.equal([[2], []]);
    const common = layout.models.find(({ def }) => def.id === 1)!.address;
    peer.rule = ({ address, count }) => (address === common && count > 2 ? 'silence' : undefined);
    await failureOf(client.connect(loopback(peer.port, { unitId: 3, timeoutMs: 100 })));
    expect(client.view().discovery).to.include({ end: 'end_model' });
    expect(found, 'the map, without the identity').to.deep.equal([2, 3]);
  });

  it('makes no sample and reads no further model when polling is switched off during a round', async () => {
    const first = layout.models.find(({ def }) => def.id === 103)!.address;
    const held = new Promise<PeerRequest>((resolve) => {
      peer.rule = (request) => {
        const isHeader = request.count === 2;
        if (request.address !== first || isHeader) return undefined;
        resolve(request);
        return 'silence';
      };
    });
    await client.connect(loopback(peer.port, { timeoutMs: 10_000 }));
    begin();
    timers.pass(0);
    const request = await held;
    client.poll({ enabled: false, intervalMs: 1000, models: null });
    request.socket.write(peer.answerTo(request));
    // an operation has its turn after the round
    await client.readRegisters(layout.base, 2);
    expect([samples, client.view().sample]).to.deep.equal([[], null]);
    expect(peer.requests.slice(peer.requests.indexOf(request) + 1).map(({ address }) => address)).to.deep.equal([
      layout.base,
    ]);
    expect([timers.waiting, client.view().poll.rounds]).to.deep.equal([0, 1]);
  });

  it('waits with its settings for a device', async () => {
    await client.disconnect();
    begin();
    expect(timers.waiting).to.equal(0);
    await client.connect(loopback(peer.port, { timeoutMs: 200 }));
    await round();
    expect(samples).to.have.length(1);
  });

  it('stops with the client', async () => {
    begin();
    await round();
    await client.stop();
    expect(timers.waiting).to.equal(0);
    expect(client.status().state).to.equal('stopped');
  });
});
