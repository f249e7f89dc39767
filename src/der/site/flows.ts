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

/** One flow over the phases of a meter. */
export class FlowSums implements MeterPowers {
  readonly of: MeteredFlow;
  readonly phases: number;
  readonly watts: Float64Array;
  readonly vars: Float64Array;
  readonly energy: MeterEnergy;
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
    this.energy = new MeterEnergy(phases);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({ watts: keptArray(this.watts), vars: keptArray(this.vars), energy: this.energy.kept() });
  }

  /** Resets the powers to 0. */
  clear(): void {
    this.watts.fill(0);
    this.vars.fill(0);
  }

  /** Adds the energies of one phase of a device and of its local load, Wh and varh. */
  count(phase: number, loadWh: number, whDelivered: number, varhDelivered: number): void {
    const at = this.#phaseOf(phase);
    if (this.of === 'load') this.energy.add(at, loadWh, 0);
    else this.energy.add(at, (this.of === 'site' ? loadWh : 0) - whDelivered, 0 - varhDelivered);
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
  /** the instant to which all devices have advanced */
  #at: SimTime;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#at = options.start;
  }

  /** State that a restart keeps: of the present meters and devices, as far as they were there. */
  kept(): Kept {
    return keptRecord(
      () => ({
        at: this.#at,
        sums: this.#sums.map((sums) => ({ of: sums.of, phases: sums.phases, state: sums.kept().save() })),
        counted: this.#entries.map(({ index, counted }) => ({ index, counts: [...counted] })),
      }),
      (saved) => {
        this.#at = saved.at;
        for (const { of, phases, state } of saved.sums) this.#sumsOf(of, phases)?.kept().restore(state);
        const countsByIndex = new Map(saved.counted.map(({ index, counts }) => [index, counts]));
        for (const { index, counted } of this.#entries) {
          const counts = countsByIndex.get(index) ?? [];
          if (counts.length === counted.length) counted.set(counts);
        }
      },
    );
  }

  #sumsOf(of: MeteredFlow, phases: number): FlowSums | undefined {
    return this.#sums.find((each) => each.of === of && each.phases === phases);
  }

  /** The sums of a flow, shared by all meters with this number of phases; counters start with the first call. */
  sums(of: MeteredFlow, phases: number): FlowSums {
    const existing = this.#sumsOf(of, phases);
    if (existing) return existing;
    const sums = new FlowSums(of, phases);
    this.#sums.push(sums);
    return sums;
  }

  /** Without a meter: follows only time, and drops all sums. @param at instant that all devices have reached */
  rest(at: SimTime): void {
    this.#at = at;
    this.#sums.length = 0;
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
    return Math.min(to, (Math.floor(from / intervalMicros) + 1) * intervalMicros) as SimTime;
  }

  /** Counts the energies of the piece, to whose end all devices have advanced. */
  advance(to: SimTime): void {
    const hours = secondsBetween(this.#at, to) / 3600;
    for (const entry of this.#entries) this.#count(entry, hours, to);
    if (to % intervalMicros === 0) for (const { energy } of this.#sums) energy.settle();
    this.#at = to;
  }

  /** Sums the powers at the end of the last piece. @returns the common grid at that instant */
  measure(devices: readonly MeteredDevice[]): GridValues {
    this.#follow(devices);
    const { surroundings, start } = this.#options;
    // as in devices: a jump at this instant belongs to the next tick
    const at = Math.max(start, this.#at - 1) as SimTime;
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

/** The rise of a counter of a device since the last call, which it records; after a reset the counter starts at 0. */
function risen(counted: Float64Array, at: number, count: number): number {
  const before = counted[at] ?? 0;
  counted[at] = count;
  return count >= before ? count - before : count;
}
