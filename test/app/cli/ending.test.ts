import { expect } from 'chai';
import { createStopHandler, fatalEnding, startEnding } from '../../../src/app/cli/ending.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('The end of the process by an error', () => {
  it('that nothing has handled is one line and exit code 1', () => {
    const error = new Error('first line\nsecond line');
    for (const thrown of [error, new SimError('LISTEN_FAILED', 'later on'), 'text', undefined, { name: 'odd' }]) {
      const { code, text } = fatalEnding(thrown);
      expect(code).to.equal(1);
      expect(text).to.match(/^FATAL [^\n]+$/);
    }
    expect(fatalEnding(error).text).to.match(/^FATAL Error: first line \| second line \| at .*ending\.test\.ts:\d+/);
  });

  it('of the start has the exit code of its kind, and no stack', () => {
    const of = (code: ErrorCode) => startEnding(new SimError(code, 'the reason'));
    expect(of('LISTEN_FAILED')).to.deep.equal({ code: 3, text: 'derbench: the reason' });
    const used = Object.assign(new SimError('LISTEN_FAILED', 'in use'), { cause: { code: 'EADDRINUSE' } });
    expect(startEnding(used).text).to.equal('derbench: in use');
    used.cause = Object.assign(new Error('used'), { code: 'EADDRINUSE' });
    expect(startEnding(used).text).to.contain('"derbench -wp 0 -p 0" starts a second one');
    expect(of('SHORTAGE')).to.deep.equal({ code: 1, text: 'derbench: the reason' });
    const wrong = new SimError('CONFIG_INVALID', 'Two settings are wrong:', [
      { name: '-wp', detail: 'given x; allowed: a port' },
      { name: '--tick', detail: 'given 0; allowed: above 0' },
    ]);
    const { code, text } = startEnding(wrong);
    expect(code).to.equal(2);
    expect(text)
      .to.contain('-wp')
      .and.contain('--tick')
      .and.not.match(/\.ts:\d+/);
    expect(of('INTERNAL').text).to.match(/^FATAL .*the reason \| at /);
    expect(startEnding(new Error('odd')).code).to.equal(1);
  });
});

describe('The order to stop', () => {
  function make(stop: () => Promise<number>) {
    const timers = new HandTimers(new HandWall());
    const ends: unknown[] = [];
    const order = createStopHandler({
      stop,
      exit: (code) => ends.push(code),
      fail: (error) => ends.push(error),
      later: timers.later,
    });
    return { timers, ends, order };
  }

  for (const code of [0, 4])
    it(`ends with the code ${code} of the stop when everything has stopped`, async () => {
      const { ends, order } = make(() => Promise.resolve(code));
      order();
      expect(ends).to.deep.equal([]);
      await turn();
      expect(ends).to.deep.equal([code]);
    });

  it('given a second time ends at once with 1, without a second stop', () => {
    let stops = 0;
    const { ends, order } = make(() => {
      stops += 1;
      return new Promise(() => undefined);
    });
    order();
    expect(ends).to.deep.equal([]);
    order();
    expect([ends, stops]).to.deep.equal([[1], 1]);
  });

  it('ends with 1 when the stop takes 4 s', () => {
    const { timers, ends, order } = make(() => new Promise(() => undefined));
    order();
    timers.pass(3999);
    expect(ends).to.deep.equal([]);
    timers.pass(1);
    expect(ends).to.deep.equal([1]);
  });

  it('hands over the error of a stop that fails', async () => {
    const error = new Error('it broke');
    const { ends, order } = make(() => Promise.reject(error));
    order();
    await turn();
    expect(ends).to.deep.equal([error]);
  });
});
