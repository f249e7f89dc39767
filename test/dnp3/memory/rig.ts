/** One device with its outstation and its memory in a folder, over the ends of processes. Everything runs by hand. */
import { Buffer } from 'node:buffer';
import type { Dnp3PointType } from '../../../src/contract/dnp3.ts';
import type { Dnp3Settings } from '../../../src/contract/dnp3-settings.ts';
import { keptList } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createRandom } from '../../../src/core/random.ts';
import { slotName } from '../../../src/core/store.ts';
import type { Slot } from '../../../src/core/store.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { DeviceOutstation } from '../../../src/dnp3/device-outstation.ts';
import type { DeviceOutstationOptions } from '../../../src/dnp3/device-outstation.ts';
import { OutstationMemory } from '../../../src/dnp3/memory/memory.ts';
import { builtInRows } from '../../../src/dnp3/profile/binding.ts';
import type { PointName } from '../../../src/dnp3/profile/types.ts';
import { undisturbed } from '../../../src/dnp3/stack/outstation/types.ts';
import type { Association } from '../../../src/dnp3/stack/outstation/association.ts';
import type { Session } from '../../../src/dnp3/stack/outstation/types.ts';
import { createFileStore } from '../../../src/state/file-store.ts';
import type { FileStore } from '../../../src/state/file-store.ts';
import { testPlant } from '../../support/plant.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { hex, toHex } from '../rig/frames.ts';
import type { Orders } from '../schedules/orders.ts';

const settings: Dnp3Settings = {
  host: '127.0.0.1',
  port: 0,
  sharedPort: false,
  outstationAddress: 1,
  masterAddresses: [4],
  profile: 'an2018',
  pointsFile: null,
  unsolicited: true,
  tls: null,
};

/** A machine whose monotonic clock begins anew with each start. */
class Machine extends HandWall {
  readonly #bootMs: number;

  constructor(startMs: number) {
    super(startMs);
    this.#bootMs = startMs - 5000;
  }

  override monotonicMs(): number {
    return this.ms - this.#bootMs;
  }
}

const disturber = { iin: () => 0, ignoresConfirm: () => false, response: () => undisturbed, isTimeLost: () => false };
type LogOfTest = Readonly<Record<'info' | 'debug' | 'warning' | 'error', (line: string) => void>>;
const master = { address: 4, peer: '4@127.0.0.1:50000' };

export interface ProcessOptions {
  readonly type?: string;
  /** false: registers are saved by commits alone, and not when time passes */
  readonly savesTicks?: boolean;
  readonly observerOf?: DeviceOutstationOptions['observerOf'];
}

/** The time of the first start. */
export const firstStartMs = Date.UTC(2026, 5, 21, 8);
/** Time between the end of a process and the next start. */
export const downMs = 60_000;

/** One process, from its start to its sudden end. */
export class Process {
  readonly folder: TestFolder;
  readonly wall: Machine;
  readonly timers: HandTimers;
  readonly store: FileStore;
  readonly plant: SimPlant;
  readonly warnings: string[] = [];
  readonly #log: LogOfTest;
  readonly #options: ProcessOptions;
  readonly #kept: Kept;
  readonly #sent: Buffer[] = [];
  #outstation: DeviceOutstation | undefined;
  #seq = 0;

  private constructor(folder: TestFolder, startMs: number, options: ProcessOptions) {
    this.#options = options;
    this.folder = folder;
    this.wall = new Machine(startMs);
    this.timers = new HandTimers(this.wall);
    const { wall, timers } = this;
    const warning = (line: string): void => {
      this.warnings.push(line);
    };
    this.#log = { info: () => undefined, debug: () => undefined, error: warning, warning };
    this.store = createFileStore({ folder, log: this.#log, later: timers.later, nowMs: () => wall.nowMs() });
    this.plant = testPlant({ types: [options.type ?? 'PV-3Phase'], tickIntervalS: 1, wall });
    this.#kept = this.plant.kept(keptList(this.plant.devices.map((device) => device.kept())));
  }

  /** Starts a process on a folder that an earlier one may have left. */
  static async start(
    folder = new TestFolder(),
    options: ProcessOptions = {},
    startMs = firstStartMs,
  ): Promise<Process> {
    const process = new Process(folder, startMs, options);
    await process.store.open();
    const [saved] = await process.#slot.read();
    if (saved !== undefined) process.#kept.restore(saved);
    process.#outstation = process.#createOutstation();
    await process.#outstation.restore();
    process.plant.onTick(() => {
      process.outstation.points.tick();
    });
    process.connect();
    return process;
  }

  /** The next process, on what a loss of power now would leave. @param endMs wall time at the loss, default: now */
  restarted(folder = this.folder.afterPowerLoss(), endMs = this.wall.nowMs()): Promise<Process> {
    return Process.start(folder, this.#options, endMs + downMs);
  }

  get outstation(): DeviceOutstation {
    if (this.#outstation === undefined) throw new Error('the process has not started');
    return this.#outstation;
  }

  get association(): Association {
    const association = this.outstation.stack.association(4);
    if (association === null) throw new Error('there is no such master');
    return association;
  }

  /** Begins a connection of the master. */
  connect(): void {
    const session: Session = {
      peer: master.peer,
      send: (fragment) => {
        this.#sent.push(fragment);
      },
      replaced: () => undefined,
      probe: () => undefined,
    };
    this.association.open(session);
  }

  /** Sends a request without waiting. @returns its sequence number */
  send(functionCode: number, objects = ''): number {
    const seq = this.#seq;
    this.#seq = (seq + 1) & 0x0f;
    this.wall.advance(1);
    this.association.receive(Buffer.concat([Buffer.from([0xc0 | seq, functionCode]), hex(objects)]), 'unicast');
    return seq;
  }

  confirm(seq: number): void {
    this.association.receive(Buffer.from([0xc0 | seq, 0]), 'unicast');
  }

  /** Resolves when everything is durable, and all responses are sent. */
  async settled(): Promise<void> {
    await this.store.settled();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** Fragments sent since the last call, in hexadecimal. */
  sent(): readonly string[] {
    return this.#sent.splice(0).map(toHex);
  }

  /** Sends a request. @returns the response */
  async ask(functionCode: number, objects = ''): Promise<string> {
    this.sent();
    this.send(functionCode, objects);
    await this.settled();
    const responses = this.sent().filter((fragment) => fragment.startsWith('81', 3));
    if (responses.length !== 1) throw new Error(`there are ${responses.length} responses`);
    return responses[0] ?? '';
  }

  /** Operates outputs in wire units; each must succeed. Resolves when all are durable. */
  async operate(...orders: readonly (readonly [PointName, number | boolean])[]): Promise<void> {
    for (const [name, value] of orders) {
      const answer = await this.ask(5, controlOf(name, value));
      if (!answer.endsWith(' 00')) throw new Error(`${name} = ${value}: ${answer}`);
    }
  }

  /** The value of a point as it is sent; null: absent or not online. */
  value(name: PointName): number | null {
    const index = Number(name.replace(/\D/g, ''));
    const type = name.replace(/\d/g, '') as Dnp3PointType;
    const [view] = this.outstation.points.views({ type, from: index, to: index });
    return view?.online === true ? view.value : null;
  }

  /** A register. */
  register(model: number, path: string): unknown {
    const { bank } = this.plant.device(0);
    const slot = bank.layout.slot(model, path);
    return slot && bank.value(slot);
  }

  /** Another protocol writes a register. */
  write(model: number, path: string, value: number | string): void {
    const { bank } = this.plant.device(0);
    const slot = bank.layout.slot(model, path);
    if (slot === undefined) throw new Error(`there is no ${model}.${path}`);
    bank.adopt({ source: 'rest' }, (_, set) => {
      set(slot, value);
    });
  }

  async pass(seconds: number): Promise<void> {
    this.wall.advance(1000 * seconds);
    await this.plant.step(seconds);
    if (this.#options.savesTicks !== false) void this.#save();
    await this.settled();
  }

  get #slot(): Slot {
    return this.store.slot(slotName('devices'));
  }

  #save(): Promise<void> | null {
    void this.#slot.replace([this.#kept.save()]);
    return this.store.durable();
  }

  #createOutstation(): DeviceOutstation {
    const { plant, wall, timers, store } = this;
    const timeline = {
      sim: () => plant.time.sim,
      dateMs: plant.dateMs.bind(plant),
      rate: () => 1,
      paused: () => false,
      at: plant.at.bind(plant),
    };
    const createClock = remoteClocks({ mode: 'wall', wall, later: timers.later, timeline, log: silentLogger });
    const commit = () => this.#save();
    const { observerOf } = this.#options;
    return new DeviceOutstation({
      device: plant.device(0),
      plant,
      settings,
      address: 1,
      rows: builtInRows('an2018'),
      disturber,
      remoteClock: () => createClock(silentLogger),
      wall,
      later: timers.later,
      random: (purpose) => createRandom(1, 'dnp3', 0, purpose),
      log: this.#log,
      onControl: () => undefined,
      onTime: () => undefined,
      ...(observerOf && { observerOf }),
      memory: new OutstationMemory({ store, name: 'device 0', commit, log: this.#log }),
      keeping: { commit },
    });
  }
}

const dayMs = 86_400_000;

/** Orders of schedule 2, which limits generation from now on, up to the one that makes it ready. */
export function limitSchedule(
  process: Process,
  points: readonly (readonly [offsetS: number, value: number])[],
): Orders {
  const startMs = Math.round(process.wall.nowMs());
  return [
    ['AO461', 2],
    ['AO464', 13],
    ['AO465', Math.floor(startMs / dayMs)],
    ['AO466', startMs % dayMs],
    ...points.flatMap(
      ([offset, value], i): Orders => [
        [`AO${470 + 2 * i}`, offset],
        [`AO${471 + 2 * i}`, value],
      ],
    ),
    ['AO469', points.length],
    ['BO42', true],
  ];
}

export const limitOf = (process: Process) => [
  process.register(704, 'WMaxLimPctEna'),
  process.register(704, 'WMaxLimPct'),
];

function controlOf(name: PointName, value: number | boolean): string {
  const index = Buffer.alloc(2);
  index.writeUInt16LE(Number(name.slice(2)));
  if (typeof value === 'boolean') return `0c 01 28 01 00 ${toHex(index)} ${value ? '03' : '04'} 01 ${'00 '.repeat(9)}`;
  const octets = Buffer.alloc(4);
  octets.writeInt32LE(value);
  return `29 01 28 01 00 ${toHex(index)} ${toHex(octets)} 00`;
}

export interface SeenEvent {
  readonly index: number;
  readonly state: boolean;
  readonly ms: number;
}

/** Events of a response that has g2v2 alone. */
export function binaryEvents(response: string): readonly SeenEvent[] {
  const octets = hex(response).subarray(4);
  if (octets.length === 0) return [];
  if (octets.readUInt16BE(0) !== 0x0202 || octets[2] !== 0x28) throw new Error(`not g2v2: ${response}`);
  return Array.from({ length: octets.readUInt16LE(3) }, (_, i) => {
    const at = 5 + 9 * i;
    return {
      index: octets.readUInt16LE(at),
      state: ((octets[at + 2] ?? 0) & 0x80) !== 0,
      ms: octets.readUIntLE(at + 3, 6),
    };
  });
}
