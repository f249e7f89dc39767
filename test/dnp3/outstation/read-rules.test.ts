/** Which objects a READ gets, header by header: the cases that a mutation of the source would change. */
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

const clearRestart = '02 50 01 00 07 07 00';
const writeTime = '02 32 01 07 01 00 68 e5 cf 8b 01';

/** Points of all kinds but frozen counters, some packed, one with a wide index; the restart is cleared and the time written. */
function rig(fragmentBytes = 2048): Stack {
  const stack = new Stack({
    specs: [
      ...[0, 1, 2].map((index) => spec('binaryInput', index, { staticVariation: 1 })),
      spec('binaryInput', 9),
      ...[0, 1].map((index) => spec('doubleBit', index, { class: 2 })),
      spec('binaryOutput', 3, { inClass0: false }),
      spec('binaryOutput', 4),
      spec('counter', 0),
      ...[5, 6].map((index) => spec('analogInput', index, { class: 3 })),
      spec('analogInput', 7, { class: 3, staticVariation: 2 }),
      spec('analogInput', 300, { class: 3 }),
      spec('octetString', 0, { class: 0 }),
    ],
    limits: { fragmentBytes },
  });
  for (const index of [0, 1, 2, 9]) stack.set('binaryInput', index, 1);
  for (const index of [0, 1]) stack.set('doubleBit', index, 2);
  for (const index of [3, 4]) stack.set('binaryOutput', index, 1);
  stack.set('counter', 0, 7);
  for (const index of [5, 6, 7, 300]) stack.set('analogInput', index, index);
  stack.database.update('octetString', 0, { value: Buffer.from('ab'), flags: 1 }, 0);
  stack.ask(`c0 ${clearRestart}`);
  stack.ask(`c1 ${writeTime}`);
  return stack;
}

const analogs =
  '1e 01 00 05 06 01 05 00 00 00 01 06 00 00 00 1e 02 00 07 07 01 07 00 1e 01 01 2c 01 2c 01 01 2c 01 00 00';
const inputs = '01 01 00 00 02 07 01 02 00 09 09 81';
const text = '00 fc 00 00 00 01 08 64 65 72 62 65 6e 63 68';

describe('a READ of DNP3', () => {
  for (const [what, request, iin2, objects] of [
    [
      'class 0, without the points that are left out',
      '3c 01 06',
      '00',
      `${inputs} 03 02 00 00 01 81 81 0a 02 00 04 04 81 14 01 00 00 00 01 07 00 00 00 ${analogs} 6e 02 00 00 00 61 62`,
    ],
    ['class 0 by a range', '3c 01 00 00 01', '04', ''],
    ['class 0 by a count', '3c 01 07 01', '04', ''],
    ['class 1 by a range', '3c 02 00 00 01', '04', ''],
    ['a class that there is not', '3c 05 06', '02', ''],
    ['classes without one', '3c 00 06', '02', ''],
    ['binary inputs in the variation of each', '01 00 06', '00', inputs],
    ['binary inputs as bits', '01 01 06', '00', '01 01 00 00 02 07 01 01 00 09 09 01'],
    ['binary inputs with flags', '01 02 06', '00', '01 02 00 00 02 81 81 81 01 02 00 09 09 81'],
    ['analog inputs in the variation of each', '1e 00 06', '00', analogs],
    [
      'analog inputs without flags',
      '1e 03 06',
      '00',
      '1e 03 00 05 07 05 00 00 00 06 00 00 00 07 00 00 00 1e 03 01 2c 01 2c 01 2c 01 00 00',
    ],
    ['an analog input as a float', '1e 05 00 05 05', '00', '1e 05 00 05 05 01 00 00 a0 40'],
    ['analog inputs by a count', '1e 01 07 02', '04', ''],
    ['octet strings', '6e 00 06', '00', '6e 02 00 00 00 61 62'],
    ['points of a kind that is not installed', '15 00 06', '02', ''],
    ['a group that there is not', '63 01 06', '02', ''],
    ['events of a variation that there is not', '20 09 06', '02', ''],
    ['events by a range', '02 01 00 00 01', '04', ''],
    ['events where there are none', '02 00 06', '00', ''],
    ['events of a kind that is not installed', '17 00 06', '00', ''],
    ['indications', '50 01 06', '00', '50 01 00 00 0f 00 00'],
    ['indications by a range', '50 01 00 00 0f', '00', '50 01 00 00 0f 00 00'],
    ['indications in another variation', '50 02 06', '02', ''],
    ['indications by a count', '50 01 07 01', '04', ''],
    ['two times', '32 01 07 02', '04', ''],
    ['the time without a count', '32 01 06', '04', ''],
    ['the time in another variation', '32 02 07 01', '02', ''],
    ['deadbands of 16 bits', '22 01 00 05 06', '00', '22 01 01 05 00 06 00 00 00 00 00'],
    ['deadbands as floats', '22 03 00 05 06', '00', '22 03 01 05 00 06 00 00 00 00 00 00 00 00 00'],
    ['deadbands in another variation', '22 04 06', '02', ''],
    ['deadbands by a count', '22 02 07 01', '04', ''],
    ['an attribute', '00 fc 00 00 00', '00', text],
    ['an attribute of all sets', '00 fc 06', '00', text],
    ['all attributes', '00 fe 06', '00', `00 fa 00 00 00 01 04 74 65 73 74 ${text}`],
    ['an attribute of set 1', '00 fc 00 01 01', '04', ''],
    ['an attribute of sets 0 and 1', '00 fc 00 00 01', '04', ''],
    ['an attribute by a count', '00 fc 07 01', '04', ''],
  ] as const)
    it(`asks for ${what}`, () => {
      expect(rig().ask(`c2 01 ${request}`)).to.deep.equal([`c2 81 00 ${iin2} ${objects}`.trim()]);
    });

  it('without an object is refused', () => {
    const stack = rig();
    expect(stack.ask('c2 01')).to.deep.equal(['c2 81 00 04']);
    expect(stack.ask('c3 01 3c 02')).to.deep.equal(['c3 81 00 04']);
    expect(stack.outstation.counters.refusals).to.equal(2);
  });

  it('of deadbands is refused where no analog input is installed', () => {
    const stack = new Stack({ specs: [spec('binaryInput', 0)] });
    expect(stack.ask('c2 01 22 02 06')).to.deep.equal(['c2 81 90 02']);
  });

  it('with one wrong header gets the objects of the others, with the bits of both refusals', () => {
    expect(rig().ask('c2 01 63 01 06 14 01 00 00 00 3c 01 07 01 02 09 06')).to.deep.equal([
      'c2 81 00 06 14 01 00 00 00 01 07 00 00 00',
    ]);
  });

  it('of indications gets those that hold', () => {
    const stack = rig();
    stack.conditions.localControl = true;
    expect(stack.ask('c2 01 50 01 06')).to.deep.equal(['c2 81 20 00 50 01 00 00 0f 20 00']);
    stack.conditions.trouble = true;
    expect(stack.ask('c3 01 50 01 06')).to.deep.equal(['c3 81 60 00 50 01 00 00 0f 60 00']);
  });

  it('brings the values up to date first', () => {
    const stack = rig();
    const before = stack.refreshes;
    stack.ask('c2 01 3c 01 06');
    expect(stack.refreshes).to.equal(before + 1);
    stack.ask('c3 17');
    expect(stack.refreshes).to.equal(before + 2);
  });

  it('gets flags where a variation without them would hide that a point is not well', () => {
    const stack = rig();
    stack.set('binaryInput', 1, 1, 0x05);
    stack.set('analogInput', 6, 6, 0x05);
    const bits = '01 01 00 00 00 01 01 02 00 01 01 85 01 01 00 02 02 01';
    expect(stack.ask('c2 01 01 01 00 00 02')).to.deep.equal([`c2 81 0a 00 ${bits}`]);
    expect(stack.ask('c3 01 01 00 00 00 02')).to.deep.equal([`c3 81 0a 00 ${bits}`]);
    expect(stack.ask('c4 01 1e 03 00 05 07')).to.deep.equal([
      'c4 81 0a 00 1e 03 00 05 05 05 00 00 00 1e 01 00 06 06 05 06 00 00 00 1e 03 00 07 07 07 00 00 00',
    ]);
  });

  it('cuts deadbands into headers of 32 points', () => {
    const stack = new Stack({ specs: Array.from({ length: 65 }, (_, index) => spec('analogInput', index)) });
    const zeros = (count: number) => Array.from({ length: 2 * count }, () => '00').join(' ');
    expect(stack.ask('c2 01 22 01 06')).to.deep.equal([
      `c2 81 90 00 22 01 01 00 00 1f 00 ${zeros(32)} 22 01 01 20 00 3f 00 ${zeros(32)} 22 01 01 40 00 40 00 ${zeros(1)}`,
    ]);
  });

  it('gets deadbands that do not fit their variation as the largest that does', () => {
    const stack = new Stack({
      specs: [spec('analogInput', 0, { deadband: 70_000 }), spec('analogInput', 1, { deadband: 1.5 })],
    });
    expect(stack.ask('c1 01 22 01 06')).to.deep.equal(['c1 81 90 00 22 01 01 00 00 01 00 ff ff 02 00']);
    expect(stack.ask('c2 01 22 02 06')).to.deep.equal(['c2 81 90 00 22 02 01 00 00 01 00 70 11 01 00 02 00 00 00']);
    expect(stack.ask('c3 01 22 03 06')).to.deep.equal(['c3 81 90 00 22 03 01 00 00 01 00 00 b8 88 47 00 00 c0 3f']);
  });
});

describe('an answer of several fragments', () => {
  /** Analog inputs from 0 on, of which 48 have room in a fragment. */
  function long(count: number): Stack {
    const stack = new Stack({
      specs: Array.from({ length: count }, (_, index) => spec('analogInput', index)),
      limits: { fragmentBytes: 249 },
    });
    for (let index = 0; index < count; index += 1) stack.set('analogInput', index, index);
    stack.ask(`c0 ${clearRestart}`);
    stack.ask(`c1 ${writeTime}`);
    return stack;
  }
  const head = (answers: readonly string[]) => answers.map((each) => each.slice(0, 26));

  it('waits for the confirm of each, counts on, and ends without one', () => {
    const stack = long(100);
    expect(head(stack.ask('cf 01 1e 01 06'))).to.deep.equal(['af 81 00 00 1e 01 00 00 2f']);
    expect(stack.ask('c2 00')).to.deep.equal([]);
    expect(head(stack.ask('cf 00'))).to.deep.equal(['20 81 00 00 1e 01 00 30 5f']);
    expect(head(stack.ask('c0 00'))).to.deep.equal(['41 81 00 00 1e 01 00 60 63']);
    expect(stack.ask('c1 00')).to.deep.equal([]);
    expect(stack.outstation.counters).to.include({ responses: 5, requests: 3 });
  });

  it('repeats a fragment when the confirm of the one before comes again', () => {
    const stack = long(100);
    stack.ask('c2 01 1e 01 06');
    const second = stack.ask('c2 00');
    expect(stack.ask('c2 00')).to.deep.equal(second);
    expect(stack.ask('c1 00')).to.deep.equal([]);
    expect(head(stack.ask('c3 00'))).to.deep.equal(['44 81 00 00 1e 01 00 60 63']);
  });

  it('repeats nothing of the first fragment for a confirm of the answer before', () => {
    const stack = long(100);
    stack.ask('c2 01 1e 01 06');
    for (const seq of [2, 3]) stack.ask(`c${seq} 00`);
    stack.ask('c5 01 1e 01 06');
    for (const seq of [3, 4, 0]) expect(stack.ask(`c${seq} 00`)).to.deep.equal([]);
  });

  it('ends with the next request, and without a confirm in time', () => {
    const stack = long(100);
    stack.ask('c2 01 1e 01 06');
    stack.ask('c3 17');
    expect(stack.ask('c2 00')).to.deep.equal([]);
    stack.ask('c4 01 1e 01 06');
    stack.clock.pass(4999);
    expect(stack.outstation.counters.confirmTimeouts).to.equal(0);
    stack.clock.pass(1);
    expect(stack.ask('c4 00')).to.deep.equal([]);
    expect(stack.outstation.counters.confirmTimeouts).to.equal(1);
  });

  it('tells events in as many fragments as they need, each confirmed by itself', () => {
    const stack = long(60);
    for (let index = 0; index < 60; index += 1) stack.set('analogInput', index, 1000);
    const { events } = stack.outstation.association(4)!;
    expect(stack.ask('c2 01 3c 02 06')[0]).to.match(/^a2 81 00 00 20 01 28 22 00 00 00 01 e8/);
    expect(events.size).to.equal(60);
    expect(stack.ask('c2 00')[0]).to.match(/^63 81 00 00 20 01 28 1a 00 22 00 01 e8/);
    expect(events.size).to.equal(26);
    // the second fragment is lost: its events come again, those of the first do not
    stack.clock.pass(5000);
    expect(stack.ask('c4 01 3c 02 06')[0]).to.match(/^e4 81 00 00 20 01 28 1a 00 22 00 01 e8/);
    stack.ask('c4 00');
    expect(stack.ask('c5 01 3c 02 06')).to.deep.equal(['c5 81 00 00']);
  });

  it('leaves out an attribute that fits in no fragment', () => {
    const stack = new Stack({
      specs: [spec('binaryInput', 0)],
      limits: { fragmentBytes: 249 },
      attributes: [
        { variation: 250, value: 'a'.repeat(250) },
        { variation: 251, value: 'b'.repeat(200) },
        { variation: 252, value: 'c'.repeat(100) },
      ],
    });
    expect(stack.ask('c2 01 00 fe 06')[0]).to.match(/^a2 81 90 00 00 fb 00 00 00 01 c8 62/);
    expect(stack.ask('c2 00')[0]).to.match(/^43 81 90 00 00 fc 00 00 00 01 64 63/);
  });
});
