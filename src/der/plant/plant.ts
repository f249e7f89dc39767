/** All devices of one process, their surroundings and their clock: runs the ticks. */
import type { ClockPatch, SimTime } from '../../core/time/clock.ts';
import type { Published } from '../../contract/snapshot.ts';
import { keptParts, keptRecord, keptThen, keptCount } from '../../core/kept.ts';
import { ListenersInParts } from '../../core/listeners-in-parts.ts';
import type { Kept, KeptByName } from '../../core/kept.ts';
import { isDateMs, keptWriterOrNull } from '../../core/kept-dates.ts';
import { plainProvenance } from '../../core/origin.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type {
  GridCommand,
  GridEventArguments,
  GridEventKind,
  GridNow,
  GridPatch,
  SurroundingsNow,
  SurroundingsPatch,
} from '../../contract/environment.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Listeners } from '../../core/listeners.ts';
import type { Logger } from '../../core/log/log.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';
import type { DeviceEnergy, SiteEnergy } from '../../contract/energy.ts';
import type { FleetPart } from '../../contract/fleet-site.ts';
import type { SiteCut, SiteNow, SitePatch, SiteTarget } from '../../contract/site.ts';
import { simStepS } from '../../contract/plant.ts';
import type {
  Disturbance,
  Plant,
  PlantHealth,
  PowerEvent,
  TickEvent,
  TickGuide,
  TimeNow,
} from '../../contract/plant.ts';
import { OperatorQueue } from './commands.ts';
import type { DarkDevices } from '../device/device-context.ts';
import type { SimDevice } from '../device/device.ts';
import type { DeviceFactory } from './device-factory.ts';
import { DrivenTicks } from './driven-ticks.ts';
import type { DeviceSpec } from '../device/template.ts';
import type { Environment } from '../surroundings/environment.ts';
import { PlantExchange } from './exchange.ts';
import { createFleetPart } from './fleet-part.ts';
import { Pace, RealTicks } from './pace.ts';
import { Roster } from './roster.ts';
import type { RosterChange } from './roster.ts';
import { EnergyBook } from '../site/energy.ts';
import type { ConnectionMeter } from '../site/meter.ts';
import type { Metering } from '../site/metering.ts';
import { Site } from '../site/site.ts';
import { tickStamp } from '../device/snapshot.ts';
import type { TickStamp } from '../device/snapshot.ts';
import { Stepping, Timetable } from './stepping.ts';
import { TickRun } from './tick-run.ts';
import { Turns } from '../../core/turns.ts';

export interface PlantOptions {
  readonly devices: readonly SimDevice[];
  /** default: that of the first device */
  readonly firstIndex?: number;
  /** number of the last tick of the fleet that the plant joins; default 0 */
  readonly firstTick?: number | undefined;
  /** creates devices that are added later */
  readonly factory: Pick<DeviceFactory, 'make' | 'makeInPlace' | 'release'>;
  readonly environment: Environment;
  /** frees weather data before an instant that no device needs any more */
  readonly forgetBefore: (t: SimTime) => void;
  readonly clock: SimClock;
  /** the meter of the connection point; absent: no meter */
  readonly meter?: ConnectionMeter | null;
  /** all meters of the site; absent: none */
  readonly metering?: Metering;
  /** disturbances of the devices; absent: nobody hears of them */
  readonly disturbances?: Listeners<[disturbance: Disturbance]>;
  /** devices that do not answer; absent: all answer */
  readonly dark?: DarkDevices;
  readonly tickIntervalS: number;
  /** true: each device stands behind a feeder of the simulator; default: false */
  readonly hasFeeder?: boolean;
  readonly log: Logger;
  /** log of operator commands; default `log` */
  readonly commandLog?: Pick<Logger, 'info'>;
  /** real milliseconds, for slicing and for the age of the last tick */
  readonly monotonicMs: () => number;
}

const noDevices: ReadonlySet<number> = new Set();

export class SimPlant implements Plant {
  readonly commands: OperatorQueue;
  readonly exchange: PlantExchange;
  /** ticks from outside */
  readonly driven: DrivenTicks;
  /** the site under the limits of a fleet */
  readonly fleetPart: FleetPart;
  readonly #options: PlantOptions;
  readonly #roster: Roster;
  readonly #site: Site;
  readonly #energy: EnergyBook;
  readonly #listeners = new ListenersInParts<TickEvent>((error) => {
    this.#options.log.error(`a listener of the tick failed: ${errorText(error)}`);
  });
  #latest: TickEvent;
  #lastEndMs: number;
  /** one at a time: a change of the devices or a tick */
  readonly #turns = new Turns();
  readonly #stepping: Stepping;
  readonly #realTicks: RealTicks;
  readonly #pace: Pace;
  readonly #timetable: Timetable;
  #timeChangedBy: Provenance | null = null;
  #ended = false;
  readonly #run: TickRun;
  /** tick slots without a tick, counted by the driver of the plant */
  skippedTicks = 0;

  constructor(options: PlantOptions) {
    this.#options = options;
    this.#roster = new Roster(options.devices, options.log, options.firstIndex);
    this.#timetable = new Timetable(options.clock, options.log);
    this.#site = new Site(() => this.devices, options.environment, options.metering);
    this.#site.measure();
    this.#energy = new EnergyBook({
      devices: () => this.devices,
      clock: options.clock,
      at: (t, act) => this.at(t, act),
    });
    this.#roster.onChange(({ removed }) => {
      if (removed) {
        this.#site.forget(removed.index);
        this.#energy.forget(removed);
      }
      this.#energy.begin();
      this.#site.measure();
    });
    this.commands = new OperatorQueue(() => options.clock.wallMs(), options.commandLog ?? options.log);
    this.#lastEndMs = options.monotonicMs();
    this.#pace = new Pace({
      tickIntervalS: options.tickIntervalS,
      deviceCount: options.devices.length,
      rate: options.clock.rate,
      log: options.log,
    });
    this.#run = this.#createTickRun();
    this.#stepping = this.#createStepping();
    this.#realTicks = this.#createRealTicks();
    this.driven = this.#createDrivenTicks();
    this.fleetPart = createFleetPart(this.#site, () => this.driven.reached);
    this.exchange = this.#createExchange();
    // before the first tick: a snapshot exists before the first request
    const instant = options.clock.tickTime;
    const { firstTick = 0 } = options;
    const stamp = tickStamp(options.clock, firstTick, options.clock.dateMs(instant));
    this.#latest = {
      tick: firstTick,
      sim: instant,
      wallMs: options.clock.wallMs(),
      published: this.devices.map((device) => publishFirst(device, stamp)),
    };
    options.clock.advanceTo(instant, tickSeconds(options.clock.rate, options.tickIntervalS));
  }

  /**
   * State that a restart keeps, in the order in which its parts need each other. Timed acts are set again by their
   * owners, and each restored device is published anew.
   * @param devices state of the devices, which need clock and surroundings, and which site and snapshots show
   */
  kept(devices: Kept = keptParts({})): Kept {
    const { beforeDevices, afterDevices } = this.keptShared();
    return keptParts({ ...beforeDevices, devices, ...afterDevices });
  }

  /** The parts of the state that are not of one device, in the order of their restoring. */
  keptShared(): { readonly beforeDevices: KeptByName; readonly afterDevices: KeptByName } {
    const { clock, environment, monotonicMs } = this.#options;
    return {
      beforeDevices: {
        clock: keptThen(clock.kept(), () => {
          this.#pace.changeRate(clock.rate, monotonicMs());
        }),
        surroundings: keptThen(environment.kept(), () => {
          // trajectories that cannot be read would end the first tick
          for (const { index } of this.devices) environment.nextEvent(index, clock.acting());
        }),
        roster: this.#roster.kept(),
      },
      afterDevices: {
        site: this.#site.kept(),
        energy: this.#energy.kept(),
        commands: this.commands.kept(),
        stepping: this.#stepping.kept(),
        tick: this.#keptTick(),
      },
    };
  }

  /** Does work while no tick runs and no device joins or leaves; at once where that is so now. */
  betweenTicks<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  #keptTick(): Kept {
    const { clock } = this.#options;
    return keptRecord(
      () => ({
        tick: this.#latest.tick,
        wallMs: this.#latest.wallMs,
        timeChangedBy: this.#timeChangedBy && plainProvenance(this.#timeChangedBy),
      }),
      ({ tick, wallMs, timeChangedBy }) => {
        keptCount(tick, 'number of ticks');
        if (!isDateMs(wallMs)) throw new SimError('INTERNAL', 'the kept date of the last tick is no date');
        this.#timeChangedBy = keptWriterOrNull(timeChangedBy, 'writer of the time');
        const sim = clock.tickTime;
        const stamp = tickStamp(clock, tick, clock.stampMs(sim));
        this.#latest = { tick, sim, wallMs, published: this.devices.map((device) => device.publishAgain(stamp)) };
      },
    );
  }

  get latest(): TickEvent {
    return this.#latest;
  }

  get time(): TimeNow {
    const { clock, tickIntervalS } = this.#options;
    // while paused, the instant that registers and snapshot show, and from which the next step continues
    const sim = clock.acting();
    return {
      ...clock.settings,
      sim,
      tickIntervalS,
      simStepS,
      tick: this.#latest.tick,
      rateEffective: clock.paused ? 0 : this.#pace.rateEffective,
      clockTime: clock.timeOfDay(sim),
      dateMs: clock.dateMs(sim),
      wallMs: clock.wallMs(),
      changedBy: this.#timeChangedBy,
      steppedBy: this.#stepping.steppedBy,
    };
  }

  get now(): SimTime {
    return this.#options.clock.acting();
  }

  get tickSimS(): number {
    return tickSeconds(this.#options.clock.rate, this.#options.tickIntervalS);
  }

  get health(): PlantHealth {
    return {
      tick: this.#latest.tick,
      tickAgeS: (this.#options.monotonicMs() - this.#lastEndMs) / 1000,
      skippedTicks: this.skippedTicks,
      paused: this.#options.clock.paused,
      rateHeld: this.#rateHeld,
    };
  }

  get #rateHeld(): boolean {
    const { clock } = this.#options;
    return clock.paused || this.#pace.holds(clock.rate);
  }

  dateMs(t: SimTime): number {
    return this.#options.clock.dateMs(t);
  }

  simAt(dateMs: number): SimTime {
    return this.#options.clock.simAt(dateMs);
  }

  device(index: number): SimDevice {
    return this.#roster.device(index);
  }

  get devices(): readonly SimDevice[] {
    return this.#roster.devices;
  }

  get silentDevices(): ReadonlySet<number> {
    return this.#options.dark?.indexes ?? noDevices;
  }

  get firstIndex(): number {
    return this.#roster.firstIndex;
  }

  /** Index of the next device to be added: one above the highest ever used. */
  get nextIndex(): number {
    return this.#roster.nextIndex;
  }

  onDevices(listener: (change: RosterChange) => void): () => void {
    return this.#roster.onChange(listener);
  }

  /**
   * Adds a device under `nextIndex`. It starts at the end of the last tick, settled in the grid and weather of that
   * instant; a running tick finishes first.
   * @param admit called with the device before it becomes visible; if it throws, nothing is added
   * @throws SimError CONFIG_INVALID with the issues of profile or visits, STOPPING
   */
  add(spec: DeviceSpec, admit: (device: SimDevice) => Promise<void> = () => Promise.resolve()): Promise<SimDevice> {
    const { clock, factory } = this.#options;
    return this.#turns.take(async () => {
      this.#checkRunning();
      const device = factory.make(spec, this.nextIndex, clock.tickTime);
      const published = publishFirst(device, tickStamp(clock, this.#latest.tick, clock.dateMs(clock.tickTime)));
      try {
        await admit(device);
        this.#checkRunning();
      } catch (error) {
        factory.release(device.index);
        throw error;
      }
      this.#roster.add(device);
      this.#latest = { ...this.#latest, published: [...this.#latest.published, published] };
      this.#roster.notify({ added: device });
      return device;
    });
  }

  /**
   * Puts another device in the place of one: index, own grid and own weather stay. It starts as an added one does, and
   * the former one leaves in the same turn of the event loop.
   * @param admit called with the new device while the former one still works; if it throws, nothing is changed
   * @throws SimError UNKNOWN_DEVICE, CONFIG_INVALID with the issues of profile or visits, STOPPING
   */
  replace(spec: DeviceSpec, index: number, admit: (device: SimDevice) => Promise<void>): Promise<SimDevice> {
    const { clock, factory } = this.#options;
    return this.#turns.take(async () => {
      this.#checkRunning();
      this.device(index);
      const { device, undo } = factory.makeInPlace(spec, index, clock.tickTime);
      try {
        const published = publishFirst(device, tickStamp(clock, this.#latest.tick, clock.dateMs(clock.tickTime)));
        await admit(device);
        this.#checkRunning();
        const removed = this.#roster.replace(device);
        this.#latest = {
          ...this.#latest,
          published: this.#latest.published.map((each) => (each.snapshot.device_index === index ? published : each)),
        };
        this.commands.cancelOf(index, 'the device was replaced');
        this.#options.dark?.forget(index);
        this.#roster.notify({ added: device, removed });
        return device;
      } catch (error) {
        undo();
        throw error;
      }
    });
  }

  /**
   * Removes a device with its commands and local deviations; its index is not used again. A running tick finishes
   * first.
   * @throws SimError UNKNOWN_DEVICE, STOPPING
   */
  remove(index: number): Promise<SimDevice> {
    return this.#turns.take(() => {
      this.#checkRunning();
      const removed = this.#roster.remove(index);
      this.#latest = {
        ...this.#latest,
        published: this.#latest.published.filter(({ snapshot }) => snapshot.device_index !== index),
      };
      this.commands.cancelOf(index, 'the device was removed');
      this.#options.factory.release(index);
      this.#roster.notify({ removed });
      return Promise.resolve(removed);
    });
  }

  #checkRunning(): void {
    if (this.#ended) throw new SimError('STOPPING', 'the simulator is stopping');
  }

  /** Stops a running tick after the present sub-steps, lets no further tick start, and drops every timed act. */
  end(): void {
    this.#ended = true;
    this.driven.end();
    this.#timetable.clear();
  }

  onTick(listener: (event: TickEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  onTickInParts(work: (event: TickEvent) => Iterable<undefined>): () => void {
    return this.#listeners.addInParts(work);
  }

  onPower(listener: (event: PowerEvent) => void): () => void {
    return this.#options.dark?.onChange(listener) ?? (() => undefined);
  }

  onDisturbance(listener: (disturbance: Disturbance) => void): () => void {
    return this.#options.disturbances?.add(listener) ?? (() => undefined);
  }

  nextGridChange(deviceIndex?: number): number {
    return this.#options.environment.nextGridChange(this.#options.clock.acting(), deviceIndex);
  }

  at(t: SimTime, act: () => void): () => void {
    return this.#ended ? () => undefined : this.#timetable.at(t, act);
  }

  setGrid({ voltageLnV, ...patch }: GridPatch, deviceIndex?: number, by?: Origin): void {
    const reference = this.#nominalReference(deviceIndex);
    if (voltageLnV !== undefined && !reference) {
      throw new SimError(
        'COMMAND_BAD_VALUE',
        'the devices have different nominal voltages: give the voltage in per unit, or select one device',
      );
    }
    const maxV = 2 * (reference?.nominal.lnV ?? 0);
    if (voltageLnV !== undefined && !(voltageLnV >= 0 && voltageLnV <= maxV)) {
      throw new SimError(
        'COMMAND_BAD_VALUE',
        `the voltage must be 0..${maxV.toFixed(1)} V: up to twice the nominal one`,
      );
    }
    const inPu = voltageLnV === undefined || !reference ? {} : { voltagePu: voltageLnV / reference.nominal.lnV };
    this.#changeGrid({ kind: 'set', patch: { ...patch, ...inPu } }, deviceIndex, by);
  }

  /** Updates the registers of the simulation models. @param deviceIndex absent: of all devices */
  #showSurroundings(deviceIndex: number | undefined): void {
    const instant = this.#options.clock.acting();
    for (const device of deviceIndex === undefined ? this.devices : [this.device(deviceIndex)])
      device.showSurroundings(instant);
  }

  /** Provenance of a change that takes effect now. */
  #writer(by: Origin = { source: 'default' }): Provenance {
    return { ...by, at: this.#options.clock.acting(), wallMs: this.#options.clock.wallMs() };
  }

  grid(deviceIndex?: number): GridNow {
    const reference = this.#nominalReference(deviceIndex);
    const gridNow = this.#options.environment.grid(this.#options.clock.acting(), deviceIndex);
    const volts = reference?.nominal.volts(gridNow.voltageAPu, gridNow.voltageBPu, gridNow.voltageCPu);
    return { ...gridNow, voltageLnV: volts?.meanLnV ?? null, voltageLlV: volts?.meanLlV ?? null };
  }

  get gridEvents(): readonly GridEventKind[] {
    return this.#options.environment.gridEvents;
  }

  startGridEvent(name: string, args: GridEventArguments, deviceIndex?: number, by?: Origin): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#changeGrid({ kind: 'event', name, args }, deviceIndex, by);
  }

  stopGridEvent(deviceIndex?: number, by?: Origin): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#changeGrid({ kind: 'end' }, deviceIndex, by);
  }

  #changeGrid(command: GridCommand, deviceIndex: number | undefined, by: Origin | undefined): void {
    this.#options.environment.changeGrid(command, this.#writer(by), deviceIndex);
    this.#showSurroundings(deviceIndex);
  }

  /** A device whose nominal voltage applies to a request; null where the devices differ. */
  #nominalReference(deviceIndex: number | undefined): SimDevice | null {
    if (deviceIndex !== undefined) return this.device(deviceIndex);
    const [first] = this.devices;
    return first && this.devices.every((device) => device.nominal.equals(first.nominal)) ? first : null;
  }

  setSurroundings(patch: SurroundingsPatch, deviceIndex?: number, by?: Origin): void {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    this.#options.environment.setSurroundings(patch, this.#options.clock.acting(), deviceIndex);
    this.#options.environment.surroundingsWriters.recordWriter(this.#writer(by), deviceIndex);
    this.#showSurroundings(deviceIndex);
  }

  surroundings(deviceIndex?: number): SurroundingsNow {
    if (deviceIndex !== undefined) this.device(deviceIndex);
    return this.#options.environment.surroundings(this.#options.clock.acting(), deviceIndex);
  }

  get meter(): ConnectionMeter | null {
    return this.#options.meter ?? null;
  }

  get site(): SiteNow {
    return this.#site.now;
  }

  siteOf(devices: readonly number[]): SiteNow {
    for (const index of devices) this.device(index);
    return this.#site.of(devices);
  }

  get siteScopes(): readonly SiteNow[] {
    return this.#site.scopes;
  }

  get siteGroups(): readonly (readonly number[])[] {
    return this.#site.groups;
  }

  sitePowerW(deviceIndex: number): number {
    return this.#site.powerOf(deviceIndex);
  }

  siteCut(deviceIndex: number): SiteCut | null {
    return this.#site.cutOf(deviceIndex);
  }

  get energy(): SiteEnergy {
    return this.#energy.site;
  }

  energyOf(deviceIndex: number): DeviceEnergy {
    return this.#energy.of(this.device(deviceIndex));
  }

  setSite(patch: SitePatch, by?: Origin, target?: SiteTarget): void {
    for (const index of target?.devices ?? []) this.device(index);
    this.#site.set(patch, this.#writer(by), target);
  }

  setTime(patch: ClockPatch, by?: Origin): void {
    const { clock, monotonicMs } = this.#options;
    const { mode: before } = clock.settings;
    clock.set(patch);
    this.#timeChangedBy = this.#writer(by);
    // at the end of a pause the age of the last tick counts from here
    if (before === 'paused' && !clock.paused) {
      this.#lastEndMs = monotonicMs();
      this.#stepping.endPause();
    }
    this.#pace.changeRate(clock.rate, monotonicMs());
    // at an instant that all devices have reached
    this.at(clock.tickTime, () => {
      this.#energy.follow();
    });
  }

  /**
   * Runs a tick of real time, unless the clock is paused.
   * @param slots tick intervals since the last tick
   * @param number number of the tick, if it is above the last one; default: the next
   * @param until instant at which the tick ends, in place of `slots`; where the machine is slow, whole ticks before it
   */
  tick(slots = 1, number?: number, until?: SimTime): Promise<void> {
    return this.#realTicks.tick(slots, number, until);
  }

  guideTicks(guide: TickGuide): () => void {
    return this.#realTicks.follow(guide);
  }

  #createExchange(): PlantExchange {
    const { clock, environment, hasFeeder = false } = this.#options;
    return new PlantExchange({
      environment,
      hasFeeder,
      now: () => clock.acting(),
      latestEnd: () => clock.tickTime,
      isPaused: () => clock.paused,
      isStepping: () => this.#stepping.isBusy || this.driven.isOpen,
      writer: (by) => this.#writer(by),
      device: (index) => this.device(index),
      tickTo: (begin, by) => this.#stepping.tickTo(begin, by),
      betweenTicks: (work) => this.betweenTicks(work),
      onTickInParts: (work) => this.onTickInParts(work),
      onDevices: (listener) => this.onDevices(listener),
    });
  }

  #createTickRun(): TickRun {
    const { clock, tickIntervalS, monotonicMs, forgetBefore } = this.#options;
    return new TickRun({
      clock,
      tickIntervalS,
      monotonicMs,
      devices: () => this.devices,
      commands: this.commands,
      timetable: this.#timetable,
      site: this.#site,
      energy: this.#energy,
      forgetBefore,
      lastTick: () => this.#latest.tick,
      hasEnded: () => this.#ended,
      done: (event) => {
        this.#lastEndMs = monotonicMs();
        this.#latest = event;
        return this.#listeners.notify(event);
      },
    });
  }

  #createRealTicks(): RealTicks {
    const { clock, tickIntervalS, monotonicMs } = this.#options;
    return new RealTicks({
      clock,
      tickIntervalS,
      monotonicMs,
      pace: this.#pace,
      hasEnded: () => this.#ended,
      lastEndMs: () => this.#lastEndMs,
      inTurn: (work) => this.#turns.take(work),
      run: (seconds, deadlineMs, number) => this.#run.tick(seconds, deadlineMs, number),
    });
  }

  #createDrivenTicks(): DrivenTicks {
    return new DrivenTicks({
      clock: this.#options.clock,
      run: this.#run,
      timetable: this.#timetable,
      site: this.#site,
      latest: () => this.#latest,
      guideDue: () => this.#realTicks.guideDue,
      isStepping: () => this.#stepping.isBusy,
      inTurn: (work) => this.#turns.take(work),
      checkRunning: () => {
        this.#checkRunning();
      },
      stepped: (by) => {
        this.#stepping.note(by);
      },
    });
  }

  #createStepping(): Stepping {
    const { clock, tickIntervalS } = this.#options;
    return new Stepping({
      clock,
      tickIntervalS,
      latest: () => this.#latest,
      inTurn: (work) => this.#turns.take(work),
      checkRunning: () => {
        this.#checkRunning();
      },
      run: async (seconds) => {
        const { tick } = this.#latest;
        await this.#run.tick(seconds);
        // a tick that the end of the plant has cut short has no result
        if (this.#latest.tick === tick) this.#checkRunning();
        return this.#latest;
      },
      writer: (by) => this.#writer(by),
      giveWay: async () => {
        await this.#run.giveWayIfDue();
      },
    });
  }

  step(ticks: number, by?: Origin): Promise<TickEvent> {
    return this.#stepping.step(ticks, by);
  }

  runTo(t: SimTime, by?: Origin): Promise<TickEvent> {
    return this.#stepping.runTo(t, by);
  }
}

/** Publishes a device that has had no tick. */
function publishFirst(device: SimDevice, stamp: TickStamp): Published {
  device.finish();
  return device.publish(stamp);
}
