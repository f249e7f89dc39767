import { silentLogger } from '../../src/core/log/log.ts';
import { strict as assert } from 'node:assert';
import { CommAlarms } from '../../src/core/comm-alarms.ts';
import { SimError } from '../../src/core/errors.ts';
import { doubling } from '../../src/core/net/back-off.ts';
import { createRandom } from '../../src/core/random.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import type { Store } from '../../src/core/store.ts';
import { Client } from '../../src/csip/client.ts';
import type { ClientConduct, Member } from '../../src/csip/client.ts';
import type { ControlInForce, ControlOutcome, ControlTarget } from '../../src/csip/control/model.ts';
import { EndDevice } from '../../src/csip/end-device.ts';
import { ResponseQueue, ResponseSender } from '../../src/csip/events/responses.ts';
import type { SepExchange } from '../../src/csip/transport/exchange.ts';
import { control, lfdi, ScriptedServer, settled, sfdi, target } from './walk/scripted.ts';
import { remoteClock } from './walk/scripted.ts';

/** A device that carries out everything, and remembers what was in force. */
class FakeTarget implements ControlTarget {
  readonly supported = new Set(['opModMaxLimW'] as const);
  readonly stamp = '';
  readonly applied: (readonly string[])[] = [];
  outcome: ControlOutcome['state'] = 'applied';
  closed = false;

  gradW(): number {
    return 100;
  }

  claims: ControlTarget['claims'] = () => new Map();

  check(): ControlOutcome {
    return { state: 'applied', leftOut: [], overwritten: false };
  }

  apply(inForce: readonly ControlInForce[]): ReadonlyMap<string, ControlOutcome> {
    this.applied.push(inForce.map(({ id }) => id));
    return new Map(inForce.map(({ id }) => [id, { state: this.outcome, leftOut: [], overwritten: false }]));
  }

  get now(): readonly string[] {
    return this.applied.at(-1) ?? [];
  }

  onChange(): () => void {
    return () => undefined;
  }

  close(): void {
    this.closed = true;
  }

  leave(): void {
    this.closed = true;
  }
}

const registrations = { begin: () => true, failed: () => undefined };

class Rig {
  readonly server = new ScriptedServer();
  readonly lines: string[] = [];
  readonly alarms = new CommAlarms(() => this.server.wall.nowMs());
  targets: FakeTarget[] = [];
  readonly log = {
    debug: () => undefined,
    info: (line: string) => void this.lines.push(line),
    warning: (line: string) => void this.lines.push(line),
    error: (line: string) => void this.lines.push(line),
  };
  readonly clock = remoteClock(this.server, this.log);
  readonly conduct: { -readonly [Name in keyof ClientConduct]: ClientConduct[Name] } = {
    dcap: '/dcap',
    pin: null,
    withoutRegistration: 'continue',
    register: false,
    pollRateS: null,
    useServerTime: true,
    timeStaleS: 86_400,
    lostAfterS: 60,
    lostExpiryS: null,
  };
  refuseOpen: string | null = null;
  /** the connection opens not before this */
  opens: Promise<void> = Promise.resolve();
  readonly client: Client;

  readonly store: Store;

  constructor(store: Store = createMemoryStore()) {
    this.store = store;
    const { wall, timers } = this.server;
    this.client = new Client({
      deviceIndices: () => [0],
      conduct: this.conduct,
      open: async (line) => {
        if (this.refuseOpen !== null) throw new SimError('PEER_ERROR', this.refuseOpen);
        await this.opens;
        return {
          exchange: this.server,
          certificate: null,
          members: [await this.member(line)],
          registrations,
          subscriptions: null,
        };
      },
      clock: wall,
      later: timers.later,
      jitter: createRandom(3, 'client'),
      remoteClock: this.clock,
      commAlarms: this.alarms,
      log: this.log,
    });
    this.server.resources.set('/rsp/1', 201);
  }

  async member(exchange: SepExchange): Promise<Member> {
    const { wall, timers } = this.server;
    const queue = await ResponseQueue.open({
      log: silentLogger,
      slot: this.store.slot('responses'),
      wall,
      backOff: doubling({ firstMs: 1000, maxMs: 60_000 }),
    });
    const { later } = timers;
    const sender = new ResponseSender({ queue, exchange, lfdi, deviceIndex: 0, later, log: this.log });
    const fake = new FakeTarget();
    this.targets.push(fake);
    const endDevice = new EndDevice({
      lfdi,
      deviceIndices: () => [0],
      target: fake,
      remoteClock: this.clock,
      wall,
      log: this.log,
      slot: this.store.slot('events'),
      schedule: { pick: () => 0.5, supersededResponse: 'at_start', revision: '2018' },
      deviceCategory: () => 1,
      owe: (responses) => sender.owe(responses),
      eventsChanged: () => undefined,
    });
    const submissions = {
      follow: () => undefined,
      reachable: (yes: boolean) => sender.reachable(yes),
      close: () => {
        sender.close();
        return Promise.resolve();
      },
    };
    return { target, endDevice, submissions };
  }

  get target(): FakeTarget {
    return this.targets.at(-1)!;
  }

  get nowS(): number {
    return Math.floor(this.server.wall.nowMs() / 1000);
  }

  event(mRID: string, startInS: number, durationS: number, members: object = {}): object {
    return control(mRID, {
      creationTime: this.nowS,
      interval: { start: this.nowS + startInS, duration: durationS },
      ...members,
    });
  }

  /** Statuses of the responses that the server has got. */
  get responses(): readonly (readonly [subject: string, status: number | undefined])[] {
    return this.server.requests.flatMap(({ body }) =>
      body?.name === 'DERControlResponse' ? [[body.value.subject, body.value.status] as const] : [],
    );
  }

  async start(): Promise<this> {
    this.client.connect();
    this.server.timers.pass(0);
    await settled();
    await settled();
    return this;
  }
}

describe('csip/client', () => {
  it('carries out an event from its start to its end, and answers 1, 2 and 3 with its LFDI', async () => {
    const rig = new Rig();
    rig.server.controls('/derp/1', [rig.event('0A01', 100, 200)]);
    await rig.start();
    assert.equal(rig.client.state, 'running');
    await rig.server.pass(98);
    assert.deepEqual(rig.target.now, []);
    await rig.server.pass(4);
    assert.deepEqual(rig.target.now, ['0A01']);
    await rig.server.pass(200);
    assert.deepEqual(rig.target.now, []);
    assert.deepEqual(rig.responses, [
      ['0A01', 1],
      ['0A01', 2],
      ['0A01', 3],
    ]);
    const [sent] = rig.server.requests.filter(({ path }) => path === '/rsp/1');
    assert.ok(sent?.body?.name === 'DERControlResponse');
    assert.equal(sent.body.value.endDeviceLFDI, lfdi);
    assert.equal(rig.client.members[0]?.target.sfdi, sfdi);
  });

  it('goes on with known events while the server is away, and sends their responses after it, with their times', async () => {
    const rig = new Rig();
    rig.server.controls('/derp/1', [rig.event('0A01', 100, 200)]);
    await rig.start();
    await rig.server.pass(50);
    rig.server.cut = true;
    await rig.server.pass(60);
    assert.deepEqual(rig.target.now, ['0A01']);
    await rig.server.pass(250);
    assert.equal(rig.client.state, 'retrying');
    assert.deepEqual(rig.target.now, []);
    assert.equal(rig.alarms.of(0)[0]?.code, 'csip_connection_lost');
    rig.server.requests.length = 0;
    rig.server.cut = false;
    await rig.server.pass(320);
    assert.equal(rig.client.state, 'running');
    assert.deepEqual(rig.alarms.of(0), []);
    assert.deepEqual(
      rig.responses.map(([, status]) => status),
      [2, 3],
    );
  });

  it('gives events up for the default control after the expiry of a loss, and takes them up again', async () => {
    const rig = new Rig();
    rig.conduct.lostExpiryS = 120;
    rig.server.controls('/derp/1', [rig.event('0A01', 10, 5000)]);
    rig.server.resources.set('/derp/1/dderc', {
      name: 'DefaultDERControl',
      value: { mRID: 'DD', DERControlBase: { opModMaxLimW: 9000 } },
    });
    await rig.start();
    await rig.server.pass(20);
    assert.deepEqual(rig.target.now, ['0A01']);
    rig.client.line.lose(null);
    await rig.server.pass(60 + 75 + 60 + 120 + 10);
    assert.deepEqual(rig.target.now, ['default 0A1']);
    assert.notEqual(rig.client.line.loss, null);
    rig.client.line.restore();
    await settled();
    assert.deepEqual(rig.target.now, ['0A01']);
    assert.equal(rig.client.state, 'running');
  });

  it('ends a loss that was asked for by itself after its duration', async () => {
    const rig = await new Rig().start();
    rig.client.line.lose(30);
    await rig.server.pass(29);
    assert.notEqual(rig.client.line.loss, null);
    await rig.server.pass(2);
    assert.equal(rig.client.line.loss, null);
    assert.equal(rig.client.state, 'running');
  });

  it('ceases at a wrong PIN: gives everything back, sends nothing and says so', async () => {
    const rig = new Rig();
    rig.conduct.pin = 111115;
    rig.server.endDevice({ RegistrationLink: { href: '/edev/1/rg' } });
    rig.server.resources.set('/edev/1/rg', { name: 'Registration', value: { pIN: 111115, pollRate: 60 } });
    rig.server.controls('/derp/1', [rig.event('0A01', 10, 5000)]);
    await rig.start();
    await rig.server.pass(20);
    assert.deepEqual(rig.target.now, ['0A01']);
    rig.server.resources.set('/edev/1/rg', { name: 'Registration', value: { pIN: 5, pollRate: 60 } });
    await rig.server.pass(80);
    assert.equal(rig.client.state, 'stopped');
    assert.match(rig.client.line.lastError ?? '', /another PIN/);
    assert.equal(rig.target.closed, true);
    rig.server.requests.length = 0;
    await rig.server.pass(2000, 10);
    assert.equal(rig.server.requests.length, 0);
    assert.equal(rig.lines.join().includes('111115'), false);
  });

  it('tries to open its connection again with growing waits, at once on request', async () => {
    const rig = new Rig();
    rig.refuseOpen = 'the certificate cannot be read';
    await rig.start();
    await rig.server.pass(20);
    assert.equal(rig.client.state, 'retrying');
    assert.ok(rig.client.attempts >= 3);
    assert.equal(rig.client.line.lastError, 'the certificate cannot be read');
    assert.notEqual(rig.client.retryInMs, null);
    rig.refuseOpen = null;
    assert.equal(rig.client.reconnect(), true);
    rig.server.timers.pass(0);
    await settled();
    assert.equal(rig.client.state, 'running');
    assert.equal(rig.client.reconnect(), false);
  });

  it('forgets events when it is disconnected by hand, and gives controls back', async () => {
    const rig = new Rig();
    rig.server.controls('/derp/1', [rig.event('0A01', 10, 5000)]);
    await rig.start();
    await rig.server.pass(20);
    const first = rig.target;
    await rig.client.disconnect();
    assert.equal(first.closed, true);
    assert.deepEqual(await rig.store.slot('events').read(), []);
    assert.equal(rig.client.state, 'stopped');
    assert.equal(rig.server.timers.waiting, 0);
    rig.client.connect();
    rig.server.timers.pass(0);
    await settled();
    assert.deepEqual(rig.target.now, ['0A01']);
  });

  it('gives a connection up that opens after it was disconnected', async () => {
    const rig = new Rig();
    let open: () => void = () => undefined;
    rig.opens = new Promise((resolve) => {
      open = resolve;
    });
    await rig.start();
    await rig.client.disconnect();
    open();
    await settled();
    assert.equal(rig.target.closed, true);
    assert.deepEqual(rig.server.requests, []);
    assert.equal(rig.client.state, 'stopped');
  });

  it('gives devices back when the events that were kept cannot be read, and tries again', async () => {
    const rig = new Rig();
    const slot = rig.store.slot('events');
    const read = slot.read.bind(slot);
    slot.read = () => Promise.reject(new SimError('INTERNAL', 'the file cannot be read'));
    await rig.start();
    assert.deepEqual([rig.client.state, rig.target.closed], ['retrying', true]);
    slot.read = read;
    await rig.server.pass(2);
    assert.equal(rig.client.state, 'running');
    assert.equal(rig.target.closed, false);
  });

  it('says once that the server is away, and once that it is there again', async () => {
    const rig = await new Rig().start();
    rig.lines.length = 0;
    rig.server.cut = true;
    await rig.server.pass(7200, 10);
    const away = rig.lines.filter((line) => /cannot be reached/.test(line));
    assert.equal(away.length, 1);
    assert.ok(rig.lines.length <= 5, rig.lines.join('\n'));
    rig.server.cut = false;
    await rig.server.pass(400, 10);
    assert.equal(rig.lines.filter((line) => /answers again/.test(line)).length, 1);
  });

  it('ends the alarm of a lost connection when it is disconnected by hand', async () => {
    const rig = await new Rig().start();
    rig.server.cut = true;
    await rig.server.pass(300);
    assert.equal(rig.alarms.of(0).length, 1);
    await rig.client.disconnect();
    assert.deepEqual(rig.alarms.of(0), []);
  });

  it('goes on with known events after a restart without the server, on its time', async () => {
    const rig = new Rig();
    rig.server.aheadS = -7200;
    rig.server.controls('/derp/1', [rig.event('0A01', -7190, 600)]);
    await rig.start();
    await rig.server.pass(20);
    assert.deepEqual(rig.target.now, ['0A01']);
    await rig.client.disconnect(false);
    const again = new Rig(rig.store);
    again.server.wall.ms = rig.server.wall.ms + 60_000;
    again.server.cut = true;
    await again.start();
    assert.deepEqual(again.target.now, ['0A01']);
    await again.server.pass(600 - 70);
    assert.deepEqual(again.target.now, []);
  });

  it('neither repeats nor loses a response over a restart', async () => {
    const rig = new Rig();
    rig.server.resources.set('/rsp/1', 503);
    rig.server.controls('/derp/1', [rig.event('0A01', 10, 5000)]);
    await rig.start();
    await rig.server.pass(20);
    // as at the end of the process: nothing is forgotten
    await rig.client.disconnect(false);
    const again = new Rig(rig.store);
    again.server.wall.ms = rig.server.wall.ms;
    again.server.resources.set('/derp/1/derc', rig.server.resources.get('/derp/1/derc')!);
    await again.start();
    await again.server.pass(20);
    assert.deepEqual(again.target.now, ['0A01']);
    assert.deepEqual(
      again.responses.map(([, status]) => status),
      [1, 2],
    );
  });
});
