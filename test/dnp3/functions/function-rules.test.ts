/** Writes, freezes, classes, delays and attributes: the bounds and refusals that a mutation of the source would change. */
import { expect } from 'chai';
import { readAttributes } from '../../../src/dnp3/stack/outstation/read.ts';
import { toHex } from '../rig/frames.ts';
import { Stack, spec } from '../rig/stack.ts';

const clearRestart = '02 50 01 00 07 07 00';
const writeTime = '02 32 01 07 01 00 68 e5 cf 8b 01';

function rig(more: Partial<ConstructorParameters<typeof Stack>[0]> = {}): Stack {
  const stack = new Stack({
    specs: [
      ...[0, 1].map((index) => spec('analogInput', index, { class: 2 })),
      ...[0, 1].map((index) => spec('counter', index, { class: 0 })),
      ...[0, 1].map((index) => spec('frozenCounter', index, { class: 3 })),
      spec('binaryOutput', 0, { mayHaveEvents: false, class: 0 }),
      spec('binaryInput', 0),
      spec('binaryInput', 1, { mayHaveEvents: false, class: 0 }),
    ],
    ...more,
  });
  for (const index of [0, 1]) stack.set('counter', index, 7);
  stack.ask(`c0 ${clearRestart}`);
  stack.ask(`c1 ${writeTime}`);
  return stack;
}

describe('WRITE of DNP3', () => {
  const deadbands = (stack: Stack) => [0, 1].map((index) => stack.database.point('analogInput', index)?.deadband);

  for (const [what, objects, values] of [
    ['16 bits', '22 01 17 02 00 05 00 01 ff ff', [5, 0xffff]],
    ['32 bits', '22 02 17 02 00 05 00 00 00 01 ff ff ff ff', [5, 0xffff_ffff]],
    ['floats', '22 03 17 02 00 00 00 c0 3f 01 00 00 00 00', [1.5, 0]],
    ['a range', '22 01 00 00 01 05 00 06 00', [5, 6]],
  ] as const)
    it(`takes deadbands of ${what}`, () => {
      const stack = rig();
      expect(stack.ask(`c2 02 ${objects}`)).to.deep.equal(['c2 81 00 00']);
      expect(deadbands(stack)).to.deep.equal(values);
    });

  for (const [what, objects] of [
    ['of a point that is not there', '22 01 17 02 00 05 00 09 05 00'],
    ['below 0', '22 03 17 02 00 00 00 c0 3f 01 00 00 80 bf'],
    ['that is no number', '22 03 17 02 00 00 00 c0 3f 01 00 00 c0 7f'],
    ['without an index', '22 01 07 01 05 00'],
  ] as const)
    it(`takes no deadband of several when there is one ${what}`, () => {
      const stack = rig();
      expect(stack.ask(`c2 02 ${objects}`)).to.deep.equal(['c2 81 00 04']);
      expect(deadbands(stack)).to.deep.equal([0, 0]);
    });

  it('does nothing of a request of which a part is refused', () => {
    const stack = rig();
    expect(stack.ask('c2 02 22 01 17 01 00 05 00 50 01 00 04 04 00')).to.deep.equal(['c2 81 00 04']);
    expect(stack.ask('c3 02 22 01 17 01 00 05 00 0c 01 17 01 00 03 01 64 00 00 00 64 00 00 00 00')).to.deep.equal([
      'c3 81 00 02',
    ]);
    expect(deadbands(stack)).to.deep.equal([0, 0]);
    expect(stack.ask('c4 02')).to.deep.equal(['c4 81 00 04']);
  });

  it('takes the latest time that 48 bits can show', () => {
    const stack = new Stack({ specs: [spec('binaryInput', 0)] });
    const { time } = stack.outstation.association(4)!;
    expect(stack.ask('c1 02 32 01 07 01 ff ff ff ff ff ff')).to.deep.equal(['c1 81 80 00']);
    expect(time.nowMs()).to.equal(2 ** 48 - 1);
  });

  it('takes a recorded time once, and leaves it for a time without one', () => {
    const stack = new Stack({ specs: [spec('binaryInput', 0)] });
    const { time } = stack.outstation.association(4)!;
    stack.clock.pass(100);
    stack.ask('c1 18');
    stack.clock.pass(100);
    stack.ask('c2 02 32 01 07 01 00 00 00 00 00 00');
    expect(time.nowMs()).to.equal(0);
    expect(stack.ask('c3 02 32 03 07 01 00 00 00 00 00 00')).to.deep.equal(['c3 81 80 00']);
    expect(time.nowMs()).to.equal(100);
    expect(stack.ask('c4 02 32 03 07 01 00 00 00 00 00 00')).to.deep.equal(['c4 81 80 04']);
  });

  it('forgets a recorded time with the connection', () => {
    const stack = rig();
    stack.ask('c2 18');
    stack.disconnect();
    stack.connect();
    expect(stack.ask('c3 02 32 03 07 01 00 00 00 00 00 00')).to.deep.equal(['c3 81 00 04']);
  });

  it('refuses times of other variations, and with indexes', () => {
    const stack = rig();
    expect(stack.ask('c2 02 32 02 07 01 00 00 00 00 00 00 00 00 00 00')).to.deep.equal(['c2 81 00 02']);
    expect(stack.ask('c3 02 32 04 07 01 00 00 00 00 00 00 00 00 00 00 00')).to.deep.equal(['c3 81 00 02']);
    expect(stack.ask('c4 02 32 01 17 01 00 00 00 00 00 00 00')).to.deep.equal(['c4 81 00 04']);
  });
});

describe('freezes and classes of DNP3', () => {
  it('need objects, of the group of counters and without a variation', () => {
    const stack = rig();
    for (const code of ['07', '09', '16']) expect(stack.ask(`c2 ${code}`), code).to.deep.equal(['c2 81 00 04']);
    expect(stack.ask('c3 07 14 01 06')).to.deep.equal(['c3 81 00 02']);
    expect(stack.ask('c4 07 14 00 06 15 00 06')).to.deep.equal(['c4 81 00 02']);
    expect(stack.ask('c5 07 14 00 07 01')).to.deep.equal(['c5 81 00 04']);
    expect(stack.database.point('frozenCounter', 0)?.state.value).to.equal(0);
  });

  for (const [code, isSilent, isCleared] of [
    ['07', false, false],
    ['08', true, false],
    ['09', false, true],
    ['0a', true, true],
  ] as const)
    it(`function ${code} freezes${isCleared ? ' and clears' : ''}${isSilent ? ' without an answer' : ''}`, () => {
      const stack = rig({ clearsCounters: true });
      expect(stack.ask(`c2 ${code} 14 00 00 00 00`)).to.deep.equal(isSilent ? [] : ['c2 81 08 00']);
      const values = (kind: 'counter' | 'frozenCounter') => stack.database.points(kind).map(({ state }) => state.value);
      expect(values('frozenCounter')).to.deep.equal([7, 0]);
      expect(values('counter')).to.deep.equal([isCleared ? 0 : 7, 7]);
    });

  const classesOf = (stack: Stack) => stack.database.points('analogInput').map((point) => point.class);

  for (const [what, objects, iin2, classes] of [
    ['class 0', '3c 01 06 1e 00 06', '00', [0, 0]],
    ['class 1', '3c 02 06 1e 00 06', '00', [1, 1]],
    ['class 2', '3c 03 06 1e 00 00 01 01', '00', [2, 2]],
    ['class 3 and, of one point, class 1', '3c 04 06 1e 00 06 3c 02 06 1e 00 17 01 01', '00', [3, 1]],
    ['a class that there is not', '3c 05 06 1e 00 06', '04', [2, 2]],
    ['nothing behind a class that there is not', '3c 05 06 3c 02 06 1e 00 06', '04', [2, 2]],
    ['a class by a count', '3c 02 07 01 1e 00 06', '04', [2, 2]],
    ['a class by a range', '3c 02 00 00 00 1e 00 06', '04', [2, 2]],
    ['a class for a group that there is not', '3c 02 06 63 00 06 1e 00 06', '02', [1, 1]],
    ['a class for a variation', '3c 02 06 1e 01 06', '02', [2, 2]],
    ['a class for events', '3c 02 06 20 00 06', '02', [2, 2]],
    ['a class for a kind that is not installed', '3c 02 06 03 00 06', '02', [2, 2]],
    ['a class for a count of points', '3c 02 06 1e 00 07 01', '04', [2, 2]],
    ['a class for points that are partly missing', '3c 02 06 1e 00 00 01 02', '04', [2, 1]],
    ['no class', '1e 00 06', '04', [2, 2]],
  ] as const)
    it(`ASSIGN_CLASS gives ${what}`, () => {
      const stack = rig();
      expect(stack.ask(`c2 16 ${objects}`)).to.deep.equal([`c2 81 00 ${iin2}`]);
      expect(classesOf(stack)).to.deep.equal(classes);
    });

  it('ASSIGN_CLASS passes over points without events only where it names all', () => {
    const stack = rig();
    expect(stack.ask('c2 16 3c 03 06 01 00 06')).to.deep.equal(['c2 81 00 00']);
    expect(stack.database.points('binaryInput').map((point) => point.class)).to.deep.equal([2, 0]);
    expect(stack.ask('c3 16 3c 03 06 01 00 00 00 01')).to.deep.equal(['c3 81 00 04']);
    expect(stack.ask('c4 16 3c 03 06 0a 00 06')).to.deep.equal(['c4 81 00 04']);
    expect(stack.ask('c5 16 3c 01 06 0a 00 06')).to.deep.equal(['c5 81 00 00']);
  });
});

describe('delays of DNP3', () => {
  for (const [delayMs, object] of [
    [0, '34 02 07 01 00 00'],
    [258, '34 02 07 01 02 01'],
    [65_535, '34 02 07 01 ff ff'],
    [65_536, '34 01 07 01 42 00'],
    [90_000_000, '34 01 07 01 ff ff'],
  ] as const)
    it(`of a restart are ${object} for ${delayMs} ms`, () => {
      const stack = rig({ restartDelayMs: delayMs });
      expect(stack.ask('c2 0d')[0]).to.match(new RegExp(`${object}$`));
      expect(stack.ask('c3 0e')[0]).to.match(new RegExp(`${object}$`));
    });

  it('of an answer count from the arrival of the request', () => {
    const stack = rig();
    stack.clock.pass(1234);
    expect(stack.ask('c2 17')).to.deep.equal(['c2 81 00 00 34 02 07 01 00 00']);
  });

  for (const code of ['0d', '0e', '17', '18'])
    it(`function ${code} takes no objects`, () => {
      const stack = rig();
      expect(stack.ask(`c2 ${code} 3c 02 06`)).to.deep.equal(['c2 81 00 04']);
      // no restart has come: its indication would be set
      expect(stack.ask('c3 01 3c 02 06')).to.deep.equal(['c3 81 00 00']);
    });
});

describe('device attributes of DNP3', () => {
  const read = (variation: number, value: string | number) =>
    readAttributes(variation, [{ variation: 200, value }])?.map((piece) => toHex(piece));

  for (const [value, octets] of [
    [0, '02 01 00'],
    [0xff, '02 01 ff'],
    [0x100, '02 02 00 01'],
    [0xffff, '02 02 ff ff'],
    [0x1_0000, '02 04 00 00 01 00'],
    [0xffff_ffff, '02 04 ff ff ff ff'],
    ['ab', '01 02 61 62'],
  ] as const)
    it(`of the value ${value} are ${octets}`, () => {
      expect(read(200, value)).to.deep.equal([`00 c8 00 00 00 ${octets}`]);
      expect(read(254, value)).to.deep.equal([`00 c8 00 00 00 ${octets}`]);
    });

  it('are cut after 255 octets of text', () => {
    expect(read(200, 'a'.repeat(300))?.[0]).to.match(/^00 c8 00 00 00 01 ff( 61){255}$/);
  });

  it('are none where the device has none, but for their list', () => {
    expect(readAttributes(201, [{ variation: 200, value: 1 }])).to.equal(null);
    expect(readAttributes(254, [])).to.equal(null);
    expect(readAttributes(255, [])?.map((piece) => toHex(piece))).to.deep.equal(['00 ff 00 00 00 fe 00']);
  });
});
