/** The ticks of a shard on the wire: one message per tick, and none while the last one has not reached the server. */
import type { Alarm, Device } from '../../contract/device.ts';
import type { Plant, TickEvent } from '../../contract/plant.ts';
import { inverterStates } from '../../contract/snapshot.ts';
import type { Published, Snapshot } from '../../contract/snapshot.ts';
import type { FleetLink, Stop } from '../link.ts';
import { encodeTick, severityCodes } from '../messages.ts';
import type { TickDevice } from '../messages.ts';

type TickPlant = Pick<Plant, 'devices' | 'latest' | 'health' | 'time' | 'onTick'>;

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

export class TickPublisher {
  readonly #options: TickPublisherOptions;
  readonly #stops: readonly Stop[];
  #first = true;
  /** the last tick, until the server has confirmed it; null: it has */
  #unflushed: object | null = null;
  #left: Promise<void> = Promise.resolve();
  /** Ticks that were not sent, since the last one had not left or the server was away. */
  missed = 0;
  sent = 0;
  lastSentMs: number | null = null;

  constructor(options: TickPublisherOptions) {
    this.#options = options;
    const { link, plant } = options;
    this.#stops = [
      plant.onTick((event) => {
        if (!this.#publish(event)) this.missed += 1;
      }),
      link.onState((state) => {
        this.#unflushed = null;
        if (state === 'connected') this.repeat();
      }),
    ];
  }

  /** Sends the last tick as the first one: a receiver may have none of this shard. */
  repeat(): void {
    this.#first = true;
    this.#publish(this.#options.plant.latest);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Resolves when the server has the last tick, or is away. */
  get left(): Promise<void> {
    return this.#left;
  }

  /** @returns false: nothing was sent */
  #publish(event: TickEvent): boolean {
    const { link, prefix, shard } = this.#options;
    if (link.state !== 'connected' || this.#unflushed !== null) return false;
    for (const part of this.#encoded(event)) if (!link.publish(`${prefix}.tick.${shard}`, part)) return false;
    if (this.#options.devices)
      for (const { snapshot, json } of event.published) link.publish(`${prefix}.dev.${snapshot.device_index}`, json);
    this.#first = false;
    this.sent += 1;
    this.lastSentMs = event.wallMs;
    this.#flush();
    return true;
  }

  #encoded({ tick, sim, wallMs, published }: TickEvent): readonly Buffer[] {
    const { plant, session, epoch } = this.#options;
    const beganMs = performance.now();
    const devices = new Map(plant.devices.map((device) => [device.index, device]));
    const sent = published.map((each) => tickDevice(each, devices.get(each.snapshot.device_index)));
    const { rateEffective } = plant.time;
    return encodeTick(
      {
        session,
        epoch: epoch(),
        tick,
        simUs: sim,
        wallMs,
        first: this.#first,
        tookMs: performance.now() - beganMs,
        lateSlots: plant.health.skippedTicks,
        rateEffective,
      },
      sent,
    );
  }

  #flush(): void {
    const waiting = {};
    this.#unflushed = waiting;
    const done = () => {
      if (this.#unflushed === waiting) this.#unflushed = null;
    };
    // a failed flush means that the connection is gone: its return begins anew
    this.#left = this.#options.link.flush().then(done, done);
  }
}
