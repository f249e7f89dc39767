import type { ProxyMap, ProxyRegister } from '../../../../src/sunspec/modbus/proxy/schema.ts';
import { registersOf } from '../../../../src/sunspec/modbus/proxy/wire-form.ts';
import { ProxyUnit } from '../../../../src/sunspec/modbus/proxy/unit-bridge.ts';
import { createTestBank, words } from '../../../support/map.ts';
import type { TestBank } from '../../../support/map.ts';

export const by = { peer: '192.0.2.1:4711' };

/** A device with these registers in front; those without an address follow each other from 100 on. */
export function behind(
  registers: readonly (Omit<ProxyRegister, 'name' | 'address'> & { address?: number })[],
  map: Partial<ProxyMap> = {},
  test: TestBank = createTestBank(),
) {
  let next = 100;
  const placed = registers.map((register, i) => {
    const address = register.address ?? next;
    next = address + registersOf(register);
    return { name: `r${i}`, ...register, address };
  });
  const saturated: string[] = [];
  const unit = new ProxyUnit({ name: 'm', registers: placed, ...map }, { index: 0, bank: test.bank }, (name) => {
    saturated.push(name);
  });
  return {
    ...test,
    unit,
    saturated,
    read: (address: number, count = 1) =>
      Array.from({ length: count }, (_, i) => unit.read(address, count).readUInt16BE(2 * i)),
    write: (address: number, ...values: number[]) => {
      unit.write(address, words(...values), by);
    },
  };
}
