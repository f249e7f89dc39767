import { expect } from 'chai';
import { reasons } from '../../soak/figures.ts';
import { soakOptions } from '../../soak/options.ts';
import { soak } from '../../soak/soak.ts';
import { programCommand } from '../support/process.ts';
import { seedOf } from '../support/random.ts';

describe('a simulator under the load of all protocols', () => {
  it('answers without an error for 20 s', async () => {
    const load = ['--devices', '8', '--masters', '4', '--streams', '10', '--seed', String(seedOf('soak'))];
    const { figures } = await soak({ ...soakOptions(load), seconds: 20 }, () => undefined, programCommand);
    // the resident memory still settles, and no other figure may be out of its bounds
    expect(reasons(figures)).to.deep.equal([]);
  });
});
