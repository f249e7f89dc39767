import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('fleet: the client of NATS', () => {
  it('is loaded by no simulator without a fleet, and with one by the first connection', () => {
    for (const start of ['src/main.ts', 'src/index.ts', 'src/app/build.ts', 'src/fleet/shard/member.ts'])
      expect(
        [...loadedBy(start)].filter((module) => /@nats-io|fleet\/nats/.test(module)),
        start,
      ).to.deep.equal([]);
    expect([...loadedBy('src/app/build.ts')].filter((module) => module.startsWith('src/fleet/'))).to.deep.equal([]);
    expect([...loadedBy('src/fleet/nats/link.ts')]).to.include('@nats-io/transport-node');
  });
});
