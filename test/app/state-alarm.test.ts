import { expect } from 'chai';
import { PlantKeeping } from '../../src/app/keeping.ts';
import { alarmOfState } from '../../src/app/state-alarm.ts';
import { CommAlarms } from '../../src/core/comm-alarms.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createListStore } from '../../src/core/store.ts';
import { testPlant } from '../support/plant.ts';

describe('alarm of a state that is not kept', () => {
  it('begins at each device with the first cause, says all of them, and ends with the last', () => {
    const commAlarms = new CommAlarms(() => 0);
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'] });
    const trouble = alarmOfState(() => ({ plant, commAlarms }));
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

  it('has a part that the store refuses as its cause, until it fits again', async () => {
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
    let octets = 200_000;
    const part = { save: () => 'x'.repeat(octets), restore: () => undefined };
    keeping.add('large', part);
    keeping.add('larger', part);
    await keeping.commit(null);
    await keeping.commit(null);
    octets = 10;
    await keeping.commit(null);
    expect(refusals).to.deep.equal([
      'the store has no room for more than 100000 bytes in plant/shared/large',
      'the store has no room for more than 100000 bytes in plant/shared/larger',
      null,
    ]);
  });
});
