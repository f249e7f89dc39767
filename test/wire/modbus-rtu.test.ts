import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { crc16 } from '../../src/core/wire/modbus.ts';
import { serve } from '../../src/sunspec/modbus/server/exchange.ts';
import { maxAdu } from '../../src/sunspec/modbus/framing/framing.ts';
import { RtuFraming } from '../../src/sunspec/modbus/framing/rtu.ts';
import { createModbusContext } from '../../src/sunspec/modbus/server/server.ts';
import { MemoryUnit } from '../support/modbus-unit.ts';
import { holds } from '../support/property.ts';
import { rtu, rtuRead, rtuWrite } from '../support/rtu.ts';

interface Case {
  clause: string;
  name: string;
  in: string;
  out: string;
  writes?: [number, string][];
}

const pauseMs = 4;
const gapMs = 34;

/** One end of a line on a clock that the test moves; unit 1 answers. */
class Line {
  readonly unit = new MemoryUnit();
  readonly broadcastUnit = Object.assign(new MemoryUnit(), { mute: true as const });
  readonly context = createModbusContext();
  answers = '';
  unreadable = 0;
  readonly #framing = new RtuFraming({
    pauseMs,
    gapMs,
    isOwn: (address) => address === 1,
    onUnreadable: () => {
      this.unreadable += 1;
    },
  });
  readonly #out = Buffer.alloc(maxAdu);
  #nowMs = 1000;
  #lastMs = 0;

  /** Octets without a gap. */
  feed(bytes: Buffer | string): this {
    this.#lastMs = this.#nowMs;
    this.#framing.push(typeof bytes === 'string' ? Buffer.from(bytes, 'hex') : bytes, this.#nowMs);
    return this.#pump();
  }

  /** Silence for a time. */
  rest(ms = gapMs + 1): this {
    this.#nowMs += ms;
    for (
      let awaited = this.#framing.awaitedSilenceMs;
      awaited > 0 && this.#nowMs - this.#lastMs >= awaited;
      awaited = this.#framing.awaitedSilenceMs
    ) {
      this.#framing.silence();
      this.#pump();
    }
    return this;
  }

  get heldLength(): number {
    return this.#framing.heldLength;
  }

  #pump(): this {
    const service = {
      context: this.context,
      deviceIndex: undefined,
      units: (address: number) => (address === 0 ? this.broadcastUnit : address === 1 ? this.unit : undefined),
    };
    const asker = { peer: 'line', internalError: () => undefined };
    while (this.#framing.next() === 'frame') {
      this.answers += this.#out.toString('hex', 0, serve(this.#framing, service, asker, this.#out, 0));
    }
    return this;
  }
}

const hex = (bytes: Buffer) => bytes.toString('hex');
const read = rtuRead(1, 100, 2);
const readAnswer = hex(rtu(1, '0304' + '00640065'));
const write = rtuWrite(1, 120, 7);

describe('Modbus over serial line 1.02, 2.5.1: RTU frames', () => {
  it('CRC-16 of frames in print', () => {
    const published = ['02074112', '1103006b00037687', '01030000000ac5cd', '010402ffffb880', '110300000002c69b'];
    for (const frame of published) {
      const bytes = Buffer.from(frame, 'hex');
      expect(crc16(bytes, 0, bytes.length - 2), frame).to.equal(bytes.readUInt16LE(bytes.length - 2));
      expect(crc16(bytes, 0, bytes.length), frame).to.equal(0);
    }
    expect(crc16(Buffer.from('123456789'), 0, 9)).to.equal(0x4b37);
  });

  describe('every request gets the answer that it gets on TCP', () => {
    const text = readFileSync(new URL('../../fixtures/wire/modbus-pdu.json', import.meta.url), 'utf8');
    for (const row of (JSON.parse(text) as { cases: Case[] }).cases) {
      // functions from 128 on are answers on a line, and never a request
      const isAnswer = parseInt(row.in.slice(14, 16), 16) >= 0x80;
      it(`${row.clause}: ${row.name}`, () => {
        const line = new Line();
        line.feed(rtu(1, row.in.slice(14))).rest();
        expect(line.answers).to.equal(isAnswer ? '' : hex(rtu(1, row.out.slice(14))));
        expect(line.unit.writes.map(({ address, words }) => [address, words])).to.deep.equal(row.writes ?? []);
        // and the line goes on
        line.answers = '';
        expect(line.feed(read).answers).to.equal(readAnswer);
      });
    }
  });

  describe('where a frame ends', () => {
    it('by its length: the answer needs no silence', () => {
      expect(new Line().feed(read).answers).to.equal(readAnswer);
    });

    it('a frame cut at any octet, with a pause of a driver between', () => {
      for (const frame of [read, write, rtu(1, '10' + '0082' + '0002' + '04' + '00010002')]) {
        const whole = new Line().feed(frame).answers;
        for (let at = 1; at < frame.length; at++) {
          for (const ms of [0, pauseMs - 1, pauseMs, gapMs - 1]) {
            const line = new Line().feed(frame.subarray(0, at)).rest(ms).feed(frame.subarray(at));
            expect([line.answers, line.unreadable], `${at} octets, ${ms} ms`).to.deep.equal([whole, 0]);
          }
        }
      }
    });

    it('octet by octet', () => {
      const line = new Line();
      for (const octet of Buffer.concat([read, write, read])) line.feed(Buffer.of(octet)).rest(1);
      expect(line.answers).to.equal(readAnswer + hex(write) + readAnswer);
    });

    it('frames without a gap: each is answered, in order', () => {
      expect(new Line().feed(Buffer.concat([read, write, read])).answers).to.equal(
        readAnswer + hex(write) + readAnswer,
      );
    });

    it('an unknown function ends at a pause', () => {
      const line = new Line().feed(rtu(1, '32aabbcc'));
      expect(line.answers).to.equal('');
      expect(line.rest(pauseMs).answers).to.equal(hex(rtu(1, 'b201')));
    });

    it('an unknown function in two bursts', () => {
      const frame = rtu(1, '32' + 'aa'.repeat(40));
      const line = new Line().feed(frame.subarray(0, 20)).rest(16).feed(frame.subarray(20));
      expect(line.rest().answers).to.equal(hex(rtu(1, 'b201')));
    });

    it('a request with an octet too many, or one too few, is refused when the line falls silent', () => {
      for (const pdu of ['030064000200', '0300640002' + '0000', '03006400', '06007800', '100082', '1000820002']) {
        const line = new Line().feed(rtu(1, pdu)).rest();
        expect(line.answers, pdu).to.equal(hex(rtu(1, `${(parseInt(pdu.slice(0, 2), 16) | 0x80).toString(16)}03`)));
        expect(line.unit.writes).to.deep.equal([]);
      }
    });

    it('an unfinished frame is dropped, and the next one is served', () => {
      for (let at = 1; at < write.length; at++) {
        const line = new Line().feed(write.subarray(0, at)).rest().feed(read);
        expect([line.answers, line.unit.writes.length], `${at} octets`).to.deep.equal([readAnswer, 0]);
      }
    });

    it('the next request is served before the unfinished one is dropped', () => {
      const line = new Line().feed(read.subarray(0, 3)).rest(pauseMs).feed(read);
      expect(line.answers).to.equal(readAnswer);
    });
  });

  describe('frames for other devices, and noise', () => {
    const others = [
      rtuRead(5, 100, 4),
      rtu(5, '0308' + '0001000200030004'),
      rtu(5, '8302'),
      rtuWrite(5, 1, 2),
      rtu(5, '1000010002' + '04' + '00010002'),
      rtu(5, '1000010002'),
      rtu(5, '2b0e0100'),
      rtu(5, '0fffff0008' + '01' + 'ff'),
      rtu(5, '01010a'),
      rtu(5, '11'),
      rtu(5, '1703aabbcc'),
    ];

    it('a bad CRC: nothing happens, and no answer', () => {
      for (let bit = 0; bit < 8 * write.length; bit++) {
        const damaged = Buffer.from(write);
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const line = new Line().feed(damaged).rest();
        expect([line.answers, line.unit.writes.length, line.broadcastUnit.writes.length], `bit ${bit}`).to.deep.equal([
          '',
          0,
          0,
        ]);
        expect(line.feed(read).answers).to.equal(readAnswer);
      }
    });

    it('requests to others and their answers, each followed at once by a request to this device', () => {
      for (const other of others) {
        const line = new Line().feed(Buffer.concat([other, read]));
        expect([line.answers, line.unit.writes.length], hex(other)).to.deep.equal([readAnswer, 0]);
      }
      expect(new Line().feed(Buffer.concat([...others, read])).answers).to.equal(readAnswer);
    });

    it('an answer of another device that contains the octets of a request to this one', () => {
      const inside = hex(rtuWrite(1, 120, 7));
      const line = new Line()
        .feed(rtu(5, `03${(inside.length / 2).toString(16).padStart(2, '0')}${inside}`))
        .feed(read);
      expect([line.answers, line.unit.writes.length]).to.deep.equal([readAnswer, 0]);
    });

    it('a request inside of noise is no request', () => {
      const line = new Line().feed(Buffer.concat([Buffer.from('1142', 'hex'), write])).rest();
      expect([line.answers, line.unit.writes.length, line.unreadable]).to.deep.equal(['', 0, 1]);
      expect(line.feed(read).answers).to.equal(readAnswer);
    });

    it('an unknown function of another device hides no request after a pause', () => {
      const line = new Line().feed(rtu(5, '41aabb')).rest(pauseMs).feed(read);
      expect(line.rest().answers).to.equal(readAnswer);
    });

    it('endless noise takes at most one frame of memory', () => {
      const line = new Line();
      for (let i = 0; i < 2000; i++) {
        line.feed(Buffer.alloc(40, i)).rest(1);
        expect(line.heldLength).to.be.at.most(256 + 40);
      }
      expect(line.rest().feed(read).answers).to.equal(readAnswer);
    });
  });

  it('2.2: a broadcast is executed and never answered', () => {
    const line = new Line()
      .feed(Buffer.concat([rtuWrite(0, 120, 5), rtuRead(0, 100, 2)]))
      .feed(rtu(0, '32aa'))
      .rest();
    expect(line.answers).to.equal('');
    expect(line.broadcastUnit.writes.map(({ address, words }) => [address, words])).to.deep.equal([[120, '0005']]);
    expect(line.feed(read).answers).to.equal(readAnswer);
  });

  describe('random noise on the line', () => {
    const noise = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((octets) => Buffer.from(octets));
    const request = fc
      .record({ register: fc.integer({ min: 160, max: 200 }), value: fc.nat(0xffff) })
      .map(({ register, value }) => rtuWrite(1, register, value));
    const silence = fc.constantFrom(pauseMs, 16, gapMs + 1);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('noise' as const), bytes: noise, silence }),
      fc.record({ kind: fc.constant('request' as const), bytes: request, silence: fc.constant(gapMs + 1) }),
      fc.record({
        kind: fc.constant('other' as const),
        bytes: fc.nat(0xffff).map((value) => rtuWrite(7, 160, value)),
        silence,
      }),
    );

    it('noise never writes, and a request behind a gap is never lost', () => {
      holds(
        'noise never writes',
        [fc.array(step, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })],
        (steps, cuts) => {
          const line = new Line();
          for (const { bytes, silence: ms } of steps) {
            for (let at = 0, i = 0; at < bytes.length; i++) {
              const size = cuts[i % cuts.length] ?? 1;
              line.feed(bytes.subarray(at, at + size)).rest(1);
              at += size;
            }
            line.rest(ms);
          }
          line.rest();
          const expected = steps.filter(({ kind }) => kind === 'request').map(({ bytes }) => hex(bytes));
          expect(
            line.unit.writes.map(({ address, words }) => hex(rtuWrite(1, address, parseInt(words, 16)))),
          ).to.deep.equal(expected);
          expect(line.answers).to.equal(expected.join(''));
        },
        { runs: 500 },
      );
    });

    it('noise right before a request may cost it, and nothing else', () => {
      holds('noise right before a request', [noise, request], (before, wanted) => {
        const line = new Line().feed(Buffer.concat([before, wanted])).rest();
        expect(line.unit.writes.length).to.be.at.most(1);
        expect(line.answers).to.be.oneOf(['', hex(wanted)]);
        expect(line.feed(read).answers.slice(-readAnswer.length)).to.equal(readAnswer);
      });
    });
  });
});
