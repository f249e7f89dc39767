import { Buffer } from 'node:buffer';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe as inWords } from '../../../src/dnp3/stack/application/describe.ts';
import { parseRequest } from '../../../src/dnp3/stack/application/parse.ts';
import { pick } from '../../support/depth.ts';
import { hex, toHex } from '../rig/frames.ts';
import { Stack, spec } from '../rig/stack.ts';
import { holds } from '../../support/property.ts';
import { casesOf } from '../../support/random.ts';
import { cpuMs } from '../../support/spent.ts';

const requests = [
  'c0 01 3c 02 06 3c 03 06 3c 04 06 3c 01 06',
  'c1 01 1e 01 00 00 20',
  'c1 01 1e 00 01 18 02 2c 02 01 02 06 20 00 07 05',
  'c2 02 50 01 00 07 07 00',
  'c2 02 32 01 07 01 00 68 e5 cf 8b 01',
  'c3 03 0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00 00',
  'c4 04 0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00 00',
  'c5 05 29 01 28 01 00 57 00 f4 01 00 00 00 29 03 17 01 57 00 00 20 41 00',
  'c6 07 14 00 06',
  'c7 16 3c 02 06 1e 00 01 94 00 95 00',
  'c8 14 3c 02 06 3c 03 06',
  'c9 17',
  'ca 0d',
  'cb 02 22 02 28 01 00 94 00 05 00 00 00',
  'cc 00',
  'cd 01 00 fe 00 00 00',
].map(hex);

function rig(): Stack {
  const stack = new Stack({
    specs: [
      ...Array.from({ length: 30 }, (_, i) => spec('binaryInput', i * 3)),
      spec('binaryOutput', 17),
      spec('analogOutput', 87),
      ...Array.from({ length: 60 }, (_, i) => spec('analogInput', 140 + i, { class: 2 })),
      spec('counter', 0, { class: 0 }),
      spec('frozenCounter', 0, { class: 3 }),
    ],
    unsolicited: true,
  });
  for (let i = 0; i < 30; i += 1) stack.set('binaryInput', i * 3, 0);
  for (let i = 0; i < 60; i += 1) stack.set('analogInput', 140 + i, i);
  stack.set('counter', 0, 5);
  return stack;
}

/** An answer is a response of at most 2048 octets. */
function expectResponse(text: string): void {
  const octets = hex(text);
  expect(octets.length).to.be.within(4, 2048);
  expect([129, 130]).to.include(octets[1]);
}

/** Octets that live objects and buffers hold: all garbage is collected before. */
function heldOctets(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('an outstation under any octets', () => {
  it('answers each of many seeded mutations with a response or not at all, holds no more memory, and goes on', () => {
    const mutations = pick({ quick: 10_000, ci: 50_000 });
    const stack = rig();
    const random = casesOf('application mutations');
    const drawn = (below: number) => Math.floor(random.next() * below);
    let answers = 0;
    let heldBefore = 0;
    for (let n = 0; n < mutations; n += 1) {
      const request = Buffer.from(requests[drawn(requests.length)] ?? requests[0]!);
      for (let k = drawn(4); k > 0; k -= 1) request[drawn(request.length)] = drawn(256);
      const cut = drawn(5) === 0 ? request.subarray(0, drawn(request.length)) : request;
      stack.outstation.association(4)?.receive(cut, drawn(50) === 0 ? 'broadcast-confirm' : 'unicast');
      if (n % 7 === 0) stack.set('analogInput', 140 + drawn(60), drawn(1000));
      if (n % 1000 === 0) {
        stack.clock.pass(20_000);
        for (const text of stack.sent()) expectResponse(text);
        answers += 1;
        // by then the event buffers are full
        if (n === 0.4 * mutations) heldBefore = heldOctets();
      }
    }
    stack.sent();
    // each fragment that is held costs its octets and a Buffer of some 100; the rest of the process varies by a megabyte
    expect(heldOctets() - heldBefore).to.be.lessThan(80 * 0.6 * mutations);
    expect(answers).to.equal(mutations / 1000);
    const { events } = stack.outstation.association(4)!;
    // each of the kinds that make events here, in each class
    expect(events.size).to.be.at.most(5 * 3 * 500);
    expect(stack.clock.waiting).to.be.at.most(4);
    expect(stack.ask('c0 17').at(-1)).to.match(/^[ce]0 81 .* 34 02 07 01 /);
  });

  it('takes any octets at all', () => {
    const stack = rig();
    holds(
      'any octets in a fragment',
      fc.uint8Array({ maxLength: 300 }),
      (octets) => {
        const fragment = Buffer.from(octets);
        for (const text of stack.ask(toHex(fragment))) expectResponse(text);
        inWords(fragment);
      },
      { runs: 2000 },
    );
  });

  it('takes every qualifier with every group, in every function', () => {
    const stack = rig();
    const step = pick({ quick: 35, ci: 5 });
    for (const code of [1, 2, 3, 5, 7, 20, 22])
      for (let group = 0; group < 130; group += 1)
        for (let qualifier = (5 * group) % step; qualifier < 256; qualifier += step) {
          const octets = Buffer.from([0xc0, code, group, 1, qualifier, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
          for (const text of stack.ask(toHex(octets))) expectResponse(text);
        }
  });

  it('answers every function code, the silent ones not', () => {
    for (let code = 1; code < 256; code += 1) {
      const answers = rig().ask(`c1 ${code.toString(16).padStart(2, '0')}`);
      const isSilent = [6, 8, 10, 12, 33].includes(code) || code >= 129;
      expect(answers.length, `function ${code}`).to.equal(isSilent ? 0 : 1);
    }
  });

  it('executes nothing of a request cut at any octet', () => {
    const control = requests[7]!;
    for (let length = 2; length < control.length; length += 1) {
      const stack = rig();
      stack.ask(toHex(control.subarray(0, length)));
      // the first object alone is a whole request
      expect(stack.done.length, `${length} octets`).to.equal(length === 14 ? 1 : 0);
    }
  });

  it('spans of 65,536 points and floods of headers are cheap', () => {
    const stack = rig();
    const begin = cpuMs();
    const header = '1e 00 01 00 00 ff ff';
    for (let n = 0; n < 200; n += 1) stack.ask(`c${(n % 16).toString(16)} 01 ${Array(60).fill(header).join(' ')}`);
    // no timing of the product: a span that were gone through point by point would take minutes
    expect(cpuMs() - begin).to.be.lessThan(10_000);
    expect(parseRequest(hex(`c0 01 ${Array(65).fill('3c 02 06').join(' ')}`))?.refusal).to.equal(0x0400);
  });
});
