import { expect } from 'chai';
import type { OutstationFacts } from '../../../src/dnp3/findings/dialogue.ts';
import { builtInRows } from '../../../src/dnp3/profile/binding.ts';
import { outputRanges } from '../../../src/dnp3/findings/outputs.ts';
import { Process } from '../memory/rig.ts';

describe('facts about an outstation for its judges', () => {
  it('have the ranges of the point map, also of outputs that the device lacks', () => {
    const rangeOf = outputRanges([...builtInRows('an2018')]);
    expect(rangeOf('analog', 88)).to.deep.equal({ min: 0, max: 1000 });
    expect(rangeOf('binary', 14)).to.not.equal(undefined);
    const widest = outputRanges([
      { type: 'AO', index: 7, name: 'any', class: 0 },
      { type: 'AI', index: 8, name: 'input', class: 0 },
      { type: 'AO', index: 9, name: 'zero', class: 0, min: 0, max: 0 },
    ]);
    expect([7, 8, 9].map((index) => widest('analog', index))).to.deep.equal([
      { min: -(2 ** 31), max: 2 ** 31 - 1 },
      undefined,
      { min: 0, max: 0 },
    ]);
    expect(rangeOf('binary', 999)).to.equal(undefined);
    expect(rangeOf('analog', 9999)).to.equal(undefined);
  });

  it('follow the outputs of the device', async () => {
    let facts: OutstationFacts | undefined;
    const observer = new Proxy({}, { get: () => () => undefined });
    const process = await Process.start(undefined, {
      observerOf: (of) => {
        facts = of;
        return observer as never;
      },
    });
    expect(facts).to.include({ deviceIndex: 0, address: 1, hasUnsolicited: true, isWallTime: true });
    expect(facts).to.include({ hasBuiltInMap: true, selectTimeoutMs: 5000 });
    expect(facts?.staticPoints()).to.be.greaterThan(200);
    const enabled = () => facts?.outputOf('binary', 17);
    expect([enabled(), facts?.outputOf('analog', 88), facts?.outputOf('analog', 9999)]).to.deep.equal([
      0,
      1000,
      undefined,
    ]);
    const changes: string[] = [];
    facts?.onModeChange?.((enable, how) => changes.push(`BO${enable} ${how}`));
    await process.operate(['AO88', 400], ['AO85', 30], ['BO17', true]);
    expect([...new Set(changes)]).to.deep.equal(['BO17 by_peer']);
    expect([enabled(), facts?.outputOf('analog', 88), facts?.outputOf('analog', 85)]).to.deep.equal([1, 400, 30]);
  });
});
