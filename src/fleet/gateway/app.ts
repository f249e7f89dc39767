/** A gateway: one address of HTTP and of the stream for the shards of a fleet. It has no devices of its own. */
import { hostname } from 'node:os';
import type { FleetSettings } from '../../contract/fleet-settings.ts';
import { startLine } from '../../core/adapter.ts';
import { SimError } from '../../core/errors.ts';
import { EventLoopWatch } from '../../core/event-loop.ts';
import type { EventLoopState } from '../../core/event-loop.ts';
import { trackAnswer } from '../../core/http/connections.ts';
import type { LogBook } from '../../core/log/log.ts';
import { Late } from '../../core/lazy.ts';
import { hostAndPort, shownHost } from '../../core/net/listen.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { Perform } from '../../api/http/perform.ts';
import { defaultApiLimits } from '../../api/http/context.ts';
import { createFront, createUnread } from '../../api/http/front.ts';
import type { Front } from '../../api/http/front.ts';
import { createTelemetry } from '../../ws/telemetry.ts';
import type { Telemetry } from '../../ws/telemetry.ts';
import { connectFleet } from '../connect.ts';
import { FleetError } from '../link.ts';
import type { FleetLink } from '../link.ts';
import { linkOptionsOf } from '../settings-of-link.ts';
import { Forwarder } from './forward.ts';
import type { GatewayInfo } from './own.ts';
import { FleetLog } from './logs.ts';
import { GatewayMetrics } from './metrics.ts';
import { RequestCounts } from './request-counts.ts';
import { ShardRouter } from './router.ts';
import { createGatewayApp, ownAnswer } from './serve.ts';
import type { ServingOptions } from './serve.ts';
import { FleetView } from './view.ts';
import { FleetLead } from './lead.ts';
import type { SiteRules } from '../site/rules.ts';
import type { FleetBook } from './lead.ts';
import { createGatewayPerform } from './perform.ts';
import type { FleetGround } from './scenarios/ground.ts';

export interface GatewayOptions {
  readonly settings: FleetSettings;
  readonly web: {
    readonly host: string;
    readonly port: number;
    readonly allowedHosts: readonly string[];
    readonly corsOrigins: readonly string[];
    readonly maxConnections: number;
    readonly maxStreamClients: number;
  };
  readonly info: GatewayInfo;
  /** of the limits of the whole fleet */
  readonly siteRules: SiteRules;
  readonly logBook: LogBook;
  readonly clock: WallClock;
  readonly later: Later;
  /** Makes the scenarios of the gateway. */
  readonly scenarios: (ground: FleetGround) => FleetBook;
  /** Ends the process, after a request to stop. */
  readonly requestStop: () => void;
}

export interface Gateway {
  /** for the output of a start */
  readonly lines: readonly string[];
  /** Ends the stream, the answers under way and the connection to the fleet, in this order. */
  stop(): Promise<void>;
}

/** @throws SimError LISTEN_FAILED: no server of the fleet in time, refused credentials, or a port in use */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const link = await connected(options);
  try {
    return await serving(options, link);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function connected({ settings, info, logBook }: GatewayOptions): Promise<FleetLink> {
  try {
    return await connectFleet({
      ...linkOptionsOf(settings),
      name: 'derbench gateway',
      log: logBook.logger('Lab'),
      service: {
        name: 'derbench-gateway',
        version: info.version,
        description: 'gateway of a derbench fleet',
        metadata: { prefix: settings.prefix },
      },
    });
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    throw new SimError('LISTEN_FAILED', `the fleet cannot be reached: ${error.message}`);
  }
}

interface Doors {
  readonly front: Front;
  readonly telemetry: Telemetry;
  readonly perform: Perform;
  /** Refuses what comes from now on. */
  close(): void;
}

/** The listener with the application and the stream behind it, which share the port. */
interface Watched {
  readonly view: FleetView;
  readonly lead: FleetLead;
  readonly eventLoop: EventLoopState;
  readonly logs: FleetLog;
}

function doorsOf(options: GatewayOptions, { view, lead, eventLoop, logs }: Watched): Doors {
  const { settings, web, info, logBook, clock, later, requestStop } = options;
  let isStopping = false;
  let stopDelayS: number | null = null;
  let stream: Telemetry | null = null;
  const { host, port, allowedHosts, corsOrigins, maxConnections, maxStreamClients } = web;
  const limits = { ...defaultApiLimits, maxConnections: maxConnections + maxStreamClients };
  const guard = { host, allowedHosts, corsOrigins };
  const counts = new RequestCounts(() => clock.monotonicMs());
  const noResponder = (shard: string) => {
    view.noResponder(shard);
  };
  const forwarder = new Forwarder(view.link, settings.prefix, noResponder, counts);
  const stopFollowing = view.onShard(({ kind, shard }) => {
    if (kind === 'lost' || kind === 'left') forwarder.lose(shard);
  });
  const router = new ShardRouter(
    forwarder,
    () => view.places(),
    () => clock.monotonicMs(),
    (request) => lead.answer(request),
    (shard) => view.ticks.newest(shard)?.parts.flatMap(({ index }) => [...index]) ?? [],
  );
  const gateway: ServingOptions = {
    view,
    router,
    eventLoop,
    info,
    guard,
    limits,
    nowMs: () => clock.nowMs(),
    isStopping: () => isStopping,
    logs,
    metrics: new GatewayMetrics({ view, counts, info, eventLoop }),
    stream: () => stream,
    beginStop(delayS) {
      const isFirst = stopDelayS === null;
      stopDelayS ??= delayS;
      isStopping = true;
      return { delayS: stopDelayS, afterwards: () => isFirst && later(delayS * 1000, requestStop) };
    },
    log: logBook.logger('Lab'),
    isPlain: settings.plain,
  };
  const app = createGatewayApp(gateway);
  const context = { config: { limits }, clock, logBook, later };
  const front = createFront(
    context,
    { host, port, name: 'HTTP', flag: '--website_port' },
    (request, response) => {
      trackAnswer(response);
      // after an `Upgrade` header the parser loses the rest of the TCP segment
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      app(request, response);
    },
    createUnread(context),
  );
  const telemetry = (stream = createTelemetry({
    source: view.source,
    server: front.server,
    guard,
    clock,
    logger: logBook.logger('WS'),
    rangeOfShard(name) {
      const lease = view.shards.get(name)?.lease;
      return lease === undefined ? null : { first: lease.first, last: lease.first + lease.room - 1 };
    },
    stopping: () => isStopping,
    options: { maxClients: () => maxStreamClients },
  }));
  return {
    front,
    telemetry,
    perform: createGatewayPerform({ router, own: (request) => ownAnswer(request, gateway), limits }),
    close() {
      stopFollowing();
      isStopping = true;
    },
  };
}

async function serving(options: GatewayOptions, link: FleetLink): Promise<Gateway> {
  const { settings, logBook, clock, later } = options;
  const { prefix } = settings;
  const logs = new FleetLog();
  const view = new FleetView({ link, prefix, clock, later, log: logBook.logger('Lab') });
  const eventLoop = new EventLoopWatch({ log: logBook.logger('Lab') });
  let http = '';
  // requests of scenarios go through the router, which has the leader
  const performing = new Late<{ readonly perform: Perform }>();
  const lead = new FleetLead({
    scenarios: options.scenarios,
    perform: (request) => performing.proxy.perform(request),
    view,
    wall: clock,
    later,
    log: logBook.logger('Lab'),
    http: () => http,
    pace: settings.pace,
    siteRules: options.siteRules,
  });
  const doors = doorsOf(options, { view, lead, eventLoop, logs });
  performing.set(doors);
  const subject = `${prefix}.log.`;
  const stops = [
    logs.follow(logBook),
    link.subscribe(`${subject}*`, (body, from) => {
      logs.take(from.slice(subject.length), body);
    }),
  ];
  view.start();
  eventLoop.start();
  try {
    await doors.telemetry.start();
    const address = await doors.front.start();
    const web = hostAndPort(address.host, address.port);
    http = hostAndPort(shownHost(address.host, hostname()), address.port);
    await lead.start();
    return {
      lines: [
        startLine('HTTP', `http://${web}/`),
        startLine('Telemetry', `ws://${web}/api/sim/ws/telemetry`),
        startLine('Fleet', `${prefix} on ${link.server}`),
      ],
      async stop() {
        doors.close();
        await doors.telemetry.stop();
        await doors.front.stop();
        await lead.stop();
        for (const stop of stops) stop();
        view.stop();
        eventLoop.stop();
        await link.close();
      },
    };
  } catch (error) {
    await lead.stop();
    view.stop();
    eventLoop.stop();
    throw error;
  }
}
