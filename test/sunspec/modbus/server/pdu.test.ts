import { expect } from 'chai';
import fc from 'fast-check';
import { answer, maxPdu } from '../../../../src/sunspec/modbus/server/pdu.ts';
import type { Asker } from '../../../../src/sunspec/modbus/server/pdu.ts';
import { RequestReport } from '../../../../src/sunspec/modbus/server/report.ts';
import type { ModbusUnit } from '../../../../src/sunspec/modbus/server/unit.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { holds } from '../../../support/property.ts';
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
  16,
  ...word(address),
  ...word(count),
  (2 * count) & 0xff,
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

describe('Modbus requests of any octets', () => {
  /** The answer that the application protocol prescribes: the echo of a write, the registers of a read, an exception. */
  function expectAnswer(request: Buffer, reply: Buffer): void {
    const [code, second] = [request[0] ?? 0, reply[1] ?? 0];
    if (reply[0] === (code | 0x80)) {
      expect(reply).to.have.length(2);
      expect(second).to.be.oneOf([1, 2, 3]);
      return;
    }
    expect(reply[0]).to.equal(code);
    if (code === 6 || code === 16) expect(reply).to.deep.equal(request.subarray(0, 5));
    else expect([reply.length, second]).to.deep.equal([2 + second, 2 * request.readUInt16BE(3)]);
  }

  const octet = fc.nat(0xff);
  const anyRequest = fc.oneof(
    fc.array(octet, { minLength: 1, maxLength: maxPdu }),
    fc.tuple(fc.constantFrom(3, 4, 6, 16), fc.array(octet, { maxLength: 8 })).map(([code, rest]) => [code, ...rest]),
    fc.tuple(fc.nat(0xffff), fc.nat(130)).map(([address, count]) => write(address, count)),
    fc.tuple(fc.nat(0xffff), fc.nat(130)).map(([address, count]) => read(address, count)),
  );

  it('get one answer of the right form each, and never touch what stands behind it', () => {
    holds(
      'any octets get one answer',
      anyRequest,
      (octets) => {
        const request = Buffer.from(octets);
        const out = Buffer.alloc(3 * maxPdu, 0xa5);
        const pdu = { buffer: request, pduStart: 0, pduEnd: request.length, unitId: 1 };
        const end = answer(pdu, everyRegister, asker, report, out, maxPdu);
        expect(end).to.be.within(maxPdu + 2, 2 * maxPdu);
        expectAnswer(request, out.subarray(maxPdu, end));
        const untouched = Buffer.concat([out.subarray(0, maxPdu), out.subarray(end)]);
        expect(untouched.every((value) => value === 0xa5)).to.equal(true);
      },
      { runs: 1000 },
    );
  });
});
