/** Settings whose adapters do not open, not even with the former settings, and changes that come too fast. */
import { expect } from 'chai';
import type { NotOpened, RestartOptions } from '../../src/app/adapters/seats.ts';
import { SettingsInForce } from '../../src/app/settings.ts';
import type { CertificateStore } from '../../src/contract/certificates.ts';
import type { RestartableAdapter } from '../../src/contract/settings.ts';
import type { SimError } from '../../src/core/errors.ts';
import { configOf } from '../support/configured.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

const by = { source: 'rest', peer: '192.0.2.1:5' } as const;

class Bench {
  readonly timers = new HandTimers(new HandWall());
  readonly lines: string[] = [];
  readonly restarts: string[] = [];
  /** adapters that do not open */
  readonly broken = new Set<RestartableAdapter>();
  readonly settings: SettingsInForce;
  /** a restart resolves with it; null: at once */
  gate: Promise<void> | null = null;

  constructor(...flags: readonly string[]) {
    const line = (text: string) => void this.lines.push(text);
    this.settings = new SettingsInForce(configOf('-wp', '0', ...flags), {
      log: { info: line, warning: line, error: line },
      certificates: {} as unknown as CertificateStore,
      later: this.timers.later,
      withoutRequests: null,
    });
    this.settings.restartWith((names, how) => this.#restart(names, how));
  }

  async #restart(names: readonly RestartableAdapter[], { goesOn }: RestartOptions): Promise<NotOpened> {
    await this.gate;
    this.restarts.push(`${names.join(' ')}${goesOn ? ' again' : ''}`);
    return new Map(names.filter((name) => this.broken.has(name)).map((name) => [name, new Error(`${name} is broken`)]));
  }

  /** @returns adapters that have restarted, or the text of the error */
  change(values: Readonly<Record<string, unknown>>): Promise<readonly string[] | string> {
    return this.settings.change(values, by).then(
      ({ adapters }) => [...adapters.keys()],
      (error: unknown) => (error as SimError).message,
    );
  }
}

const dnp3 = ['--dnp3_enable', 'yes'];

describe('Restarts of adapters that fail', () => {
  it('the answer names the adapters that do not start with the former settings either', async () => {
    const bench = new Bench(...dnp3);
    bench.broken.add('dnp3');
    expect(await bench.change({ mb_port: 5000, dnp3_port: 5001 })).to.equal(
      'no setting is changed: dnp3 is broken; switched off, since they do not start with the former settings either, ' +
        'until a request changes settings: dnp3 (dnp3 is broken)',
    );
    expect(bench.restarts).to.deep.equal(['modbus dnp3', 'modbus dnp3 again']);
    expect(bench.settings.config.modbus.port).to.not.equal(5000);
  });

  it('the next enable opens them although nothing changes, and fails where they do not open', async () => {
    const bench = new Bench(...dnp3);
    bench.broken.add('dnp3');
    await bench.change({ dnp3_port: 5001 });
    expect(await bench.change({ dnp3_enable: true })).to.match(/^no setting is changed: dnp3 is broken/);
    bench.broken.clear();
    expect(await bench.change({ dnp3_enable: true })).to.deep.equal(['dnp3']);
    expect(bench.lines.at(-1)).to.equal('dnp3 switched on, asked by rest, 192.0.2.1:5');
    expect(await bench.change({ dnp3_enable: true })).to.deep.equal([]);
  });

  it('so does any other change, which does not fail with them', async () => {
    const bench = new Bench(...dnp3);
    bench.broken.add('dnp3');
    await bench.change({ dnp3_port: 5001 });
    expect(await bench.change({ log_level: 'debug' })).to.deep.equal([]);
    expect(bench.lines.at(-1)).to.equal('dnp3 is still switched off: dnp3 is broken');
    bench.broken.clear();
    expect(await bench.change({ log_level: 'info' })).to.deep.equal(['dnp3']);
    expect(await bench.change({ log_level: 'debug' })).to.deep.equal([]);
  });

  it('an adapter that is off and switched off stays off', async () => {
    const bench = new Bench(...dnp3);
    bench.broken.add('dnp3');
    await bench.change({ dnp3_port: 5001 });
    bench.broken.clear();
    bench.restarts.length = 0;
    // its place is cleared, so that REST does not show the failure any more
    expect(await bench.change({ dnp3_enable: false })).to.deep.equal(['dnp3']);
    expect(await bench.change({ log_level: 'debug' })).to.deep.equal([]);
    expect(bench.restarts).to.deep.equal(['dnp3']);
  });

  it('the log says restarted, switched on and switched off', async () => {
    const bench = new Bench(...dnp3);
    await bench.change({ mb_port: 5000, dnp3_enable: false });
    await bench.change({ dnp3_enable: true });
    expect(bench.lines).to.deep.equal([
      'modbus restarted, dnp3 switched off, asked by rest, 192.0.2.1:5',
      'dnp3 switched on, asked by rest, 192.0.2.1:5',
    ]);
  });

  it('a setting whose switch or adapter is off restarts nothing', async () => {
    const bench = new Bench('--mb_enable', 'no', ...dnp3);
    const quiet = { mb_port: 5000, dnp3_allowed_peers: 'master.example', csip_server_port: 5001 };
    expect([await bench.change(quiet), bench.restarts]).to.deep.equal([[], []]);
    expect(bench.lines.filter((line) => line.includes('asked by'))).to.deep.equal([]);
  });

  it('16 changes may wait, and further ones are refused; an end refuses those that wait', async () => {
    const bench = new Bench(...dnp3);
    let open: () => void = () => undefined;
    bench.gate = new Promise((resolve) => {
      open = resolve;
    });
    const first = bench.change({ dnp3_port: 5000 });
    const waiting = Array.from({ length: 16 }, (_, i) => bench.change({ dnp3_port: 5001 + i }));
    expect(await bench.change({ dnp3_port: 6000 })).to.equal('nothing is changed: 16 changes of settings wait already');
    const ended = bench.settings.end();
    for (const answer of await Promise.all(waiting)) expect(answer).to.equal('the simulator is stopping');
    bench.timers.pass(1000);
    await ended;
    open();
    expect(await first).to.deep.equal(['dnp3']);
  });
});
