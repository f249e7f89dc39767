/** A simulator as one shard of a fleet: its lease, its ticks, the requests of the gateways, and its news. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FleetSettings } from '../../contract/fleet-settings.ts';
import type { PerformBytes } from '../../contract/perform-bytes.ts';
import type { Plant } from '../../contract/plant.ts';
import { ClockMember } from '../clock/member.ts';
import { SiteMember } from '../site/member.ts';
import type { ClockedPlant } from '../clock/plant.ts';
import type { JoinedFleet } from '../clock/join.ts';
import { startLine } from '../../core/adapter.ts';
import type { AdapterStatus } from '../../core/adapter.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { LogBook, Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { hostAndPort, shownHost } from '../../core/net/listen.ts';
import type { Later } from '../../core/time/timers.ts';
import type { connectFleet } from '../connect.ts';
import { fenced } from '../fence.ts';
import { FleetError } from '../link.ts';
import type { FleetLink, Stop } from '../link.ts';
import { ClaimError, Membership } from '../registry/membership.ts';
import type { FleetTraits } from '../registry/roster.ts';
import { linkOptionsOf } from '../settings-of-link.ts';
import { publishNews } from './news.ts';
import { ShardRequests } from './requests.ts';
import { TickPublisher } from './ticks.ts';

export interface MemberContext {
  readonly settings: FleetSettings;
  readonly plant: Plant & ClockedPlant;
  /** the fleet by which the plant was made; null: the plant was made without its fleet, and cannot join it */
  readonly joined: Pick<JoinedFleet, 'record' | 'anchors'> | null;
  readonly logBook: LogBook;
  readonly log: Logger;
  readonly clock: WallClock;
  readonly later: Later;
  readonly performBytes: PerformBytes;
  /** in which all shards agree */
  readonly traits: FleetTraits;
  /** address of the HTTP interface, once it listens */
  readonly http: () => { readonly host: string; readonly port: number } | null;
  /** ports of the first and the last device, by protocol */
  readonly ports: () => Readonly<Record<string, readonly number[]>>;
  /** Ends the process: another one has the name of this shard. */
  readonly lost: () => void;
  readonly connect: typeof connectFleet;
}

/** Name of the machine as a name of a shard. */
const nameOfMachine = () =>
  hostname()
    .split('.')[0]
    ?.replaceAll(/[^\w-]/g, '-')
    .slice(0, 32) || 'shard';

/** The open parts of a member; the ends of what they began stand in the order of their begin. */
interface Open {
  readonly link: FleetLink;
  readonly membership: Membership;
  readonly ticks: TickPublisher;
  readonly requests: ShardRequests;
  readonly clock: ClockMember;
  readonly stops: readonly Stop[];
}

export class FleetMember {
  readonly #context: MemberContext;
  readonly #shard: string;
  readonly #session = randomUUID();
  #open: Open | null = null;
  /** its ticks go on without the server */
  #clock: ClockMember | null = null;

  constructor(context: MemberContext) {
    this.#context = context;
    this.#shard = context.settings.shard ?? nameOfMachine();
  }

  /**
   * @throws SimError LISTEN_FAILED: no server in time, refused credentials, a name or range that another process has;
   * CONFIG_INVALID: settings other than those of the fleet
   */
  async open(): Promise<void> {
    try {
      const link = await this.#connect();
      try {
        await this.#join(link);
      } catch (error) {
        await link.close();
        throw error;
      }
    } catch (error) {
      if (error instanceof ClaimError && error.code !== 'taken')
        throw new SimError('CONFIG_INVALID', `the fleet cannot be joined: ${error.message}`);
      if (!(error instanceof FleetError || error instanceof ClaimError)) throw error;
      throw new SimError('LISTEN_FAILED', `the fleet cannot be joined: ${error.message}`);
    }
  }

  #connect(): Promise<FleetLink> {
    const { settings, log, traits, connect } = this.#context;
    return connect({
      ...linkOptionsOf(settings),
      name: `derbench shard ${this.#shard}`,
      log,
      service: {
        name: 'derbench-shard',
        version: traits.version,
        description: 'shard of a derbench fleet',
        metadata: { shard: this.#shard, session: this.#session, prefix: settings.prefix },
      },
    });
  }

  /** @throws FleetError, ClaimError with nothing left open */
  async #join(link: FleetLink): Promise<void> {
    if (this.#context.joined === null)
      throw new FleetError('refused', 'a shard is a process of its own: derbench --fleet URL');
    const membership = this.#membership(link, this.#context);
    await membership.join();
    const stops: Stop[] = [];
    try {
      const open = await this.#serve(link, membership, this.#context.joined, stops);
      this.#clock = open.clock;
      this.#open = open;
      open.ticks.repeat();
    } catch (error) {
      // the reason is that of the failure, also where the link has gone with it
      await membership.leave().catch(() => undefined);
      for (const stop of stops) stop();
      throw error;
    }
  }

  #membership(link: FleetLink, { settings, plant, log, clock, later, lost, traits }: MemberContext): Membership {
    return new Membership({
      link,
      shard: this.#shard,
      session: this.#session,
      first: plant.firstIndex,
      room: settings.room ?? plant.devices.length,
      traits,
      details: () => this.#details(),
      clock,
      later,
      log,
      waitMs: settings.waitS * 1000,
      onLost: (reason) => {
        log.error(`the shard stops: ${reason}`);
        lost();
      },
    });
  }

  /** @param stops gets the ends of what is open, also where a later part fails */
  async #serve(
    link: FleetLink,
    membership: Membership,
    { record, anchors }: Pick<JoinedFleet, 'record' | 'anchors'>,
    stops: Stop[],
  ): Promise<Open> {
    const { settings, plant, logBook, log, clock: wall, later, performBytes } = this.#context;
    const { prefix } = settings;
    const shard = this.#shard;
    const common = { link, plant, prefix, shard, session: this.#session };
    const epoch = () => membership.epoch;
    const ticks = new TickPublisher({ ...common, epoch, devices: settings.devices, log });
    stops.push(() => {
      ticks.stop();
    });
    const requests = new ShardRequests(performBytes, () => {
      ticks.repeat();
    });
    const answer = fenced(epoch, (request) => requests.answer(request));
    stops.push(await link.serve('op', `${prefix}.op.${shard}`, answer));
    stops.push(publishNews({ ...common, logBook, monotonicMs: () => wall.monotonicMs() }));
    const around = { wall, later, log, sent: () => ticks.left };
    const clock = new ClockMember({ link, prefix, shard, epoch, plant, record, anchors, ...around });
    stops.push(() => {
      clock.close();
    });
    await clock.open();
    const site = new SiteMember({ link, prefix, shard, fleet: record.fleet, part: plant.fleetPart, later, log });
    stops.push(() => {
      site.close();
    });
    await site.open();
    return { link, membership, ticks, requests, clock, stops };
  }

  /** Begins to tick. */
  startTicks(): void {
    this.#clock?.startTicks();
  }

  /** Resolves when a tick under way has ended. */
  async stopTicks(): Promise<void> {
    await this.#clock?.stopTicks();
  }

  /** Address of the gateway that leads; null: not known. */
  get gateway(): string | null {
    return this.#open?.clock.leader ?? null;
  }

  #details() {
    const { settings, plant, http, ports } = this.#context;
    const { latest, devices } = plant;
    const machine = settings.advertisedHost ?? hostname();
    const address = http();
    return {
      count: devices.length,
      host: machine,
      http: address === null ? '' : hostAndPort(shownHost(address.host, machine), address.port),
      ports: ports(),
      tick: latest.tick,
      simUs: latest.sim,
      tickS: plant.time.tickIntervalS,
      pid: process.pid,
    };
  }

  /** Lets go of the name first: a watch of a gateway sees it at once. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    try {
      await open.membership.leave();
    } catch (error) {
      this.#context.log.warning(`the lease of the fleet ends by its time limit: ${errorText(error)}`);
    }
    for (const stop of open.stops.toReversed()) stop();
    await open.link.close();
  }

  status(): Partial<AdapterStatus> {
    const endpoint = this.#context.settings.servers.join(',');
    if (this.#open === null) return { endpoint };
    const { link, ticks, requests } = this.#open;
    const isOn = link.state === 'connected';
    return {
      endpoint,
      state: isOn ? 'connected' : 'retrying',
      detail: isOn ? `shard "${this.#shard}" on ${link.server}` : 'no connection to the server of the fleet',
      peers: isOn ? 1 : 0,
      rxCount: requests.served,
      txCount: ticks.sent,
      errorCount: requests.refused,
      droppedCount: ticks.missed,
      lastActivityMs: ticks.lastSentMs,
    };
  }

  startLines(): readonly string[] {
    const { settings, plant } = this.#context;
    const last = plant.firstIndex + plant.devices.length - 1;
    const on = settings.servers.join(', ');
    return [
      startLine(
        'Fleet',
        `shard "${this.#shard}" of ${settings.prefix} on ${on}: devices ${plant.firstIndex}..${last}, session ${this.#session}`,
      ),
    ];
  }
}
