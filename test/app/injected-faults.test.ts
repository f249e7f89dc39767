import { expect } from 'chai';
import { createFaultRegistry, injectConfigured } from '../../src/app/faults.ts';
import { InjectedFaults } from '../../src/app/injected-faults.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { systemIo } from '../../src/config/layers/files.ts';
import type { FaultRegistry } from '../../src/core/faults/registry.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { throughFile } from '../support/continuation.ts';
import { testPlant } from '../support/plant.ts';
import { HandWall } from '../support/wall.ts';

/** A configuration from the text of its file; bundled files are real. */
function configOf(text: string) {
  const path = '/site/c.yaml';
  const loaded = loadConfig(
    ['--config', path],
    {},
    {
      cwd: '/site',
      readFile: (name, max) => (name === path ? text : systemIo.readFile(name, max)),
      isFile: (name) => name === path || systemIo.isFile(name),
    },
  );
  if (loaded.kind !== 'run') throw new Error('no configuration');
  return loaded.config;
}

/** A process with the faults of its configuration. */
class Process {
  readonly plant: SimPlant;
  readonly registry: FaultRegistry;
  readonly #injected = new InjectedFaults();

  /** @param before restored before the faults of the configuration begin; @param removed indexes of removed devices */
  private constructor(text: string) {
    const config = configOf(text);
    const { devices } = config;
    const made: { plant?: SimPlant; registry?: FaultRegistry } = {};
    this.plant = testPlant({
      types: devices.map(() => 'PV-3Phase'),
      faults: (clock) => {
        made.registry = createFaultRegistry({
          wall: new HandWall(),
          sim: () => clock.sim(),
          seed: 1,
          log: silentLogger,
          plant: () => made.plant!,
          later: () => () => undefined,
        });
        return made.registry;
      },
    });
    made.plant = this.plant;
    this.registry = made.registry!;
  }

  static async start(text: string, before?: Process, removed: readonly number[] = []): Promise<Process> {
    const process = new Process(text);
    for (const index of removed) await process.plant.remove(index);
    if (before) {
      process.registry.kept().restore(throughFile(before.registry.kept().save()));
      process.#injected.kept().restore(throughFile(before.#injected.kept().save()));
    }
    injectConfigured(
      process.registry,
      configOf(text),
      { plant: process.plant, adapters: [{ comm: 'modbus_tcp' }] },
      silentLogger,
      process.#injected,
    );
    return process;
  }

  /** `id kind` of the faults in force */
  get active(): readonly string[] {
    return this.registry.active.map(
      ({ facts: { id, kind, deviceIndex } }) => `${id} ${kind.kind} ${deviceIndex ?? 'all'}`,
    );
  }
}

const drop = '  - kind: drop\n';
const freeze = '  - {kind: freeze, points: [701.W], device: 1}\n';
const two = 'devices:\n  - device_type: PV-3Phase\n    count: 2\n';
const file = (...faults: readonly string[]) => `${two}${faults.length > 0 ? `faults:\n${faults.join('')}` : ''}`;

describe('faults of the configuration over a restart', () => {
  it('begin once, with their number', async () => {
    const first = await Process.start(file(drop, freeze));
    expect(first.active).to.deep.equal(['1 drop all', '2 freeze 1']);
    const second = await Process.start(file(drop, freeze), first);
    expect(second.active).to.deep.equal(first.active);
    const third = await Process.start(file(drop, freeze), second);
    expect(third.active).to.deep.equal(first.active);
  });

  it('one that is over does not begin again', async () => {
    const first = await Process.start(file(drop, freeze));
    first.registry.clear({ id: 1 });
    const second = await Process.start(file(drop, freeze), first);
    expect(second.active).to.deep.equal(['2 freeze 1']);
  });

  it('a new one begins, wherever it stands', async () => {
    const first = await Process.start(file(freeze));
    const second = await Process.start(file(drop, freeze), first);
    expect(second.active).to.deep.equal(['1 freeze 1', '2 drop all']);
  });

  it('one that the configuration has no more ends, and begins again when it is back', async () => {
    const first = await Process.start(file(drop, freeze));
    const second = await Process.start(file(freeze), first);
    expect(second.active).to.deep.equal(['2 freeze 1']);
    expect(second.registry.ended.map(({ fault, end }) => [fault.facts.id, end])).to.deep.equal([[1, 'cleared']]);
    const third = await Process.start(file(drop, freeze), second);
    expect(third.active).to.deep.equal(['2 freeze 1', '3 drop all']);
  });

  it('a changed one is another one', async () => {
    const first = await Process.start(file(freeze));
    const second = await Process.start(file(freeze.replace('701.W', '701.Var')), first);
    expect(second.active).to.deep.equal(['2 freeze 1']);
  });

  it('equal ones count', async () => {
    const first = await Process.start(file(drop, drop));
    const more = await Process.start(file(drop, drop, drop), first);
    expect(more.active).to.deep.equal(['1 drop all', '2 drop all', '3 drop all']);
    const fewer = await Process.start(file(drop), more);
    expect(fewer.active).to.deep.equal(['1 drop all']);
  });

  it('faults of clients stay beside them', async () => {
    const first = await Process.start(file(drop));
    first.registry.inject([{ protocol: 'modbus', kind: 'drop' }], { source: 'rest' });
    const second = await Process.start(file(), first);
    expect(second.active).to.deep.equal(['2 drop all']);
  });

  it('those of a device that a client has removed stay away', async () => {
    const text = file(freeze);
    const first = await Process.start(text);
    await first.plant.remove(1);
    first.registry.deviceRemoved(1);
    const second = await Process.start(text, first, [1]);
    expect(second.active).to.deep.equal([]);
    const fresh = await Process.start(text, undefined, [1]);
    expect(fresh.active).to.deep.equal([]);
  });
  it('are not restored from a list that is odd, and what there was stays', () => {
    const kept = new InjectedFaults().kept();
    const before = kept.save();
    for (const odd of [[[null]], [['key']], [['key', ['1']]], [['key', [1.5]]]])
      expect(() => kept.restore({ faults: odd }), JSON.stringify(odd)).to.throw('odd');
    expect(kept.save()).to.deep.equal(before);
  });
});
