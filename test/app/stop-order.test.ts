import { expect } from 'chai';
import { App } from '../../src/app/start-stop.ts';
import type { Parts } from '../../src/app/start-stop.ts';
import type { Adapter } from '../../src/core/adapter.ts';
import { configOf } from '../support/configured.ts';

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Parts that record the order of their calls; each end takes a turn of the event loop. */
class Bench {
  readonly events: string[] = [];
  /** parts whose end fails */
  readonly failing = new Set<string>();
  readonly app: App;

  constructor() {
    const adapters = [this.#adapter('modbus', false), this.#adapter('csip', true), this.#adapter('websocket', false)];
    const parts = {
      log: this.#log,
      logBook: { flush: () => this.events.push('log flushed') },
      plant: {
        devices: [],
        time: { mode: 'accelerated' },
        end: () => this.events.push('plant: no more ticks'),
        commands: { cancelAll: () => this.events.push('commands canceled') },
      },
      findings: { close: () => this.events.push('findings closed') },
      faults: { close: () => this.events.push('faults closed') },
      adapters,
      settings: { end: () => this.#end('settings'), leaveOff: () => undefined },
      http: {
        exposures: [],
        startLines: () => [],
        timelineStream: { open: () => undefined, close: () => undefined },
        api: {
          start: () => this.#begin('http', { host: '127.0.0.1', port: 1 }),
          stop: () => this.#end('http'),
        },
      },
      startAdapters: async () => {
        for (const adapter of adapters) await adapter.start();
        return new Map();
      },
      changes: { settled: () => this.#end('changes') },
      ticker: { start: () => this.events.push('ticker starts'), stop: () => this.#end('ticker') },
      eventLoop: { start: () => undefined, stop: () => undefined },
      feed: { close: () => undefined },
      clockWatch: { start: () => undefined, stop: () => undefined },
      recorder: {},
      scenarios: { kept: { close: () => this.#end('scenarios') } },
      owners: { save: () => undefined, settleMoves: () => undefined },
      keeping: null,
      historyKeeping: null,
      state: { words: '', open: () => this.#begin('state', undefined), close: () => this.#end('state') },
    };
    this.app = new App(configOf(), parts as unknown as Parts);
  }

  before(first: string, then: string): boolean {
    const [at, after] = [this.events.indexOf(first), this.events.indexOf(then)];
    return at >= 0 && after > at;
  }

  get #log() {
    const line = (text: string) => {
      if (text === 'stopped') this.events.push('log: stopped');
    };
    return {
      debug: () => undefined,
      info: line,
      warning: () => undefined,
      error: (text: string) => void this.events.push(text),
    };
  }

  #adapter(name: string, outbound: boolean): Adapter {
    return {
      comm: name,
      outbound,
      start: () => this.#begin(name, undefined),
      stop: () => this.#end(name),
    } as unknown as Adapter;
  }

  async #begin<T>(name: string, value: T): Promise<T> {
    await turn();
    this.events.push(`${name} open`);
    return value;
  }

  async #end(name: string): Promise<void> {
    this.events.push(`${name} ends`);
    await turn();
    if (this.failing.has(name)) throw new Error('it broke');
    this.events.push(`${name} ended`);
  }
}

describe('The order of start and stop', () => {
  it('binds every listener behind the state and before the first tick', async () => {
    const bench = new Bench();
    await bench.app.start();
    expect(bench.events).to.deep.equal([
      'state open',
      'modbus open',
      'csip open',
      'websocket open',
      'http open',
      'ticker starts',
    ]);
  });

  it('takes no new request, then ends connections to peers, the tick, listeners, HTTP, the state and the log', async () => {
    const bench = new Bench();
    await bench.app.start();
    bench.events.length = 0;
    await Promise.all([bench.app.stop(), bench.app.stop()]);
    expect(bench.events).to.deep.equal([
      'scenarios ends',
      'scenarios ended',
      'http ends',
      'settings ends',
      'http ended',
      'settings ended',
      'plant: no more ticks',
      'csip ends',
      'csip ended',
      'ticker ends',
      'ticker ended',
      'changes ends',
      'changes ended',
      'commands canceled',
      'modbus ends',
      'websocket ends',
      'modbus ended',
      'websocket ended',
      'findings closed',
      'faults closed',
      'state ends',
      'state ended',
      'log: stopped',
      'log flushed',
    ]);
  });

  it('goes on where a part fails to end, and handles each failure at once', async () => {
    const names = ['scenarios', 'settings', 'http', 'csip', 'ticker', 'changes', 'modbus', 'websocket', 'state'];
    for (const name of names) {
      const bench = new Bench();
      await bench.app.start();
      bench.failing.add(name);
      await bench.app.stop();
      expect(bench.events.filter((event) => event.endsWith('did not stop cleanly: it broke'))).to.have.length(1);
      for (const other of names.filter((each) => each !== name)) expect(bench.events).to.include(`${other} ended`);
      expect(bench.events.at(-1)).to.equal('log flushed');
      expect(bench.before('ticker ends', 'modbus ends') && bench.before('modbus ends', 'state ends')).to.equal(true);
    }
  });

  it('a failed start ends what is open, in the same order', async () => {
    const bench = new Bench();
    const failure = new Error('the port is in use');
    bench.app.api.start = () => Promise.reject(failure);
    expect(await bench.app.start().catch((error: unknown) => error)).to.equal(failure);
    expect(bench.events).to.not.include('ticker starts');
    expect(bench.before('modbus ended', 'state ended')).to.equal(true);
  });
});
