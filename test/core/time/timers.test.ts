import { expect } from 'chai';
import { callEvery, callLater } from '../../../src/core/time/timers.ts';
import { openHandles, settled } from '../../support/handles.ts';

describe('timers of the machine', () => {
  it('callLater runs once, unless it is cancelled before', async () => {
    let [runs, cancelled] = [0, 0];
    callLater(0, () => (cancelled += 1))();
    await new Promise<void>((resolve) => {
      callLater(0, () => {
        runs += 1;
        callLater(2, resolve);
      });
    });
    expect([runs, cancelled]).to.deep.equal([1, 0]);
  });

  it('callLater waits for longer than a timer of Node can', () => {
    const { setTimeout: original } = globalThis;
    const waits: number[] = [];
    let fire = (): void => undefined;
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      waits.push(ms);
      fire = run;
      return original(() => undefined, 0);
    }) as typeof setTimeout;
    let runs = 0;
    try {
      callLater(2 ** 31 + 9, () => (runs += 1));
      fire();
      expect(runs).to.equal(0);
      fire();
    } finally {
      globalThis.setTimeout = original;
    }
    expect([runs, waits]).to.deep.equal([1, [2 ** 31 - 1, 10]]);
  });

  it('callEvery runs until it is ended, and leaves no timer behind', async () => {
    await settled();
    const before = openHandles();
    let runs = 0;
    await new Promise<void>((resolve) => {
      const end = callEvery(1, () => {
        runs += 1;
        if (runs < 3) return;
        end();
        resolve();
      });
    });
    await new Promise<void>((resolve) => callLater(5, resolve));
    expect(runs).to.equal(3);
    await settled();
    expect(openHandles()).to.deep.equal(before);
  });
});
