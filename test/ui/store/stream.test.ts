import { expect } from 'chai';
import {
  figuresOf,
  frame,
  isFleet,
  keepOnly,
  link,
  onSnapshot,
  opened,
  snapshotOf,
  staleSinceMs,
  tick,
  tickEveryMs,
} from '../../../src/ui/store/stream';
import { pass, wall } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { telemetryOf } from '../support/site.ts';
import { accept, end, send, sockets, startPage } from '../support/stream.ts';

/** The wait that the page announces, ms; 0 while the connection is there. */
const announcedMs = () => (link.value.state === 'lost' ? link.value.retryAtMs - wall.nowMs() : 0);

describe('telemetry stream of the page', () => {
  let daemon: Daemon;
  const { random } = Math;

  before(async () => {
    await startPage();
    void new Daemon();
    // attempts that an earlier suite has left
    await pass(20_000);
  });

  beforeEach(async () => {
    daemon = new Daemon();
    // the longest wait of each attempt
    Math.random = () => 1;
    await accept();
  });

  afterEach(() => {
    Math.random = random;
    tickEveryMs.value = null;
  });

  it('is a WebSocket of the daemon that served the page', () => {
    expect(sockets.at(-1)?.address).to.equal('ws://127.0.0.1:8111/api/sim/ws/telemetry?max_rate=4');
  });

  it('keeps the newest telemetry of each device', async () => {
    for (const snapshot of telemetryOf(daemon, 10)) await send(snapshot);
    const [first] = telemetryOf(daemon, 11);
    await send(first);
    expect(snapshotOf(0)?.tick).to.equal(11);
    expect(snapshotOf(1)?.tick).to.equal(10);
    expect(tick.value).to.equal(11);
  });

  it('tells listeners of each message, and is drawn once for all messages of a frame', async () => {
    const heard: number[] = [];
    const stop = onSnapshot([0, 1, 2, 3, 4, 5], ({ device_index }) => heard.push(device_index));
    const before = frame.value;
    for (const snapshot of telemetryOf(daemon, 12)) sockets.at(-1)?.onmessage?.({ data: JSON.stringify(snapshot) });
    expect(frame.value).to.equal(before);
    await pass(20);
    expect(frame.value).to.equal(before + 1);
    expect(heard).to.deep.equal([0, 1, 2, 3, 4, 5]);
    stop();
    await send(telemetryOf(daemon, 13)[0]);
    expect(heard).to.have.lengthOf(6);
  });

  it('forgets devices that were removed', async () => {
    for (const snapshot of telemetryOf(daemon, 14)) await send(snapshot);
    keepOnly(new Set([1, 4]));
    expect([0, 1, 2, 3, 4, 5].filter((index) => snapshotOf(index) !== undefined)).to.deep.equal([1, 4]);
  });

  it('has one message for all devices of a fleet, whose codes come with the first', async () => {
    keepOnly(new Set(Array.from({ length: 31 }, (_none, index) => index)));
    const address = sockets.at(-1)?.address;
    expect(address).to.equal('ws://127.0.0.1:8111/api/sim/ws/telemetry?form=fleet&max_rate=4');
    await accept();
    const columns = { index: [0, 7], p_kw: [1, -2], q_kvar: [0, 0.5], v_pct: [101.5, 99], soc_pct: [null, 60] };
    const first = { ...columns, tick: 15, state: [0, 1], limited_by: [null, 0] };
    const codes = { state: ['producing', 'charging'], limited_by: ['charge_limit'] };
    await send({ ...first, codes });
    await send({ ...first, tick: 16, p_kw: [3, -4] });
    expect(tick.value).to.equal(16);
    expect(figuresOf(0)).to.include({
      powerKw: 3,
      voltagePct: 101.5,
      socPct: null,
      state: 'producing',
      limitedBy: null,
    });
    expect(figuresOf(7)).to.include({ powerKw: -4, socPct: 60, state: 'charging', limitedBy: 'charge_limit' });
    // one device has a stream of its own while it is asked for
    const fleet = sockets.length;
    snapshotOf(7);
    snapshotOf(7);
    expect(sockets.slice(fleet).map(({ address: own }) => own.split('?')[1])).to.deep.equal(['device=7&max_rate=4']);
    await send({ ...telemetryOf(daemon, 17)[0], device_index: 7 });
    expect(snapshotOf(7)?.tick).to.equal(17);
    expect(figuresOf(7)?.powerKw).to.equal(-4);
    keepOnly(new Set([0]));
    expect(sockets.at(-1)?.address).to.match(/telemetry\?max_rate=4$/);
    await accept();
  });

  it('takes single snapshots where the form of a fleet is refused, as a gateway does, and asks no more for it', async () => {
    const fleet = sockets.length;
    keepOnly(new Set(Array.from({ length: 31 }, (_none, index) => index)));
    expect(isFleet(31)).to.equal(true);
    await end();
    await accept();
    keepOnly(new Set(Array.from({ length: 40 }, (_none, index) => index)));
    const forms = sockets.slice(fleet).map(({ address }) => address.includes('form=fleet'));
    expect([forms, isFleet(40), link.value.state]).to.deep.equal([[true, false], false, 'open']);
    await send(telemetryOf(daemon, 18)[0]);
    expect(figuresOf(0)?.state).to.equal(null);
    keepOnly(new Set([0]));
    // the next connection may be one to a simulator
    await end();
    await pass(announcedMs());
    expect(isFleet(31)).to.equal(true);
    await accept();
  });

  it('waits twice as long after each failure, at most 15 s, and says since when', async () => {
    const lostAtMs = wall.nowMs();
    await end();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      waits.push(announcedMs());
      const before = sockets.length;
      await pass(announcedMs() - 1);
      expect(sockets.length, 'no attempt before its time').to.equal(before);
      await pass(1);
      expect(sockets.length).to.equal(before + 1);
      await end();
    }
    expect(waits).to.deep.equal([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(link.value).to.include({ state: 'lost', sinceMs: lostAtMs });
  });

  it('waits half as long at least, so that pages come back one after the other', async () => {
    Math.random = () => 0;
    await end();
    expect(announcedMs()).to.equal(250);
  });

  it('begins with short waits again once the daemon was back', async () => {
    await end();
    await pass(500);
    await end();
    await pass(1000);
    const before = opened.value;
    await accept();
    expect(link.value).to.deep.equal({ state: 'open' });
    expect(opened.value).to.equal(before + 1);
    await end();
    expect(announcedMs()).to.equal(500);
    await pass(500);
  });

  it('calls what is shown old after three ticks without a message', async () => {
    tickEveryMs.value = 2000;
    await send(telemetryOf(daemon, 20)[0]);
    const atMs = wall.nowMs() - 20;
    await pass(6000);
    expect(staleSinceMs.value).to.equal(null);
    await pass(1000);
    expect(staleSinceMs.value).to.equal(atMs);
    await send(telemetryOf(daemon, 21)[0]);
    await pass(1000);
    expect(staleSinceMs.value).to.equal(null);
  });

  it('waits three seconds at least where ticks are fast', async () => {
    tickEveryMs.value = 10;
    await send(telemetryOf(daemon, 22)[0]);
    await pass(2000);
    expect(staleSinceMs.value).to.equal(null);
    await pass(2000);
    expect(staleSinceMs.value).not.to.equal(null);
  });

  it('takes silence for nothing while the clock stands', async () => {
    await send(telemetryOf(daemon, 23)[0]);
    await pass(60_000);
    expect(staleSinceMs.value).to.equal(null);
  });

  it('calls it old at once when the connection is lost, also while the clock stands', async () => {
    await end();
    await pass(1000);
    expect(staleSinceMs.value).not.to.equal(null);
    await accept();
    await pass(1000);
    expect(staleSinceMs.value).to.equal(null);
  });
});
