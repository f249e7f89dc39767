/** Points of the registers as places that hold what a command asked for. */
import type { Device } from '../../contract/device.ts';
import { isFloat } from '../../sunspec/map/codec.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { slotOf } from '../consistency/registers.ts';
import { tidy } from '../consistency/model.ts';
import type { Found, Value } from './model.ts';

/** The value of a point x this = value of the command; default 1. */
const asIs = 1;

function inUnitOf(value: unknown, factor: number): Value {
  if (typeof value === 'number') return tidy(value * factor);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** The present value of a register. */
export function registerPlace(device: Device, slot: PointSlot, factor = asIs): Found {
  const { bank } = device;
  const held = device.heldValue(slot);
  return {
    place: `${slot.modelId}.${slot.path}`,
    holder: 'the register',
    value: inUnitOf(bank.value(slot), factor),
    ...(held !== undefined && { followed: inUnitOf(held, factor) }),
    writer: bank.provenance(slot) ?? null,
  };
}

/** Step of a point in its unit; undefined: it has none. */
export function stepOf({ def, sf }: PointSlot, factor = asIs): number | undefined {
  const isNumber = !isFloat(def.type) && def.symbols === undefined && def.type !== 'string';
  return isNumber ? Math.abs(Number(`1e${sf}`) * factor) : undefined;
}

/** The slot of `704.WMaxLimPct` that the device implements. */
export function slotNamed(device: Device, name: string): PointSlot | undefined {
  return slotOf(device.bank.layout, name);
}
