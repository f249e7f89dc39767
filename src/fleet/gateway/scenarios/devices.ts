/** Devices of all shards as a scenario sees them: their maps and values are read over REST. */
import type { Alarm, AssetType } from '../../../contract/device.ts';
import type { WallClock } from '../../../core/time/clock.ts';
import type { Performed } from '../../../api/http/perform.ts';
import { SimError } from '../../../core/errors.ts';
import { plainPath } from '../../../sunspec/map/layout.ts';
import type { Layout, PointSlot } from '../../../sunspec/map/layout.ts';
import type { AnyPointValue, PointDef } from '../../../sunspec/map/types.ts';
import type { LaidOutDevice } from '../../../scenario/file/layout.ts';
import type { ScenarioBank, ScenarioDevice } from '../../../scenario/run/host.ts';

/** Values that were read longer ago are read anew: another client may have written meanwhile, ms. */
const maxAgeMs = 15;
/** Devices of a scenario; more are no test of a few devices. */
const maxDevices = 10_000;
/** Devices that are read at once. */
const atOnce = 32;

export type Get = (
  path: string,
  query?: Readonly<Record<string, string | number | readonly string[]>>,
) => Promise<Performed>;

export interface DeviceParts {
  readonly get: Get;
  readonly wall: Pick<WallClock, 'monotonicMs'>;
  /** Definition of a point; undefined: the model is not known here. */
  readonly definitionOf: (model: number, path: string) => PointDef | undefined;
  /** True if the newest tick shows an alarm of the device. */
  readonly hasAlarm: (device: number) => boolean;
}

/** Members of replies that are read here. */
interface Entry {
  readonly device_index: number;
  readonly name: string;
  readonly device_type: string;
  readonly device_profile_name: string | null;
  readonly asset_type: AssetType;
  readonly alarms: { readonly active: readonly AlarmReply[] };
}
interface AlarmReply {
  readonly code: string;
  readonly source: Alarm['source'];
  readonly severity: Alarm['severity'];
  readonly since: string;
  readonly device_index: number;
  readonly port: number | null;
  readonly latched: boolean;
  readonly message: string;
}
interface ModelReply {
  readonly id: number;
  readonly place?: string;
  readonly points: readonly PointReply[];
}
interface PointReply {
  readonly name: string;
  readonly label: string;
  readonly type: PointDef['type'];
  readonly address: number;
  readonly size: number;
  readonly value: AnyPointValue;
  readonly scale_factor: number | null;
  readonly unit: string | null;
  readonly symbol?: string | null;
  readonly implemented: boolean;
  readonly access: 'R' | 'RW';
}

/** @throws SimError CONNECTION_FAILED with the reason of the shard */
function bodyOf({ status, body }: Performed): unknown {
  if (status < 300) return body;
  throw new SimError('COMMAND_CONFLICT', (body as { readonly detail: string }).detail);
}

const valueOf = ({ value, symbol }: PointReply): AnyPointValue => symbol ?? value;

const alarmOf = ({ since, device_index: deviceIndex, ...alarm }: AlarmReply): Alarm => ({
  ...alarm,
  sinceMs: Date.parse(since),
  deviceIndex,
});

/** Reads of one device, and whether they still hold. */
interface Reads {
  readonly parts: DeviceParts;
  /** rises with each tick and each change of the devices */
  readonly version: () => number;
  /** true: something was changed since the last tick, which shows it only after the next one */
  readonly isChanged: () => boolean;
}

/** The map of a device, as far as its models were read. */
class FleetBank implements ScenarioBank {
  readonly #device: number;
  readonly #reads: Reads;
  readonly #slots: PointSlot[] = [];
  readonly #byName = new Map<string, PointSlot>();
  readonly #models = new Map<string, { readonly def: { readonly id: number } }>();
  readonly #values = new Map<PointSlot, AnyPointValue>();
  /** points that the scenario reads, by the name of their model */
  readonly #watched = new Map<string, Set<PointSlot>>();
  #version = -1;
  #readMs = -Infinity;
  readonly layout: Pick<Layout, 'slots' | 'named' | 'slot'> & {
    readonly models: readonly { readonly def: { readonly id: number } }[];
  };

  constructor(device: number, reads: Reads) {
    this.#device = device;
    this.#reads = reads;
    const [slots, byName, models] = [this.#slots, this.#byName, this.#models];
    this.layout = {
      slots,
      get models() {
        return [...models.values()];
      },
      named: (name) => byName.get(name),
      slot: (model, path) => byName.get(`${model}.${path}`),
    };
  }

  /** Reads which models the map has. */
  async readModels(): Promise<void> {
    const { get } = this.#reads.parts;
    const { models } = bodyOf(await get('/registers', { device: this.#device })) as {
      readonly models: readonly { readonly id: number; readonly place?: string }[];
    };
    for (const { id, place = `${id}` } of models) this.#models.set(place, { def: { id } });
  }

  /** Reads the points of a model, unless they are known. A map without it stays as it is. */
  async readModel(name: string): Promise<void> {
    if (this.#slots.some(({ modelName }) => modelName === name)) return;
    const { parts } = this.#reads;
    const reply = await parts.get(`/registers/${encodeURIComponent(name)}`, { device: this.#device });
    if (reply.status === 404 || reply.status === 422) return;
    const { id, points } = bodyOf(reply) as ModelReply;
    for (const point of points) this.#add(name, id, point);
  }

  #add(modelName: string, modelId: number, point: PointReply): void {
    const { name: path, label, type, address, size, scale_factor: sf, unit, implemented, access } = point;
    const ofModel = this.#reads.parts.definitionOf(modelId, plainPath(path));
    const def =
      ofModel ?? ({ name: path, label, type, size, access, ...(unit !== null && { units: unit }) } as PointDef);
    const slot: PointSlot = {
      index: this.#slots.length,
      modelId,
      modelName,
      path,
      def,
      address,
      sf: sf ?? 0,
      implemented,
      writable: access === 'RW',
    };
    this.#slots.push(slot);
    this.#byName.set(`${modelName}.${path}`, slot);
    this.#values.set(slot, valueOf(point));
  }

  /** The value as it was read last. */
  lastValue(slot: PointSlot): AnyPointValue {
    return this.#values.get(slot) ?? null;
  }

  /** Adds a point to those of `refresh`. */
  watch(slot: PointSlot): void {
    const ofModel = this.#watched.get(slot.modelName) ?? new Set();
    this.#watched.set(slot.modelName, ofModel);
    if (ofModel.has(slot)) return;
    ofModel.add(slot);
    this.#version = -1;
  }

  get #isFresh(): boolean {
    const { version, parts } = this.#reads;
    return this.#version === version() && parts.wall.monotonicMs() - this.#readMs <= maxAgeMs;
  }

  value(slot: PointSlot): AnyPointValue | Promise<AnyPointValue> {
    this.watch(slot);
    return this.#isFresh ? this.lastValue(slot) : this.refresh().then(() => this.lastValue(slot));
  }

  /** Reads the values of all watched points. */
  async refresh(): Promise<void> {
    const { version, parts } = this.#reads;
    const began = version();
    const sentMs = parts.wall.monotonicMs();
    await Promise.all([...this.#watched].map(([model, slots]) => this.#readValues(model, [...slots])));
    this.#version = began;
    this.#readMs = sentMs;
  }

  async #readValues(model: string, slots: readonly PointSlot[]): Promise<void> {
    const query = { device: this.#device, points: slots.map(({ path }) => path) };
    const reply = await this.#reads.parts.get(`/registers/${encodeURIComponent(model)}`, query);
    const points = reply.status < 300 ? (reply.body as ModelReply).points : [];
    const byPath = new Map(points.map((point) => [point.name, valueOf(point)]));
    for (const slot of slots) this.#values.set(slot, byPath.get(slot.path) ?? null);
  }

  /** Writes of other clients are seen at the end of a tick. */
  onChange(): () => void {
    return () => undefined;
  }
}

export class FleetDevice implements ScenarioDevice, LaidOutDevice {
  readonly index: number;
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly assetType: AssetType;
  readonly bank: FleetBank;
  readonly #reads: Reads;

  constructor(entry: Entry, reads: Reads) {
    this.index = entry.device_index;
    this.name = entry.name;
    this.deviceType = entry.device_type;
    this.profileName = entry.device_profile_name;
    this.assetType = entry.asset_type;
    this.bank = new FleetBank(this.index, reads);
    this.#reads = reads;
  }

  get alarms(): readonly Alarm[] | Promise<readonly Alarm[]> {
    const { parts, isChanged } = this.#reads;
    return isChanged() || parts.hasAlarm(this.index) ? this.#readAlarms() : [];
  }

  async #readAlarms(): Promise<readonly Alarm[]> {
    const reply = await this.#reads.parts.get('/devices', { device: this.index });
    const { devices } = bodyOf(reply) as { readonly devices: readonly Entry[] };
    return devices.flatMap(({ alarms }) => alarms.active.map(alarmOf));
  }
}

/** The devices of a fleet at one time. */
export class FleetDevices {
  readonly list: readonly FleetDevice[];
  readonly #state: { version: number; isChanged: boolean };
  readonly #byIndex: ReadonlyMap<number, FleetDevice>;

  private constructor(entries: readonly Entry[], parts: DeviceParts) {
    const state = { version: 0, isChanged: false };
    this.#state = state;
    const reads = { parts, version: () => state.version, isChanged: () => state.isChanged };
    this.list = entries.map((entry) => new FleetDevice(entry, reads));
    this.#byIndex = new Map(this.list.map((device) => [device.index, device]));
  }

  /** @throws SimError COMMAND_CONFLICT: a shard does not answer, or there are too many */
  static async read(parts: DeviceParts): Promise<FleetDevices> {
    const {
      devices,
      missing = [],
      total = 0,
    } = bodyOf(await parts.get('/devices', { limit: maxDevices })) as {
      readonly devices: readonly Entry[];
      readonly total?: number;
      readonly missing?: readonly { readonly shard: string }[];
    };
    if (missing.length > 0)
      throw new SimError('COMMAND_CONFLICT', `the shard "${missing[0]?.shard}" does not answer: a scenario needs all`);
    if (total > devices.length)
      throw new SimError('COMMAND_CONFLICT', `the fleet has ${total} devices; a scenario takes up to ${maxDevices}`);
    return new FleetDevices(devices, parts);
  }

  find(index: number): FleetDevice | undefined {
    return this.#byIndex.get(index);
  }

  /** Something was changed: values that were read count no more. */
  changed(): void {
    this.#state.version += 1;
    this.#state.isChanged = true;
  }

  /** A tick has ended: values that were read count no more. */
  ticked(): void {
    this.#state.version += 1;
    this.#state.isChanged = false;
  }

  /** Reads the values of all points that the scenario reads. */
  async refresh(): Promise<void> {
    await this.each(this.list, (device) => device.bank.refresh());
  }

  /** Works on some devices, a few at a time. */
  async each(devices: readonly FleetDevice[], work: (device: FleetDevice) => Promise<void>): Promise<void> {
    for (let at = 0; at < devices.length; at += atOnce) await Promise.all(devices.slice(at, at + atOnce).map(work));
  }
}
