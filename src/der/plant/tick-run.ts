/** Runs ticks: all devices advance piece by piece, then registers and snapshots of the tick appear together. */
import type { TickEvent } from '../../contract/plant.ts';
import type { Published } from '../../contract/snapshot.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';
import { yieldToLoop } from '../../core/turns.ts';
import type { SimDevice } from '../device/device.ts';
import { tickStamp } from '../device/snapshot.ts';
import type { EnergyBook } from '../site/energy.ts';
import type { Site } from '../site/site.ts';
import type { OperatorQueue } from './commands.ts';
import type { Timetable } from './stepping.ts';

/** A tick yields to other work after this many milliseconds. */
const sliceMs = 2;
/** sub-steps of one device between two readings of the time */
const subStepsAtOnce = 200;
/** devices whose tick is ended between two readings of the time: each costs some microseconds */
const finishedAtOnce = 100;
/** A long tick has at most this many pieces of at least `minPieceS`; site and timed acts may divide them. */
const maxPieces = 32;
const minPieceS = 30;

/** The plant as its ticks use it. */
interface RunPlant {
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly monotonicMs: () => number;
  readonly devices: () => readonly SimDevice[];
  readonly commands: OperatorQueue;
  readonly timetable: Timetable;
  readonly site: Site;
  readonly energy: EnergyBook;
  readonly forgetBefore: (t: SimTime) => void;
  /** number of the last tick */
  readonly lastTick: () => number;
  readonly hasEnded: () => boolean;
  /** Takes over the tick. @returns the work of its listeners, in parts */
  readonly done: (event: TickEvent) => Generator<undefined, void>;
}

export class TickRun {
  readonly #plant: RunPlant;
  #sliceStart = 0;

  constructor(plant: RunPlant) {
    this.#plant = plant;
  }

  /**
   * Runs one tick of `seconds`. In a long tick all devices advance piece by piece, so that it can end early.
   * @param deadlineMs real time from which no further piece begins; Infinity: the tick never ends early
   * @param number as in `publish`
   * @returns the simulated seconds done
   */
  async tick(seconds: number, deadlineMs = Infinity, number?: number): Promise<number> {
    const { clock, monotonicMs } = this.#plant;
    const begin = clock.tickTime;
    const tickEnd = addSeconds(begin, seconds);
    const pieceS = Math.max(minPieceS, seconds / maxPieces);
    this.begin(begin);
    let end = begin;
    while (end < tickEnd && (end === begin || monotonicMs() < deadlineMs)) {
      const pieceEnd = deadlineMs === Infinity ? tickEnd : addSeconds(end, pieceS);
      const reached = await this.advancePiece(end, Math.min(tickEnd, pieceEnd) as SimTime);
      if (reached === null) return 0;
      end = reached;
    }
    await this.publish(end, number);
    return secondsBetween(begin, end);
  }

  /** Begins a tick at the instant that all devices have reached. */
  begin(t: SimTime): void {
    const { commands, devices, timetable } = this.#plant;
    for (const device of devices()) commands.begin(device, t);
    if (timetable.nextDue <= t) timetable.run(t);
  }

  /**
   * Advances all devices from `from`, at most to `to`: a piece ends earlier where an act of the timetable is due or the
   * limits of the site are shared again.
   * @returns the instant reached; null: the plant has ended
   */
  async advancePiece(from: SimTime, to: SimTime): Promise<SimTime | null> {
    const { timetable, site, energy, devices, hasEnded } = this.#plant;
    const end = site.share(from, Math.min(to, timetable.nextDue) as SimTime);
    for (const device of devices()) {
      while (!device.advance(end, subStepsAtOnce)) {
        if (this.#isSliceOver) await this.#giveWay();
        if (hasEnded()) return null;
      }
      energy.count(device);
      if (this.#isSliceOver) await this.#giveWay();
      if (hasEnded()) return null;
    }
    site.advanced(end);
    energy.advanced(from, end);
    if (timetable.nextDue <= end) timetable.run(end);
    return end;
  }

  /**
   * Writes registers and snapshots and advances the clock; all devices have advanced to `end`.
   * @param number number of the tick, if it is above the last one; default: the next
   */
  async publish(end: SimTime, number = 0): Promise<void> {
    const { clock, tickIntervalS, site, energy, commands, hasEnded } = this.#plant;
    const devices = this.#plant.devices();
    const tick = Math.max(number, this.#plant.lastTick() + 1);
    const stamp = tickStamp(clock, tick, clock.stampMs(end));
    const published: Published[] = [];
    for (const [done, device] of devices.entries()) {
      device.finish();
      if (done % finishedAtOnce !== finishedAtOnce - 1) continue;
      if (this.#isSliceOver) await this.#giveWay();
      if (hasEnded()) return;
    }
    site.beginPublish();
    for (const device of devices) {
      published.push(device.publish(stamp));
      // in the same turn: a master reads both in one answer
      site.published(device.index);
      commands.settle(device, end);
      // not after the last device: registers and snapshots of a tick must appear together
      if (published.length < devices.length && this.#isSliceOver) await this.#giveWay();
      if (hasEnded()) return;
    }
    site.endPublish();
    this.#plant.forgetBefore(end);
    // one slot, even if this tick covered several late ones
    clock.advanceTo(end, tickSeconds(clock.settings.rate, tickIntervalS));
    energy.tickEnded(end);
    const parts = this.#plant.done({ tick, sim: end, wallMs: clock.wallMs(), published });
    while (parts.next().done !== true) {
      // at the end of the program the rest follows at once: state and history must have the tick
      if (this.#isSliceOver && !hasEnded()) await this.#giveWay();
    }
  }

  /** Lets other work run if this slice of the tick is over. */
  async giveWayIfDue(): Promise<void> {
    if (this.#isSliceOver) await this.#giveWay();
  }

  /** Asked before each wait: a promise for each device would cost a tick of many devices some percent. */
  get #isSliceOver(): boolean {
    return this.#plant.monotonicMs() - this.#sliceStart > sliceMs;
  }

  async #giveWay(): Promise<void> {
    await yieldToLoop();
    this.#sliceStart = this.#plant.monotonicMs();
  }
}
