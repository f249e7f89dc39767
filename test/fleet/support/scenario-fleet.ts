/** A gateway that leads shards on a server in memory, and one process with the same devices. */
import { createApp } from '../../../src/app/build.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { apiVersion } from '../../../src/api/http/context.ts';
import type { Performed } from '../../../src/api/http/perform.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { bundledScenarioPath } from '../../../src/config/profile/bundled.ts';
import type { AppConfig } from '../../../src/config/settings/app-config.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { parseYaml } from '../../../src/core/yaml.ts';
import { clockKey, encodedRecord } from '../../../src/fleet/clock/record.ts';
import { Forwarder } from '../../../src/fleet/gateway/forward.ts';
import { FleetLead } from '../../../src/fleet/gateway/lead.ts';
import { ShardRouter } from '../../../src/fleet/gateway/router.ts';
import { FleetView } from '../../../src/fleet/gateway/view.ts';
import type { Stop } from '../../../src/fleet/link.ts';
import { FleetMember } from '../../../src/fleet/shard/member.ts';
import { readFileSync } from 'node:fs';
import { byTest } from '../../support/rig.ts';
import { clockRecord, handTime } from './clock.ts';
import { MemoryServer } from './memory-link.ts';
import type { MemoryLink } from './memory-link.ts';
import { fleetSiteRules } from '../../../src/app/fleet-site-rules.ts';
import { scenariosOf } from './scenarios.ts';
import { shardSettings } from './shard.ts';

type Mapping = Readonly<Record<string, unknown>>;

const traits = { version: '1.2.3', apiVersion, settings: {} };
const quietBook = () => createLogBook({ write: () => undefined });

function loaded(mapping: Mapping): AppConfig {
  const inline = {
    mapping: { mapping, directory: process.cwd(), label: 'test' },
    presets: { usesFreePorts: true, isPaused: true },
  };
  const result = loadConfig(['--mb_enable', 'no'], {}, {}, inline);
  if (result.kind !== 'run') throw new Error('no configuration');
  return result.config;
}

/** The configuration of a bundled scenario. */
export const configOfBundled = (name: string): Mapping =>
  (parseYaml(readFileSync(bundledScenarioPath(name) ?? '', 'utf8')) as { readonly config: Mapping }).config;

/** One process with all devices of a configuration. */
export const wholeApp = (mapping: Mapping): App => createApp(loaded(mapping), { logBook: quietBook() });

/** Shards with so many devices each, and a clock that stands. */
export async function scenarioFleet(mapping: Mapping, sizes: readonly number[]) {
  const { wall, timers, settle, pass } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const config = loaded(mapping);
  const digests = config.devices.map(({ profile }) => JSON.stringify(profile));
  const anchorOf = (profile: object) => {
    const at = digests.indexOf(JSON.stringify(profile));
    return at < 0 ? undefined : at;
  };
  const startUs = wholeApp(mapping).plant.now;
  const { mode, rate, timezone } = wholeApp(mapping).plant.time;
  const around = { mode, rate, timezone, tickS: config.tickS, wall0Ms: wall.ms, madeMs: wall.ms };
  const record = clockRecord({ ...around, startUs, sim0Us: startUs });
  await server.link().shared.create(clockKey, encodedRecord(record));
  const common = { wall, later: timers.later };
  const shards: { readonly app: App; readonly member: FleetMember; readonly link: MemoryLink }[] = [];
  let first = 0;
  for (const [at, size] of sizes.entries()) {
    const devices = (mapping['devices'] as readonly Mapping[]).slice(first, first + size);
    const part = { ...loaded({ ...mapping, devices, first_device: first }) };
    const joined = { record, tick: 0, simUs: startUs, anchors: new Map<string, number>(), anchorOf };
    const app = createApp(part, { ...common, logBook: quietBook(), joined });
    const link = server.link();
    const member = new FleetMember({
      settings: { ...shardSettings, shard: String.fromCharCode(97 + at) },
      plant: app.plant,
      joined: { record, anchors: new Map() },
      logBook: app.logBook,
      log: app.logBook.logger('Lab'),
      clock: wall,
      later: timers.later,
      performBytes: (request) => app.api.performBytes(request),
      traits,
      http: () => null,
      ports: () => ({}),
      lost: () => undefined,
      connect: () => Promise.resolve(link),
    });
    await member.open();
    member.startTicks();
    shards.push({ app, member, link });
    first += size;
  }
  /** A gateway; the first one leads. */
  const gatewayOf = async () => {
    const link = server.link();
    const log = quietBook().logger('Lab');
    const view = new FleetView({ link, prefix: 'lab', clock: wall, later: timers.later, log });
    const { perform, scenarios, through } = scenariosOf(common);
    const lead = new FleetLead({
      view,
      wall,
      later: timers.later,
      log,
      http: () => '',
      pace: 'hold',
      perform,
      scenarios,
      siteRules: fleetSiteRules,
    });
    const router = new ShardRouter(
      new Forwarder(link, 'lab'),
      () => view.places(),
      () => wall.monotonicMs(),
      (request) => lead.answer(request),
    );
    through(router);
    view.start();
    await settle();
    await lead.start();
    await settle();
    const stops: Stop[] = [() => view.stop()];
    const ask = (method: string, path: string, body?: unknown): Promise<Performed> =>
      perform({ method, path, ...(body !== undefined && { body }), by: byTest });
    /** The report of a run that has ended. */
    const ended = async (run: string): Promise<Mapping> => {
      for (let round = 0; round < 20_000; round += 1) {
        const { status, body } = await ask('GET', `/scenario-runs/${run}/report`);
        if (status === 200) return body as Mapping;
        await settle(20);
      }
      throw new Error(`the run ${run} does not end`);
    };
    return { view, lead, link, ask, ended, stop: () => stops.forEach((stop) => stop()) };
  };
  const gateway = await gatewayOf();
  return { server, shards, wall, pass, settle, gatewayOf, ...gateway };
}
