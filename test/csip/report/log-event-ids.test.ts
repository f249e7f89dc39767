import { expect } from 'chai';
import { LogEventIds } from '../../../src/csip/report/log-event-ids.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../src/core/store.ts';

describe('ids of LogEvents', () => {
  it('go on after a restart, and begin again after 16 bits', async () => {
    const slot = createMemoryStore().slot('log-events');
    const before = await LogEventIds.open(slot, silentLogger);
    expect([before.next(), before.next()]).to.deep.equal([0, 1]);
    const after = await LogEventIds.open(slot, silentLogger);
    expect(after.next()).to.equal(2);
    await slot.replace([0xffff]);
    const last = await LogEventIds.open(slot, silentLogger);
    expect([last.next(), last.next()]).to.deep.equal([0xffff, 0]);
  });
});
