/** The register map behind the DER profile of DNP3: no other file of the adapter reads or writes the map. */
import type { Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { SiteLimitName } from '../contract/site.ts';
import { SimError } from '../core/errors.ts';
import type { SetpointChange } from '../core/findings/setpoints.ts';
import type { Origin, Provenance } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import { isEnabled, isSupported } from '../sunspec/map/grid-support/state.ts';
import { functionTable } from '../sunspec/map/grid-support/functions.ts';
import type { CurveFunction, FunctionName } from '../sunspec/map/grid-support/functions.ts';
import { boundsOf, ranges } from '../sunspec/map/rules.ts';
import {
  apply,
  capacity,
  checkApply,
  factsOf,
  hasCurve,
  inRegisters,
  isInForce,
  isRefused,
  place,
  switching,
} from '../sunspec/map/grid-support/wish.ts';
import type { PointFacts } from '../sunspec/map/grid-support/wish.ts';
import type { HoldValue } from '../sunspec/map/holds.ts';
import { memoPerLayout, plainPath } from '../sunspec/map/layout.ts';
import type { PointSlot } from '../sunspec/map/layout.ts';
import { onSetpointChange, setpointGroupsOf } from '../sunspec/map/setpoint-groups.ts';
import { pointName } from '../sunspec/map/view.ts';
import { PointHolds } from '../sunspec/map/point-holds.ts';
import type { PointPath } from '../sunspec/map/point-path.ts';
import type { AnyPointValue } from '../sunspec/map/types.ts';
import type { DeviceHolds, DevicePort, SettingWrite } from './device-port.ts';

/** The members of the plant that an outstation uses. */
export type PortPlant = Pick<Plant, 'at' | 'dateMs' | 'setSite' | 'siteOf' | 'silentDevices' | 'now'>;

/** Owner of the limits that masters of DNP3 set at the connection point of a device. */
const siteOwner = 'dnp3';

/** Slots by path without indexes, then by the indexes of its repeating groups: `705.Crv.Pt.V`, `0,3`. */
const slotsByPath = memoPerLayout((layout) => {
  const byPath = new Map<string, Map<string, PointSlot>>();
  for (const slot of layout.slots) {
    const name = plainPath(pointName(slot));
    const numbers = [...slot.path.matchAll(/\[(\d+)\]/g)].map(([, number]) => number).join(',');
    const slotsByNumbers = byPath.get(name) ?? new Map<string, PointSlot>();
    byPath.set(name, slotsByNumbers.set(numbers, slot));
  }
  return byPath;
});

/** Slots whose indexes are all 0, by path without indexes: nearly every read uses these. */
const firstSlots = memoPerLayout(
  (layout) =>
    new Map(
      [...slotsByPath(layout)].flatMap(([name, byNumbers]) => {
        const [anyNumbers = ''] = byNumbers.keys();
        const slot = byNumbers.get(anyNumbers.replace(/\d+/g, '0'));
        return slot === undefined ? [] : [[name, slot] as const];
      }),
    ),
);

const groupCount = (numbers: string) => (numbers === '' ? 0 : numbers.split(',').length);

class MapPort implements DevicePort {
  readonly index: number;
  readonly name: string;
  readonly device: Device;
  readonly #plant: PortPlant;
  readonly #firstSlots: ReadonlyMap<string, PointSlot>;
  readonly #facts: PointFacts;

  constructor(device: Device, plant: PortPlant) {
    this.device = device;
    this.#firstSlots = firstSlots(device.bank.layout);
    this.#facts = factsOf(device.bank);
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
    const { min, max } = boundsOf(rule, (other) => this.value(other));
    return [min ?? null, max ?? null];
  }

  supports(name: FunctionName): boolean {
    return isSupported(this.device.bank, functionTable[name]);
  }

  isEnabled(name: FunctionName): boolean {
    return isEnabled(this.device.bank, functionTable[name]);
  }

  enablePoint(name: FunctionName): PointPath {
    const { model, enable } = functionTable[name];
    return `${model}.${enable}` as PointPath;
  }

  readonly hasCurve: DevicePort['hasCurve'] = (name, region) => hasCurve(this.#facts, name, region);

  capacity(name: CurveFunction): number {
    return capacity(this.#facts, name);
  }

  readonly switching: DevicePort['switching'] = (name, on) => switching(this.device.bank, name, on);

  isInForce(writes: readonly SettingWrite[]): boolean {
    return isInForce(this.device.bank, this.#placed(writes));
  }

  write(writes: readonly SettingWrite[], by: Origin): void {
    apply(this.device.bank, by, this.#placed(writes));
  }

  check(writes: readonly SettingWrite[], by: Origin): void {
    checkApply(this.device.bank, by, this.#placed(writes));
  }

  createHolds(): DeviceHolds {
    const holds = new PointHolds(this.device.bank, 'dnp3');
    return {
      get ids() {
        return holds.ids;
      },
      follow: (writesByControl) => {
        const valuesOf = (each: readonly SettingWrite[]) =>
          new Map(this.#placed(each).map(({ slot, value }) => [slot, value]));
        return holds.follow(new Map([...writesByControl].map(([id, each]) => [id, valuesOf(each)])));
      },
      check: (writes, by = 'dnp3') => holds.check(this.#placed(writes), by),
      forget: () => holds.forget(),
      kept: () => holds.kept(),
      close: () => holds.close(),
    };
  }

  command: DevicePort['command'] = (command, by) => {
    this.device.command(command, by);
  };

  limitW(name: SiteLimitName): number | null {
    const ownerLimits = this.#plant.siteOf([this.index]).owners.find(({ owner }) => owner === siteOwner);
    return ownerLimits?.limitsW[name] ?? null;
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

  /** @throws SimError MAP_NOT_IMPLEMENTED: the device lacks a point, MAP_BAD_VALUE: a curve does not fit */
  #placed(writes: readonly SettingWrite[]): readonly HoldValue[] {
    const { bank } = this.device;
    return writes.flatMap((each): readonly HoldValue[] => {
      if ('point' in each) {
        const slot = this.#find(each.point, []);
        if (slot) return [{ slot, value: each.value }];
        throw new SimError('MAP_NOT_IMPLEMENTED', `the device has no point ${each.point}`);
      }
      const values = place(this.#facts, [each]);
      if (isRefused(values)) throw new SimError('MAP_BAD_VALUE', values.detail);
      return inRegisters(bank, values);
    });
  }

  #find(point: PointPath, at: readonly number[]): PointSlot | undefined {
    if (at.length === 0) return this.#firstSlots.get(point);
    const byNumbers = slotsByPath(this.device.bank.layout).get(point);
    if (byNumbers === undefined) return undefined;
    const [anyNumbers = ''] = byNumbers.keys();
    return byNumbers.get(Array.from({ length: groupCount(anyNumbers) }, (_, i) => at[i] ?? 0).join(','));
  }
}

export function createDevicePort(device: Device, plant: PortPlant): DevicePort {
  return new MapPort(device, plant);
}

/** Device attributes (g0): name of the device; version, serial number, product and manufacturer of model 1. */
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

/** Enables of the set-points of the map by the outputs of the DER profile, BO. */
const modeEnables: ReadonlyMap<string, number> = new Map([
  ['704.WMaxLimPctEna', 17],
  ['704.WSetEna', 18],
  ['704.VarSetEna', 27],
  ['704.PFWInjEna', 28],
]);

/**
 * Calls back when the set-points of a mode change, or the output that enables it.
 * @returns function that unsubscribes
 */
export function onModeChange(
  { bank }: Pick<Device, 'bank'>,
  changed: (enable: number, how: SetpointChange) => void,
): () => void {
  return onSetpointChange(bank, setpointGroupsOf(bank), 'dnp3', ({ enable }, how) => {
    const index = modeEnables.get(enable);
    if (index !== undefined) changed(index, how);
  });
}
