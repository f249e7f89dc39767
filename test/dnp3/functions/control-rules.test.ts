/** Bounds, ties and refusals of the controls that a mutation of the source would change. */
import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

const crob = (index: string, code = '03', count = '01') => `${index} ${code} ${count} 64 00 00 00 64 00 00 00 00`;
const one = (index = '11', code = '03', count = '01') => `0c 01 17 01 ${crob(index, code, count)}`;
const two = (first: string, second: string) => `0c 01 17 02 ${first} ${second}`;
/** g50v1 with an index in front */
const time = '32 01 17 01 11 00 68 e5 cf 8b 01';
const range = '0c 01 00 11 11 03 01 64 00 00 00 64 00 00 00 00';

function rig(more: Partial<ConstructorParameters<typeof Stack>[0]> = {}): Stack {
  return new Stack({
    specs: [...[17, 18].map((index) => spec('binaryOutput', index)), spec('analogOutput', 87)],
    masters: [4, 5],
    ...more,
  });
}

const statusOf = (answers: readonly string[]) => parseInt(answers[0]?.slice(-2) ?? '', 16);

describe('rules of the controls of DNP3', () => {
  it('carry out no control that is to run 0 times', () => {
    const stack = rig();
    expect(statusOf(stack.ask(`c1 05 ${one('11', '03', '00')}`))).to.equal(4);
    expect(stack.done).to.deep.equal([]);
  });

  it('tell the device which analog values are floats', () => {
    const stack = rig();
    stack.ask('c1 05 29 01 17 01 57 01 00 00 00 00');
    stack.ask('c2 05 29 02 17 01 57 01 00 00');
    stack.ask('c3 05 29 03 17 01 57 00 00 20 41 00');
    stack.ask('c4 05 29 04 17 01 57 00 00 00 00 00 00 24 40 00');
    expect(stack.done.map((each) => each.kind === 'analog' && each.isFloat)).to.deep.equal([false, false, true, true]);
  });

  for (const [name, code] of [
    ['SELECT', '03'],
    ['OPERATE', '04'],
    ['DIRECT OPERATE', '05'],
  ] as const) {
    it(`refuse ${name} of objects that are no outputs, and of a range`, () => {
      const stack = rig();
      expect(stack.ask(`c1 ${code} ${time}`)).to.deep.equal(['c1 81 90 02']);
      expect(stack.ask(`c2 ${code} ${one()} ${time}`)).to.deep.equal(['c2 81 90 02']);
      expect(stack.ask(`c3 ${code} ${range}`)).to.deep.equal(['c3 81 90 04']);
      expect(stack.ask(`c4 ${code} ${time} ${range}`)).to.deep.equal(['c4 81 90 06']);
      expect([stack.done, stack.outstation.association(4)?.selectPending]).to.deep.equal([[], false]);
    });
  }

  it('compare the indexes of SELECT and OPERATE, in order', () => {
    const stack = rig();
    stack.ask(`c1 03 ${two(crob('11', '03'), crob('12', '04'))}`);
    expect(statusOf(stack.ask(`c2 04 ${two(crob('12', '03'), crob('11', '04'))}`))).to.equal(2);
    expect(stack.done).to.deep.equal([]);
  });

  it('arm nothing when every object of a SELECT fails', () => {
    const stack = rig({ judge: () => 12 });
    expect(statusOf(stack.ask(`c1 03 ${one()}`))).to.equal(12);
    expect(stack.outstation.association(4)?.selectPending).to.equal(false);
  });

  it('take an OPERATE 5 s after its SELECT, and none later', () => {
    for (const [afterMs, status] of [
      [5000, 0],
      [5001, 1],
    ] as const) {
      const stack = rig();
      stack.ask(`c1 03 ${one()}`);
      stack.clock.pass(afterMs);
      expect(stack.outstation.association(4)?.selectPending, `${afterMs} ms`).to.equal(status === 0);
      expect(statusOf(stack.ask(`c2 04 ${one()}`)), `${afterMs} ms`).to.equal(status);
    }
  });

  it('lose their select by another request, also one with its number', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    stack.ask('c1 17');
    expect(stack.outstation.association(4)?.selectPending).to.equal(false);
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(2);
    expect(stack.done).to.deep.equal([]);
  });

  it('go on from sequence number 15 to 0', () => {
    const stack = rig();
    stack.ask(`cf 03 ${one()}`);
    expect(statusOf(stack.ask(`c0 04 ${one()}`))).to.equal(0);
  });

  it('find more wrong with an object than the select of another master', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`, 5);
    expect(statusOf(stack.ask(`c1 05 ${one('11', '0f')}`))).to.equal(4);
  });

  it('name what is refused, and whether it was a SELECT', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one('63')}`);
    stack.ask(`c2 04 ${one()}`);
    stack.ask(`c3 05 ${one('12', '0f')}`);
    expect(stack.refusals).to.deep.equal([
      { index: 0x63, status: 4, isSelect: true },
      { index: 17, status: 2, isSelect: false },
      { index: 18, status: 4, isSelect: false },
    ]);
  });
});
