/** Settings with two faces, read and written by the names of their points. */
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import { named } from './map.ts';
import { byTest } from './rig.ts';
import type { Rig } from './rig.ts';

/** A map with both generations of models. */
export const both = { map: { layout: 'both' } } as const;

/** Value of a point of the first device. */
export const pointOf = (rig: Rig, name: string) => rig.device.bank.value(named(rig.device.bank.layout, name));
/** Writes points by name, in one write. */
export function write(rig: Rig, values: Readonly<Record<string, AnyPointValue>>, by = byTest): void {
  const { bank } = rig.device;
  bank.assign(
    by,
    Object.entries(values).map(([name, value]) => ({ slot: named(bank.layout, name), value })),
  );
}
export const shown = (rig: Rig, ...names: readonly string[]) => names.map((name) => pointOf(rig, name));
