import { expect } from 'chai';
import { PlantKeeping } from '../../src/app/keeping.ts';
import { alarmOfState } from '../../src/app/state-alarm.ts';
import { CommAlarms } from '../../src/core/comm-alarms.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createListStore } from '../../src/core/store.ts';
import { configuredDevices } from '../support/configured.ts';
import { testPlant } from '../support/plant.ts';

describe('alarm of a state that is not kept', () => {
  it('begins at each device with the first cause, says all of them, and ends with the last', () => {
    const commAlarms = new CommAlarms(() => 0);
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'] });
    const trouble = alarmOfState({ plant, commAlarms });
    const messages = () => [0, 1].map((index) => commAlarms.of(index).map(({ message }) => message));
    const words = 'A restart would lose what happens from now on';
    trouble.of('folder')('ENOSPC');
    expect(messages()).to.deep.equal([[`${words}: ENOSPC`], [`${words}: ENOSPC`]]);
    trouble.of('parts')('no room');
    expect(messages()).to.deep.equal([[`${words}: ENOSPC; no room`], [`${words}: ENOSPC; no room`]]);
    trouble.of('folder')(null);
    expect(trouble.reason).to.equal('no room');
    trouble.of('parts')(null);
    expect(messages()).to.deep.equal([[], []]);
    expect(trouble.reason).to.equal(null);
  });

  it('is that of a device which joins meanwhile too, and ends with the others', async () => {
    const commAlarms = new CommAlarms(() => 0);
    const plant = testPlant();
    const trouble = alarmOfState({ plant, commAlarms });
    const [device] = configuredDevices('--device_type', 'Batt-3Phase');
    const codes = () => plant.devices.map(({ index }) => commAlarms.of(index).map(({ code }) => code));
    trouble.of('folder')('ENOSPC');
    await plant.add(device!);
    expect(codes()).to.deep.equal([['state_not_kept'], ['state_not_kept']]);
    trouble.of('folder')(null);
    await plant.add(device!);
    expect(codes()).to.deep.equal([[], [], []]);
  });

  /** Shared parts with these numbers of octets, in a store that takes 100,000. */
  function refusing(octets: Record<string, number>) {
    const store = createListStore({ changed: () => null, durable: () => null }, { maxBytes: 100_000 });
    const refusals: (string | null)[] = [];
    const keeping = new PlantKeeping({
      plant: testPlant(),
      state: {
        store,
        values: () => [],
        write(slot, text) {
          store.write(slot, text);
        },
      },
      log: silentLogger,
      every: () => () => undefined,
      monotonicMs: () => 0,
      marksOf: () => ({ configuration: '', fits: [] }),
      onRefusal: (reason) => refusals.push(reason),
    });
    for (const name of Object.keys(octets))
      keeping.add(name, { save: () => 'x'.repeat(octets[name] ?? 0), restore: () => undefined });
    return { keeping, refusals };
  }
  const noRoom = (name: string) => `the store has no room for more than 100000 bytes in plant/shared/${name}`;

  it('has a part that the store refuses as its cause, until it fits again', async () => {
    const octets = { large: 200_000, larger: 200_000 };
    const { keeping, refusals } = refusing(octets);
    await keeping.commit(null);
    await keeping.commit(null);
    expect(refusals.at(-1)).to.equal(noRoom('large'));
    expect(refusals).to.have.length(2);
    octets.large = 10;
    await keeping.commit(null);
    expect(refusals.slice(2)).to.deep.equal([noRoom('larger')]);
    octets.larger = 10;
    await keeping.commit(null);
    expect(refusals.slice(3)).to.deep.equal([null]);
  });

  it('has no part as its cause that is gone', async () => {
    const { keeping, refusals } = refusing({});
    const end = keeping.keepPart('large', { save: () => 'x'.repeat(200_000), restore: () => undefined });
    await keeping.commit(null);
    expect(refusals).to.deep.equal([noRoom('large')]);
    end();
    expect(refusals.slice(1)).to.deep.equal([null]);
    await keeping.commit(null);
    expect(refusals).to.have.length(2);
  });
});
