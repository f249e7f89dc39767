import { expect } from 'chai';
import { DerbenchError } from '../../src/library/error.ts';
import type { WaitOptions, ValueCondition } from '../../src/library/options.ts';
import type { Time } from '../../src/library/replies.ts';
import type { Sample } from '../../src/library/until.ts';
import { instantOf } from '../../src/library/time.ts';
import { waitUntil } from '../../src/library/until.ts';

const startMs = Date.parse('2026-06-21T12:00:00.000Z');

/** A simulator with ticks of 1.5 s whose value is a function of the simulated seconds, and a clock of its own. */
class Scripted {
  elapsedMs = 0;
  realMs = 0;
  readonly steps: (string | null)[] = [];
  readonly pauses: number[] = [];
  readonly #mode: Time['mode'];
  readonly #valueAt: (seconds: number) => Sample;

  constructor(mode: Time['mode'], valueAt: (seconds: number) => Sample) {
    this.#mode = mode;
    this.#valueAt = valueAt;
  }

  #time(): Time {
    return {
      mode: this.#mode,
      rate: 1,
      clock_time: '12:00:00',
      timezone: 'UTC',
      sim_time: new Date(startMs + this.elapsedMs).toISOString(),
      tick: Math.floor(this.elapsedMs / 1500),
      tick_interval_s: 1.5,
    };
  }

  until(wanted: ValueCondition, options: WaitOptions = {}): Promise<Sample> {
    const waiting = {
      sample: () => Promise.resolve(this.#valueAt(this.elapsedMs / 1000)),
      time: () => Promise.resolve(this.#time()),
      step: (until: string | null) => {
        this.steps.push(until);
        this.elapsedMs = until === null ? this.elapsedMs + 1500 : Date.parse(until) - startMs;
        return Promise.resolve(this.#time());
      },
      nowMs: () => this.realMs,
      pause: (ms: number) => {
        this.pauses.push(ms);
        this.realMs += ms;
        this.elapsedMs += ms;
        return Promise.resolve();
      },
    };
    return waitUntil('701.W', wanted, waiting, options);
  }
}

const rising = (seconds: number): Sample => ({ value: seconds * 100 });
const failure = (promise: Promise<unknown>): Promise<DerbenchError> =>
  promise.then(
    () => {
      throw new Error('expected a failure');
    },
    (error: unknown) => error as DerbenchError,
  );

describe('Waiting of a script', () => {
  it('steps the paused clock tick by tick, and looks before the first one', async () => {
    const sim = new Scripted('paused', rising);
    expect(await sim.until((value) => value >= 400)).to.deep.equal({ value: 450 });
    expect(sim.steps).to.deep.equal([null, null, null]);
    expect(await sim.until(450)).to.deep.equal({ value: 450 });
    expect(sim.steps).to.have.length(3);
  });

  it('ends at the very instant of its simulated time limit, and says the last value', async () => {
    const sim = new Scripted('paused', rising);
    const error = await failure(sim.until(-1, { timeoutS: 4 }));
    expect(sim.steps).to.deep.equal([null, null, '2026-06-21T12:00:04.000Z']);
    expect(error.code).to.equal('timeout');
    expect(error.message).to.equal(
      '701.W did not become -1 within 4 s of simulated time (2 ticks); its last value was 400',
    );
  });

  it('looks twice per tick while the clock runs, until its real time limit', async () => {
    const sim = new Scripted('accelerated', rising);
    const error = await failure(sim.until(() => false, { timeoutS: 2 }));
    expect(sim.pauses).to.deep.equal([750, 750, 500]);
    expect(error.message).to.equal(
      '701.W did not become what the test waits for within 2 s of real time (1 ticks); its last value was 200',
    );
  });

  it('takes an enumeration by name and number, and no value that is missing', async () => {
    const words = new Scripted('paused', (seconds) => ({ value: seconds < 2 ? null : 4, symbol: 'THROTTLED' }));
    const seen: [number, string][] = [];
    await words.until((value, word) => seen.push([value, word]) > 0);
    expect(seen).to.deep.equal([[4, 'THROTTLED']]);
    expect(await words.until('THROTTLED')).to.include({ value: 4 });
    expect(await words.until(4)).to.include({ value: 4 });
    expect((await failure(words.until('OFF', { timeoutS: 0 }))).message).to.match(/"OFF".*was THROTTLED \(4\)$/);
  });

  it('knows the next time of day, past midnight too, and refuses other texts', () => {
    const at = (to: string, sim: string, timezone = 'Europe/Berlin') =>
      new Date(instantOf(to, { sim_time: sim, timezone } as Time)).toISOString();
    expect(at('14:05', '2026-06-21T12:00:00.250Z')).to.equal('2026-06-21T12:05:00.000Z');
    expect(at('14:00:00', '2026-06-21T12:00:00.000Z')).to.equal('2026-06-21T12:00:00.000Z');
    expect(at('14:00:00', '2026-06-21T12:00:00.001Z')).to.equal('2026-06-22T12:00:00.000Z');
    expect(at('00:10', '2026-06-21T21:50:00.000Z')).to.equal('2026-06-21T22:10:00.000Z');
    expect(at('2026-06-21T14:05:00+02:00', '2026-06-21T12:00:00.000Z')).to.equal('2026-06-21T12:05:00.000Z');
    // changes of summer time: the night with 23 hours, an hour that is left out, one that comes twice
    expect(at('12:00', '2026-03-28T19:00:00.000Z')).to.equal('2026-03-29T10:00:00.000Z');
    expect(at('02:30', '2026-03-29T00:59:50.000Z')).to.equal('2026-03-30T00:30:00.000Z');
    expect(at('02:30', '2026-10-25T00:30:00.000Z')).to.equal('2026-10-25T00:30:00.000Z');
    expect(at('02:30', '2026-10-25T00:30:00.001Z')).to.equal('2026-10-25T01:30:00.000Z');
    expect(() => at('12:00', '2026-06-21T12:00:00.000Z', 'No/Zone')).to.throw(DerbenchError, 'No/Zone');
    for (const wrong of ['24:00', 'noon', '2026-06-21', '2026-06-21T12:00:00', ''])
      expect(() => at(wrong, '2026-06-21T12:00:00.000Z'), wrong).to.throw(DerbenchError, 'allowed: an instant');
  });
});
