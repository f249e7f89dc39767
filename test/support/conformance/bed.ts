/** Devices under test behind each kind of line, and independent masters. */
import type { Socket } from 'node:net';
import type { MapShape } from '../../../src/contract/map-layout.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import { Sweeper } from '../../../src/core/net/sweeper.ts';
import { createModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import type { ModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import { RawClient } from '../modbus-client.ts';
import { testPki } from '../pki.ts';
import { testPlant } from '../plant.ts';
import { byTest } from '../rig.ts';
import { connectTls, serverFiles, tlsOver } from '../tls.ts';
import { HandTimers } from '../timers.ts';
import { HandWall } from '../wall.ts';
import { cable, LineMaster, RawWire, SerialMaster } from './master.ts';
import type { Driver, Master, Wire } from './master.ts';
import { cpuMs } from '../spent.ts';

/** One type of each kind of device, and of each number of phases. */
export const deviceTypes = [
  'PV-3Phase',
  'PV-2Phase',
  'PV-1Phase',
  'Batt-3Phase',
  'Wind-T4-3Phase',
  'Fuelcell-3Phase',
  'HybridDC-3Phase',
  'EVSE',
] as const;

/** A kind of line between masters and devices. */
export interface Line {
  /** for the titles of tests */
  readonly name: string;
  readonly framing: 'mbap' | 'rtu';
  /** all devices are on one line, device i at address 1 + i; else each has a line of its own and is 1 there */
  readonly shared: boolean;
  readonly serve: (plant: SimPlant) => Served | Promise<Served>;
}

/** The listeners or the line in front of the devices of a bed. */
export interface Served {
  readonly begun: () => Promise<void>;
  readonly breaking: () => () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly master: (index: number) => Promise<Master>;
  readonly wire: (index: number) => Promise<Wire>;
}

/** Devices under test; simulated time passes only in `step`. */
export interface Bed {
  readonly plant: SimPlant;
  /** a master of another maker, for one device */
  master(index?: number): Promise<Master>;
  /** a connection of its own for raw frames */
  wire(index?: number): Promise<Wire>;
  /** Waits until a device holds the piece of a request that has been sent. */
  begun(): Promise<void>;
  /**
   * Called before an incomplete request is sent. The function returned lets enough time pass for a device to drop it,
   * or knows that the device has dropped it meanwhile.
   */
  breaking(): () => Promise<void>;
  /** Resets all devices and settles them in a nominal grid under more sun than they can use. */
  restart(): Promise<void>;
  /** Runs ticks of one second. */
  step(seconds: number): Promise<void>;
  close(): Promise<void>;
}

const patienceMs = 5000;
/** Start, ramps and responses of a device take no longer. */
const settledS = 20;

const turn = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

/** Turns the event loop until a condition holds. @throws Error after five seconds of CPU time */
export async function until(ready: () => boolean): Promise<void> {
  const deadline = cpuMs() + patienceMs;
  while (!ready()) {
    if (cpuMs() > deadline) throw new Error(`the condition does not hold after ${patienceMs} ms of CPU time`);
    await turn();
  }
}

async function listening(plant: SimPlant, kind: 'tcp' | 'tls' | 'rtu_over_tcp'): Promise<Served> {
  const wall = new HandWall();
  const sweeper = new Sweeper();
  const rtuOverTcp = kind === 'rtu_over_tcp';
  const pki = kind === 'tls' ? await testPki() : null;
  const identity = pki?.clients.SuperAdministratorSunSpec;
  const adapter: ModbusAdapter = createModbusAdapter({
    devices: plant.devices,
    host: '127.0.0.1',
    port: 0,
    sharedPort: false,
    framing: rtuOverTcp ? 'rtu' : 'mbap',
    sweeper,
    // gaps between frames are in real time, as on the network
    ...(!rtuOverTcp && { clock: wall }),
    ...(pki && { tlsFiles: tlsOver(serverFiles(pki), { clock: wall }) }),
  });
  await adapter.start();
  const portOf = (index: number) => adapter.endpointOf(index)?.port ?? 0;
  const begun = () => until(() => adapter.clients().some(({ heldBytes }) => heldBytes > 0));
  return {
    stop: () => adapter.stop(),
    begun,
    breaking() {
      const { unreadable } = adapter.counters;
      if (rtuOverTcp) return () => until(() => adapter.counters.unreadable > unreadable);
      return async () => {
        await begun();
        // a limit counts from the first round in which it applies
        sweeper.sweep();
        wall.advance(60_000);
        sweeper.sweep();
      };
    },
    async master(index) {
      if (rtuOverTcp) return SerialMaster.rtuOverTcp(portOf(index), 1);
      return pki
        ? SerialMaster.over(await connectTls(portOf(index), pki, identity), 1)
        : SerialMaster.tcp(portOf(index), 1);
    },
    async wire(index) {
      const client = pki
        ? RawClient.over(await connectTls(portOf(index), pki, identity))
        : await RawClient.open(portOf(index));
      return new RawWire(client, rtuOverTcp ? 'rtu' : 'mbap', 1);
    },
  };
}

/** Each master has a cable of its own to all devices; time on the lines passes only while a master waits for an answer. */
function cables(plant: SimPlant): Served {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const adapters: ModbusRtuAdapter[] = [];
  const drive: Driver = async (request) => {
    const state = { done: false };
    const finished = request.finally(() => {
      state.done = true;
    });
    finished.catch(() => undefined);
    await turn();
    await until(() => {
      if (timers.waiting > 0) timers.pass(timers.nextMs);
      return state.done;
    });
    return finished;
  };
  async function plug() {
    const [ours, theirs] = cable();
    const adapter = createModbusRtuAdapter({
      devices: plant.devices,
      line: { path: `/dev/ttyTEST${adapters.length}`, baudRate: 9600, parity: 'even', stopBits: 1 },
      clock: wall,
      later: timers.later,
      open: () => Promise.resolve(ours),
    });
    adapters.push(adapter);
    await adapter.start();
    return theirs;
  }
  return {
    async stop() {
      for (const adapter of adapters) await adapter.stop();
    },
    // a cable passes on each piece at once
    begun: turn,
    breaking: () => async () => {
      await turn();
      timers.pass(1000);
      // the server handles what has arrived before it checks for silence
      await turn();
    },
    master: async (index) => new LineMaster(await plug(), 1 + index, drive),
    wire: async (index) => new RawWire(RawClient.over((await plug()) as unknown as Socket), 'rtu', 1 + index, drive),
  };
}

export const tcp: Line = { name: 'TCP', framing: 'mbap', shared: false, serve: (plant) => listening(plant, 'tcp') };

/** The lines within this process. */
export const lines: readonly Line[] = [
  tcp,
  { name: 'TLS', framing: 'mbap', shared: false, serve: (plant) => listening(plant, 'tls') },
  { name: 'RTU over TCP', framing: 'rtu', shared: false, serve: (plant) => listening(plant, 'rtu_over_tcp') },
  { name: 'RTU', framing: 'rtu', shared: true, serve: cables },
];

/** @param map of all devices, in place of that of their profiles */
export async function openBed(
  { framing, shared, serve }: Line,
  types: readonly string[] = ['PV-3Phase'],
  map?: Partial<MapShape>,
): Promise<Bed> {
  const plant = testPlant({
    types,
    tickIntervalS: 1,
    ...(map && { map }),
    ...(framing === 'rtu' && { unitAddressOf: (index: number) => (shared ? 1 + index : 1) }),
  });
  const served = await serve(plant);
  const open: { close(): unknown }[] = [];
  async function kept<T extends { close(): unknown }>(made: Promise<T>): Promise<T> {
    const one = await made;
    open.push(one);
    return one;
  }
  return {
    plant,
    begun: served.begun,
    breaking: served.breaking,
    master: (index = 0) => kept(served.master(index)),
    wire: (index = 0) => kept(served.wire(index)),
    async restart() {
      for (const device of plant.devices) device.command({ kind: 'reset', scope: 'device' }, byTest);
      plant.setGrid({ voltagePu: 1, frequencyHz: 60 });
      plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
      await plant.step(settledS);
    },
    async step(seconds) {
      if (seconds > 0) await plant.step(seconds);
    },
    async close() {
      for (const one of open) await one.close();
      await served.stop();
    },
  };
}
