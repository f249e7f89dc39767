/** Shards that claim devices at the same moment on a real NATS server, whose leases are old enough to count. */
import { expect } from 'chai';
import { callLater } from '../../src/core/time/timers.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { connectFleet } from '../../src/fleet/connect.ts';
import type { FleetLink } from '../../src/fleet/link.ts';
import { Membership } from '../../src/fleet/registry/membership.ts';
import { leaseKey, settledMs } from '../../src/fleet/registry/roster.ts';
import { pick } from '../support/depth.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';
import { within } from './support/within.ts';

const log = { info: () => undefined, warning: () => undefined };
const races = pick({ quick: 10, ci: 40, full: 100 });

describeWith(['nats'], 'claims of a fleet', function () {
  this.timeout(60_000);
  let server: NatsServer;
  let links: readonly FleetLink[];

  before(async () => {
    server = await NatsServer.start();
    const options = { servers: [server.url], prefix: 'derbench', log, waitMs: 0 };
    links = await Promise.all(['a', 'b', 'c'].map((name) => connectFleet({ ...options, name })));
    await within('old leases', 3 * settledMs, async () => ((await links[0]?.leases.ageMs()) ?? 0) > settledMs);
  });
  after(async () => {
    await Promise.all(links.map((link) => link.close()));
    await server.end();
  });

  it('of three shards with devices in common at the same moment, one joins', async () => {
    for (let race = 0; race < races; race += 1) {
      const members = links.map((link, at) => {
        const shard = `race-${race}-${at}`;
        return new Membership({
          link,
          shard,
          session: shard,
          first: 100 * race + at,
          room: 10,
          traits: { version: '1.0.0', apiVersion: '1.0.0', settings: {} },
          details: () => ({ count: 10, host: 'lab', http: '', ports: {}, pid: 1, tick: 0, simUs: 0 }),
          clock: systemClock,
          later: callLater,
          log,
          waitMs: 5000,
          onLost: () => undefined,
        });
      });
      const outcomes = await Promise.allSettled(members.map((member) => member.join()));
      const leases = await Promise.all(links.map((link, at) => link.leases.get(leaseKey(`race-${race}-${at}`))));
      const joined = outcomes.map(({ status }) => status === 'fulfilled');
      expect(joined.filter(Boolean), `race ${race}`).to.have.length(1);
      expect(leases.map((lease) => lease !== null)).to.deep.equal(joined);
      await Promise.all(members.map((member) => member.leave()));
    }
  });
});
