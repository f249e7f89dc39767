/**
 * Registers of a proxy map without a point: constants, and registers that keep the written octets. These belong to the
 * device behind the map and not to its bank: no other protocol sees them.
 */
import { Buffer } from 'node:buffer';
import { bad, checkLimits, put, take } from './register-bridge.ts';
import type { Binding } from './register-bridge.ts';
import type { ProxyRegister } from './schema.ts';
import type { WireForm } from './wire-form.ts';

/** Encodes a value of the map file, which fits its type after the checks of the map. */
function show(
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
    read: (_, out, at) => show(form, register.constant, out, at, register),
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
      if (octets === undefined) return show(form, keeps, out, at, register);
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
