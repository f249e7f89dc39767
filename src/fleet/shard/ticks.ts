/** The ticks of a shard on the wire: one message per tick, and none while the last one has not reached the server. */
import type { Alarm, AssetType, Device } from '../../contract/device.ts';
import type { FleetPart } from '../../contract/fleet-site.ts';
import type { Plant, TickEvent } from '../../contract/plant.ts';
import { inverterStates } from '../../contract/snapshot.ts';
import type { Published, Snapshot } from '../../contract/snapshot.ts';
import type { Logger } from '../../core/log/log.ts';
import { runWhole } from '../../core/turns.ts';
import type { FleetLink, Stop } from '../link.ts';
import { severityCodes, tickMessages } from '../messages.ts';
import type { KindPowers, TickDevice, TickSite } from '../messages.ts';

type TickPlant = Pick<Plant, 'devices' | 'latest' | 'health' | 'time' | 'onTickInParts' | 'site' | 'sitePowerW'> & {
  readonly fleetPart: FleetPart;
};

export interface TickPublisherOptions {
  readonly link: Pick<FleetLink, 'state' | 'onState' | 'publish' | 'flush'>;
  readonly plant: TickPlant;
  readonly prefix: string;
  readonly shard: string;
  readonly session: string;
  /** revision of the lease when it was first written */
  readonly epoch: () => number;
  /** true: each snapshot has a message of its own as well, at `dev.INDEX` */
  readonly devices: boolean;
  readonly log: Pick<Logger, 'info' | 'warning'>;
}

function severityOf(alarms: readonly Alarm[]): number {
  return alarms.reduce((worst, { severity }) => Math.max(worst, severityCodes.indexOf(severity)), 0);
}

const stateCodes = new Map(inverterStates.map((state, code) => [state, code]));

function tickDevice({ snapshot, json }: Published, device: Device | undefined): TickDevice {
  const { metrics, status, device_index: index }: Snapshot = snapshot;
  return {
    index,
    powerW: metrics.power_kw * 1000,
    reactiveVar: metrics.reactive_power_kvar * 1000,
    absorbW: device?.available.absorbW ?? 0,
    injectW: device?.available.injectW ?? 0,
    soc: metrics.state_of_charge_pct ?? Number.NaN,
    inverterState: stateCodes.get(status.inverter_state) ?? 0,
    alarmSeverity: severityOf(device?.alarms ?? []),
    json,
  };
}

/** Sums of the site at the end of the last tick. */
function tickSite(plant: TickPlant): TickSite {
  const { generationW, consumptionW, loadW } = plant.site;
  const kinds: Partial<Record<AssetType, KindPowers>> = {};
  for (const { index, assetType } of plant.devices) {
    const [injectW, absorbW] = kinds[assetType] ?? [0, 0];
    const powerW = plant.sitePowerW(index);
    kinds[assetType] = [injectW + Math.max(0, powerW), absorbW + Math.max(0, -powerW)];
  }
  const { fleetPart } = plant;
  const claims = fleetPart.budget === null ? null : fleetPart.sums();
  return { generationW, consumptionW, loadW, kinds, ratings: claims ?? fleetPart.ratings(), claims };
}

/** Tells once that ticks are not sent, and once that they are sent again. */
class Telling {
  readonly #log: Pick<Logger, 'info' | 'warning'>;
  #missed = 0;

  constructor(log: Pick<Logger, 'info' | 'warning'>) {
    this.#log = log;
  }

  missed(reason: string): void {
    if (this.#missed === 0) this.#log.warning(`ticks are not sent to the fleet: ${reason}`);
    this.#missed += 1;
  }

  sent(): void {
    if (this.#missed > 0) this.#log.info(`ticks are sent to the fleet again; ${this.#missed} were not sent`);
    this.#missed = 0;
  }
}

export class TickPublisher {
  readonly #options: TickPublisherOptions;
  readonly #stops: readonly Stop[];
  readonly #telling: Telling;
  #isStopped = false;
  #first = true;
  /** the last tick, until the server has confirmed it; null: it has */
  #unflushed: object | null = null;
  /** true: a receiver waits for the last tick, which another one is in the way of */
  #owesRepeat = false;
  /** of the last tick of the plant; null: none yet */
  #tick: number | null = null;
  #unused = 0;
  /** real time in which the messages of the last tick were made */
  #tookMs = 0;
  #left: Promise<void> = Promise.resolve();
  /** Ticks that were not sent, since the last one had not left or the server was away. */
  missed = 0;
  sent = 0;
  lastSentMs: number | null = null;

  constructor(options: TickPublisherOptions) {
    this.#options = options;
    const { link, plant, log } = options;
    this.#telling = new Telling(log);
    this.#stops = [
      plant.onTickInParts((event) => this.#follow(event)),
      link.onState((state) => {
        this.#unflushed = null;
        if (state === 'connected') this.repeat();
      }),
    ];
  }

  /** Sends the last tick as the first one, as soon as the one before it has left: a receiver may have none of this shard. */
  repeat(): void {
    this.#first = true;
    this.#owesRepeat = this.#options.link.state === 'connected' && this.#unflushed !== null;
    if (!this.#owesRepeat) runWhole(this.#publish(this.#options.plant.latest));
  }

  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#stops) stop();
  }

  /** Resolves when the server has the last tick, or is away. */
  get left(): Promise<void> {
    return this.#left;
  }

  /** Sends a tick in parts, so that requests are answered between them. Nothing here waits for the server. */
  *#follow(event: TickEvent): Generator<undefined, void> {
    this.#unused += Math.max(0, event.tick - (this.#tick ?? event.tick) - 1);
    this.#tick = event.tick;
    const { link } = this.#options;
    const isOffline = link.state !== 'connected';
    if (yield* this.#publish(event)) {
      this.#telling.sent();
      return;
    }
    if (this.#isStopped) return;
    this.missed += 1;
    this.#telling.missed(isOffline ? 'no connection to its server' : 'its server takes them too slowly');
  }

  /** @returns false: nothing was sent, or not all of it */
  *#publish(event: TickEvent): Generator<undefined, boolean> {
    const { link, prefix, shard } = this.#options;
    if (link.state !== 'connected' || this.#unflushed !== null) return false;
    const waiting = (this.#unflushed = {});
    const messages = this.#messages(event);
    let tookMs = 0;
    for (;;) {
      const beganMs = performance.now();
      const message = messages.next();
      tookMs += performance.now() - beganMs;
      if (message.done === true) break;
      if (!link.publish(`${prefix}.tick.${shard}`, message.value)) return false;
      yield;
      // the connection may end between two parts, and a new one begins with a tick of its own
      if (this.#isStopped || this.#unflushed !== waiting) return false;
    }
    if (this.#options.devices)
      for (const { snapshot, json } of event.published) link.publish(`${prefix}.dev.${snapshot.device_index}`, json);
    this.#tookMs = tookMs;
    this.#first = false;
    this.sent += 1;
    this.lastSentMs = event.wallMs;
    this.#flush(waiting);
    return true;
  }

  #messages({ tick, sim, wallMs, published }: TickEvent): Generator<Buffer, void> {
    const { plant, session, epoch } = this.#options;
    const devices = new Map(plant.devices.map((device) => [device.index, device]));
    const { rateEffective } = plant.time;
    return tickMessages(
      {
        session,
        epoch: epoch(),
        tick,
        simUs: sim,
        wallMs,
        first: this.#first,
        tookMs: this.#tookMs,
        lateSlots: plant.health.skippedTicks,
        unused: this.#unused,
        rateEffective,
        site: tickSite(plant),
      },
      published,
      (each) => tickDevice(each, devices.get(each.snapshot.device_index)),
    );
  }

  #flush(waiting: object): void {
    const done = () => {
      if (this.#unflushed !== waiting) return;
      this.#unflushed = null;
      if (this.#owesRepeat && !this.#isStopped) this.repeat();
    };
    // a failed flush means that the connection is gone: its return begins anew
    this.#left = this.#options.link.flush().then(done, done);
  }
}
