/** Shards and gateways of one fleet in free run on a server in memory, whose time a test passes. */
import { createLogBook } from '../../../src/core/log/log.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { scenariosOf } from './scenarios.ts';
import { fleetSiteRules } from '../../../src/app/fleet-site-rules.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import type { FleetSettings } from '../../../src/contract/fleet-settings.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { clockKey, encodedRecord } from '../../../src/fleet/clock/record.ts';
import { FleetLead } from '../../../src/fleet/gateway/lead.ts';
import { FleetView } from '../../../src/fleet/gateway/view.ts';
import { FleetMember } from '../../../src/fleet/shard/member.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { clockRecord, handTime, quietLog } from './clock.ts';
import { MemoryServer } from './memory-link.ts';
import type { MemoryLink } from './memory-link.ts';

const noFiles = {
  credsFile: null,
  nkeyFile: null,
  user: null,
  passwordFile: null,
  caFile: null,
  certFile: null,
  keyFile: null,
};
const settings = { servers: ['nats://127.0.0.1:1'], prefix: 'lab', room: null, waitS: 0, plain: false, devices: false };

interface Shard {
  readonly plant: SimPlant;
  readonly member: FleetMember;
  readonly link: MemoryLink;
  /** net power at the end of each tick, W, by its number */
  readonly netW: Map<number, number>;
}

export async function limitedFleet() {
  const { wall, timers, settle, pass } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  wall.advance(10_000);
  const record = clockRecord({ sim0Us: testPlant().now, wall0Ms: wall.ms, madeMs: wall.ms });
  await server.link().shared.create(clockKey, encodedRecord(record));
  const shards = new Map<string, Shard>();
  let firstIndex = 0;
  const logBook = createLogBook({ write: () => undefined });
  const around = { later: timers.later, log: logBook.logger('Lab'), logBook };
  /** Starts a shard with devices of these types. */
  const join = async (shard: string, types: readonly string[], options: TestPlantOptions = {}) => {
    const clock = { mode: record.mode, rate: record.rate, tickIntervalS: record.tickS, wall };
    const plant = testPlant({ types, firstIndex, ...clock, ...options });
    firstIndex += types.length;
    const link = server.link();
    const member = new FleetMember({
      ...around,
      settings: { ...settings, ...noFiles, shard, pace: 'free', advertisedHost: null } satisfies FleetSettings,
      plant,
      joined: { record, anchors: new Map() },
      clock: wall,
      performBytes: () => Promise.reject(new Error('no request is expected')),
      traits: { version: '1.0.0', apiVersion: '1.0.0', settings: {} },
      http: () => null,
      ports: () => ({}),
      lost: () => undefined,
      connect: () => Promise.resolve(link),
    });
    await member.open();
    const netW = new Map<number, number>();
    plant.onTick(({ tick }) => netW.set(tick, plant.site.netW));
    member.startTicks();
    shards.set(shard, { plant, member, link, netW });
    return plant;
  };
  /** Ends a shard as SIGKILL does. */
  const kill = async (shard: string) => {
    const { member, link } = shards.get(shard)!;
    link.set('offline');
    await member.stopTicks();
  };
  const gateway = async () => {
    const link = server.link();
    const common = { wall, later: timers.later, log: silentLogger };
    const { perform, scenarios } = scenariosOf(common);
    const view = new FleetView({ link, prefix: 'lab', clock: wall, later: timers.later, log: quietLog });
    const lead = new FleetLead({
      ...common,
      view,
      http: () => '',
      pace: 'free',
      perform,
      scenarios,
      siteRules: fleetSiteRules,
    });
    view.start();
    await lead.start();
    const ask = async (operationId: string, body?: object) => {
      const route = allRoutes.find((each) => each.operationId === operationId)!;
      const request = { route, method: 'GET', path: '/api/sim/site', params: {}, query: {}, body, id: 'r1' };
      const reply = await lead.answer({ ...request, bytes: new Uint8Array(0), by: { source: 'rest' } });
      return JSON.parse(reply.bytes.toString()) as Readonly<Record<string, unknown>>;
    };
    return { link, lead, view, site: (limits: object) => ask('set_site', limits), shown: () => ask('get_site') };
  };
  /**
   * Ticks from a number on in which living shards together are beyond a limit: the most that follow one another.
   * @param over the excess of a sum of net powers, W
   */
  const ticksBeyond = (over: (netW: number) => number, from: number) => {
    const numbers = [...shards.values()].flatMap(({ netW }) => [...netW.keys()]);
    let [most, running] = [0, 0];
    for (let tick = from; tick <= Math.max(...numbers); tick += 1) {
      const sum = [...shards.values()].reduce((total, { netW }) => total + (netW.get(tick) ?? 0), 0);
      running = over(sum) > 1 ? running + 1 : 0;
      most = Math.max(most, running);
    }
    return most;
  };
  const tick = () => Math.max(...[...shards.values()].flatMap(({ netW }) => [...netW.keys()]));
  /** Net power of living shards at the end of the last tick, W. */
  const netNow = () => [...shards.values()].reduce((total, { netW }) => total + (netW.get(tick()) ?? 0), 0);
  const end = async () => {
    for (const { member } of shards.values()) {
      await member.stopTicks();
      await member.close();
    }
  };
  return { server, shards, join, kill, gateway, ticksBeyond, tick, netNow, pass, settle, end, timers };
}
