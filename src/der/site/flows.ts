/**
 * Flows at the connection point: powers and energies of devices and local loads by phase, computed once for all meters
 * that show them. Drawn from the grid is positive.
 */
import { keptArray, keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { microsPerSecond, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { MeteredFlow } from '../../contract/map-layout.ts';
import type { AddPhase, MeterTap } from '../inverter/site-share.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { MeterEnergy } from './meter-registers.ts';
import type { MeterPowers } from './meter-registers.ts';

export interface MeteredDevice {
  readonly index: number;
  readonly siteShare: { meterTap(): MeterTap };
}

export interface MeterSurroundings {
  /** local load beside a device, W */
  loadW(deviceIndex: number, t: SimTime): number;
  gridAt(deviceIndex: number, t: SimTime): GridValues;
}

export interface FlowOptions {
  readonly surroundings: MeterSurroundings;
  readonly start: SimTime;
}

/** Energy is netted over whole simulated seconds, so that it does not depend on the length of ticks. */
const intervalMicros = microsPerSecond;
/** Device index that selects the grid without deviations of a device. */
const commonGrid = -1;

/** One flow over the phases of a meter: its powers, and its energies for the counters of each meter that shows it. */
export class FlowSums implements MeterPowers {
  readonly of: MeteredFlow;
  readonly phases: number;
  readonly watts: Float64Array;
  readonly vars: Float64Array;
  readonly #counters = new Set<MeterEnergy>();
  /** energies of the running interval by phase, Wh and varh */
  readonly #wh: Float64Array;
  readonly #varh: Float64Array;
  /** adds the power of one phase of a device */
  readonly add: AddPhase = (phase, w, q) => {
    const at = this.#phaseOf(phase);
    this.watts[at] = (this.watts[at] ?? 0) + w;
    this.vars[at] = (this.vars[at] ?? 0) + q;
  };

  constructor(of: MeteredFlow, phases: number) {
    this.of = of;
    this.phases = phases;
    this.watts = new Float64Array(phases);
    this.vars = new Float64Array(phases);
    this.#wh = new Float64Array(phases);
    this.#varh = new Float64Array(phases);
  }

  /** The counters of one meter, from 0. They count from this instant on, also within an interval. */
  openCounters(): MeterEnergy {
    const counters = new MeterEnergy(this.phases);
    // the end of the interval adds all of its energy
    this.#wh.forEach((wh, i) => {
      counters.add(i, 0 - wh, 0 - (this.#varh[i] ?? 0));
    });
    this.#counters.add(counters);
    return counters;
  }

  closeCounters(counters: MeterEnergy): void {
    this.#counters.delete(counters);
  }

  /** State that a restart keeps; each meter keeps its own counters. */
  kept(): Kept {
    return keptParts({
      watts: keptArray(this.watts),
      vars: keptArray(this.vars),
      wh: keptArray(this.#wh),
      varh: keptArray(this.#varh),
    });
  }

  /** Resets the powers to 0. */
  clear(): void {
    this.watts.fill(0);
    this.vars.fill(0);
  }

  /** Adds the energies of one phase of a device and of its local load, Wh and varh. */
  count(phase: number, loadWh: number, whDelivered: number, varhDelivered: number): void {
    const at = this.#phaseOf(phase);
    const [wh, varh] =
      this.of === 'load' ? [loadWh, 0] : [(this.of === 'site' ? loadWh : 0) - whDelivered, 0 - varhDelivered];
    // a counter would never recover from a NaN
    if (!Number.isFinite(wh + varh)) return;
    this.#wh[at] = (this.#wh[at] ?? 0) + wh;
    this.#varh[at] = (this.#varh[at] ?? 0) + varh;
  }

  /** Ends the interval. */
  settle(): void {
    for (const counters of this.#counters) {
      this.#wh.forEach((wh, i) => {
        counters.add(i, wh, this.#varh[i] ?? 0);
      });
      counters.settle();
    }
    this.#wh.fill(0);
    this.#varh.fill(0);
  }

  /** The phase of the meter that counts a phase of a device: the same one, or the first if the meter lacks it. */
  #phaseOf(phase: number): number {
    return phase < this.phases ? phase : 0;
  }
}

/** A device with its counters at the end of the last piece of time. */
interface Entry {
  readonly index: number;
  readonly tap: MeterTap;
  /** counters of each phase: Wh injected and absorbed, varh injected and absorbed */
  readonly counted: Float64Array;
  /** local load at the start of the piece, W */
  loadW: number;
}

export class SiteFlows {
  readonly #options: FlowOptions;
  readonly #sums: FlowSums[] = [];
  #devices: readonly MeteredDevice[] = [];
  #entries: readonly Entry[] = [];
  /** the first instant of the surroundings; after a restart that of the first process */
  #start: SimTime;
  /** the instant to which all devices have advanced */
  #at: SimTime;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#at = this.#start = options.start;
  }

  /** State that a restart keeps; of devices, as far as they were there. */
  kept(): Kept {
    return keptRecord(
      () => ({
        start: this.#start,
        at: this.#at,
        sums: this.#sums.map((sums) => ({ of: sums.of, phases: sums.phases, state: sums.kept().save() })),
        counted: this.#entries.map(({ index, counted }) => ({ index, counts: [...counted] })),
      }),
      (saved) => {
        this.#start = saved.start;
        this.#at = saved.at;
        for (const { of, phases, state } of saved.sums) this.sums(of, phases).kept().restore(state);
        const countsByIndex = new Map(saved.counted.map(({ index, counts }) => [index, counts]));
        for (const { index, counted } of this.#entries) {
          const counts = countsByIndex.get(index) ?? [];
          if (counts.length === counted.length) counted.set(counts);
        }
      },
    );
  }

  /** The sums of a flow, shared by all meters with this number of phases. */
  sums(of: MeteredFlow, phases: number): FlowSums {
    const existing = this.#sums.find((each) => each.of === of && each.phases === phases);
    if (existing) return existing;
    const sums = new FlowSums(of, phases);
    this.#sums.push(sums);
    return sums;
  }

  /** Without a meter: follows only time. @param at instant that all devices have reached */
  rest(at: SimTime): void {
    this.#at = at;
    this.#entries = this.#devices = [];
  }

  /**
   * Begins a piece of time. @param from instant that all devices have reached
   * @returns the instant to which the devices advance together, at most `to`: energies are netted there
   */
  begin(devices: readonly MeteredDevice[], from: SimTime, to: SimTime): SimTime {
    this.#follow(devices);
    this.#at = from;
    for (const entry of this.#entries) entry.loadW = this.#options.surroundings.loadW(entry.index, from);
    return Math.min(to, this.intervalEnd(from)) as SimTime;
  }

  /** End of the interval of an instant. */
  intervalEnd(from: SimTime): SimTime {
    return ((Math.floor(from / intervalMicros) + 1) * intervalMicros) as SimTime;
  }

  /** Counts the energies of the piece, to whose end all devices have advanced. */
  advance(to: SimTime): void {
    const hours = secondsBetween(this.#at, to) / 3600;
    for (const entry of this.#entries) this.#count(entry, hours, to);
    if (to % intervalMicros === 0) for (const sums of this.#sums) sums.settle();
    this.#at = to;
  }

  /** Sums the powers at the end of the last piece. @returns the common grid at that instant */
  measure(devices: readonly MeteredDevice[]): GridValues {
    this.#follow(devices);
    const { surroundings } = this.#options;
    // as in devices: a jump at this instant belongs to the next tick
    const at = Math.max(this.#start, this.#at - 1) as SimTime;
    for (const sums of this.#sums) sums.clear();
    for (const { index, tap } of this.#entries) {
      const grid = surroundings.gridAt(index, at);
      for (const { of, add } of this.#sums) tap.addPowers(grid, add, of);
    }
    return surroundings.gridAt(commonGrid, at);
  }

  #follow(devices: readonly MeteredDevice[]): void {
    if (devices === this.#devices) return;
    const entriesByIndex = new Map(this.#entries.map((entry) => [entry.index, entry]));
    this.#entries = devices.map(
      (device) => entriesByIndex.get(device.index) ?? entryOf(device.index, device.siteShare.meterTap()),
    );
    this.#devices = devices;
  }

  #count({ index, tap, counted, loadW }: Entry, hours: number, to: SimTime): void {
    // a load that jumps at the end belongs to the next piece
    const loadWh = ((loadW + this.#options.surroundings.loadW(index, (to - 1) as SimTime)) / 2) * hours * tap.loadShare;
    tap.energy.forEach((phase, i) => {
      const whDelivered = risen(counted, 4 * i, phase.whInjected) - risen(counted, 4 * i + 1, phase.whAbsorbed);
      const varhDelivered =
        risen(counted, 4 * i + 2, phase.varhInjected) - risen(counted, 4 * i + 3, phase.varhAbsorbed);
      for (const sums of this.#sums) sums.count(i, loadWh, whDelivered, varhDelivered);
    });
  }
}

function entryOf(index: number, tap: MeterTap): Entry {
  const counted = Float64Array.from(
    tap.energy.flatMap(({ whInjected, whAbsorbed, varhInjected, varhAbsorbed }) => [
      whInjected,
      whAbsorbed,
      varhInjected,
      varhAbsorbed,
    ]),
  );
  return { index, tap, counted, loadW: 0 };
}

/** The rise of a counter of a device since the last call, which it records. */
function risen(counted: Float64Array, at: number, count: number): number {
  const before = counted[at] ?? 0;
  counted[at] = count;
  return count - before;
}
