/** Parts of the state that belong to the registers of devices, over the end of the process. */
import { expect } from 'chai';
import { PlantKeeping } from '../../src/app/keeping.ts';
import { keptParts } from '../../src/core/kept.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import { testPlant } from '../support/plant.ts';

describe('a part that belongs to the registers of devices', () => {
  let texts: Map<string, string>;
  beforeEach(() => {
    texts = new Map();
  });

  /** A process with one part of a device, one of both and one of none in particular. @returns the restored parts */
  async function run(types: readonly string[]): Promise<readonly string[]> {
    const plant = testPlant({ types });
    const keeping = new PlantKeeping({
      plant,
      state: {
        store: createMemoryStore(),
        values: (slot) => [texts.get(slot)].flatMap((text) => (text ? [JSON.parse(text) as JsonValue] : [])),
        write: (slot, text) => texts.set(slot, text),
      },
      log: silentLogger,
      every: () => () => undefined,
      monotonicMs: () => 0,
      marksOf: (index) => ({ configuration: types[index] ?? '', fits: [types[index] ?? ''] }),
      onRefusal: () => undefined,
    });
    keeping.restore(keptParts({}));
    const restored: string[] = [];
    const keep = (name: string, devices?: readonly number[]) =>
      keeping.keepPart(name, { save: () => name, restore: () => restored.push(name) }, devices);
    keep('of one', [0]);
    keep('of both', [0, 1]);
    keep('of none');
    await keeping.commit(null);
    return restored;
  }

  it('is restored with them, unless all of them start anew', async () => {
    expect(await run(['PV-3Phase', 'PV-3Phase'])).to.deep.equal([]);
    expect(await run(['PV-3Phase', 'PV-3Phase'])).to.deep.equal(['of one', 'of both', 'of none']);
    expect(await run(['Batt-3Phase', 'PV-3Phase'])).to.deep.equal(['of both', 'of none']);
    expect(await run(['PV-3Phase', 'Batt-3Phase'])).to.deep.equal(['of none']);
  });
});
