import { SimError } from '../../src/core/errors.ts';
import type { WallClock } from '../../src/core/time/clock.ts';
import type { ModbusUnit, Requester } from '../../src/sunspec/modbus/server/unit.ts';

export const firstRegister = 100;
export const registerTotal = 200;
export const readOnlyRegister = 110;
/** accepts 0..10 */
export const rangedRegister = 120;
/** first of a point of two registers */
export const pairRegister = 130;
export const missingRegister = 140;
export const brokenRegister = 150;

/** Registers 100..299 in memory, each with its own address as the start value, some with a rule. */
export class MemoryUnit implements ModbusUnit {
  readonly bytes = Buffer.alloc(2 * registerTotal);
  readonly writes: { address: number; words: string; peer: string }[] = [];

  constructor() {
    for (let i = 0; i < registerTotal; i++) this.bytes.writeUInt16BE(firstRegister + i, 2 * i);
  }

  read(address: number, count: number): Buffer {
    this.#check(address, count);
    return this.bytes.subarray(2 * (address - firstRegister), 2 * (address - firstRegister + count));
  }

  write(address: number, words: Buffer, { peer }: Requester): void {
    const count = words.length / 2;
    this.#check(address, count);
    const covers = (register: number) => register >= address && register < address + count;
    if (covers(readOnlyRegister)) throw new SimError('MAP_READ_ONLY', 'read only');
    if (covers(missingRegister)) throw new SimError('MAP_NOT_IMPLEMENTED', 'not implemented');
    if (covers(pairRegister) !== covers(pairRegister + 1)) throw new SimError('MAP_PARTIAL_POINT', 'half a point');
    if (covers(rangedRegister) && words.readUInt16BE(2 * (rangedRegister - address)) > 10) {
      throw new SimError('MAP_BAD_VALUE', 'above 10');
    }
    words.copy(this.bytes, 2 * (address - firstRegister));
    this.writes.push({ address, words: words.toString('hex'), peer });
  }

  #check(address: number, count: number): void {
    if (address < firstRegister || address + count > firstRegister + registerTotal) {
      throw new SimError('MAP_ILLEGAL_ADDRESS', 'no such register');
    }
    if (address <= brokenRegister && address + count > brokenRegister) throw new TypeError('a fault of ours');
  }
}

/** A clock that a test moves. */
export class FakeWallClock implements WallClock {
  #ms = 1_000_000;

  nowMs(): number {
    return 1_767_225_600_000 + this.#ms;
  }

  monotonicMs(): number {
    return this.#ms;
  }

  advance(ms: number): void {
    this.#ms += ms;
  }
}
