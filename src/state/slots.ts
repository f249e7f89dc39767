/** Names of slots: the area of the simulator and the device that they belong to. */
import { slotName } from '../core/store.ts';
import type { JsonValue } from '../core/store.ts';
import type { Contents } from './contents.ts';

/** Slots of protocols are named by identities; this slot says which device has which. */
export const ownersSlot = slotName('state', 'owners');

/** The register maps under which devices are kept, of all devices. */
export const layoutsSlot = slotName('plant', 'shared', 'layouts');

/** Devices that clients have added and removed. */
export const changesSlot = slotName('plant', 'shared', 'changes');

/** Settings that requests have changed. */
export const settingsSlot = slotName('plant', 'shared', 'settings');

/** Beginnings of slot names, whole parts, that belong to one device. */
export interface SlotOwner {
  readonly device: number;
  readonly slots: readonly string[];
  /** true: the device was removed, and its slots are to be emptied; absent: it was not */
  readonly hasLeft?: true;
}

/** The part of the simulator that a slot belongs to: `devices`, `site`, `ocpp`. */
export function areaOf(name: string): string {
  const [first = '', second = '', third = ''] = name.split('/');
  if (first !== 'plant') return first;
  if (second === 'device') return 'devices';
  return second === 'shared' && third !== '' ? third : first;
}

/** True for names with the index of the device; outstations have its name and profile behind a space. */
const isByIndex = (name: string, device: number): boolean =>
  name === `plant/device/${device}` ||
  [`plant/device/${device}/`, `dnp3/${device}/`, `dnp3/${device}%20`].some((start) => name.startsWith(start));

function ownerOf(value: JsonValue): SlotOwner | null {
  if (typeof value !== 'object' || value === null || !('device' in value)) return null;
  const { device, slots } = value;
  if (typeof device !== 'number' || !Array.isArray(slots)) return null;
  return {
    device,
    slots: (slots as readonly JsonValue[]).filter((each) => typeof each === 'string'),
    ...(value['hasLeft'] === true && { hasLeft: true }),
  };
}

/** The table of the devices in a folder; entries that do not fit are left out. */
export function ownersOf(contents: Contents): readonly SlotOwner[] {
  return ownersIn((contents.get(ownersSlot) ?? []).map((text) => JSON.parse(text) as JsonValue));
}

/** The table in the values of its slot; entries that do not fit are left out. */
export const ownersIn = (values: readonly JsonValue[]): readonly SlotOwner[] =>
  values.flatMap((value) => ownerOf(value) ?? []);

/** Contents with another table of the devices. */
export function withOwners(contents: Contents, owners: readonly SlotOwner[]): Contents {
  const changed = new Map(contents);
  if (owners.length === 0) changed.delete(ownersSlot);
  else
    changed.set(
      ownersSlot,
      owners.map((owner) => JSON.stringify(owner)),
    );
  return changed;
}

/** Tells which slots of a folder belong to a device. */
export function slotsOfDevice(device: number, owners: readonly SlotOwner[]): (name: string) => boolean {
  const places = owners.flatMap((owner) => (owner.device === device ? owner.slots : []));
  return (name) => isByIndex(name, device) || places.some((place) => name.startsWith(`${place}/`));
}

/** Indexes of the devices that a folder has state of, ascending. */
export function devicesIn(contents: Contents): readonly number[] {
  const indexes = new Set(ownersOf(contents).map(({ device }) => device));
  for (const name of contents.keys()) {
    const index = /^(?:plant\/device|dnp3)\/(\d+)(?:\/|%20|$)/.exec(name)?.[1];
    if (index !== undefined) indexes.add(Number(index));
  }
  return [...indexes].sort((a, b) => a - b);
}
