/** The meter of the connection point: sums devices and local loads by phase, counts energy, and shows both in a map. */
import { microsPerSecond, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { SiteMeter, SiteMeterNow } from '../../contract/plant.ts';
import { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { CommitClock } from '../../sunspec/map/register-bank.ts';
import { createMapView } from '../../sunspec/map/view.ts';
import { phaseCount, terminalVoltages } from '../inverter/ac.ts';
import type { Wiring } from '../inverter/ac.ts';
import type { GridValues } from '../surroundings/environment.ts';
import {
  MeterEnergy,
  meterLayout,
  meterModel,
  quantityNames,
  hasFailed,
  publishEnergy,
  publishEvents,
  publishPowers,
} from './meter-registers.ts';
import type { MeterShape, MeterForm, MeterPoints, MeterPowers } from './meter-registers.ts';
import type { AddPhase, MeterTap } from '../inverter/site-share.ts';

export interface MeteredDevice {
  readonly index: number;
  readonly siteShare: { meterTap(): MeterTap };
}

interface MeterSurroundings {
  /** local load beside a device, W */
  loadW(deviceIndex: number, t: SimTime): number;
  gridAt(deviceIndex: number, t: SimTime): GridValues;
}

export interface ConnectionMeterOptions {
  readonly float: boolean;
  /** as `SiteMeter.unitId`; absent: null */
  readonly unitId?: number | null;
  /** version of the simulator */
  readonly version: string;
  readonly clock: CommitClock;
  readonly surroundings: MeterSurroundings;
  readonly start: SimTime;
}

/** Energy is netted over whole simulated seconds, so that it does not depend on the length of ticks. */
const intervalMicros = microsPerSecond;
/** In the place of a device index: the grid without deviations of a device. */
const commonGrid = -1;
/** Share of the rating, as in the registers of devices. */
const noiseShare = 1e-3;

/** A device with its counters at the end of the last piece of time. */
interface Entry {
  readonly index: number;
  readonly tap: MeterTap;
  /** counters of each phase: Wh injected and absorbed, varh injected and absorbed */
  readonly counted: Float64Array;
  /** at the start of the piece */
  loadW: number;
}

const widest = (taps: readonly MeterTap[]): Wiring =>
  (['three', 'split'] as const).find((wiring) => taps.some((tap) => tap.wiring === wiring)) ?? 'single';

function shapeOf(
  devices: readonly MeteredDevice[],
  { float, surroundings, start }: ConnectionMeterOptions,
): MeterShape {
  const taps = devices.map((device) => device.siteShare.meterTap());
  const wiring = widest(taps);
  const first = taps.find((tap) => tap.wiring === wiring);
  const loadsW = devices.reduce((sum, { index }) => sum + surroundings.loadW(index, start), 0);
  const ratedVa = taps.reduce((sum, tap) => sum + tap.ratedVa, 0);
  return { wiring, float, vNomV: first?.vNomV ?? 0, ratedVa: Math.max(ratedVa, loadsW) };
}

function createBank(shape: MeterShape, { version, clock }: ConnectionMeterOptions) {
  const layout = meterLayout(shape);
  const image = layout.blank();
  const views = createMapView(layout, image);
  Object.assign(views.m1, { Mn: 'derbench', Md: 'Site meter', Opt: '', Vr: version, SN: 'DB-METER' });
  const { id } = meterModel(shape);
  // views are made of the layout; their type names the models of devices alone
  const points = (views as unknown as Readonly<Record<string, MeterPoints>>)[`m${id}`] ?? {};
  const countWh = shape.float ? null : 10 ** (layout.slot(id, 'TotWhExp')?.sf ?? 0);
  return { bank: new RegisterBank(layout, image, clock), points, countWh };
}

export class ConnectionMeter implements SiteMeter {
  readonly unitId: number | null;
  readonly bank: RegisterBank;
  now: SiteMeterNow;
  readonly #options: ConnectionMeterOptions;
  readonly #shape: MeterShape;
  readonly #points: MeterPoints;
  readonly #form: MeterForm;
  readonly #energy: MeterEnergy;
  readonly #powers: MeterPowers;
  #devices: readonly MeteredDevice[] = [];
  #entries: readonly Entry[] = [];
  /** the instant to which all devices have advanced */
  #at: SimTime;

  /** Wiring, voltage and scale factors follow from the devices at the start. */
  constructor(devices: readonly MeteredDevice[], options: ConnectionMeterOptions) {
    const shape = shapeOf(devices, options);
    const { bank, points, countWh } = createBank(shape, options);
    const phases = phaseCount(shape.wiring);
    this.unitId = options.unitId ?? null;
    this.bank = bank;
    this.#options = options;
    this.#shape = shape;
    this.#points = points;
    this.#form = {
      names: quantityNames(shape.float),
      phases,
      unityPf: shape.float ? 1 : 100,
      countWh,
      minVa: noiseShare * shape.ratedVa,
    };
    this.#energy = new MeterEnergy(phases);
    this.#powers = { watts: new Float64Array(phases), vars: new Float64Array(phases) };
    this.#at = options.start;
    this.now = this.publish(devices);
  }

  /**
   * A piece of time begins, at which all devices stand.
   * @returns the instant to which they advance together, at most `to`: their energies are netted there
   */
  begin(devices: readonly MeteredDevice[], from: SimTime, to: SimTime): SimTime {
    this.#follow(devices);
    this.#at = from;
    for (const entry of this.#entries) entry.loadW = this.#options.surroundings.loadW(entry.index, from);
    return Math.min(to, (Math.floor(from / intervalMicros) + 1) * intervalMicros) as SimTime;
  }

  /** All devices have advanced to the end of the piece. */
  advance(to: SimTime): void {
    const hours = secondsBetween(this.#at, to) / 3600;
    for (const entry of this.#entries) this.#count(entry, hours, to);
    if (to % intervalMicros === 0) this.#energy.settle();
    this.#at = to;
  }

  /** Shows powers, voltages and counters in the registers. @param devices devices of the last tick */
  publish(devices: readonly MeteredDevice[]): SiteMeterNow {
    this.#follow(devices);
    const { watts, vars } = this.#powers;
    watts.fill(0);
    vars.fill(0);
    const add: AddPhase = (phase, w, q) => {
      const phaseIndex = this.#phaseOf(phase);
      watts[phaseIndex] = (watts[phaseIndex] ?? 0) + w;
      vars[phaseIndex] = (vars[phaseIndex] ?? 0) + q;
    };
    const { surroundings, start } = this.#options;
    // as devices: a jump at this instant belongs to the next tick
    const at = Math.max(start, this.#at - 1) as SimTime;
    for (const { index, tap } of this.#entries) tap.addPowers(surroundings.gridAt(index, at), add);
    const { wiring, vNomV } = this.#shape;
    const grid = surroundings.gridAt(commonGrid, at);
    const volts = terminalVoltages(wiring, vNomV, grid);
    const { phases } = this.#form;
    publishPowers(this.#points, { watts, vars, volts, hz: grid.hz }, this.#form);
    publishEvents(this.#points, hasFailed([grid.aPu, grid.bPu, grid.cPu].slice(0, phases)));
    publishEnergy(this.#points, this.#energy, this.#form);
    return (this.now = this.#reading(volts.ln.slice(0, phases), grid.hz));
  }

  #reading(volts: readonly number[], hz: number): SiteMeterNow {
    const { watts, vars } = this.#powers;
    const { importedWh, exportedWh, varh } = this.#energy.total;
    return {
      w: watts.reduce((sum, each) => sum + each, 0),
      var: vars.reduce((sum, each) => sum + each, 0),
      volts,
      hz,
      importedWh,
      exportedWh,
      importedVarh: varh[0] + varh[1],
      exportedVarh: varh[2] + varh[3],
    };
  }

  /** The phase of the meter for that of a device; one that the meter does not have is counted on the first. */
  #phaseOf(phase: number): number {
    return phase < this.#form.phases ? phase : 0;
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
      this.#energy.add(this.#phaseOf(i), loadWh - whDelivered, 0 - varhDelivered);
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

/** How far a counter of a device has risen since the last call. A reset device begins again at 0. */
function risen(counted: Float64Array, at: number, count: number): number {
  const before = counted[at] ?? 0;
  counted[at] = count;
  return count >= before ? count - before : count;
}
