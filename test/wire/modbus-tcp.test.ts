import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { serve } from '../../src/sunspec/modbus/server/exchange.ts';
import { maxAdu, MbapFraming } from '../../src/sunspec/modbus/framing/framing.ts';
import { createModbusContext, createModbusTcpServer } from '../../src/sunspec/modbus/server/server.ts';
import type { ModbusTcpServer } from '../../src/sunspec/modbus/server/server.ts';
import { RawClient, readRequest } from '../support/modbus-client.ts';
import { MemoryUnit } from '../support/modbus-unit.ts';
import { holds } from '../support/property.ts';

interface Case {
  clause: string;
  name: string;
  in: string;
  out: string;
  closes?: boolean;
  writes?: [number, string][];
  internal?: boolean;
}

function cases(name: string): Case[] {
  const text = readFileSync(new URL(`../../fixtures/wire/${name}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: Case[] }).cases;
}

const probe = readRequest(0xabcd, 100, 1);
const probeAnswer = 'abcd0000000501' + '03020064';

describe('Modbus TCP on the wire', () => {
  let unit: MemoryUnit;
  let server: ModbusTcpServer;
  let client: RawClient;
  const context = createModbusContext();

  beforeEach(async () => {
    unit = new MemoryUnit();
    server = createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      context,
      units: (unitId) => ([0, 1, 255].includes(unitId) ? unit : undefined),
    });
    client = await RawClient.open(await server.listen());
  });

  afterEach(async () => {
    client.destroy();
    await server.close();
  });

  for (const fixture of ['modbus-pdu', 'modbus-framing']) {
    for (const { clause, name, closes, writes, internal, ...hex } of cases(fixture)) {
      it(`${clause}: ${name}`, async () => {
        const before = context.counters.internalErrors;
        client.send(hex.in);
        if (closes) {
          expect((await client.untilClosed()).toString('hex')).to.equal(hex.out);
        } else {
          // the probe shows that there was neither less nor more than the answers expected
          client.send(probe);
          const size = hex.out.length / 2 + probeAnswer.length / 2;
          expect((await client.take(size)).toString('hex')).to.equal(hex.out + probeAnswer);
        }
        if (fixture === 'modbus-pdu') {
          expect(unit.writes.map(({ address, words }) => [address, words])).to.deep.equal(writes ?? []);
        }
        expect(context.counters.internalErrors - before).to.equal(internal ? 1 : 0);
      });
    }
  }
});

/** All answers to a stream that arrives in these pieces, without a socket. */
function answersTo(pieces: readonly Buffer[]): { answers: string; broken: boolean; longestKept: number } {
  const unit = new MemoryUnit();
  const splitter = new MbapFraming();
  const asker = { peer: 'test', internalError: () => undefined };
  const service = { context: createModbusContext(), deviceIndex: undefined, units: () => unit };
  const out = Buffer.alloc(maxAdu);
  let answers = '';
  let longestKept = 0;
  for (const piece of pieces) {
    splitter.push(piece);
    let result = splitter.next();
    for (; result === 'frame'; result = splitter.next()) {
      answers += out.toString('hex', 0, serve(splitter, service, asker, out, 0));
    }
    if (result === 'broken') return { answers, broken: true, longestKept };
    longestKept = Math.max(longestKept, splitter.heldLength);
  }
  return { answers, broken: false, longestKept };
}

function cut(stream: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at.map((place) => place % (stream.length + 1)))].sort((a, b) => a - b);
  return [...places, stream.length].map((end, i) => stream.subarray(i === 0 ? 0 : places[i - 1], end));
}

describe('Modbus Messaging on TCP/IP 1.0b 3.1.3: the length field alone is the frame boundary', () => {
  const requests = fc
    .array(
      fc.oneof(
        fc.constantFrom(...cases('modbus-pdu').map((row) => row.in)),
        fc
          .tuple(fc.nat(0xffff), fc.nat(255), fc.uint8Array({ minLength: 1, maxLength: 253 }))
          .map(([id, unitId, pdu]) => {
            const header = Buffer.alloc(7);
            header.writeUInt16BE(id, 0);
            header.writeUInt16BE(pdu.length + 1, 4);
            header[6] = unitId;
            return Buffer.concat([header, pdu]).toString('hex');
          }),
      ),
      { maxLength: 12 },
    )
    .map((list) => Buffer.from(list.join(''), 'hex'));

  it('any cut gives the same answers as none', () => {
    holds(
      'requests cut anywhere',
      [requests, fc.array(fc.nat(4000), { maxLength: 30 })],
      (stream, at) => {
        const whole = answersTo([stream]);
        const pieces = answersTo(cut(stream, at));
        expect(pieces.answers).to.equal(whole.answers);
        expect(pieces.broken).to.equal(false);
        expect(pieces.longestKept).to.be.below(maxAdu);
      },
      { runs: 300 },
    );
  });

  it('any octets, however cut, end in the same state', () => {
    holds(
      'any octets, however cut',
      [fc.uint8Array({ maxLength: 600 }), fc.array(fc.nat(600), { maxLength: 20 })],
      (octets, at) => {
        const stream = Buffer.from(octets);
        const whole = answersTo([stream]);
        const pieces = answersTo(cut(stream, at));
        expect([pieces.answers, pieces.broken]).to.deep.equal([whole.answers, whole.broken]);
      },
    );
  });

  it('octet by octet over a socket', async () => {
    const unit = new MemoryUnit();
    const server = createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      units: () => unit,
      context: createModbusContext(),
    });
    const client = await RawClient.open(await server.listen());
    const rows = cases('modbus-pdu').slice(0, 30);
    for (const octet of Buffer.from(rows.map((row) => row.in).join(''), 'hex')) client.send(Buffer.of(octet));
    const expected = rows.map((row) => row.out).join('');
    expect((await client.take(expected.length / 2)).toString('hex')).to.equal(expected);
    client.destroy();
    await server.close();
  });
});
