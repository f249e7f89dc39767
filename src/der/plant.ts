/** All devices of one process, their surroundings and their clock: runs the ticks. */
import { addSeconds, secondsBetween } from '../core/clock.ts';
import type { ClockPatch, SimTime } from '../core/clock.ts';
import type { Published } from '../core/device.ts';
import type {
  GridEventArguments, GridEventKind, GridNow, GridPatch, SurroundingsNow, SurroundingsPatch,
} from '../core/environment.ts';
import { SimError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { tickSeconds } from '../core/sim-clock.ts';
import type { SimClock } from '../core/sim-clock.ts';
import type { Plant, PlantHealth, TickEvent, TimeNow } from '../sunspec/map/device.ts';
import { OperatorQueue } from './commands.ts';
import type { SimDevice } from './device.ts';
import { longestStepS as simStepS } from './inverter/inverter.ts';
import type { Environment } from './environment.ts';
import type { TickStamp } from './snapshot.ts';

export interface PlantOptions {
  readonly devices: readonly SimDevice[];
  readonly environment: Environment;
  /** lets go of weather before an instant that nobody will ask for again */
  readonly forgetBefore: (t: SimTime) => void;
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly log: Logger;
  /** real milliseconds, for slicing and for the age of the last tick */
  readonly monotonicMs: () => number;
}

/** A tick gives way to other work after this many milliseconds. */
const sliceMs = 2;
/** sub-steps of one device between two looks at the time */
const subStepsAtOnce = 200;
/** first guess of what a simulated second of a device costs */
const guessedMsPerDeviceSecond = 0.01;
/** no tick is cut below this: less would not cost less */
const shortestCutS = simStepS;
/** part of the rate below which it does not count as held */
const heldShare = 0.9;
const warnEveryMs = 60_000;
const lastingMs = 3_000;
/** part of the tick interval that a tick may take before the simulated time per tick is cut */
const workShare = 0.8;
/** A long tick is done in so many pieces, none shorter than this. */
const piecesPerTick = 32;
const shortestPieceS = 30;
const maxSteps = 100_000;

const yieldToLoop = () => new Promise<void>((resolve) => { setImmediate(resolve); });

export class SimPlant implements Plant {
  readonly devices: readonly SimDevice[];
  readonly commands: OperatorQueue;
  readonly #options: PlantOptions;
  readonly #byIndex: ReadonlyMap<number, SimDevice>;
  readonly #listeners = new Set<(event: TickEvent) => void>();
  #latest: TickEvent;
  #lastEndMs: number;
  #rateEffective: number;
  #busy: Promise<void> | null = null;
  #sliceStart = 0;
  /** simulated seconds per tick that the machine can do; grows back when it has room */
  #affordableS: number;
  #warnedMs = -Infinity;
  /** when the rate was held last */
  #heldMs: number;
  #ended = false;
  /** grid slots without a tick of their own; kept by whoever drives the plant */
  skippedTicks = 0;

  constructor(options: PlantOptions) {
    this.#options = options;
    this.devices = options.devices;
    this.#byIndex = new Map(options.devices.map((device) => [device.index, device]));
    this.commands = new OperatorQueue(() => options.clock.wallMs());
    this.#lastEndMs = options.monotonicMs();
    this.#heldMs = this.#lastEndMs;
    this.#rateEffective = options.clock.rate;
    this.#affordableS = this.#budgetMs / (guessedMsPerDeviceSecond * Math.max(1, this.devices.length));
    // tick 0: there is a snapshot before anybody can ask for one
    const now = options.clock.tickTime;
    const stamp = this.#stamp(0, now);
    this.#latest = { tick: 0, sim: now, wallMs: options.clock.wallMs(), published: this.devices.map((d) => d.publish(stamp)) };
    options.clock.advanceTo(now, tickSeconds(options.clock.rate, options.tickIntervalS));
  }

  get #budgetMs(): number { return workShare * this.#options.tickIntervalS * 1000; }

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
      skippedTicks: this.skippedTicks, paused: this.#options.clock.paused, rateHeld: this.#rateHeld,
    };
  }

  get #rateHeld(): boolean {
    const { clock } = this.#options;
    return clock.paused || this.#rateEffective >= heldShare * clock.rate;
  }

  dateMs(t: SimTime): number { return this.#options.clock.dateMs(t); }

  device(index: number): SimDevice {
    const device = this.#byIndex.get(index);
    if (!device) {
      const [first, last] = [this.devices[0]?.index, this.devices.at(-1)?.index];
      throw new SimError('UNKNOWN_DEVICE', `there is no device ${index}; indexes run from ${first ?? '-'} to ${last ?? '-'}`);
    }
    return device;
  }

  /** Ends the work under way at the next sub-step bound and lets no further tick begin. */
  end(): void {
    this.#ended = true;
  }

  onTick(listener: (event: TickEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  setGrid({ voltageLnV, ...patch }: GridPatch, deviceIndex?: number): void {
    const reference = this.#reference(deviceIndex);
    if (voltageLnV !== undefined && !reference) {
      throw new SimError('COMMAND_BAD_VALUE', 'the devices have different nominal voltages: give per unit, or one device');
    }
    const most = 2 * (reference?.nominalLnV ?? 0);
    if (voltageLnV !== undefined && !(voltageLnV >= 0 && voltageLnV <= most)) {
      throw new SimError('COMMAND_BAD_VALUE', `the voltage must be 0..${most.toFixed(1)} V: up to twice the nominal one`);
    }
    const inPu = voltageLnV === undefined || !reference ? {} : { voltagePu: voltageLnV / reference.nominalLnV };
    this.#options.environment.setGrid({ ...patch, ...inPu }, this.#options.clock.acting(), deviceIndex);
  }

  grid(deviceIndex?: number): GridNow {
    const reference = this.#reference(deviceIndex);
    const now = this.#options.environment.grid(this.#options.clock.acting(), deviceIndex);
    const volts = reference?.terminalVoltages(now.voltageAPu, now.voltageBPu, now.voltageCPu);
    return { ...now, voltageLnV: volts?.meanLnV ?? null, voltageLlV: volts?.meanLlV ?? null };
  }

  get gridEvents(): readonly GridEventKind[] { return this.#options.environment.gridEvents; }

  startGridEvent(name: string, args: GridEventArguments, deviceIndex?: number): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#options.environment.startGridEvent(name, args, this.#options.clock.acting(), deviceIndex);
  }

  stopGridEvent(deviceIndex?: number): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#options.environment.stopGridEvent(this.#options.clock.acting(), deviceIndex);
  }

  /** The device whose nominal voltage holds for a request; null where devices differ. */
  #reference(deviceIndex: number | undefined): SimDevice | null {
    if (deviceIndex !== undefined) return this.device(deviceIndex);
    const [first] = this.devices;
    return first && this.devices.every((device) => device.sharesNominal(first)) ? first : null;
  }

  setSurroundings(patch: SurroundingsPatch, deviceIndex?: number): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#options.environment.setSurroundings(patch, this.#options.clock.acting(), deviceIndex);
  }

  surroundings(deviceIndex?: number): SurroundingsNow {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    return this.#options.environment.surroundings(this.#options.clock.acting(), deviceIndex);
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
      if (clock.paused || this.#ended) return;
      this.#sliceStart = this.#options.monotonicMs();
      const asked = secondsBetween(clock.tickTime, clock.tickEnd(tickSeconds(clock.rate, tickIntervalS * slots)));
      await this.#measuredRun(Math.min(asked, Math.max(this.#affordableS, shortestCutS)));
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
        if (this.#ended) throw new SimError('STOPPING', 'the simulator is stopping');
        await this.#run(tickSeconds(clock.settings.rate, tickIntervalS));
        await this.#giveWay();
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

  /** A tick against real time: learns what the machine can do, so that ticks keep coming where a rate cannot be held. */
  async #measuredRun(seconds: number): Promise<void> {
    const { clock, monotonicMs } = this.#options;
    const beginMs = monotonicMs();
    const lastEndMs = this.#lastEndMs;
    const done = await this.#run(seconds, beginMs + this.#budgetMs);
    const nowMs = monotonicMs();
    const tookMs = nowMs - beginMs;
    this.#affordableS = tookMs > this.#budgetMs ? done * this.#budgetMs / tookMs : Math.max(2 * this.#affordableS, done);
    if (nowMs <= lastEndMs) return;
    const passedS = (nowMs - lastEndMs) / 1000;
    // ticks jitter by milliseconds; only a lasting shortfall should show, and a long tick has lasted
    const weight = 1 - 0.8 ** Math.max(1, passedS / this.#options.tickIntervalS);
    this.#rateEffective = Math.min(clock.rate, this.#rateEffective + weight * (done / passedS - this.#rateEffective));
    this.#warnWhenBehind(nowMs);
  }

  #warnWhenBehind(nowMs: number): void {
    if (this.#rateHeld) this.#heldMs = nowMs;
    // a late first tick is no lasting shortfall
    if (nowMs - this.#heldMs < lastingMs || nowMs - this.#warnedMs < warnEveryMs) return;
    this.#warnedMs = nowMs;
    const { clock, log } = this.#options;
    log.warning(`the machine cannot hold rate ${clock.rate}: it reaches ${this.#rateEffective.toPrecision(3)}`);
  }

  /**
   * One tick of `seconds`. A long one is done piece by piece by all devices, so that it can end early.
   * @param deadlineMs after a piece that ends later than this the tick is over; Infinity: never
   * @returns the simulated seconds that it has done
   */
  async #run(seconds: number, deadlineMs = Infinity): Promise<number> {
    const { clock, monotonicMs } = this.#options;
    const begin = clock.tickTime;
    const whole = addSeconds(begin, seconds);
    const pieceS = Math.max(shortestPieceS, seconds / piecesPerTick);
    for (const device of this.devices) this.commands.begin(device, begin);
    let end = begin;
    while (end < whole && (end === begin || monotonicMs() < deadlineMs)) {
      end = Math.min(whole, deadlineMs === Infinity ? whole : addSeconds(end, pieceS)) as SimTime;
      for (const device of this.devices) {
        while (!device.advance(end, subStepsAtOnce)) {
          await this.#giveWay();
          if (this.#ended) return 0;
        }
        await this.#giveWay();
        if (this.#ended) return 0;
      }
    }
    await this.#publish(end);
    return secondsBetween(begin, end);
  }

  /** All devices stand at `end`: registers, snapshots, clock. */
  async #publish(end: SimTime): Promise<void> {
    const { clock, monotonicMs } = this.#options;
    const tick = this.#latest.tick + 1;
    const stamp = this.#stamp(tick, end);
    const published: Published[] = [];
    for (const device of this.devices) {
      published.push(device.publish(stamp));
      this.commands.settle(device, end);
      // not after the last: registers and snapshots of a tick must appear together
      if (published.length < this.devices.length) await this.#giveWay();
      if (this.#ended) return;
    }
    this.#options.forgetBefore(end);
    // a tick that took over late slots says nothing about the length of the next
    clock.advanceTo(end, tickSeconds(clock.settings.rate, this.#options.tickIntervalS));
    this.#lastEndMs = monotonicMs();
    this.#latest = { tick, sim: end, wallMs: clock.wallMs(), published };
    for (const listener of this.#listeners) this.#notify(listener);
  }

  async #giveWay(): Promise<void> {
    const { monotonicMs } = this.#options;
    if (monotonicMs() - this.#sliceStart <= sliceMs) return;
    await yieldToLoop();
    this.#sliceStart = monotonicMs();
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
