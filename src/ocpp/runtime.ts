/** The charge points of a process, by device: the register of stations that REST sees. */
import type { Device } from '../contract/device.ts';
import { noOcppCounters, sumOfOcppCounters } from '../contract/ocpp-counters.ts';
import type { OcppCounters, OcppStation, OcppStations } from '../contract/ocpp.ts';
import { SimError } from '../core/errors.ts';
import type { Later } from '../core/time/timers.ts';
import type { ChargePoint } from './station/charge-point.ts';

/** Between the first connections of two stations, and at most for all of them, ms. */
const startGapMs = 50;
const maxStartMs = 10_000;

export interface RuntimeOptions {
  /** null: the device is no charging station */
  readonly make: (device: Device) => ChargePoint | null;
  readonly later: Later;
}

export class Runtime implements OcppStations {
  readonly enabled = true;
  readonly #options: RuntimeOptions;
  readonly #stations = new Map<number, ChargePoint>();
  /** by device: the ends of joins under way, also of those that fail; nobody sees these stations yet */
  readonly #joining = new Map<number, Promise<void>>();
  readonly #waiting = new Map<ChargePoint, () => void>();
  readonly #leaving = new Set<ChargePoint>();
  #unconnected: ChargePoint[] = [];
  #isStopped = false;
  /** of stations that have left */
  #departed = noOcppCounters;

  constructor(options: RuntimeOptions) {
    this.#options = options;
  }

  get list(): readonly OcppStation[] {
    return [...this.#stations.entries()].sort(([a], [b]) => a - b).map(([, station]) => station);
  }

  /** stations that have joined and have not begun to connect yet */
  get starting(): number {
    return this.#waiting.size + this.#unconnected.length;
  }

  get totals(): OcppCounters {
    const present = [...this.#stations.values(), ...this.#leaving];
    return present.reduce((sum, { counters }) => sumOfOcppCounters(sum, counters), this.#departed);
  }

  station(id: string): OcppStation {
    const found = [...this.#stations.values()].find((each) => each.id === id);
    if (found) return found;
    throw new SimError('UNKNOWN_RESOURCE', `there is no charge point ${JSON.stringify(id)}`);
  }

  ofDevice(deviceIndex: number): OcppStation | null {
    return this.#stations.get(deviceIndex) ?? null;
  }

  /** Makes the charge point of a device and restores its state; it does not connect yet. */
  async join(device: Device): Promise<void> {
    const station = this.#options.make(device);
    if (station === null) return;
    const { index } = device;
    const joined = this.#load(index, station);
    const ended = joined.catch(() => undefined);
    this.#joining.set(index, ended);
    try {
      await joined;
    } finally {
      if (this.#joining.get(index) === ended) this.#joining.delete(index);
    }
  }

  async #load(index: number, station: ChargePoint): Promise<void> {
    try {
      await station.load();
    } catch (error) {
      // what it has begun before it failed
      await station.stop();
      throw error;
    }
    this.#stations.set(index, station);
    this.#unconnected.push(station);
  }

  /** Connects the stations that have joined, spread over some time. */
  connect(): void {
    if (this.#isStopped) return;
    const fresh = this.#unconnected;
    this.#unconnected = [];
    const gapMs = Math.min(startGapMs, maxStartMs / Math.max(1, fresh.length));
    fresh.forEach((station, at) => {
      if (at === 0) station.begin();
      else
        this.#waiting.set(
          station,
          this.#options.later(at * gapMs, () => {
            this.#waiting.delete(station);
            station.begin();
          }),
        );
    });
  }

  /** Ends the sessions of a device that has left the plant, tells the central system, and closes. */
  async leave(index: number): Promise<void> {
    // its state is restored to the end first: it may have transactions to end
    await this.#joining.get(index);
    const station = this.#stations.get(index);
    if (station === undefined) return;
    this.#stations.delete(index);
    this.#unconnected = this.#unconnected.filter((each) => each !== station);
    this.#endWait(station);
    this.#leaving.add(station);
    try {
      await station.leave();
    } finally {
      this.#leaving.delete(station);
      this.#departed = sumOfOcppCounters(this.#departed, station.counters);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#joining.values());
    await Promise.all(
      [...this.#stations.values(), ...this.#leaving].map((station) => {
        this.#endWait(station);
        return station.stop();
      }),
    );
  }

  #endWait(station: ChargePoint): void {
    this.#waiting.get(station)?.();
    this.#waiting.delete(station);
  }
}
