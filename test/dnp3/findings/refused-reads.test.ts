import { expect } from 'chai';
import { class1, JudgeRig } from './rig.ts';

const unknown = '01 57 01 06';
const missing = '01 01 02 00 50 60';

describe('findings about DNP3 masters: reads that are refused', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
    rig.pass(60_000);
  });

  const repeat = (times: number, objects: string) => {
    for (let n = 0; n < times; n += 1) {
      rig.next(objects);
      rig.next(class1);
    }
  };

  for (const [rule, objects] of [
    ['object_unknown', unknown],
    ['parameter_error', missing],
  ] as const)
    describe(rule, () => {
      it('finds the fourth refusal of the same read', () => {
        repeat(3, objects);
        expect(rig.state(rule)).to.equal('held');
        repeat(1, objects);
        expect(rig.rules()).to.deep.equal([rule]);
        expect(rig.row(rule).cases[0]?.text).to.match(/^read g(87|1)v[12] 3 times more after IIN2\.[12] and no data$/);
      });

      it('takes what the master tries in its first minute', () => {
        rig.reconnect();
        repeat(10, objects);
        expect(rig.rules()).to.deep.equal([]);
      });
    });

  it('takes probes, other reads, and ranges of which a part is there for right', () => {
    repeat(6, '01 6e 00 06');
    repeat(6, '01 00 fe 00 00 00');
    for (let n = 0; n < 10; n += 1) repeat(1, `01 01 02 00 5${n} 60`);
    repeat(6, '01 01 02 00 00 60');
    expect(rig.rules()).to.deep.equal([]);
  });

  it('takes a repeated request, another function, and a probe beside an unknown group for right', () => {
    rig.next(unknown);
    for (let n = 0; n < 6; n += 1) rig.next(unknown, rig.seq);
    repeat(6, '02 57 01 06');
    repeat(6, '01 3c 02 06 57 01 06');
    expect(rig.rules()).to.deep.equal([]);
  });

  it('counts each read by itself, once as an occasion, and forgets it after eight others', () => {
    const other = (n: number) => `01 57 0${n} 06`;
    repeat(3, other(1));
    repeat(1, other(2));
    expect(rig.row('object_unknown')).to.include({ broken: 0, exercised: 2 });
    for (let n = 0; n < 3; n += 1) {
      repeat(1, other(1));
      repeat(1, other(2));
    }
    expect(rig.row('object_unknown')).to.include({ broken: 1, repeats: 1 });
    repeat(1, other(9));
    for (let n = 1; n < 9; n += 1) repeat(1, other(n));
    repeat(3, other(9));
    expect(rig.row('object_unknown')).to.include({ broken: 1, repeats: 1 });
    repeat(1, other(9));
    expect(rig.row('object_unknown').repeats).to.equal(2);
  });
});
