import { expect } from 'chai';
import { applied, control, one, outcome, program, Scene, watt } from './scene.ts';

describe('CSIP events: responses', () => {
  it('only those whose bit of responseRequired is set', () => {
    const answers = (responseRequired: number) =>
      one({ responseRequired }).time(100).opt(110, 'A', false).opt(120, 'A', true).runTo(300).of('A');
    expect(answers(0)).to.deep.equal([]);
    expect(answers(1)).to.deep.equal([1]);
    expect(answers(2)).to.deep.equal([2, 9]);
    expect(answers(3)).to.deep.equal([1, 2, 9]);
    expect(answers(4)).to.deep.equal([4, 5]);
  });

  it('none without replyTo', () => {
    expect(one({ replyTo: null }).runTo(300).responses).to.deep.equal([]);
  });

  it('go to the replyTo of the last reading, in whole seconds of server time', () => {
    const scene = one();
    scene.read(50, program('P', 1, [control('A', { replyTo: 'https://server/moved' })]));
    scene.tell(100.7, { kind: 'time' });
    expect(scene.responses.at(-1)).to.equal('100 A 2');
  });

  it('have the time of the clock that governs the event, as its last reading has it', () => {
    const scene = one({ aheadS: 36_000 });
    scene.read(50, program('P', 1, [control('A', { aheadS: 35_999 })])).runTo(300);
    expect(scene.responses).to.deep.equal(['36000 A 1', '36099 A 2', '36199 A 3']);
  });

  it('252 at receipt when no mode has physics, 251 in the revision of 2023', () => {
    const check = () => outcome('unsupported', watt);
    expect(one({}, new Scene({ check })).runTo(300).of('A')).to.deep.equal([1, 252]);
    expect(one({}, new Scene({ check, revision: '2023' })).of('A')).to.deep.equal([1, 251]);
  });

  it('253 at receipt for a value out of range', () => {
    const scene = one({}, new Scene({ check: () => outcome('invalid') })).runTo(300);
    expect(scene.of('A')).to.deep.equal([1, 253]);
    expect(scene.stateOf('A')).to.equal('rejected');
  });

  it('252 and 253 at the start when the device finds out then; what it took does not come back', () => {
    for (const [state, answer] of [
      ['unsupported', 252],
      ['invalid', 253],
    ] as const) {
      const scene = one();
      scene.outcomeOf = () => outcome(state);
      scene.time(100);
      expect(scene.now).to.deep.equal([]);
      expect(scene.runTo(300).of('A')).to.deep.equal([1, answer]);
    }
  });

  it('2 only when the control is applied', () => {
    const scene = one();
    scene.outcomeOf = () => outcome('waiting');
    scene.time(100);
    expect(scene.of('A')).to.deep.equal([1]);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    scene.outcomeOf = () => applied;
    scene.time(130);
    expect(scene.runTo(300).responses).to.deep.equal(['0 A 1', '130 A 2', '200 A 3']);
  });

  it('10 when it was never applied by its end', () => {
    const scene = one();
    scene.outcomeOf = () => outcome('waiting');
    expect(scene.runTo(300).responses).to.deep.equal(['0 A 1', '200 A 10']);
  });

  it('a value that becomes invalid after the start does not end the event', () => {
    const scene = one().time(100);
    scene.outcomeOf = () => outcome('invalid');
    expect(scene.runTo(300).of('A')).to.deep.equal([1, 2, 3]);
  });
});

describe('CSIP events: participation of the user', () => {
  it('out while active: 4, given back at once, 8 at the end', () => {
    const scene = one().time(100).opt(120, 'A', false);
    expect(scene.now).to.deep.equal([]);
    expect(scene.stateOf('A')).to.equal('active');
    scene.runTo(300);
    expect(scene.responses).to.deep.equal(['0 A 1', '100 A 2', '120 A 4', '200 A 8']);
  });

  it('out and in again: 4, 5, and 9 at the end', () => {
    const scene = one().time(100).opt(120, 'A', false).opt(150, 'A', true);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    expect(scene.runTo(300).of('A')).to.deep.equal([1, 2, 4, 5, 9]);
  });

  it('out before the start and in before the start: complete participation', () => {
    expect(one().opt(10, 'A', false).opt(20, 'A', true).runTo(300).of('A')).to.deep.equal([1, 4, 5, 2, 3]);
  });

  it('out before the start: never applied, 10', () => {
    expect(one().opt(10, 'A', false).runTo(300).of('A')).to.deep.equal([1, 4, 10]);
  });

  it('in after the start only: 2 then, 9 at the end', () => {
    const scene = one().opt(10, 'A', false).time(100).opt(150, 'A', true).runTo(300);
    expect(scene.responses).to.deep.equal(['0 A 1', '10 A 4', '150 A 5', '150 A 2', '200 A 9']);
  });

  it('the same choice twice, or for a control that is over or unknown, changes nothing', () => {
    const scene = one().opt(10, 'A', true).time(100, 200).opt(210, 'A', false).opt(211, 'Z', false);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('an event that is opted out takes no modes from others', () => {
    const scene = new Scene().read(0, program('P', 1, [control('W')]), program('Q', 2, [control('L')]));
    scene.opt(10, 'W', false).time(100);
    expect(scene.now).to.deep.equal(['L: MaxLimW']);
    scene.opt(150, 'W', true);
    expect(scene.now).to.deep.equal(['W: MaxLimW']);
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
  });
});
