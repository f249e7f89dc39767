/** What a register of a proxy map does once it is bound, and the steps that all sorts of registers share. */
import type { Buffer } from 'node:buffer';
import { SimError } from '../../../core/errors.ts';
import type { Bank } from '../../map/bank.ts';
import { nearest } from '../../map/codec.ts';
import type { PointSlot } from '../../map/layout.ts';
import type { AnyPointValue } from '../../map/types.ts';
import { outsideLimits } from './check.ts';
import type { ProxyRegister } from './schema.ts';
import type { NumberForm } from './wire-form.ts';

/** The values that a write sets, by point. */
export type Assignments = Map<PointSlot, AnyPointValue>;

/** Octets of the registers that stand for no point and keep what is written, by the name of the register. */
export type KeptOctets = Map<string, Buffer>;

/** The device behind the map: its bank, and what the map itself keeps for it. */
export interface Behind {
  readonly bank: Bank;
  /** registers that have been written since the start, or the last reset of the device */
  readonly kept: Pick<KeptOctets, 'get'>;
}

/** All that one request sets; nothing of it is in force yet. */
export interface WriteDraft {
  /** points that go along with others */
  readonly also: Assignments;
  /** points that the request itself sets: they stand over those that go along */
  readonly own: Assignments;
  readonly kept: KeptOctets;
}

/** A register of the map in front of devices of one layout. */
export interface BoundRegister {
  readonly name: string;
  readonly address: number;
  readonly registers: number;
  readonly writable: boolean;
  /** it can be written, and stays as it is */
  readonly ignoresWrites: boolean;
  /**
   * Encodes the present value.
   * @returns `saturated` where it is beyond the range of the type
   * @throws SimError MAP_NOT_IMPLEMENTED where there is none and reads of it are refused
   */
  read(device: Behind, out: Buffer, at: number): 'fits' | 'saturated';
  /**
   * Adds to a draft what a write of these octets sets.
   * @throws SimError MAP_READ_ONLY, MAP_NOT_IMPLEMENTED, MAP_BAD_VALUE
   */
  write(bytes: Buffer, at: number, draft: WriteDraft): void;
  /** The text or scaled number that these octets mean, whatever the device says; null: no value. */
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

/** The nearest number of the form, limited to the range of the type; adding 0 removes the sign of a zero. */
export function put(
  form: NumberForm,
  value: number | null,
  out: Buffer,
  at: number,
  register: ProxyRegister,
): 'fits' | 'saturated' {
  const number = value === null ? null : form.whole ? nearest(value) + 0 : value + 0;
  const held = number === null ? null : Math.min(form.max, Math.max(form.min, number));
  if (!form.write(held, out, at)) throw lacks(register);
  return held === number ? 'fits' : 'saturated';
}

/** The number of a write. @throws SimError MAP_BAD_VALUE for one that means "no value" */
export function take(form: NumberForm, bytes: Buffer, at: number, register: ProxyRegister): number {
  const number = form.read(bytes, at);
  if (number === null || number < form.min || number > form.max) throw bad(register, 'is no value of its type');
  return number;
}

/** @throws SimError MAP_BAD_VALUE for a value outside of the limits of the register */
export function checkLimits(value: number, register: ProxyRegister): void {
  const outside = outsideLimits(register, value);
  if (outside !== null) throw bad(register, outside);
}
