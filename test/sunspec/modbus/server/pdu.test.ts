import { expect } from 'chai';
import { answer, maxPdu } from '../../../../src/sunspec/modbus/server/pdu.ts';
import type { Asker } from '../../../../src/sunspec/modbus/server/pdu.ts';
import { RequestReport } from '../../../../src/sunspec/modbus/server/report.ts';
import type { ModbusUnit } from '../../../../src/sunspec/modbus/server/unit.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';

/** A unit that has every register. */
const everyRegister: ModbusUnit = {
  read: (_address, count) => Buffer.alloc(2 * count),
  write: () => undefined,
};

const wall = new HandWall();
const report = new RequestReport(silentLogger, wall, new HandTimers(wall).later);
const asker: Asker = {
  peer: 'test',
  internalError(error) {
    throw error;
  },
};

const word = (value: number) => [value >> 8, value & 0xff];
const read = (address: number, count: number) => [3, ...word(address), ...word(count)];
const write = (address: number, count: number) => [
  ...[16, ...word(address), ...word(count), (2 * count) & 0xff],
  ...Array.from({ length: 2 * count }, () => 0),
];

/** The exception that a request is answered with; 0: it is carried out. */
function exceptionOf(octets: readonly number[]): number {
  const buffer = Buffer.from(octets);
  const out = Buffer.alloc(maxPdu);
  answer({ buffer, pduStart: 0, pduEnd: buffer.length, unitId: 1 }, everyRegister, asker, report, out, 0);
  return ((out[0] ?? 0) & 0x80) === 0 ? 0 : (out[1] ?? 0);
}

describe('Modbus requests at their bounds (Modbus application protocol 1.1b3)', () => {
  it('6.3: a read has 1 to 125 registers', () => {
    expect([0, 1, 125, 126, 0xffff].map((count) => exceptionOf(read(0, count)))).to.deep.equal([3, 0, 0, 3, 3]);
  });

  it('6.12: a write has 1 to 123 registers', () => {
    expect([0, 1, 123, 124].map((count) => exceptionOf(write(0, count)))).to.deep.equal([3, 0, 0, 3]);
  });

  it('6.3, 6.12: the last register is 65535', () => {
    for (const request of [read, write]) {
      expect(exceptionOf(request(65_535, 1))).to.equal(0);
      expect(exceptionOf(request(65_535, 2))).to.equal(2);
      expect(exceptionOf(request(65_436, 100))).to.equal(0);
      expect(exceptionOf(request(65_437, 100))).to.equal(2);
    }
  });

  it('6.3: the quantity is judged before the address', () => {
    expect(exceptionOf(read(65_535, 126))).to.equal(3);
    expect(exceptionOf(write(65_535, 124))).to.equal(3);
  });
});
