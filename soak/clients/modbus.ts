/** Modbus masters: steady polls, energy counters of all devices, and registers beside the values of REST. */
import type { RandomStream } from '../../src/core/random.ts';
import { RawClient, readRequest } from '../../test/support/modbus-client.ts';
import { pause, textOf } from '../tally.ts';
import type { Ports, Gate, Tally } from '../tally.ts';
import { get } from './rest-call.ts';

const base = 40_000;
const registers = 125;
const answerMs = 5000;
/** header, function, octet count */
const answerHead = 9;

/** A master on one connection; a lost connection is opened again. */
export class Master {
  readonly #gate: Gate;
  readonly #tally: Tally;
  #client: RawClient | null = null;
  #id = 0;

  constructor(gate: Gate, tally: Tally) {
    this.#gate = gate;
    this.#tally = tally;
  }

  /** Data of a read. @throws Error for an exception, a wrong answer, or none in time */
  async read(unit: number, address: number, count: number): Promise<Buffer> {
    const client = this.#client;
    if (client === null) throw new Error('not connected');
    const id = (this.#id = (this.#id + 1) & 0xffff);
    const late = setTimeout(() => {
      client.destroy();
    }, answerMs);
    try {
      const sentMs = performance.now();
      this.#tally.add('asked');
      client.send(readRequest(id, address, count, unit));
      const answer = await client.answer();
      this.#tally.answered(performance.now() - sentMs);
      const isRight =
        answer.length === answerHead + 2 * count &&
        answer.readUInt16BE(0) === id &&
        answer[6] === unit &&
        answer[7] === 3 &&
        answer[8] === 2 * count;
      if (!isRight) throw new Error(`unit ${unit}, ${count} at ${address}: wrong answer ${answer.toString('hex')}`);
      this.#tally.add('answered');
      return answer.subarray(answerHead);
    } finally {
      clearTimeout(late);
    }
  }

  /** Does work over and over while the simulator is up. */
  async run(work: (ports: Ports) => Promise<void>): Promise<void> {
    while (!this.#gate.isEnded) {
      const ports = await this.#gate.open();
      try {
        this.#client = await RawClient.open(ports.modbus);
        this.#tally.add('connections');
        while (this.#gate.isOpen) await work(ports);
      } catch (error) {
        this.#tally.error(textOf(error));
        await pause(100);
      } finally {
        this.cut();
      }
    }
  }

  cut(): void {
    this.#client?.destroy();
    this.#client = null;
  }
}

/** Reads 125 registers at 10 Hz, at an instant of its own within the 0.1 s. */
export function steadyMaster(gate: Gate, tally: Tally, unit: number, random: RandomStream): Master {
  const master = new Master(gate, tally);
  const periodMs = 100;
  let dueMs = performance.now() + random.next() * periodMs;
  void master.run(async () => {
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    // a late answer delays the next request and starts no burst
    dueMs = Math.max(dueMs, performance.now() - periodMs) + periodMs;
    const data = await master.read(unit, base, registers);
    if (data.toString('latin1', 0, 4) !== 'SunS') throw new Error(`unit ${unit}: no marker`);
  });
  return master;
}

/** An energy counter of 701 as it was read. */
export interface EnergyReading {
  readonly atMs: number;
  readonly wh: number;
}
export interface EnergyMark {
  readonly device: number;
  readonly point: string;
  /** wall time, ms since the epoch */
  readonly atMs: number;
  readonly wh: number;
}

const energyPoints = ['TotWhInj', 'TotWhAbs'] as const;
const pointOctets = 8;

/** Reads the energy counters of all devices in turn; a counter that falls within a life is an error. */
export class EnergyWatch {
  readonly #gate: Gate;
  readonly #tally: Tally;
  readonly #master: Master;
  readonly #addresses = new Map<number, readonly number[]>();
  /** of the present life, the newest last; by device and point */
  readonly #readings = new Map<string, EnergyReading[]>();
  #life = 0;

  constructor(gate: Gate, tally: Tally, devices: number, roundMs: number) {
    this.#gate = gate;
    this.#tally = tally;
    this.#master = new Master(gate, tally);
    let device = 0;
    void this.#master.run(async ({ http }) => {
      await this.#readDevice(http, device);
      device = (device + 1) % devices;
      await pause(roundMs / devices);
    });
  }

  async #addressesOf(http: number, device: number): Promise<readonly number[]> {
    const before = this.#addresses.get(device);
    if (before !== undefined) return before;
    const { points } = await get(http, `registers/701?device=${device}&points=${energyPoints.join()}`);
    const addresses = energyPoints.map((name) => {
      const point = (points as readonly { name: string; address: number }[]).find((each) => each.name === name);
      if (point === undefined) throw new Error(`device ${device} has no 701.${name}`);
      return point.address;
    });
    this.#addresses.set(device, addresses);
    return addresses;
  }

  async #readDevice(http: number, device: number): Promise<void> {
    const addresses = await this.#addressesOf(http, device);
    for (const [at, address] of addresses.entries()) {
      const data = await this.#master.read(device + 1, address, pointOctets / 2);
      const value = data.readBigUInt64BE(0);
      // all bits set: not implemented
      if (value < 2n ** 63n) this.#note(device, energyPoints[at] ?? '', Number(value));
    }
  }

  #note(device: number, point: string, wh: number): void {
    if (this.#life !== this.#gate.life) {
      this.#life = this.#gate.life;
      this.#readings.clear();
    }
    const key = `${device} ${point}`;
    const readings = this.#readings.get(key) ?? [];
    this.#readings.set(key, readings);
    const before = readings.at(-1);
    if (before !== undefined && wh < before.wh)
      this.#tally.error(`device ${device}: 701.${point} falls from ${before.wh} to ${wh} Wh`);
    readings.push({ atMs: Date.now(), wh });
    this.#tally.add('energy readings');
    if (readings.length > 8) readings.shift();
  }

  /** Of each counter the newest reading that is at least so old; a restart must not fall below it. */
  marks(ageMs: number): readonly EnergyMark[] {
    const untilMs = Date.now() - ageMs;
    return [...this.#readings].flatMap(([key, readings]) => {
      const [device, point = ''] = key.split(' ');
      const reading = readings.findLast(({ atMs }) => atMs <= untilMs);
      return reading === undefined ? [] : [{ device: Number(device), point, atMs: reading.atMs, wh: reading.wh }];
    });
  }

  cut(): void {
    this.#master.cut();
  }
}

/** Octets of the numbers that are compared, by type of the point. */
const readers: Readonly<Record<string, (data: Buffer, at: number) => number | null>> = {
  int16: (data, at) => (data.readInt16BE(at) === -0x8000 ? null : data.readInt16BE(at)),
  uint16: (data, at) => (data.readUInt16BE(at) === 0xffff ? null : data.readUInt16BE(at)),
  int32: (data, at) => (data.readInt32BE(at) === -0x8000_0000 ? null : data.readInt32BE(at)),
  uint32: (data, at) => (data.readUInt32BE(at) === 0xffff_ffff ? null : data.readUInt32BE(at)),
};

interface ShownPoint {
  readonly name: string;
  readonly type: string;
  readonly address: number;
  readonly value: number | string | null;
  readonly scale_factor: number | null;
  readonly implemented: boolean;
}

/** Names of points whose registers differ from what REST shows of the same tick. @param first address of `data` */
export function differences(data: Buffer, first: number, points: readonly ShownPoint[]): readonly string[] {
  return points.flatMap(({ name, type, address, value, scale_factor: scale, implemented }) => {
    const read = readers[type];
    const at = 2 * (address - first);
    if (read === undefined || !implemented || at < 0 || at + 4 > data.length) return [];
    if (typeof value !== 'number' && value !== null) return [];
    const raw = read(data, at);
    const expected = value === null ? null : Math.round(value / 10 ** (scale ?? 0));
    return raw === expected ? [] : [`${name} is ${String(raw)} over Modbus and ${String(expected)} over REST`];
  });
}

/** Compares 701 over Modbus with REST where no tick comes in between. */
export function comparingMaster(gate: Gate, tally: Tally, devices: number, periodMs: number): Master {
  const master = new Master(gate, tally);
  let device = 0;
  void master.run(async ({ http }) => {
    const before = await get(http, 'health');
    const { points, address } = await get(http, `registers/701?device=${device}`);
    const data = await master.read(device + 1, Number(address), registers);
    const after = await get(http, 'health');
    if (before['tick'] === after['tick']) {
      tally.add('compared');
      for (const text of differences(data, Number(address), points as readonly ShownPoint[]))
        tally.error(`device ${device}, tick ${String(after['tick'])}: 701.${text}`);
    }
    device = (device + 1) % devices;
    await pause(periodMs);
  });
  return master;
}
