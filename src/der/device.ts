/** One simulated device: inverter and source behind a register bank. */
import { secondsBetween } from '../core/clock.ts';
import type { SimTime } from '../core/clock.ts';
import { remoteSources } from '../core/device.ts';
import type {
  Alarm, AssetType, DcMode, DeviceCommand, DeviceDetail, IvCurve, Origin, Published, SourceCommand,
} from '../core/device.ts';
import { SimError } from '../core/errors.ts';
import type { BatteryTree } from '../core/kinds/battery.ts';
import type { EvseSession } from '../core/kinds/evse.ts';
import type { Override } from '../core/overrides.ts';
import type { Logger } from '../core/log.ts';
import { createRandom } from '../core/random.ts';
import { Scheduler } from '../core/scheduler.ts';
import { AdoptionTimers } from '../sunspec/map/adoption-timers.ts';
import { RegisterBank } from '../sunspec/map/bank.ts';
import type { Candidate, CommitClock } from '../sunspec/map/bank.ts';
import type { ControlFunction, Device } from '../sunspec/map/device.ts';
import type { PointSlot } from '../sunspec/map/layout.ts';
import { ReversionTimers } from '../sunspec/map/reversion.ts';
import { activeAlarms, DeviceAlarms, tripAlarms, tripNames, tripTexts } from './alarms.ts';
import type { AlarmCode } from './alarms.ts';
import type { GridValues } from './environment.ts';
import { nominalLnV, terminalVoltages } from './inverter/ac.ts';
import type { TerminalVoltages } from './inverter/ac.ts';
import { Inverter } from './inverter/inverter.ts';
import { readSettings } from './inverter/settings.ts';
import { SiteShare } from './inverter/site-share.ts';
import { CommandWriters } from './last-writers.ts';
import { publish, publishDetail } from './publish.ts';
import { buildSnapshot, publishSnapshot } from './snapshot.ts';
import type { TickStamp } from './snapshot.ts';
import { StorageCommands } from './storage-map.ts';
import type { DcSource } from './source/source.ts';
import { enterServiceState, statusMessage } from './status.ts';
import { inverterRatings } from './template.ts';
import type { DeviceTemplate } from './template.ts';
import { Terminals } from './terminals.ts';
import type { TerminalsContext } from './terminals.ts';
import { DeviceTrace } from './trace.ts';
import { Visits } from './visits.ts';
import type { VisitPlan } from './visits.ts';

export interface DeviceIdentity {
  readonly index: number;
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly serialNumber: string;
  readonly version: string;
}

/** What a device takes from its plant. */
export interface DeviceContext extends TerminalsContext {
  readonly clock: CommitClock;
  readonly seed: number;
  /** vehicles that come and go by themselves, and the time in their plan; null: none */
  readonly visits?: VisitPlan | null;
  readonly seriesTime?: (t: SimTime) => number;
  readonly log: Logger;
}

/** Rounds in which power and feeder voltage find each other at start. */
const settleRounds = 24;
/** 715.DERHb counts seconds and wraps before its "not implemented" value. */
const heartbeatModulus = 0xffffffff;

export class SimDevice implements Device {
  readonly index: number;
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly assetType: AssetType;
  readonly dcMode: DcMode;
  readonly bank: RegisterBank;
  readonly trace: DeviceTrace;
  readonly siteShare: SiteShare;
  localControl = false;
  readonly #identity: DeviceIdentity;
  readonly #template: DeviceTemplate;
  readonly #context: DeviceContext;
  readonly #scheduler = new Scheduler();
  readonly #adoptions: AdoptionTimers;
  readonly #tripsOfTick = new Set<AlarmCode>();
  readonly #reversions: ReversionTimers;
  readonly #source: DcSource;
  readonly #inverter: Inverter;
  readonly #terminals: Terminals;
  readonly #alarms: DeviceAlarms;
  #detail: DeviceDetail;
  readonly #storage: StorageCommands;
  readonly #writers: CommandWriters;
  /** the end of the last sub-step; between ticks the plant's clock goes on from here */
  #now: SimTime;
  readonly #start: SimTime;
  /** last values that were numbers */
  #grid: GridValues;
  /** what the last sub-step saw */
  #steppedGrid: GridValues;
  /** of the last sub-step, and the last that was a number */
  #ambientNowC = 20;
  #ambientC = 20;
  #stepping = false;
  #fault = false;

  constructor(identity: DeviceIdentity, template: DeviceTemplate, context: DeviceContext, start: SimTime) {
    this.index = identity.index;
    this.name = identity.name;
    this.deviceType = identity.deviceType;
    this.profileName = identity.profileName;
    this.assetType = template.assetType;
    this.dcMode = template.dcMode;
    this.#identity = identity;
    this.#template = template;
    this.#context = context;
    this.#now = start;
    this.#start = start;
    this.#alarms = new DeviceAlarms(this.index, context.log, () => context.clock.wallMs());
    const clock: CommitClock = {
      // a tick under way may be ahead of the clock that masters see
      sim: () => (this.#stepping ? this.#now : Math.max(this.#now, context.clock.sim()) as SimTime),
      wallMs: () => context.clock.wallMs(),
    };
    this.#writers = new CommandWriters(clock);
    const effect = (touched: readonly PointSlot[], candidate: Candidate, by: Origin) => { this.#commit(touched, candidate, by); };
    const warn = (message: string) => { context.log.warning(message, this.index); };
    this.bank = new RegisterBank(template.layout, Buffer.from(template.image), clock, {
      effect, admit: (by) => { this.#admit(by, 'MAP_LOCAL_CONTROL'); }, startWriters: template.profilePoints, onListenerFault: warn,
      deferAdoption: (request, by) => this.#adoptions.defer(request, by),
    });
    // each commit by itself: which function was enabled last must not depend on where ticks fall
    this.bank.onChange(({ by }) => {
      this.#inverter.applySettings(readSettings(this.bank.map, template.inverter.mayTrip));
      this.#storage.carryOut(this.bank.map, { command: (command) => { this.#toSource(command, by); } });
    });
    this.#adoptions = new AdoptionTimers(this.bank, this.#scheduler, clock, template.inverter.adoptionS);
    this.#reversions = new ReversionTimers(this.bank, this.#scheduler, clock, warn);
    this.#storage = new StorageCommands(template.storage);
    this.#source = template.createSource(context.seed, this.index);
    this.#writeIdentity();
    this.#inverter = new Inverter(
      inverterRatings(template, this.bank.map.m702.VNomRtg, context.feeder), template.settings, this.#source, createRandom(context.seed, this.index, 'enter-service'),
    );
    this.#terminals = new Terminals(this.index, context, template.ratings);
    this.siteShare = new SiteShare(this.#inverter, this.#terminals);
    this.#grid = context.environment.gridAt(this.index, start);
    this.#settle();
    this.#steppedGrid = this.#grid;
    this.trace = new DeviceTrace(this.#inverter, () => ({ at: this.#now, grid: this.#steppedGrid }));
    this.#startVisits();
    this.#detail = this.#source.detail();
  }

  get detail(): DeviceDetail { return this.#detail; }

  get activeFunctions(): ReadonlySet<ControlFunction> { return this.#inverter.activeFunctions(); }

  get activeTrips(): readonly string[] { return this.#inverter.protection.pendingTrips.map((kind) => tripNames[kind]); }

  get enterService(): Device['enterService'] { return enterServiceState(this.#inverter, this.#now); }

  get latchedAlarmCount(): number { return this.#alarms.latchedCount; }

  get alarms(): readonly Alarm[] { return this.#alarms.list(this.#source.ports); }

  get overrides(): readonly Override[] { return this.#writers.list; }

  get statusMessage(): string | null { return statusMessage(this.#inverter, this.#fault, this.#alarms.codes()); }

  command(command: DeviceCommand, by: Origin): void {
    this.#admit(by, 'COMMAND_CONFLICT');
    switch (command.kind) {
      default:
        this.#source.command(command);
        if (command.kind === 'hybrid.policy') this.#inverter.activePower.glideFrom(this.#inverter.pW);
        this.#detail = this.#source.detail();
        publishDetail(this.bank.map, this.#detail);
        break;
      case 'switch':
        this.#inverter.switchClosed = command.closed;
        break;
      case 'local':
        this.localControl = command.local;
        this.bank.map.m715.LocRemCtl = command.local ? 'LOCAL' : 'REMOTE';
        break;
      case 'start':
        this.bank.transact(by, (tx) => { tx.m703.ES = 'ENABLED'; tx.m715.OpCtl = 'START'; });
        break;
      case 'stop':
        this.bank.transact(by, (tx) => { tx.m703.ES = 'DISABLED'; tx.m715.OpCtl = 'STOP'; });
        break;
      case 'reset':
        this.#resetAlarms(by);
        if (command.scope === 'device') this.#resetDevice(by);
        break;
    }
    this.#writers.note(command, by);
  }

  /** A command that a register write or the plan of the day stands for. */
  #toSource(command: SourceCommand, by: Origin): void {
    this.#source.command(command);
    this.#writers.note(command, by);
  }

  /** Rated nominal voltage line to neutral, V: what the grid's per unit refers to. */
  get nominalLnV(): number {
    const { wiring, vNomRtgV } = this.#inverter.ratings;
    return nominalLnV(wiring, vNomRtgV);
  }

  terminalVoltages(aPu: number, bPu: number, cPu: number): TerminalVoltages {
    const { wiring, vNomRtgV } = this.#inverter.ratings;
    return terminalVoltages(wiring, vNomRtgV, { aPu, bPu, cPu });
  }

  /** Whether per unit means the same volts on both devices. */
  sharesNominal(other: SimDevice): boolean {
    return this.nominalLnV === other.nominalLnV && this.#inverter.ratings.wiring === other.#inverter.ratings.wiring;
  }

  storageTree(): BatteryTree | null { return this.#source.tree?.() ?? null; }

  chargingSessions(): readonly EvseSession[] { return this.#source.sessions?.() ?? []; }

  get startedAt(): SimTime { return this.#start; }

  dcCurve(port: number | undefined, points: number): IvCurve { return this.#source.curve(port, points); }

  /**
   * Advances towards `end` in sub-steps of simulated time; due timers run at their own instants.
   * @param most sub-steps before giving way; the next call goes on from there
   * @returns whether `end` is reached
   */
  advance(end: SimTime, most = Infinity): boolean {
    const { environment } = this.#context;
    this.#stepping = true;
    try {
      for (let done = 0; this.#now < end; done += 1) {
        if (done >= most) return false;
        const grid = this.#gridAt(this.#now);
        const motion = environment.gridMotion(this.index, this.#now);
        if (!this.#fault) this.#inverter.decide(this.#now, grid);
        if (this.trace.decided(this.#now)) this.#logTrip();
        let next = Math.min(end, this.#inverter.nextStep(this.#now, motion, grid, this.#source));
        next = Math.min(next, environment.nextEvent(this.index, this.#now), this.#scheduler.nextDue);
        if (motion !== 'still') next = this.#terminals.crossing(this.#now, next, grid, this.#inverter);
        this.#subStep(Math.max(next, this.#now + 1) as SimTime, grid);
      }
      return true;
    } finally {
      this.#stepping = false;
    }
  }

  /** Writes the measurements and makes the snapshot of this tick. */
  publish(stamp: TickStamp): Published {
    const inverter = this.#inverter;
    // what jumps at this instant belongs to the next tick, with the power that answers to it
    this.#takeFinite(this.#gridAt(Math.max(this.#start, this.#now - 1) as SimTime));
    this.#updateAlarms();
    this.#detail = this.#source.detail();
    publish(this.bank.map, {
      inverter, source: this.#source, detail: this.#detail, grid: this.#grid, ambientC: this.#ambientC, now: this.#now, fault: this.#fault,
      heartbeat: Math.floor(secondsBetween(this.#start, this.#now)) % heartbeatModulus,
      alarms: this.#alarms.codes(),
    });
    this.#reversions.publish(this.#now);
    return publishSnapshot(buildSnapshot(this.bank.map, this, stamp, this.statusMessage), this.#detail);
  }

  /** The grid at the terminals, with the power of the last sub-step. */
  #gridAt(t: SimTime): GridValues { return this.#terminals.gridAt(t, this.#inverter.pW, this.#inverter.qVar); }

  /** At its instant: the cause, and with it the alarm, may be gone before the tick ends. */
  #logTrip(): void {
    const { lastTrip } = this.#inverter;
    if (lastTrip === null) return;
    this.#tripsOfTick.add(tripAlarms[lastTrip]);
    this.#context.log.warning(tripTexts[lastTrip], this.index);
  }

  #subStep(next: SimTime, grid: GridValues): void {
    const dtS = secondsBetween(this.#now, next);
    const around = this.#terminals.around(next, grid, this.#inverter.activePower.droop.side === 'under');
    this.#ambientNowC = around.ambientTemperatureC;
    this.#source.prepare(dtS, around);
    if (this.#fault) this.#source.draw(0, false);
    else this.#inverter.step(this.#now, dtS, grid, this.#source);
    this.#now = next;
    this.#steppedGrid = grid;
    this.trace.stepped(next, grid);
    if (this.#scheduler.nextDue <= next) this.#scheduler.runDue(next);
  }

  #admit(by: Origin, code: 'MAP_LOCAL_CONTROL' | 'COMMAND_CONFLICT'): void {
    if (this.localControl && remoteSources.includes(by.source)) {
      throw new SimError(code, 'the device is under local control and takes nothing from afar (715.LocRemCtl)');
    }
  }

  /** Part of every commit: timers, latch points; physics follows at the next sub-step. */
  #commit(touched: readonly PointSlot[], candidate: Candidate, by: Origin): void {
    this.#reversions.commit(touched, candidate, by);
    if (this.#storage.note(touched, candidate)) this.#resetAlarms(by);
    const reset = touched.find((slot) => slot.modelId === 715 && slot.path === 'AlarmReset');
    if (reset && candidate.value(reset) === 1) {
      this.#resetAlarms(by);
      // a command, not a state: it reads back as done
      candidate.set(reset, 0);
    }
  }

  #writeIdentity(): void {
    const { m1 } = this.bank.map;
    m1.SN = this.#identity.serialNumber;
    m1.Vr = this.#identity.version;
    m1.Md = this.#identity.deviceType;
    this.#source.ports.forEach(({ type, name }, i) => {
      const port = this.bank.map.m714.Prt[i];
      if (port) Object.assign(port, { PrtTyp: type, ID: i + 1, IDStr: name });
    });
  }

  #startVisits(): void {
    const { visits, seriesTime, log } = this.#context;
    if (!visits || !seriesTime) return;
    const run = new Visits(visits, {
      command: (command) => { this.#toSource(command, { source: 'profile' }); },
      connectors: () => { const detail = this.#source.detail(); return detail.kind === 'evse' ? detail.connectors : []; },
      warn: (text) => { log.warning(text, this.index); },
    });
    run.begin(this.#scheduler, this.#now, seriesTime(this.#now));
  }

  #settle(): void {
    const around = this.#terminals.around(this.#now, this.#grid, false);
    this.#ambientNowC = around.ambientTemperatureC;
    this.#source.settle(around);
    // the voltage follows the power, and curves the voltage
    let [pW, qVar] = [0, 0];
    for (let i = 0; i < (this.#context.feeder ? settleRounds : 1); i += 1) {
      this.#inverter.settle(this.#terminals.gridAt(this.#now, pW, qVar), this.#source);
      // half-way: a steep curve would swing between its ends
      pW += (this.#inverter.pW - pW) / 2;
      qVar += (this.#inverter.qVar - qVar) / 2;
    }
  }

  #resetAlarms(by: Origin): void {
    this.#fault = false;
    this.#source.clearFaults();
    this.#inverter.acknowledge();
    this.#writers.note({ kind: 'reset', scope: 'alarms' }, by);
  }

  #resetDevice(by: Origin): void {
    this.#reversions.clear();
    this.#scheduler.clear();
    this.#context.environment.clearLocal(this.index);
    this.bank.reload(this.#template.image, by);
    this.#writeIdentity();
    this.#inverter.restart();
    this.#source.restart();
    this.#writers.clear();
    this.#startVisits();
    this.localControl = false;
  }

  /** A value that is not finite never reaches a register: the device faults and keeps its last good surroundings at zero power. */
  #takeFinite(grid: GridValues): void {
    const inverter = this.#inverter;
    let sum = inverter.pW + inverter.qVar + grid.aPu + grid.bPu + grid.cPu + grid.hz + this.#ambientNowC;
    for (const port of this.#source.ports) sum += port.voltageV + port.currentA + port.powerW;
    if (Number.isFinite(sum)) {
      this.#grid = grid;
      this.#ambientC = this.#ambientNowC;
      return;
    }
    if (!this.#fault) this.#context.log.error('the model gave a value that is not finite; the device is in fault until it is reset', this.index);
    this.#fault = true;
    inverter.halt();
    this.#source.draw(0, false);
  }

  #updateAlarms(): void {
    const { conditions } = this.#source;
    const calm = this.#inverter.phase === 'in_service' && this.#inverter.ceasedBy === null && conditions.size === 0
      && this.#tripsOfTick.size === 0 && !this.#terminals.collapsed && !this.#fault;
    // nothing stands and nothing begins: so it is in most ticks
    if (calm && this.#alarms.codes().length === 0) return;
    const tripped = this.#fault ? [] : [...this.#tripsOfTick];
    this.#tripsOfTick.clear();
    const active = activeAlarms(this.#inverter, conditions, tripped);
    if (this.#terminals.collapsed) active.add('voltage_collapse');
    if (this.#fault) active.add('hw_test_failure');
    this.#alarms.update(active);
  }
}
