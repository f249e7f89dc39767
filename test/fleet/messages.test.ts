import { expect } from 'chai';
import fc from 'fast-check';
import { FleetError } from '../../src/fleet/link.ts';
import { decodeTick, encodeTick } from '../../src/fleet/messages.ts';
import type { TickDevice, TickStampHead } from '../../src/fleet/messages.ts';
import { holds } from '../support/property.ts';

const stamp: TickStampHead = {
  session: 'Q3',
  epoch: 7,
  tick: 42,
  simUs: 63_000_000,
  wallMs: 1_700_000_000_000.5,
  first: false,
  tookMs: 3.5,
  unused: 0,
  lateSlots: 0,
  rateEffective: 1,
};

const device = (index: number, text = '{}'): TickDevice => ({
  index,
  powerW: index * 10.5,
  reactiveVar: -index,
  absorbW: 0,
  injectW: 9000,
  soc: index % 2 === 0 ? Number.NaN : 55.5,
  inverterState: 3,
  alarmSeverity: index % 4,
  json: Buffer.from(text),
});

const devicesOf = (count: number, text?: string) => Array.from({ length: count }, (_, i) => device(1000 + i, text));

/** The reason of a refusal; null: the message is read. Any other error fails the test. */
function refusalOf(message: Uint8Array): string | null {
  try {
    decodeTick(message);
    return null;
  } catch (error) {
    if (error instanceof FleetError && error.code === 'refused') return error.message;
    throw error;
  }
}

/** A message whose head is another one, or has other members. */
function withHead(message: Buffer, change: (head: Record<string, unknown>) => unknown): Buffer {
  const length = message.readUInt32LE(0);
  const head = JSON.parse(message.toString('utf8', 4, 4 + length)) as Record<string, unknown>;
  const changed = Buffer.from(JSON.stringify(change(head)));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(changed.length);
  return Buffer.concat([size, changed, message.subarray(4 + length)]);
}

const only = (messages: readonly Buffer[]): Buffer => {
  const [message] = messages;
  if (message === undefined || messages.length !== 1) throw new Error(`${messages.length} parts`);
  return message;
};

describe('fleet: tick messages', () => {
  it('carry head, columns and texts as they were', () => {
    const devices = [device(3, '{"a":"ü"}'), device(900_000, '{"b":2}')];
    const { head, json, ...columns } = decodeTick(only(encodeTick(stamp, devices)));
    expect(head).to.deep.equal({ v: 1, ...stamp, part: 0, parts: 1, count: 2 });
    expect(json.map(String)).to.deep.equal(['{"a":"ü"}', '{"b":2}']);
    for (const [name, column] of Object.entries(columns))
      expect([...column], name).to.deep.equal(devices.map((each) => each[name as 'soc']));
  });

  it('are read at any place of a buffer', () => {
    const message = only(encodeTick(stamp, devicesOf(3)));
    const shifted = Buffer.concat([Buffer.alloc(3), message]).subarray(3);
    expect(decodeTick(shifted)).to.deep.equal(decodeTick(message));
  });

  it('of no devices are one part', () => {
    expect(decodeTick(only(encodeTick(stamp, []))).head).to.include({ parts: 1, count: 0 });
  });

  it('are split between devices before 512 KiB', () => {
    const messages = encodeTick(stamp, devicesOf(1000, JSON.stringify('x'.repeat(756))));
    expect(messages).to.have.length(2);
    for (const { length } of messages) expect(length).to.be.at.most(512 * 1024);
    const parts = messages.map((message) => decodeTick(message));
    expect(parts.map(({ head: { part, parts: of } }) => [part, of])).to.deep.equal([
      [0, 2],
      [1, 2],
    ]);
    expect(parts.flatMap(({ index }) => [...index])).to.deep.equal(devicesOf(1000).map(({ index }) => index));
  });

  it('hold a device that is longer than a part alone', () => {
    const parts = encodeTick(stamp, devicesOf(3, JSON.stringify('x'.repeat(100))), 80).map((part) => decodeTick(part));
    expect(parts.map(({ head }) => head.count)).to.deep.equal([1, 1, 1]);
  });

  const message = only(encodeTick(stamp, devicesOf(3)));
  const refusals: Readonly<Record<string, readonly [Buffer, string]>> = {
    'an empty message': [Buffer.alloc(0), 'shorter'],
    'a head beyond the message': [Buffer.from([255, 0, 0, 0, 1]), 'head of 255 bytes'],
    'a head of another form': [withHead(message, () => [1]), '"v"'],
    'a missing member': [withHead(message, (head) => ({ ...head, session: undefined })), '"session"'],
    'another version': [withHead(message, (head) => ({ ...head, v: 2 })), '"v"'],
    'a part beyond its parts': [withHead(message, (head) => ({ ...head, part: 1 })), 'part 1 of 1'],
    'fewer devices than it holds': [withHead(message, (head) => ({ ...head, count: 2 })), 'add up'],
    'far more devices': [withHead(message, (head) => ({ ...head, count: 2 ** 40 })), 'too short'],
    'a byte too many': [Buffer.concat([message, Buffer.from('x')]), 'add up'],
    'a byte too few': [message.subarray(0, -1), 'add up'],
    'an index twice': [only(encodeTick(stamp, [device(5), device(5)])), 'device 5 behind 5'],
    'an unknown state': [only(encodeTick(stamp, [{ ...device(5), inverterState: 8 }])), '8 as inverter state'],
    'an unknown severity': [only(encodeTick(stamp, [{ ...device(5), alarmSeverity: 4 }])), '4 as severity'],
    'more than a message may have': [Buffer.alloc(1024 * 1024 + 1), 'longer than'],
  };
  for (const [name, [bytes, reason]] of Object.entries(refusals))
    it(`refuse ${name}`, () => {
      expect(refusalOf(bytes)).to.contain(reason);
    });

  it('are read or refused whatever their bytes are', () => {
    const place = fc.record({ at: fc.nat(message.length - 1), to: fc.nat(255) });
    holds(
      'tick messages of any bytes',
      [fc.array(place, { minLength: 1, maxLength: 4 }), fc.nat(message.length), fc.uint8Array({ maxLength: 64 })],
      (changes, cut, tail) => {
        const bytes = Buffer.concat([message.subarray(0, cut), tail, message.subarray(cut)]);
        for (const { at, to } of changes) bytes[at] = to;
        refusalOf(bytes);
        refusalOf(bytes.subarray(0, cut));
        refusalOf(tail);
      },
      { runs: 300 },
    );
  });
});
