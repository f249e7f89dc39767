/**
 * Registers of a proxy map, bound to points or without one (constants, and registers that keep the written octets), and
 * the steps shared by all sorts. Registers without a point belong to the device behind the map and not to its bank: no
 * other protocol sees them.
 */
import { Buffer } from 'node:buffer';
import { SimError } from '../../../core/errors.ts';
import type { Bank } from '../../map/bank.ts';
import { nearest } from '../../map/codec.ts';
import type { PointSlot } from '../../map/layout.ts';
import type { AnyPointValue } from '../../map/types.ts';
import { outsideLimits } from './check.ts';
import type { ProxyRegister } from './schema.ts';
import type { Loss } from './watchdog.ts';
import type { NumberForm, WireForm } from './wire-form.ts';

/** Values set by a write, by point. */
export type Assignments = Map<PointSlot, AnyPointValue>;

/** Octets of registers that keep what is written, by the name of the register. */
export type KeptOctets = Map<string, Buffer>;

/** The device behind the map: its bank, and the octets kept by the map. */
export interface MappedDevice {
  readonly bank: Bank;
  /** registers written since the start or the last reset of the device */
  readonly kept: Pick<KeptOctets, 'get'>;
}

/** The pending values of one request. */
export interface WriteDraft {
  /** further points set along with others */
  readonly also: Assignments;
  /** points set by the request itself; they override `also` */
  readonly direct: Assignments;
  readonly kept: KeptOctets;
}

/** A register of the map in front of devices of one layout. */
export interface BoundRegister {
  readonly name: string;
  readonly address: number;
  readonly registers: number;
  readonly writable: boolean;
  /** true: its registers are written in the other order than they are read */
  readonly swapsWrites: boolean;
  /** settings applied when the register is not written in time; null: not a heartbeat */
  readonly loss: Loss | null;
  /** true: a write is accepted and changes nothing */
  readonly ignoresWrites: boolean;
  /**
   * Encodes the present value.
   * @returns `saturated` if it is beyond the range of the type
   * @throws SimError MAP_NOT_IMPLEMENTED if there is no value and the read is refused
   */
  read(device: MappedDevice, out: Buffer, at: number): 'fits' | 'saturated';
  /**
   * Adds the effects of a write of these octets to a draft.
   * @throws SimError MAP_READ_ONLY, MAP_NOT_IMPLEMENTED, MAP_BAD_VALUE
   */
  write(bytes: Buffer, at: number, draft: WriteDraft): void;
  /** The text or scaled number of these octets, independent of the device; null: no value. */
  decode(bytes: Buffer, at: number): number | string | null;
}

export type Binding = Pick<BoundRegister, 'read' | 'write'>;

export function bad(register: ProxyRegister, detail: string): SimError {
  return new SimError('MAP_BAD_VALUE', `${register.name}: ${detail}`, [{ name: register.name, detail }]);
}

export function lacks(register: ProxyRegister): SimError {
  return new SimError('MAP_NOT_IMPLEMENTED', `${register.name}: this device does not have it`, [
    { name: register.name, detail: 'not implemented' },
  ]);
}

export function readOnly(register: ProxyRegister): () => never {
  return () => {
    throw new SimError('MAP_READ_ONLY', `${register.name} is read only`, [
      { name: register.name, detail: 'read only' },
    ]);
  };
}

/** Encodes the nearest number of the form, limited to the range of the type; adding 0 removes the sign of a zero. */
export function put(
  form: NumberForm,
  value: number | null,
  out: Buffer,
  at: number,
  register: ProxyRegister,
): 'fits' | 'saturated' {
  const number = value === null ? null : form.whole ? nearest(value) + 0 : value + 0;
  const clamped = number === null ? null : Math.min(form.max, Math.max(form.min, number));
  if (!form.write(clamped, out, at)) throw lacks(register);
  return clamped === number ? 'fits' : 'saturated';
}

/** The number of a write. @throws SimError MAP_BAD_VALUE for "no value" */
export function take(form: NumberForm, bytes: Buffer, at: number, register: ProxyRegister): number {
  const number = form.read(bytes, at);
  if (number === null || number < form.min || number > form.max) throw bad(register, 'is no value of its type');
  return number;
}

/** @throws SimError MAP_BAD_VALUE if a value is outside of the limits of the register */
export function checkLimits(value: number, register: ProxyRegister): void {
  const outside = outsideLimits(register, value);
  if (outside !== null) throw bad(register, outside);
}

/** Encodes a value of the map file, which fits its type after the checks of the map. */
function putFileValue(
  form: WireForm,
  value: number | string | undefined,
  out: Buffer,
  at: number,
  register: ProxyRegister,
): 'fits' | 'saturated' {
  if (form.kind === 'number') return put(form, Number(value), out, at, register);
  form.write(typeof value === 'string' ? value : '', out, at);
  return 'fits';
}

/** A constant; a permitted write is acknowledged and changes nothing. */
export function constantBinding(form: WireForm, register: ProxyRegister): Binding {
  return {
    read: (_, out, at) => putFileValue(form, register.constant, out, at, register),
    write: () => undefined,
  };
}

/** A register that reads the octets written last, or its start value before any write. */
export function keptBinding(form: WireForm, register: ProxyRegister): Binding {
  const { name, keeps, values } = register;
  const listed = values && new Set(Object.keys(values).map(Number));
  return {
    read({ kept }, out, at) {
      const octets = kept.get(name);
      if (octets === undefined) return putFileValue(form, keeps, out, at, register);
      octets.copy(out, at);
      return 'fits';
    },
    write(bytes, at, { kept }) {
      if (form.kind === 'number') {
        const number = take(form, bytes, at, register);
        if (listed?.has(number) === false) throw bad(register, `${number} is not one of its values`);
        checkLimits(number, register);
      }
      kept.set(name, Buffer.from(bytes.subarray(at, at + 2 * form.registers)));
    },
  };
}
