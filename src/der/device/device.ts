/** One simulated device: inverter and source behind a register bank. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type {
  Alarm,
  AssetType,
  AvailablePower,
  DcMode,
  DeviceCommand,
  DeviceDetail,
  IvCurve,
  SourceCommand,
  Override,
  ControlFunction,
  Device,
} from '../../contract/device.ts';
import type { LimitChain, PowerLimit, ReactiveChain } from '../../contract/limit-chain.ts';
import type { Published } from '../../contract/snapshot.ts';
import { SimError } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import type { BatteryTree } from '../../contract/kinds/battery.ts';
import type { EvseSession } from '../../contract/kinds/evse.ts';
import { keptParts, keptRecord, keptThen } from '../../core/kept.ts';
import { keptInstant } from '../../core/kept-dates.ts';
import { sameMap } from '../../sunspec/map/kept-points.ts';
import type { KeptMaps } from '../../sunspec/map/kept-points.ts';
import type { Kept } from '../../core/kept.ts';
import { createRandom } from '../../core/random.ts';
import { Scheduler } from '../../core/time/scheduler.ts';
import type { KeptTimer, Timer } from '../../core/time/scheduler.ts';
import type { CommitClock, RegisterBank } from '../../sunspec/map/register-bank.ts';
import { DeviceAlarms, tripNames, enterServiceState, statusMessage } from './alarms.ts';
import { mutedContext } from './device-context.ts';
import type { DeviceContext } from './device-context.ts';
import { deviceFlow, TriedFlow } from './flow.ts';
import type { AttachedDevice, DeviceFlow, ExchangeTrial } from '../../contract/exchange.ts';
import { slopesOf } from './gradient.ts';
import { limitChain, powerLimit } from './limit-chain.ts';
import { reactiveChain } from './reactive-chain.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { DeviceEffects } from '../faults/device-effects.ts';
import { EffectiveRegisters } from '../faults/effect.ts';
import { createVisits, followStation } from './charging-station.ts';
import type { DeviceVisits, EvseEvents, EvseListener } from './charging-station.ts';
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import type { DeviceIdentity } from './identity.ts';
import { NominalVoltage } from '../inverter/ac.ts';
import { availablePower, noPower } from '../inverter/power-bounds.ts';
import { causeFunctions } from '../inverter/protection.ts';
import { Inverter } from '../inverter/inverter.ts';
import { SiteShare } from '../inverter/site-share.ts';
import { CommandWriters, admitWriter } from './writers.ts';
import { Power, writeOperatorState } from './power.ts';
import { stackPower } from '../inverter/dc-link.ts';
import { meterFaces } from './listed-chain.ts';
import { DeviceRegisters } from './registers.ts';
import { publish, publishDetail } from './publish.ts';
import { DetailCache, buildSnapshot, publishSnapshot } from './snapshot.ts';
import type { TickStamp } from './snapshot.ts';
import type { DcPort, DcSource } from '../source/source.ts';
import type { MeterFaceOptions } from '../site/meter-face.ts';
import { inverterRatings } from './template.ts';
import type { DeviceTemplate } from './template.ts';
import { Terminals } from './terminals.ts';
import { DeviceTrace } from './trace.ts';

/** 715.DERHb counts seconds and wraps before its "not implemented" value. */
const heartbeatModulus = 0xffffffff;

/** Which parts of a kept state fit a device whose configuration may have changed since. */
export interface KeptFit {
  /** true: the source has the same parameters; otherwise its charge, contents and counters are restored alone */
  readonly source: boolean;
  /** true: the inverter has the same ratings and parameters; otherwise counters and switch are restored alone */
  readonly inverter: boolean;
  readonly maps: KeptMaps;
}

const wholeFit: KeptFit = { source: true, inverter: true, maps: sameMap };

/** Name and identities of a device, which change while it runs. */
export type DeviceNames = DeviceProtocols & Pick<Device, 'name'>;

export class SimDevice implements Device {
  readonly index: number;
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly assetType: AssetType;
  readonly dcMode: DcMode;
  readonly bank: RegisterBank;
  #commandCount = 0;
  #names: DeviceNames;
  readonly trace: DeviceTrace;
  readonly siteShare: SiteShare;
  readonly mapMeters: readonly MeterFaceOptions[];
  readonly stackPower: Device['stackPower'];
  localControl = false;
  readonly #template: DeviceTemplate;
  readonly #context: DeviceContext;
  readonly #scheduler = new Scheduler();
  readonly #registers: DeviceRegisters;
  readonly #source: DcSource;
  readonly #inverter: Inverter;
  readonly #terminals: Terminals;
  readonly #power: Power;
  readonly #alarms: DeviceAlarms;
  readonly #detailCache: DetailCache;
  readonly #evse: EvseEvents | null;
  readonly #visits: DeviceVisits | null;
  readonly #writers: CommandWriters;
  readonly #clock: CommitClock;
  /** end of the last sub-step; between ticks the clock of the plant continues from here */
  #now: SimTime;
  #start: SimTime;
  /** last finite values of the grid */
  #grid: GridValues;
  /** begin of the last sub-step */
  #stepFrom: SimTime;
  /** grid of the last sub-step */
  #steppedGrid: GridValues;
  /** ambient temperature of the last sub-step */
  #ambientNowC = 20;
  /** last finite ambient temperature */
  #ambientC = 20;
  #stepping = false;
  #rehearsing = false;
  #fault = false;

  constructor(identity: DeviceIdentity, template: DeviceTemplate, loud: DeviceContext, start: SimTime) {
    const context = mutedContext(loud, () => this.#rehearsing);
    this.index = identity.index;
    this.deviceType = identity.deviceType;
    this.profileName = identity.profileName;
    this.assetType = template.assetType;
    this.#names = identity;
    this.dcMode = template.dcMode;
    this.#template = template;
    this.#context = context;
    this.#now = start;
    this.#start = start;
    this.#stepFrom = start;
    this.#alarms = new DeviceAlarms(this.index, context);
    const clock: CommitClock = {
      // during a tick the device may be ahead of the clock of masters
      sim: () => (this.#stepping ? this.#now : (Math.max(this.#now, context.clock.sim()) as SimTime)),
      wallMs: () => context.clock.wallMs(),
    };
    this.#clock = clock;
    this.#writers = new CommandWriters(clock);
    this.#source = template.createSource(context.seed, this.index, context.centralAuthority?.());
    this.#registers = this.#createRegisters(identity);
    this.bank = this.#registers.bank;
    this.mapMeters = meterFaces(template.meters, this.bank);
    this.#inverter = new Inverter(
      inverterRatings(template, this.bank.map.m702.VNomRtg, context.feeder),
      template.settings,
      this.#source,
      createRandom(context.seed, this.index, 'enter-service'),
    );
    this.#power = new Power(
      {
        index: this.index,
        registers: this.#registers,
        inverter: this.#inverter,
        source: this.#source,
        writers: this.#writers,
        dark: context.dark,
      },
      start,
    );
    this.#terminals = new Terminals(this.index, context, template.ratings);
    this.siteShare = new SiteShare(this.#inverter, this.#terminals);
    this.stackPower = stackPower(this.#source, this.#inverter.link);
    this.#grid = context.environment.gridAt(this.index, start);
    this.#ambientNowC = this.#terminals.settle(start, this.#grid, this.#inverter, this.#source);
    this.#steppedGrid = this.#grid;
    this.trace = new DeviceTrace(this.#inverter, () => ({
      at: this.#now,
      grid: this.#steppedGrid,
      supply: context.environment.gridAt(this.index, this.#stepFrom),
    }));
    this.#inverter.protection.onThreshold = (_kind, at) => {
      this.#disturbed('threshold', at);
    };
    this.#visits = createVisits(context, this.index, this.#source, this.#scheduler, (command) => {
      this.#commandSource(command, { source: 'profile' });
    });
    this.#visits?.begin(start);
    this.#evse = followStation(this.#source, {
      index: this.index,
      inverter: this.#inverter,
      bank: this.bank,
      context,
      power: this.#power,
      now: () => this.#now,
      start: () => this.#start,
      stepping: () => this.#stepping,
      refresh: () => this.#detailCache.renew(this.#now),
    });
    this.#detailCache = new DetailCache(this.#source, start);
  }

  get name(): string {
    return this.#names.name;
  }

  get ocpp(): DeviceNames['ocpp'] {
    return this.#names.ocpp;
  }

  get csip(): DeviceNames['csip'] {
    return this.#names.csip;
  }

  get dnp3(): DeviceNames['dnp3'] {
    return this.#names.dnp3;
  }

  get modbus(): DeviceNames['modbus'] {
    return this.#names.modbus;
  }

  /** Takes another name and other identities, which adapters read when they begin to serve the device. */
  rename(names: DeviceNames): void {
    this.#names = names;
  }

  get detail(): DeviceDetail {
    // an act within a tick reads the detail shown at that time
    return this.#stepping ? this.#detailCache.last : this.#detailCache.of(this.#now);
  }

  get detailAt(): SimTime {
    return this.#stepping ? this.#detailCache.at : this.#now;
  }

  get activeFunctions(): ReadonlySet<ControlFunction> {
    return this.#inverter.activeFunctions();
  }

  get activeTrips(): readonly string[] {
    const { phase, lastTrip, protection } = this.#inverter;
    const standing = protection.standingTrips(this.#now, phase === 'tripped' ? lastTrip : null);
    return standing.flatMap((cause) => causeFunctions[cause] ?? []);
  }

  get startedTrips(): readonly string[] {
    return this.#inverter.protection.pendingTrips.map((kind) => tripNames[kind]);
  }

  get enterService(): Device['enterService'] {
    return enterServiceState(this.#inverter, this.#now);
  }

  get switchClosed(): boolean {
    return this.#inverter.switchClosed;
  }

  get available(): AvailablePower {
    return this.#idle ? noPower : availablePower(this.#inverter);
  }

  get powerLimit(): PowerLimit {
    return powerLimit(this.#inverter, this.#now, this.assetType === 'evse');
  }

  get limitChain(): LimitChain {
    return limitChain(this.#inverter, this.#now, this.powerLimit);
  }

  get reactiveChain(): ReactiveChain {
    return reactiveChain(this.#inverter);
  }

  get gradient(): Device['gradient'] {
    return slopesOf(this.#inverter, this.#registers.gradient.now);
  }

  get latchedAlarmCount(): number {
    return this.#alarms.latchedCount;
  }

  /** Codes of the active alarms of inverter and source; another list after each change. */
  get alarmCodes(): readonly string[] {
    return this.#alarms.codes();
  }

  get alarms(): readonly Alarm[] {
    return this.#alarms.list(this.#source.ports);
  }

  get overrides(): readonly Override[] {
    return this.#writers.list;
  }

  get statusMessage(): string | null {
    return this.#power.down ? 'rebooting' : statusMessage(this.#inverter, this.#fault, this.#alarms.codes());
  }

  /** Faults of layer `effect` at this device; created at the first use. */
  get effects(): DeviceEffects {
    return (this.#registers.effects ??= this.#createEffects());
  }

  #createEffects(): DeviceEffects {
    const [power, registers] = [this.#power, this.#registers];
    const now = () => this.#clock.sim();
    return new DeviceEffects({
      deviceIndex: this.index,
      bank: this.bank,
      scheduler: this.#scheduler,
      effective: new EffectiveRegisters(this.bank),
      isDown: () => power.down,
      now,
      activeFaults: () => this.#context.faults?.active ?? [],
      refresh: () => {
        registers.refresh();
      },
      powerDown: (forget, by) => {
        power.goDown(forget, { by, local: this.localControl, now: now() });
      },
      powerUp: () => {
        power.comeUp(now());
      },
    });
  }

  readonly heldValue: Device['heldValue'] = (slot) => this.#registers.effects?.heldValue(slot);

  command(command: DeviceCommand, by: Origin): void {
    admitWriter(by, this.localControl, 'COMMAND_CONFLICT');
    switch (command.kind) {
      default:
        this.#source.command(command, by);
        if (command.kind === 'hybrid.policy') this.#inverter.activePower.glideFrom(this.#inverter.pW);
        publishDetail(this.bank.measurements, this.#detailCache.renew(this.#now));
        break;
      case 'switch':
        this.#power.admit(by);
        this.#inverter.switchClosed = command.closed;
        this.#registers.switchMoved();
        break;
      case 'gradient':
        this.#power.admit(by);
        this.#registers.gradient.set(command);
        this.#registers.refresh();
        break;
      case 'local':
        this.localControl = command.local;
        this.bank.measurements.m715.LocRemCtl = command.local ? 'LOCAL' : 'REMOTE';
        break;
      case 'start':
      case 'stop':
        writeOperatorState(this.bank, command.kind, by);
        break;
      case 'reset':
        this.#resetAlarms(by);
        if (command.scope === 'device') this.#resetDevice(by);
        break;
    }
    this.#writers.recordWriter(command, by);
    this.#commandCount += 1;
    this.#evse?.settle();
  }

  onEvse(listener: EvseListener): () => void {
    return this.#evse?.on(listener) ?? (() => undefined);
  }

  /** Carries out a command of a register write or of a visit. */
  #commandSource(command: SourceCommand, by: Origin): void {
    this.#source.command(command, by);
    this.#writers.recordWriter(command, by);
  }

  /** Power of the last sub-step as doubles, and the energy behind it. */
  get flow(): DeviceFlow {
    return deviceFlow(this.#inverter, this.#steppedGrid);
  }

  /**
   * Power after `dtS` under a grid that the device does not have; changes nothing.
   * @param grid at the terminals
   * @param dtS null: at the end of all responses
   * @param isSteady false: the grid would move meanwhile, so that the power is not exact
   */
  trial(grid: GridValues, dtS: number | null, isSteady = true): ExchangeTrial {
    const outcome = this.#idle
      ? { pW: 0, qVar: 0, phaseLoads: null, exact: false }
      : this.#inverter.trial(this.#now, dtS ?? Infinity, grid, this.#source);
    const timerS = secondsBetween(this.#now, this.#scheduler.nextDue as SimTime);
    const exact = isSteady && outcome.exact && (timerS === Infinity || timerS > (dtS ?? Infinity));
    return new TriedFlow(this.#inverter.ratings, outcome, grid, exact);
  }

  /** Wiring and rated powers as a grid solver needs them. */
  get terminalRatings(): Pick<AttachedDevice, 'wiring' | 'ratedVa' | 'maxW' | 'minW'> {
    const { wiring, vaMaxVa, wMaxW, chargeMaxW, dischargeMaxW } = this.#template.ratings;
    return { wiring, ratedVa: vaMaxVa, maxW: dischargeMaxW === 0 ? 0 : wMaxW, minW: 0 - (chargeMaxW ?? 0) };
  }

  /** True while the device reboots, or its model has failed. */
  get isDown(): boolean {
    return this.#idle;
  }

  /** The base of the grid's per unit. */
  get nominal(): NominalVoltage {
    return new NominalVoltage(this.#inverter.ratings);
  }

  storageTree(): BatteryTree | null {
    return this.#source.tree?.() ?? null;
  }

  chargingSessions(): readonly EvseSession[] {
    return this.#source.sessions?.() ?? [];
  }

  get startedAt(): SimTime {
    return this.#start;
  }

  /** Number of commands since the start of the process. */
  get commandCount(): number {
    return this.#commandCount;
  }

  /** The instant that the device has reached. */
  get now(): SimTime {
    return this.#now;
  }

  /** Takes up the time of the plant after it was not part of it: nothing happens between. */
  skipTo(t: SimTime): void {
    this.#now = t;
  }

  /**
   * State that a restart keeps. It is restored into a device of the same configuration, after clock, surroundings and the
   * registry of faults, and before adapters; parts are restored in the order in which they need each other.
   * @param fit which of it fits the present configuration; default: all
   */
  kept(fit: KeptFit = wholeFit): Kept {
    const [inverter, source] = [this.#inverter, this.#source];
    const keptSource = fit.source ? source.kept() : (source.lasting?.() ?? keptParts({}));
    const presentGrid = () => this.#terminals.presentGrid(this.#now, inverter.pW, inverter.qVar);
    const resume = () => {
      inverter.resume(this.#registers.settings());
    };
    const renewDetail = () => {
      this.#detailCache.renew(this.#now);
    };
    return keptParts({
      members: this.#keptMembers(),
      // owners of timers follow
      timers: this.#scheduler.kept(),
      ...(this.#visits && { visits: this.#visits.kept() }),
      writers: this.#writers.kept(),
      registers: keptThen(this.#registers.kept(this.#keptEffects(), fit.maps), resume),
      // the settings have set the limits of the source, which a kept ramp moves
      source: keptThen(keptSource, renewDetail),
      ...(fit.source && { curve: this.#registers.keptCurve() }),
      terminals: this.#terminals.kept(() => this.#now),
      inverter: fit.inverter ? inverter.kept(presentGrid) : inverter.lasting(),
      power: this.#power.kept(),
      alarms: this.#alarms.kept(),
      trace: keptThen(this.trace.kept(), () => {
        this.#beginMissingFaults();
      }),
    });
  }

  /**
   * Tries a restored state: what the device shows, and a tick up to its next timer, without lines in the log. The device
   * is to be restored again afterwards.
   * @param seconds of the tick, simulated
   * @throws SimError for a value that is not finite, and any error of a model that cannot use its state
   */
  rehearse(seconds: number): void {
    // a model that has failed before has such values
    if (this.#fault) return;
    this.#rehearsing = true;
    try {
      this.#show();
      const end = Math.min(addSeconds(this.#now, seconds), this.#scheduler.nextDue - 1) as SimTime;
      if (!(end > this.#now)) return;
      this.advance(end);
      this.finish();
      this.#show();
    } finally {
      this.#rehearsing = false;
    }
  }

  /** Writes the measurements, and derives what clients and the site read besides. */
  #show(): void {
    this.#publishState(this.#detailCache.renew(this.#now), this.#source.ports);
    const { siteShare, available, enterService, gradient, activeTrips, startedTrips, alarms, overrides } = this;
    const numbers = [siteShare.demandW, siteShare.reachW(1), siteShare.maxInjectW, siteShare.maxAbsorbW];
    if (numbers.some(Number.isNaN)) throw new SimError('INTERNAL', 'its power is no number');
    JSON.stringify({ available, enterService, gradient, activeTrips, startedTrips, alarms, overrides });
  }

  /** Faults of layer `effect`; null while no fault has acted at any device. */
  #keptEffects(): Kept {
    return {
      save: () => this.#registers.effects?.kept().save() ?? null,
      restore: (saved) => {
        if (saved === null) this.#registers.effects = null;
        else this.effects.kept().restore(saved);
      },
    };
  }

  #beginMissingFaults(): void {
    const active = this.#context.faults?.active ?? [];
    if (active.some(({ protocol }) => protocol === 'device')) this.effects.beginMissing();
  }

  #keptMembers(): Kept {
    return keptRecord(
      () => ({
        now: this.#now,
        start: this.#start,
        grid: this.#grid,
        steppedGrid: this.#steppedGrid,
        ambientNowC: this.#ambientNowC,
        ambientC: this.#ambientC,
        fault: this.#fault,
        localControl: this.localControl,
      }),
      (saved) => {
        keptInstant(saved.now, 'time of the device');
        keptInstant(saved.start, 'start of the device');
        ({
          now: this.#now,
          start: this.#start,
          grid: this.#grid,
          steppedGrid: this.#steppedGrid,
          ambientNowC: this.#ambientNowC,
          ambientC: this.#ambientC,
          fault: this.#fault,
          localControl: this.localControl,
        } = saved);
        this.#stepFrom = this.#now;
      },
    );
  }

  dcCurve(port: number | undefined, points: number): IvCurve {
    return this.#source.curve(port, points);
  }

  /**
   * Advances towards `end` in sub-steps of simulated time; due timers run at their own instants.
   * @param maxSteps maximum of sub-steps in this call; the next call continues
   * @returns true if `end` is reached
   */
  advance(end: SimTime, maxSteps = Infinity): boolean {
    const { environment } = this.#context;
    this.#stepping = true;
    try {
      for (let done = 0; this.#now < end; done += 1) {
        if (done >= maxSteps) return false;
        const grid = this.#gridAt(this.#now);
        const motion = environment.gridMotion(this.index, this.#now);
        this.#terminals.begin(this.#now, grid, this.#source);
        if (!this.#idle) this.#inverter.decide(this.#now, grid);
        if (this.trace.recordServiceState(this.#now)) {
          this.#alarms.recordTrip(this.#inverter, this.#now);
          this.#disturbed('trip', this.#now);
        }
        let next = Math.min(end, this.#inverter.nextStep(this.#now, motion, grid, this.#source));
        next = Math.min(next, environment.nextEvent(this.index, this.#now), this.#scheduler.nextDue);
        // a length that is no number would stop the time of the device for good
        if (Number.isNaN(next)) {
          this.#fail();
          next = end;
        }
        if (motion !== 'still') next = this.#terminals.crossing(this.#now, next, grid, this.#inverter);
        this.#subStep(Math.max(next, this.#now + 1) as SimTime, grid);
      }
      return true;
    } finally {
      this.#stepping = false;
    }
  }

  /** Ends the sub-steps of a tick, before powers are measured: a model that has failed delivers nothing. */
  finish(): void {
    // a jump at this instant belongs to the next tick, with the power that follows it
    this.#takeFinite(this.#gridAt(Math.max(this.#start, this.#now - 1) as SimTime));
  }

  /** Writes the measurements and makes the snapshot of the tick that `finish` has ended. */
  publish(stamp: TickStamp): Published {
    const former = this.#detailCache.last;
    let detail = this.#detailCache.renew(this.#now);
    try {
      this.#publishState(detail, this.#source.ports);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'MAP_BAD_VALUE') throw error;
      this.#fail();
      detail = this.#detailCache.revertTo(former);
      this.#publishState(detail, finitePorts(this.#source));
    }
    this.#registers.publish(this.#now, stamp.clockTime);
    const published = publishSnapshot(buildSnapshot(this.bank.map, this, stamp, this.statusMessage), detail);
    this.#registers.effects?.update();
    this.#evse?.settle();
    return published;
  }

  /** Writes alarms and measurements. @throws SimError MAP_BAD_VALUE for a value that is not finite */
  #publishState(detail: DeviceDetail, ports: readonly DcPort[]): void {
    const inverter = this.#inverter;
    this.#alarms.follow(inverter, this.#source.conditions, {
      collapsed: this.#terminals.collapsed,
      fault: this.#fault,
      raised: this.#registers.effects?.alarmCodes ?? [],
      at: this.#now,
    });
    publish(this.bank.measurements, {
      inverter,
      source: this.#source,
      ports,
      detail,
      grid: this.#grid,
      ambientC: this.#ambientC,
      cabinetC: this.#terminals.cabinet.temperatureC,
      now: this.#now,
      fault: this.#fault,
      heartbeat: Math.floor(secondsBetween(this.#power.upSince, this.#now)) % heartbeatModulus,
      alarms: this.#alarms.codes(),
    });
  }

  /** The snapshot of a restored device: registers, alarms and faults are as its last tick left them. */
  publishAgain(stamp: TickStamp): Published {
    const detail = this.#detailCache.renew(this.#now);
    const published = publishSnapshot(buildSnapshot(this.bank.map, this, stamp, this.statusMessage), detail);
    this.#evse?.settle();
    return published;
  }

  /**
   * Calls `action` at the exact instant `delayS` simulated seconds ahead; a reset of the device cancels it. A restart
   * ends the timer: its owner keeps it, and sets it with `again`.
   */
  later(delayS: number, action: () => void): Timer {
    return this.#scheduler.at(addSeconds(this.#context.clock.sim(), delayS), action);
  }

  /** Sets a timer of an earlier process; the device has been restored. */
  again(timer: KeptTimer, action: () => void): Timer {
    return this.#scheduler.again(timer, action);
  }

  /** Updates registers after a request changed the surroundings. @param t the instant at which requests act */
  showSurroundings(t: SimTime): void {
    this.#registers.showSurroundings(t);
  }

  /** The grid at the terminals, with the power of the last sub-step. */
  #gridAt(t: SimTime): GridValues {
    return this.#terminals.gridAt(t, this.#inverter.pW, this.#inverter.qVar);
  }

  #subStep(next: SimTime, grid: GridValues): void {
    const dtS = secondsBetween(this.#now, next);
    const underFrequency = this.#inverter.activePower.droop.side === 'under';
    this.#ambientNowC = this.#terminals.prepare(this.#source, dtS, next, grid, underFrequency);
    if (this.#idle) this.#source.draw(0, false);
    else this.#inverter.step(this.#now, dtS, grid, this.#source);
    this.#terminals.warm(dtS, this.#inverter, this.#source);
    this.#stepFrom = this.#now;
    this.#now = next;
    this.#steppedGrid = grid;
    this.trace.recordStep(next, grid);
    if (this.#scheduler.nextDue <= next) this.#scheduler.runDue(next);
    this.#evse?.stepped();
  }

  #disturbed(kind: 'threshold' | 'trip', at: SimTime): void {
    this.#context.disturbed?.({ kind, deviceIndex: this.index, at, alarm: null });
  }

  /** True if the device delivers nothing because its model has failed or it is off. */
  get #idle(): boolean {
    return this.#fault || this.#power.down;
  }

  #createRegisters(identity: DeviceIdentity): DeviceRegisters {
    const { environment, seed, log, clock: requestClock } = this.#context;
    return new DeviceRegisters(
      {
        identity,
        template: this.#template,
        source: this.#source,
        environment,
        seed,
        scheduler: this.#scheduler,
        clock: this.#clock,
        requestClock,
        warn: (message) => {
          log.warning(message, this.index);
        },
      },
      {
        admit: (by) => {
          this.#power.admit(by);
          admitWriter(by, this.localControl, 'MAP_LOCAL_CONTROL');
        },
        applySettings: (settings, former) => {
          this.#inverter.applySettings(settings, former);
        },
        isClosed: () => this.#inverter.switchClosed,
        setSwitch: (closed, by) => {
          this.#power.setSwitch(closed, by);
        },
        switchWriter: () => this.#writers.of('switch'),
        gradientSet: (by) => {
          this.#writers.recordWriter({ kind: 'gradient' }, by);
        },
        rankOf: (name) => this.#inverter.reactivePower.rankOf(name),
        resetAlarms: (by) => {
          this.#resetAlarms(by);
        },
        command: (command, by) => {
          this.#commandSource(command, by);
        },
      },
    );
  }

  #resetAlarms(by: Origin): void {
    this.#fault = false;
    this.#source.clearFaults(by);
    this.#inverter.acknowledge();
    this.#writers.recordWriter({ kind: 'reset', scope: 'alarms' }, by);
  }

  #resetDevice(by: Origin): void {
    this.#context.faults?.deviceReset(this.index);
    if (this.#power.down) this.#power.begin(this.#clock.sim());
    this.#registers.clearReversions();
    this.#scheduler.clear();
    this.#context.environment.clearLocal(this.index);
    this.localControl = false;
    this.#registers.effects?.forget();
    this.#registers.loadStart(by, false);
    this.#inverter.restart();
    this.#terminals.restart();
    this.#source.restart(by);
    this.#writers.clear();
    this.#visits?.begin(this.#now);
    this.#registers.effects?.restart();
    this.showSurroundings(this.#context.clock.sim());
    this.#power.reportReturn(this.#clock.sim());
  }

  /**
   * Keeps values that are not finite out of the registers: the device enters a fault, at zero power in its last valid
   * surroundings.
   */
  #takeFinite(grid: GridValues): void {
    const inverter = this.#inverter;
    let sum = inverter.pW + inverter.qVar + grid.aPu + grid.bPu + grid.cPu + grid.hz + this.#ambientNowC;
    for (const port of this.#source.ports) sum += port.voltageV + port.currentA + port.powerW;
    if (Number.isFinite(sum)) {
      this.#grid = grid;
      this.#ambientC = this.#ambientNowC;
      return;
    }
    this.#fail();
  }

  /** Puts the device in fault at zero power, until a reset. */
  #fail(): void {
    if (this.#rehearsing) throw new SimError('INTERNAL', 'its model gives a value that is not finite');
    if (!this.#fault)
      this.#context.log.error(
        'the model gave a value that is not finite; the device is in fault until it is reset',
        this.index,
      );
    this.#fault = true;
    this.#inverter.halt();
    this.#source.draw(0, false);
  }
}

/** The ports of a source, with 0 for values that are not finite. */
function finitePorts({ ports }: DcSource): readonly DcPort[] {
  const finite = (value: number) => (Number.isFinite(value) ? value : 0);
  return ports.map(({ type, name, conditions, voltageV, currentA, powerW }) => ({
    type,
    name,
    ...(conditions && { conditions }),
    voltageV: finite(voltageV),
    currentA: finite(currentA),
    powerW: finite(powerW),
  }));
}
