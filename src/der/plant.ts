/** All devices of one process, their surroundings and their clock: runs the ticks. */
import { addSeconds, secondsBetween } from '../core/clock.ts';
import type { ClockPatch, SimTime } from '../core/clock.ts';
import type { Published } from '../core/device.ts';
import type { GridNow, GridPatch, SurroundingsNow, SurroundingsPatch } from '../core/environment.ts';
import { SimError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { tickSeconds } from '../core/sim-clock.ts';
import type { SimClock } from '../core/sim-clock.ts';
import type { Plant, PlantHealth, TickEvent, TimeNow } from '../sunspec/map/device.ts';
import { OperatorQueue } from './commands.ts';
import type { SimDevice } from './device.ts';
import { simStepS } from './device.ts';
import type { Environment } from './environment.ts';
import type { TickStamp } from './snapshot.ts';
import type { Weather } from './weather.ts';

export interface PlantOptions {
  readonly devices: readonly SimDevice[];
  readonly environment: Environment;
  readonly weather: readonly Weather[];
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly log: Logger;
  /** real milliseconds, for slicing and for the age of the last tick */
  readonly monotonicMs: () => number;
}

/** Fleets give way to other work after this many milliseconds of a tick. */
const sliceMs = 2;
const maxSteps = 100_000;

const yieldToLoop = () => new Promise<void>((resolve) => { setImmediate(resolve); });

export class SimPlant implements Plant {
  readonly devices: readonly SimDevice[];
  readonly commands: OperatorQueue;
  readonly #options: PlantOptions;
  readonly #listeners = new Set<(event: TickEvent) => void>();
  #latest: TickEvent;
  #lastEndMs: number;
  #rateEffective: number;
  #busy: Promise<void> | null = null;
  #sliceStart = 0;
  /** grid slots without a tick of their own; kept by whoever drives the plant */
  skippedTicks = 0;

  constructor(options: PlantOptions) {
    this.#options = options;
    this.devices = options.devices;
    this.commands = new OperatorQueue(() => options.clock.wallMs());
    this.#lastEndMs = options.monotonicMs();
    this.#rateEffective = options.clock.rate;
    // tick 0: there is a snapshot before anybody can ask for one
    const now = options.clock.tickTime;
    const stamp = this.#stamp(0, now);
    this.#latest = { tick: 0, sim: now, wallMs: options.clock.wallMs(), published: this.devices.map((d) => d.publish(stamp)) };
  }

  get latest(): TickEvent { return this.#latest; }

  get time(): TimeNow {
    const { clock, tickIntervalS } = this.#options;
    const sim = clock.sim();
    return {
      ...clock.settings, rateEffective: clock.paused ? 0 : this.#rateEffective, clockTime: clock.timeOfDay(sim), sim,
      dateMs: clock.dateMs(sim), wallMs: clock.wallMs(), tick: this.#latest.tick, tickIntervalS, simStepS,
    };
  }

  get health(): PlantHealth {
    return {
      tick: this.#latest.tick, tickAgeS: (this.#options.monotonicMs() - this.#lastEndMs) / 1000,
      skippedTicks: this.skippedTicks, paused: this.#options.clock.paused,
    };
  }

  dateMs(t: SimTime): number { return this.#options.clock.dateMs(t); }

  device(index: number): SimDevice {
    const first = this.devices[0]?.index ?? 0;
    const device = this.devices[index - first];
    if (!device) {
      const last = first + this.devices.length - 1;
      throw new SimError('UNKNOWN_DEVICE', `there is no device ${index}; indexes run from ${first} to ${last}`);
    }
    return device;
  }

  onTick(listener: (event: TickEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  setGrid(patch: GridPatch, deviceIndex?: number): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#options.environment.setGrid(patch, this.#options.clock.sim(), deviceIndex);
  }

  grid(deviceIndex?: number): GridNow {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    return this.#options.environment.grid(this.#options.clock.sim(), deviceIndex);
  }

  setSurroundings(patch: SurroundingsPatch, deviceIndex?: number): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#options.environment.setSurroundings(patch, this.#options.clock.sim(), deviceIndex);
  }

  surroundings(deviceIndex?: number): SurroundingsNow {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    return this.#options.environment.surroundings(this.#options.clock.sim(), deviceIndex);
  }

  setTime(patch: ClockPatch): void {
    this.#options.clock.set(patch);
    this.#lastEndMs = this.#options.monotonicMs();
    this.#rateEffective = this.#options.clock.rate;
  }

  /** A tick of real time; nothing happens while the clock is paused. @param slots tick intervals since the last */
  async tick(slots = 1): Promise<void> {
    const { clock, tickIntervalS } = this.#options;
    await this.#exclusively(async () => {
      if (clock.paused) return;
      this.#sliceStart = this.#options.monotonicMs();
      await this.#run(tickSeconds(clock.rate, tickIntervalS * slots), true);
    });
  }

  async step(ticks: number): Promise<void> {
    if (!Number.isInteger(ticks) || ticks < 1 || ticks > maxSteps) {
      throw new SimError('COMMAND_BAD_VALUE', `ticks must be a whole number from 1 to ${maxSteps}`);
    }
    const { clock, tickIntervalS } = this.#options;
    await this.#exclusively(async () => {
      this.#sliceStart = this.#options.monotonicMs();
      for (let i = 0; i < ticks; i += 1) {
        if (!clock.paused) throw new SimError('COMMAND_CONFLICT', 'stepping needs the clock paused: POST controls/time {"mode":"paused"}');
        await this.#run(tickSeconds(clock.settings.rate, tickIntervalS), false);
      }
    });
  }

  /** One run at a time: a step request never falls into a sliced tick. */
  async #exclusively(run: () => Promise<void>): Promise<void> {
    while (this.#busy) await this.#busy;
    const work = run();
    this.#busy = work.catch(() => undefined).finally(() => { this.#busy = null; });
    await work;
  }

  async #run(seconds: number, measured: boolean): Promise<void> {
    const { clock, monotonicMs, weather } = this.#options;
    const begin = clock.tickTime;
    const end = addSeconds(begin, seconds);
    const tick = this.#latest.tick + 1;
    const stamp = this.#stamp(tick, end);
    const published: Published[] = [];
    for (const device of this.devices) {
      this.commands.begin(device, begin);
      device.step(end);
      published.push(device.publish(stamp));
      this.commands.settle(device, end);
      if (monotonicMs() - this.#sliceStart > sliceMs) {
        await yieldToLoop();
        this.#sliceStart = monotonicMs();
      }
    }
    for (const source of weather) source.forgetBefore?.(end);
    // a tick that took over late slots says nothing about the length of the next
    clock.advanceTo(end, tickSeconds(clock.settings.rate, this.#options.tickIntervalS));
    const nowMs = monotonicMs();
    if (measured && nowMs > this.#lastEndMs) {
      const reached = secondsBetween(begin, end) / ((nowMs - this.#lastEndMs) / 1000);
      // ticks jitter by milliseconds; only a lasting shortfall should show
      this.#rateEffective = Math.min(clock.rate, this.#rateEffective + 0.2 * (reached - this.#rateEffective));
    }
    this.#lastEndMs = nowMs;
    this.#latest = { tick, sim: end, wallMs: clock.wallMs(), published };
    for (const listener of this.#listeners) this.#notify(listener);
  }

  /** One adapter's failure never stops the tick or another adapter. */
  #notify(listener: (event: TickEvent) => void): void {
    try {
      listener(this.#latest);
    } catch (error) {
      this.#options.log.error(`a listener of the tick failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #stamp(tick: number, t: SimTime): TickStamp {
    const { clock } = this.#options;
    return {
      tick, timestamp: new Date(clock.dateMs(t)).toISOString(), wallTime: new Date(clock.wallMs()).toISOString(),
      clockTime: clock.timeOfDay(t),
    };
  }
}
