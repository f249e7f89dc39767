/** Places of adapters that fail to close or open, or never end it. */
import { expect } from 'chai';
import { AdapterSeats } from '../../../src/app/adapters/seats.ts';
import type { Adapter } from '../../../src/core/adapter.ts';
import type { SimError } from '../../../src/core/errors.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const never = () => new Promise<void>(() => undefined);
const atOnce = () => Promise.resolve();

type Lifecycle = Pick<Adapter, 'start' | 'stop'>;

/** Adapters of Modbus and DNP3; each one that is made takes the next lifecycle of its protocol. */
class Bench {
  readonly timers = new HandTimers(new HandWall());
  readonly errors: string[] = [];
  readonly ending = new AbortController();
  readonly seats = new AdapterSeats(
    { info: () => undefined, warning: () => undefined, error: (line) => void this.errors.push(line) },
    this.timers.later,
  );

  constructor(modbus: readonly Partial<Lifecycle>[], dnp3: readonly Partial<Lifecycle>[] = [{}, {}, {}]) {
    for (const [name, lifecycles] of [
      ['modbus', modbus],
      ['dnp3', dnp3],
    ] as const) {
      const rest = [...lifecycles];
      this.seats.add({
        name,
        make: () => ({ comm: name, start: atOnce, stop: atOnce, ...rest.shift() }) as unknown as Adapter,
      });
    }
  }

  /** Adapters, of those that did not open with the reason. */
  get present(): readonly string[] {
    return this.seats.adapters.map(({ comm, status }: Pick<Adapter, 'comm'> & Partial<Adapter>) => {
      const shown = status?.();
      return shown === undefined ? comm : `${comm} ${shown.state}: ${shown.detail ?? ''}`;
    });
  }

  async failures(goesOn = false): Promise<readonly string[]> {
    const failures = await this.seats.restart(['modbus', 'dnp3'], { goesOn, ending: this.ending.signal });
    return Array.from(failures, ([name, error]) => `${name}: ${(error as Error).message}`);
  }

  /** Fires the limit of work that never ends, once it has begun. */
  async expire(): Promise<void> {
    await new Promise(setImmediate);
    this.timers.pass(10_000);
  }
}

describe('The places of adapters', () => {
  it('an adapter whose end fails is replaced', async () => {
    const bench = new Bench([{ stop: () => Promise.reject(new Error('it broke')) }, {}]);
    expect(await bench.failures()).to.deep.equal([]);
    expect(bench.errors).to.deep.equal(['modbus did not stop cleanly: it broke']);
    expect(bench.present).to.deep.equal(['modbus', 'dnp3']);
  });

  it('an adapter whose end fails is gone where the settings switch it off', async () => {
    const seats = new Bench([]).seats;
    let isOn = true;
    const adapter = { comm: 'csip', start: atOnce, stop: () => Promise.reject(new Error('it broke')) };
    seats.add({ name: 'csip', make: () => (isOn ? (adapter as unknown as Adapter) : null) });
    isOn = false;
    await seats.restart(['csip'], { goesOn: false, ending: new AbortController().signal });
    expect(seats.adapters.map(({ comm }) => comm)).to.not.include('csip');
  });

  it('an adapter that never closes counts as closed after 10 s', async () => {
    const bench = new Bench([{ stop: never }, {}]);
    const restart = bench.failures();
    await bench.expire();
    expect(await restart).to.deep.equal([]);
    expect(bench.errors).to.deep.equal(['modbus did not stop cleanly: not done within 10 s']);
  });

  it('an adapter that never opens is off after 10 s, and closes when it opens later', async () => {
    let opens: () => void = () => undefined;
    let isClosed = false;
    const slow = {
      start: () =>
        new Promise<void>((resolve) => {
          opens = resolve;
        }),
      stop: () => {
        isClosed = true;
        return atOnce();
      },
    };
    const bench = new Bench([{}, slow]);
    const restart = bench.failures();
    await bench.expire();
    expect(await restart).to.deep.equal(['modbus: not done within 10 s']);
    expect([bench.present, isClosed]).to.deep.equal([['modbus error: not done within 10 s'], false]);
    opens();
    await new Promise(setImmediate);
    expect(isClosed).to.equal(true);
  });

  it('the first one that does not open leaves those after it off, unless the restart goes on', async () => {
    const broken = { start: () => Promise.reject(new Error('the port is in use')) };
    const bench = new Bench([{}, broken, broken]);
    expect(await bench.failures()).to.deep.equal(['modbus: the port is in use']);
    expect(bench.present).to.deep.equal(['modbus error: the port is in use']);
    expect(await bench.failures(true)).to.deep.equal(['modbus: the port is in use']);
    expect(bench.present).to.deep.equal(['modbus error: the port is in use', 'dnp3']);
    expect(await bench.failures()).to.deep.equal([]);
    expect(bench.present).to.deep.equal(['modbus', 'dnp3']);
  });

  it('at a start the first one that does not open ends it, unless the start leaves it off', async () => {
    const broken = { start: () => Promise.reject(new Error('the port is in use')) };
    const bench = new Bench([broken]);
    const error = await bench.seats.start(false).catch((thrown: unknown) => thrown);
    expect([(error as Error).message, bench.present]).to.deep.equal(['the port is in use', ['modbus', 'dnp3']]);
    expect([...(await bench.seats.start(true)).keys()]).to.deep.equal(['modbus']);
    expect(bench.present).to.deep.equal(['modbus error: the port is in use', 'dnp3']);
    expect(await bench.failures()).to.deep.equal([]);
    expect(bench.present).to.deep.equal(['modbus', 'dnp3']);
  });

  it('no adapter opens in a simulator that is stopping', async () => {
    const bench = new Bench([{}, {}]);
    bench.ending.abort();
    const error = await bench.failures().catch((thrown: unknown) => thrown);
    expect((error as SimError).code).to.equal('STOPPING');
    expect(bench.present).to.deep.equal([]);
  });
});
