import { expect } from 'chai';
import { HttpProblem } from '../../../src/api/http/errors.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { fleetSiteRules } from '../../../src/app/fleet-site-rules.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { leaderKey } from '../../../src/fleet/clock/leader.ts';
import { clockKey, decodedRecord, encodedRecord } from '../../../src/fleet/clock/record.ts';
import { clockMessage } from '../../../src/fleet/clock/messages.ts';
import { FleetLead } from '../../../src/fleet/gateway/lead.ts';
import type { FleetError } from '../../../src/fleet/link.ts';
import { FleetView } from '../../../src/fleet/gateway/view.ts';
import { leadSubject } from '../../../src/fleet/operation.ts';
import { encoded, leaseKey } from '../../../src/fleet/registry/roster.ts';
import type { Lease } from '../../../src/fleet/registry/roster.ts';
import { byTest } from '../../support/rig.ts';
import { clockRecord, handTime, quietLog } from '../support/clock.ts';
import { MemoryServer } from '../support/memory-link.ts';
import { scenariosOf } from '../support/scenarios.ts';

const prefix = 'lab';
const lease: Lease = {
  shard: 'a',
  session: 's',
  epoch: 1,
  first: 0,
  room: 1,
  count: 1,
  host: 'lab',
  http: '',
  ports: {},
  pid: 1,
  tick: 0,
  simUs: 0,
  version: '1.0.0',
  apiVersion: '1.0.0',
  settings: {},
};

/**
 * A gateway that leads, with a shard whose lease stays for the time of a test, if there is one.
 * @param isLed another gateway leads until its lease ends
 */
async function leading(hasShard: boolean, isLed = false) {
  const { wall, timers, pass, settle } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const link = server.link();
  const record = clockRecord({ seq: 7, mode: 'paused' });
  await server.link().shared.create(clockKey, encodedRecord(record));
  if (hasShard) await server.link().leases.create(leaseKey('a'), encoded(lease));
  const view = new FleetView({ link, prefix, clock: wall, later: timers.later, log: quietLog });
  const clocks = { wall, later: timers.later };
  const { perform, scenarios } = scenariosOf(clocks);
  const lead = new FleetLead({
    view,
    ...clocks,
    log: silentLogger,
    http: () => '',
    pace: 'hold',
    perform,
    scenarios,
    siteRules: fleetSiteRules,
  });
  view.start();
  if (isLed) await server.link().leases.create(leaderKey, Buffer.from('{"session":"other","http":""}'));
  await lead.start();
  await settle();
  const stored = () => {
    const entry = server.shared.get(clockKey);
    return entry && decodedRecord(entry.value);
  };
  const outage = async () => {
    link.set('offline');
    server.lose();
    link.set('connected');
    await settle();
  };
  const end = async () => {
    await lead.stop();
    view.stop();
  };
  return { server, wall, lead, record, stored, outage, pass, settle, end };
}

describe('fleet/gateway: the gateway that leads', () => {
  it('writes the clock of its shards again that the server has lost', async () => {
    const { lead, record, stored, outage, end } = await leading(true);
    await outage();
    expect([lead.isLeader, stored()]).to.deep.equal([true, record]);
    await end();
  });

  it('leaves it to the next shard to begin a clock where none lives', async () => {
    const { stored, outage, pass, end } = await leading(false);
    await outage();
    await pass(2000);
    expect(stored()).to.equal(null);
    await end();
  });

  it('does not wait for a gateway that led and was killed before its answer', async () => {
    const { server, lead, pass, end } = await leading(true, true);
    await server.link().serve('lead', leadSubject(prefix), () => new Promise<never>(() => undefined));
    const path = '/api/sim/controls/time/step';
    const route = allRoutes.find(({ operationId }) => operationId === 'step_time')!;
    const request = { route, method: 'POST', path, params: {}, query: {}, body: { ticks: 1 }, by: byTest, id: '1' };
    let outcome: unknown = 'open';
    void lead.answer({ ...request, bytes: Buffer.alloc(0) }).catch((error: unknown) => {
      outcome = error instanceof HttpProblem ? [error.code, error.message] : error;
    });
    await pass(2000);
    expect(outcome).to.equal('open');
    await pass(3500);
    const text = 'The gateway that led has ended before its answer; the request may have been carried out.';
    expect([lead.isLeader, outcome]).to.deep.equal([true, ['upstream-error', text]]);
    await end();
  });

  it('leaves what another gateway passes on to the leader once it leads no longer', async () => {
    const { server, lead, wall, stored, record, end } = await leading(true);
    const by = { source: 'rest' };
    const asked = {
      operationId: 'set_time',
      query: {},
      body: { rate: 5 },
      by,
      path: '/api/sim/controls/time',
      id: '1',
    };
    // it stood still for longer than its lease: timers come later than the request
    wall.advance(5000);
    expect(lead.isLeader).to.equal(false);
    const outcome = await server
      .link()
      .request(leadSubject(prefix), clockMessage(asked), 100)
      .catch((error: unknown) => (error as FleetError).code);
    expect(outcome).to.equal('timeout');
    expect(stored()).to.deep.equal(record);
    await end();
  });
});
