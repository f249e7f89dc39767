import { expect } from 'chai';
import type { Device } from '../../src/contract/device.ts';
import type { Dnp3Settings } from '../../src/contract/dnp3-settings.ts';
import { CommAlarms } from '../../src/core/comm-alarms.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { PeerLimitedLog } from '../../src/core/log/limited-log.ts';
import { KeptPorts } from '../../src/core/net/kept-ports.ts';
import { Sweeper } from '../../src/core/net/sweeper.ts';
import { LoopQueue } from '../../src/core/turns.ts';
import { WireLog } from '../../src/core/wire/wire-log.ts';
import { simTimeFromMs } from '../../src/core/time/clock.ts';
import type { DeviceOutstation } from '../../src/dnp3/device-outstation.ts';
import { Dnp3Messages } from '../../src/dnp3/message-log.ts';
import { Dnp3Adapter } from '../../src/dnp3/adapter.ts';
import type { OutstationEnd } from '../../src/dnp3/profile/types.ts';
import { serverLimits } from '../../src/dnp3/server/context.ts';
import { accepts, acceptError, serverAt } from '../support/listeners.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';
import { Stack, spec } from './rig/stack.ts';

const settings: Dnp3Settings = {
  host: '127.0.0.1',
  port: 0,
  sharedPort: false,
  outstationAddress: 1,
  masterAddresses: [4, 5],
  profile: 'an2018',
  pointsFile: null,
  unsolicited: false,
  tls: null,
};

/** Outstations with points of a test: devices, connections and time are moved by hand. */
class Bench {
  readonly wall = new HandWall();
  readonly alarms = new CommAlarms(() => this.wall.nowMs());
  readonly sweeper = new Sweeper();
  readonly timers = new HandTimers(this.wall);
  readonly stacks: Stack[] = [];
  readonly closed: (readonly [deviceIndex: number, end: OutstationEnd])[] = [];
  readonly adapter: Dnp3Adapter;

  constructor(more: Partial<Dnp3Settings> = {}) {
    const { wall, sweeper } = this;
    this.adapter = new Dnp3Adapter({
      settings: { ...settings, ...more },
      plant: { onTickInParts: () => () => undefined, onPower: () => () => undefined },
      context: {
        clock: wall,
        logger: silentLogger,
        sweeper,
        ports: new KeptPorts({
          log: silentLogger,
          clock: wall,
          later: this.timers.later,
          alarm: { alarms: this.alarms, code: 'dnp3_port_lost', devices: () => this.adapter.devices },
        }),
        turns: new LoopQueue(),
        limits: serverLimits,
        tls: null,
        log: new PeerLimitedLog(silentLogger, wall, 'lines', () => () => undefined),
        counters: {
          connections: 0,
          refusedConnections: 0,
          handshakeFailures: 0,
          framesIn: 0,
          framesOut: 0,
          badFrames: 0,
          lastError: null,
          lastFrameMs: null,
        },
        wantsFragments: () => false,
        onFragment: () => undefined,
      },
      messages: new Dnp3Messages(new WireLog({ clock: wall, sim: () => simTimeFromMs(0), log: silentLogger })),
      commAlarms: this.alarms,
      make: ({ index }, address) => this.#outstation(index, address),
      tlsFiles: null,
    });
  }

  open(indices: readonly number[]): Promise<void> {
    return this.adapter.open(indices.map((index) => ({ index }) as Device));
  }

  join(index: number): Promise<void> {
    return this.adapter.join({ index } as Device);
  }

  /** Time passes, and the limits of time are looked at. */
  pass(ms: number): void {
    this.wall.advance(ms);
    this.sweeper.sweep();
  }

  codes(index = 0): readonly string[] {
    return this.alarms.of(index).map(({ code, message }) => `${code}: ${message}`);
  }

  #outstation(deviceIndex: number, address: number): DeviceOutstation {
    const stack = new Stack({ specs: [spec('binaryInput', 0)], masters: [4, 5] });
    for (const master of [4, 5]) stack.disconnect(master);
    this.stacks[deviceIndex] = stack;
    const own = {
      address,
      deviceIndex,
      stack: stack.outstation,
      isSilent: false,
      listeningMasters: [],
      associationOf: (master: number) => stack.outstation.association(master),
      restore: () => Promise.resolve(),
      close: (end: OutstationEnd) => this.closed.push([deviceIndex, end]),
    };
    return own as unknown as DeviceOutstation;
  }
}

const readClass1 = 'c0 01 3c 02 06';

describe('the outstations of a process', () => {
  let bench: Bench;
  afterEach(() => bench.adapter.close());

  it('miss a master after a minute, and no longer when it is back', async () => {
    bench = new Bench();
    await bench.join(0);
    const [stack] = bench.stacks;
    bench.pass(600_000);
    expect(bench.codes()).to.deep.equal([]);
    stack!.connect(4);
    stack!.ask(readClass1);
    bench.pass(500);
    stack!.disconnect(4);
    bench.pass(500);
    bench.pass(59_999);
    expect(bench.codes()).to.deep.equal([]);
    bench.pass(1);
    expect(bench.codes()).to.deep.equal(['dnp3_master_lost: no connection of master 4 of DNP3']);
    stack!.connect(4);
    bench.pass(500);
    expect(bench.codes()).to.deep.equal([]);
  });

  it('miss a master that came and went between two looks', async () => {
    bench = new Bench();
    await bench.join(0);
    const [stack] = bench.stacks;
    for (const master of [4, 5]) {
      stack!.connect(master);
      stack!.ask(readClass1, master);
      stack!.disconnect(master);
    }
    bench.pass(500);
    bench.pass(60_000);
    expect(bench.codes()).to.deep.equal(['dnp3_master_lost: no connection of master 4, 5 of DNP3']);
  });

  it('end the alarm of a device that leaves, and keep its counts in the totals', async () => {
    bench = new Bench();
    await bench.join(0);
    await bench.join(1);
    const [first] = bench.stacks;
    first!.connect(4);
    first!.ask(readClass1);
    first!.disconnect(4);
    bench.pass(500);
    bench.pass(60_000);
    expect([bench.codes(0).length, bench.codes(1).length]).to.deep.equal([1, 0]);
    await bench.adapter.leave(0);
    expect(bench.codes(0)).to.deep.equal([]);
    expect(bench.closed).to.deep.equal([[0, 'gone']]);
    expect(bench.adapter.devices).to.deep.equal([1]);
    expect(bench.adapter.totals).to.include({ requests: 1, responses: 1 });
    expect([bench.adapter.outstation(0), bench.adapter.endpointOf(0), bench.adapter.points(0)]).to.deep.equal([
      null,
      null,
      [],
    ]);
    await bench.adapter.leave(0);
  });

  for (const sharedPort of [false, true]) {
    it(`bind a port again that is lost, ${sharedPort ? 'one for all devices' : 'one of several'}`, async () => {
      bench = new Bench({ sharedPort });
      await bench.join(0);
      await bench.join(1);
      const { port } = bench.adapter.endpointOf(0)!;
      (await serverAt(port)).emit('error', acceptError('EINVAL'));
      await bench.join(2);
      const reason = `the listener on 127.0.0.1:${port} has failed: accept EINVAL`;
      expect(bench.adapter.status()).to.include({ state: 'retrying', detail: `${reason}; tries again in 1 s` });
      const alarm = [`dnp3_port_lost: ${reason}`];
      const others = sharedPort ? alarm : [];
      expect([0, 1, 2].map((index) => bench.codes(index))).to.deep.equal([alarm, others, others]);
      bench.timers.pass(1000);
      expect(await accepts(port)).to.equal(true);
      expect(bench.adapter.status()).to.not.have.property('state');
      expect([0, 1, 2].map((index) => bench.codes(index))).to.deep.equal([[], [], []]);
    });
  }

  it('refuse a device whose link address is that of a master, or beyond all addresses', async () => {
    bench = new Bench({ sharedPort: true, outstationAddress: 3 });
    await bench.join(0);
    for (const index of [1, 65_530]) {
      const error: unknown = await bench.join(index).catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'COMMAND_CONFLICT' });
    }
    expect(bench.adapter.devices).to.deep.equal([0]);
  });

  it('end their holds and keep their memory when one of them does not open', async () => {
    bench = new Bench({ sharedPort: true, outstationAddress: 3 });
    const error: unknown = await bench.open([0, 1]).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'COMMAND_CONFLICT' });
    expect(bench.closed).to.deep.equal([[0, 'replaced']]);
  });

  it('forget after their release alone, where nothing takes their place', async () => {
    bench = new Bench({ sharedPort: true });
    await bench.open([0]);
    await bench.adapter.release();
    expect(bench.closed).to.deep.equal([[0, 'replaced']]);
    bench.adapter.forget();
    expect(bench.closed.slice(1)).to.deep.equal([[0, 'gone']]);
  });
});
