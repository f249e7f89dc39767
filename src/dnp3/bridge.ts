/** The register map behind the DER profile of DNP3: the only part of the adapter that works on it. */
import type { Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { SiteLimitName } from '../contract/site.ts';
import { SimError } from '../core/errors.ts';
import type { Origin, Provenance } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import { isEnabled, isSupported } from '../sunspec/map/function-state.ts';
import { curveAxes, functionTable, isReactivePowerFunction, reactivePowerFunctions } from '../sunspec/map/functions.ts';
import type { CurveFunction, FunctionName } from '../sunspec/map/functions.ts';
import { memoPerLayout, plainPath } from '../sunspec/map/layout.ts';
import type { PointSlot } from '../sunspec/map/layout.ts';
import { PointHolds } from '../sunspec/map/point-holds.ts';
import { ranges } from '../sunspec/map/rules.ts';
import type { Bound } from '../sunspec/map/rules.ts';
import type { PointPath } from '../sunspec/map/point-path.ts';
import type { AnyPointValue } from '../sunspec/map/types.ts';
import type { CurvePoint, DeviceHolds, DevicePort, PointWrite, TripGroup } from './device-port.ts';

/** The plant as an outstation sees it. */
export type PortPlant = Pick<Plant, 'at' | 'dateMs' | 'setSite' | 'siteOf' | 'silentDevices' | 'now'>;

/** Owner of the limits that masters of DNP3 set at the connection point of a device. */
const siteOwner = 'dnp3';

/** Slots by name without numbers, then by the numbers of the repeated groups: `705.Crv.Pt.V`, `0,3`. */
const slotsByPath = memoPerLayout((layout) => {
  const byPath = new Map<string, Map<string, PointSlot>>();
  for (const slot of layout.slots) {
    const name = `${slot.modelId}.${plainPath(slot.path)}`;
    const numbers = [...slot.path.matchAll(/\[(\d+)\]/g)].map(([, number]) => number).join(',');
    const known = byPath.get(name) ?? new Map<string, PointSlot>();
    byPath.set(name, known.set(numbers, slot));
  }
  return byPath;
});

/** The slot of each name whose groups all have number 0: of nearly every point that is read. */
const firstSlots = memoPerLayout(
  (layout) =>
    new Map(
      [...slotsByPath(layout)].flatMap(([name, byNumbers]) => {
        const [first = ''] = byNumbers.keys();
        const slot = byNumbers.get(first.replace(/\d+/g, '0'));
        return slot === undefined ? [] : [[name, slot] as const];
      }),
    ),
);

const groupsIn = (numbers: string) => (numbers === '' ? 0 : numbers.split(',').length);

/** Path of the curve points of a function, of which 707-710 have two kinds. */
function curvePath(name: CurveFunction, group: TripGroup): string {
  const { model, actsOn } = functionTable[name];
  return actsOn === 'trip' ? `${model}.Crv.${group}` : `${model}.Crv`;
}

class MapPort implements DevicePort {
  readonly index: number;
  readonly name: string;
  readonly device: Device;
  readonly #plant: PortPlant;
  readonly #firstSlots: ReadonlyMap<string, PointSlot>;

  constructor(device: Device, plant: PortPlant) {
    this.device = device;
    this.#firstSlots = firstSlots(device.bank.layout);
    this.index = device.index;
    this.name = device.name;
    this.#plant = plant;
  }

  value(point: PointPath, ...at: readonly number[]): AnyPointValue {
    const slot = this.#find(point, at);
    return slot === undefined ? null : this.device.bank.value(slot);
  }

  number(point: PointPath, ...at: readonly number[]): number | null {
    const value = this.value(point, ...at);
    return typeof value === 'number' ? value : null;
  }

  reader(point: PointPath): () => AnyPointValue {
    const slot = this.#find(point, []);
    return slot === undefined ? () => null : this.device.bank.reader(slot);
  }

  code(point: PointPath): number | null {
    const value = this.value(point);
    if (typeof value === 'number') return value;
    const symbols = this.#find(point, [])?.def.symbols;
    return typeof value === 'string' ? (symbols?.[value] ?? null) : null;
  }

  has(point: PointPath, ...at: readonly number[]): boolean {
    return this.#find(point, at)?.implemented === true;
  }

  writer(point: PointPath): Provenance | undefined {
    const slot = this.#find(point, []);
    return slot && this.device.bank.provenance(slot);
  }

  step(point: PointPath): number {
    return 10 ** (this.#find(point, [])?.sf ?? 0);
  }

  range(point: PointPath): readonly [number | null, number | null] | null {
    const rule = ranges[point];
    if (rule === undefined) return null;
    const read = (other: PointPath) => this.value(other);
    const { min, max } = typeof rule === 'function' ? rule(read) : rule;
    const bound = (of: Bound | undefined): number | null => {
      if (typeof of !== 'string') return of ?? null;
      return of.startsWith('-') ? negative(this.number(of.slice(1) as PointPath)) : this.number(of as PointPath);
    };
    return [bound(min), bound(max)];
  }

  supports(name: FunctionName): boolean {
    return isSupported(this.device.bank, functionTable[name]);
  }

  isEnabled(name: FunctionName): boolean {
    return isEnabled(this.device.bank, functionTable[name]);
  }

  curve(name: CurveFunction, group: TripGroup = 'MustTrip'): readonly CurvePoint[] {
    const path = curvePath(name, group);
    const [x, y] = curveAxes(name);
    const active = this.number(`${path}.ActPt` as PointPath) ?? 0;
    return Array.from({ length: active }, (_, i) => ({
      x: this.number(`${path}.Pt.${x}` as PointPath, 0, i) ?? 0,
      y: this.number(`${path}.Pt.${y}` as PointPath, 0, i) ?? 0,
    }));
  }

  curveSteps(name: CurveFunction, group: TripGroup = 'MustTrip'): CurvePoint {
    const path = curvePath(name, group);
    const [x, y] = curveAxes(name);
    return { x: this.step(`${path}.Pt.${x}` as PointPath), y: this.step(`${path}.Pt.${y}` as PointPath) };
  }

  curveCapacity(name: CurveFunction): number {
    return this.number(`${functionTable[name].model}.NPt` as PointPath) ?? 0;
  }

  curveWrites(
    name: CurveFunction,
    points: readonly CurvePoint[],
    group: TripGroup = 'MustTrip',
  ): readonly PointWrite[] {
    const path = curvePath(name, group);
    const [x, y] = curveAxes(name);
    return [
      { point: `${path}.ActPt` as PointPath, value: points.length },
      ...points.flatMap((point, i) => [
        { point: `${path}.Pt.${x}` as PointPath, at: [0, i], value: point.x },
        { point: `${path}.Pt.${y}` as PointPath, at: [0, i], value: point.y },
      ]),
    ];
  }

  enableWrites(name: FunctionName, enabled: boolean): readonly PointWrite[] {
    const { model, enable } = functionTable[name];
    const own = { point: `${model}.${enable}` as PointPath, value: enabled ? 'ENABLED' : 'DISABLED' };
    if (!enabled || !isReactivePowerFunction(name)) return [own];
    const others = reactivePowerFunctions.filter((other) => other !== name && this.isEnabled(other));
    return [...others.flatMap((other) => this.enableWrites(other, false)), own];
  }

  write(writes: readonly PointWrite[], by: Origin): void {
    const values = this.#resolve(writes);
    this.device.bank.adopt(by, (_, set) => {
      for (const { slot, value } of values) set(slot, value);
    });
  }

  check(writes: readonly PointWrite[], by: Origin): void {
    const values = this.#resolve(writes);
    this.device.bank.checkAdopt(by, (_, set) => {
      for (const { slot, value } of values) set(slot, value);
    });
  }

  createHolds(): DeviceHolds {
    const holds = new PointHolds(this.device.bank, 'dnp3');
    return {
      get ids() {
        return holds.ids;
      },
      follow: (wanted) =>
        holds.follow(
          new Map(
            [...wanted].map(([id, writes]) => [
              id,
              new Map(this.#resolve(writes).map(({ slot, value }) => [slot, value])),
            ]),
          ),
        ),
      check: (writes, by = 'dnp3') => holds.check(this.#resolve(writes), by),
      forget: () => holds.forget(),
      close: () => holds.close(),
    };
  }

  command: DevicePort['command'] = (command, by) => {
    this.device.command(command, by);
  };

  limitW(name: SiteLimitName): number | null {
    const own = this.#plant.siteOf([this.index]).owners.find(({ owner }) => owner === siteOwner);
    return own?.limitsW[name] ?? null;
  }

  setLimitW(name: SiteLimitName, limitW: number | null, by: Origin): void {
    this.#plant.setSite({ [name]: limitW }, by, { owner: siteOwner, devices: [this.index] });
  }

  onSettings(listener: (isReset: boolean) => void): () => void {
    const { bank } = this.device;
    const ends = [bank.onChange(() => listener(false)), bank.onReload(() => listener(true))];
    return () => {
      for (const end of ends) end();
    };
  }

  get now(): SimTime {
    // within a sub-step the device may be ahead of the clock
    const { now: sim } = this.#plant;
    return this.device.detailAt > sim ? this.device.detailAt : sim;
  }

  dateMs(t: SimTime): number {
    return this.#plant.dateMs(t);
  }

  get dark(): boolean {
    return this.#plant.silentDevices.has(this.index);
  }

  readonly at: DevicePort['at'] = (t, act) => this.#plant.at(t, act);

  #resolve(writes: readonly PointWrite[]) {
    return writes.map(({ point, at = [], value }) => {
      const slot = this.#find(point, at);
      if (slot) return { slot, value };
      throw new SimError('MAP_NOT_IMPLEMENTED', `the device has no point ${point}`);
    });
  }

  #find(point: PointPath, at: readonly number[]): PointSlot | undefined {
    if (at.length === 0) return this.#firstSlots.get(point);
    const byNumbers = slotsByPath(this.device.bank.layout).get(point);
    if (byNumbers === undefined) return undefined;
    const [first = ''] = byNumbers.keys();
    return byNumbers.get(Array.from({ length: groupsIn(first) }, (_, i) => at[i] ?? 0).join(','));
  }
}

const negative = (value: number | null) => (value === null ? null : 0 - value);

/** The port of a device. */
export function createDevicePort(device: Device, plant: PortPlant): DevicePort {
  return new MapPort(device, plant);
}

/** Texts of model 1 as device attributes of g0: software, name, serial number, product, maker. */
export function attributesOf({ bank, name }: Pick<Device, 'bank' | 'name'>) {
  const { m1 } = bank.map;
  return [
    { variation: 242, value: m1.Vr ?? '' },
    { variation: 247, value: name },
    { variation: 248, value: m1.SN },
    { variation: 250, value: m1.Md },
    { variation: 252, value: m1.Mn },
  ].filter(({ value }) => value !== '');
}
