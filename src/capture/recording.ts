/** One capture: its devices, and when it keeps sub-steps, ticks, or no more. */
import { captureBounds } from '../contract/captures.ts';
import type { Capture, CaptureReport, CaptureState, CaptureTrigger, CaptureVerdict } from '../contract/captures.ts';
import type { Device } from '../contract/device.ts';
import type { StepValues } from '../contract/grid-trace.ts';
import type { Plant } from '../contract/plant.ts';
import { addSeconds, secondsBetween } from '../core/time/clock.ts';
import type { SimTime } from '../core/time/clock.ts';
import { runWhole } from '../core/turns.ts';
import { Columns } from './columns.ts';
import { isOut } from './course.ts';
import type { Course, ServiceChange } from './course.ts';
import { factsOf } from './facts.ts';
import type { DeviceFacts } from './facts.ts';
import { bytesOfDevice } from './kept.ts';
import { marksOf } from './marks.ts';
import { Settling } from './settling.ts';
import { thresholdsOf } from './thresholds.ts';
import { summaryOf, verdictOf } from './verdict.ts';

const { beforeS, restS, subStepsS, ticksS } = captureBounds;
const maxTriggers = 64;

interface Recorded {
  readonly device: Device;
  readonly facts: DeviceFacts;
  readonly columns: Columns;
  readonly settling: Settling;
  /** true: the device was in service when its recording began */
  readonly wasIn: boolean;
  /** true: at the last tick the time of a trip ran */
  isCounting: boolean;
  /** null: those that the device has now */
  changes: readonly ServiceChange[] | null;
}

const isCounting = ({ startedTrips, trace }: Device) => startedTrips.length > 0 && !isOut(trace.step.service);

export interface Beginning {
  readonly id: number;
  readonly start: SimTime;
  readonly wallMs: number;
  readonly scenario: string | null;
}

export class Recording implements Capture {
  readonly id: number;
  readonly start: SimTime;
  readonly startedWallMs: number;
  readonly scenario: string | null;
  pinned = false;
  state: CaptureState = 'recording';
  devicesLeftOut = 0;
  readonly #triggers: CaptureTrigger[] = [];
  readonly #devices = new Map<number, Recorded>();
  /** begin of the sub-steps under way; null: ticks */
  #subStepsFrom: SimTime | null = null;
  /** time in sub-steps that are over, s */
  #spentS = 0;
  #ticksFrom: SimTime;
  /** the grid is back, or at its new values */
  #gridBack: SimTime;
  #gridReturns = false;
  /** counts what a report depends on */
  #version = 0;
  #last: { readonly version: number; readonly report: CaptureReport } | null = null;

  constructor({ id, start, wallMs, scenario }: Beginning) {
    this.id = id;
    this.start = start;
    this.startedWallMs = wallMs;
    this.scenario = scenario;
    this.#ticksFrom = start;
    this.#gridBack = start;
  }

  get triggers(): readonly CaptureTrigger[] {
    return this.#triggers;
  }

  get rows(): Capture['rows'] {
    return Array.from(
      this.#devices,
      ([
        deviceIndex,
        {
          columns,
          facts: { vNomPu },
        },
      ]) => ({
        deviceIndex,
        vNomPu,
        columns,
      }),
    );
  }

  get bytes(): number {
    let sum = 0;
    for (const { columns } of this.#devices.values()) sum += columns.bytes + bytesOfDevice;
    return sum;
  }

  get endS(): number {
    let endS = 0;
    for (const { columns } of this.#devices.values()) endS = Math.max(endS, columns.endS);
    return endS;
  }

  /** True while sub-steps are recorded. */
  get isFine(): boolean {
    return this.#subStepsFrom !== null;
  }

  has(deviceIndex: number): boolean {
    return this.#devices.has(deviceIndex);
  }

  /** True if the device may be one of those in the scope that were too many. */
  leavesOut(deviceIndex: number): boolean {
    return this.state === 'recording' && this.devicesLeftOut > 0 && !this.has(deviceIndex);
  }

  /** Seconds of the capture at an instant. */
  secondsAt(t: SimTime): number {
    return secondsBetween(this.start, t);
  }

  /** True if sub-steps are recorded, for long enough after a disturbance at `t`. */
  hasRoomAt(t: SimTime): boolean {
    const from = this.#subStepsFrom;
    return from !== null && this.#leftS - secondsBetween(from, t) >= restS;
  }

  get #leftS(): number {
    return subStepsS - this.#spentS;
  }

  /** Adds a disturbance, after which every device has to settle anew. */
  disturb(t: SimTime, trigger: CaptureTrigger): void {
    this.#version += 1;
    if (this.#triggers.length < maxTriggers) this.#triggers.push(trigger);
    for (const { settling } of this.#devices.values()) settling.restart(t);
  }

  /** @param lastingS time until the grid is back or at its new values @param returns true: it comes back by itself */
  gridChanged(t: SimTime, lastingS: number, returns: boolean): void {
    this.#version += 1;
    this.#gridBack = addSeconds(t, lastingS);
    this.#gridReturns = returns;
  }

  /** Records devices too, from here on. */
  join(devices: readonly Device[]): void {
    this.#version += 1;
    for (const device of devices) {
      if (this.has(device.index)) continue;
      const recorded: Recorded = {
        device,
        facts: factsOf(device),
        columns: new Columns(),
        settling: new Settling(factsOf(device).ratingW),
        wasIn: !isOut(device.trace.step.service),
        isCounting: false,
        changes: null,
      };
      this.#devices.set(device.index, recorded);
      this.#addBefore(recorded);
      if (this.isFine) this.#follow(recorded);
    }
  }

  /** The second before, from the state at the end of the last sub-step or tick. */
  #addBefore({ columns, device: { trace } }: Recorded): void {
    const { step } = trace;
    const tS = this.secondsAt(step.at);
    if (tS <= 0) columns.add(-beforeS, step, true);
    if (tS > -beforeS) columns.add(tS, step, true);
  }

  /** Records sub-steps from `t` on. */
  resume(t: SimTime): void {
    if (this.isFine || this.#leftS <= 0) return;
    this.#subStepsFrom = t;
    for (const recorded of this.#devices.values()) {
      recorded.settling.restart(t);
      if (recorded.changes === null) this.#follow(recorded);
    }
  }

  #follow(recorded: Recorded): void {
    recorded.device.trace.follow((step) => {
      this.#add(recorded, step);
    });
  }

  #add({ columns, settling }: Recorded, step: StepValues): void {
    const from = this.#subStepsFrom;
    if (from === null) return;
    const tS = this.secondsAt(step.at);
    settling.add(step);
    if (secondsBetween(from, step.at) > this.#leftS) return;
    this.#version += 1;
    // a device behind the others: of what is earlier the last counts
    if (tS <= -beforeS) columns.replaceLast(-beforeS, step, true);
    else columns.add(tS, step, false);
  }

  /** True if a device does by itself what the capture waits for: nothing new begins. */
  expects(deviceIndex: number, t: SimTime): boolean {
    const recorded = this.#devices.get(deviceIndex);
    return this.state === 'recording' && recorded !== undefined && (recorded.isCounting || t < this.#gridBack);
  }

  /** A device has left, or another one has taken its place: its rows stay. */
  deviceGone(device: Device): void {
    const recorded = this.#devices.get(device.index);
    if (recorded?.device !== device) return;
    this.#version += 1;
    recorded.changes ??= this.#changesOf(recorded);
    device.trace.follow(null);
  }

  /** Follows a tick that has ended at `t`. @param mayResume false: another capture records sub-steps */
  tick(t: SimTime, plant: Pick<Plant, 'nextGridChange' | 'tickSimS'>, mayResume: boolean): void {
    if (this.isFine) this.#endSubSteps(t);
    if (this.isFine) return;
    this.#version += 1;
    for (const recorded of this.#present) {
      const { device, columns } = recorded;
      const { step } = device.trace;
      const tS = this.secondsAt(step.at);
      if (tS > columns.endS) columns.add(tS, step, true);
      recorded.isCounting = isCounting(device);
    }
    if (this.#isOver(t)) this.end('complete');
    else if (secondsBetween(this.#ticksFrom, t) >= ticksS) this.end('cut');
    else if (mayResume && this.#changesSoon(t, plant)) this.resume(t);
  }

  /** True if the grid changes by itself in the next tick. */
  #changesSoon(t: SimTime, plant: Pick<Plant, 'nextGridChange' | 'tickSimS'>): boolean {
    return plant.nextGridChange(this.#triggers[0]?.deviceIndex ?? undefined) <= addSeconds(t, 2 * plant.tickSimS);
  }

  get #present(): readonly Recorded[] {
    return [...this.#devices.values()].filter(({ changes }) => changes === null);
  }

  /** The instant from which every device has settled; null: one has not. */
  get #settledAt(): SimTime | null {
    let last = this.start;
    for (const { settling } of this.#present) {
      if (settling.settledAt === null) return null;
      if (settling.settledAt > last) last = settling.settledAt;
    }
    return last;
  }

  #endSubSteps(t: SimTime): void {
    const from = this.#subStepsFrom;
    if (from === null) return;
    const settledAt = this.#settledAt;
    const bound = addSeconds(from, this.#leftS);
    const end = settledAt === null ? bound : (Math.min(bound, addSeconds(settledAt, restS)) as SimTime);
    if (t >= end) this.endSubStepsAt(end);
  }

  /** Goes on in ticks; sub-steps after `end` are dropped. */
  endSubStepsAt(end: SimTime): void {
    if (this.#subStepsFrom === null) return;
    this.#version += 1;
    for (const { device, columns } of this.#present) {
      device.trace.follow(null);
      columns.cutAfter(this.secondsAt(end));
    }
    this.#spentS += secondsBetween(this.#subStepsFrom, end);
    this.#subStepsFrom = null;
    this.#ticksFrom = end;
  }

  #isOver(t: SimTime): boolean {
    return (
      t >= this.#gridBack &&
      this.#present.every(
        ({ device, wasIn, isCounting: counts }) => !counts && (!wasIn || device.trace.step.service === 'in_service'),
      )
    );
  }

  end(state: Exclude<CaptureState, 'recording'>): void {
    if (this.state !== 'recording') return;
    this.#version += 1;
    const present = this.#present;
    if (this.isFine) for (const { device } of present) device.trace.follow(null);
    this.#subStepsFrom = null;
    for (const recorded of present) recorded.changes = this.#changesOf(recorded);
    for (const { columns } of this.#devices.values()) columns.trim();
    this.state = state;
  }

  #changesOf({ device, changes }: Recorded): readonly ServiceChange[] {
    if (changes) return changes;
    return device.trace.transitions
      .filter(({ at }) => at >= this.start)
      .map(({ at, from, to, cause }) => ({ tS: this.secondsAt(at), from, to, cause }));
  }

  report(): CaptureReport {
    return runWhole(this.reporting());
  }

  *reporting(): Generator<undefined, CaptureReport> {
    const version = this.#version;
    if (this.#last?.version === version) return this.#last.report;
    const gridBackS = this.secondsAt(this.#gridBack);
    const isBack = this.#gridReturns && gridBackS <= this.endS;
    const triggers = [...this.#triggers];
    const courses = Array.from(
      this.#devices.values(),
      (recorded): Course => ({
        facts: recorded.facts,
        columns: recorded.columns.present,
        changes: this.#changesOf(recorded),
        gridBackS,
      }),
    );
    const verdicts: CaptureVerdict[] = [];
    for (const course of courses) {
      verdicts.push(verdictOf(course));
      yield;
    }
    const report = {
      marks: marksOf(triggers, courses, isBack ? gridBackS : null),
      thresholds: thresholdsOf(courses.map(({ facts }) => facts)),
      verdicts,
      summary: summaryOf(verdicts),
    };
    this.#last = { version, report };
    return report;
  }
}
