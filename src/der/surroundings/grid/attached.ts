/** The devices that are attached to a grid outside of the simulator, and their way back. */
import type { GridNow } from '../../../contract/environment.ts';
import { SimError } from '../../../core/errors.ts';
import type { Provenance } from '../../../core/origin.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import type { GridCourse } from './grid-scope.ts';
import type { GridValues } from './layers.ts';
import { EndedOutsideGrid, OutsideGrid } from './outside.ts';
import type { OutsideValues } from './outside-ramp.ts';

type PresentGrid = Pick<GridNow, 'outage' | 'island'>;

/** The grid of the simulator as attached devices leave it and come back to it. */
interface InsideGrids {
  readonly nominalHz: number;
  readonly of: (deviceIndex: number) => GridCourse;
}

/** Grids outside by device. A restart does not keep them. */
export class AttachedGrids {
  readonly #inside: InsideGrids;
  readonly #outside = new Map<number, OutsideGrid>();
  /** grids of devices that were detached within the tick under way */
  readonly #ended = new Map<number, EndedOutsideGrid>();
  #owner = '';
  /** last writer of the values; null: there are none */
  writer: Provenance | null = null;

  constructor(inside: InsideGrids) {
    this.#inside = inside;
  }

  /** The grid of a device that is or was attached; undefined: it has that of the simulator. */
  courseOf(deviceIndex: number): GridCourse | undefined {
    return (
      (this.#outside.size > 0 ? this.#outside.get(deviceIndex) : undefined) ??
      (this.#ended.size > 0 ? this.#ended.get(deviceIndex) : undefined)
    );
  }

  has(deviceIndex: number): boolean {
    return this.#outside.has(deviceIndex);
  }

  get indexes(): Iterable<number> {
    return this.#outside.keys();
  }

  /** Attaches a device, whose grid begins with the present values. @param owner for refusals of others */
  attach(deviceIndex: number, owner: string, t: SimTime): void {
    this.#owner = owner;
    const before = this.courseOf(deviceIndex) ?? this.#inside.of(deviceIndex);
    const values = beginOf(before.now(t), before.at(t), this.#inside.nominalHz);
    this.#outside.set(deviceIndex, new OutsideGrid(values, t, before));
  }

  /** The grid outside of a device; undefined: the device is not attached. */
  gridOf(deviceIndex: number): OutsideGrid | undefined {
    return this.#outside.get(deviceIndex);
  }

  /** Returns a device to the grid of the simulator, from `t` on. @param reached an instant that it has reached */
  detach(deviceIndex: number, t: SimTime, reached: SimTime): void {
    const outside = this.#outside.get(deviceIndex);
    this.#outside.delete(deviceIndex);
    if (outside === undefined || t <= reached) this.#ended.delete(deviceIndex);
    else this.#ended.set(deviceIndex, new EndedOutsideGrid(outside, t, () => this.#inside.of(deviceIndex)));
  }

  /** Frees what no device needs that has reached `t`. */
  forgetBefore(t: SimTime): void {
    for (const [deviceIndex, { until }] of this.#ended) if (until <= t) this.#ended.delete(deviceIndex);
    for (const outside of this.#outside.values()) outside.forgetBefore(t);
  }

  /**
   * @param deviceIndex undefined: all devices
   * @throws SimError COMMAND_CONFLICT while a grid outside gives the values
   */
  checkNone(deviceIndex: number | undefined): void {
    const isOutside = deviceIndex === undefined ? this.#outside.size > 0 : this.#outside.has(deviceIndex);
    if (!isOutside) return;
    const whose = deviceIndex === undefined ? 'of attached devices' : `of device ${deviceIndex}`;
    throw new SimError(
      'COMMAND_CONFLICT',
      `${JSON.stringify(this.#owner)} gives the grid ${whose} until POST exchange/end`,
    );
  }
}

/** Values with which a grid outside begins. */
function beginOf({ outage, island }: PresentGrid, present: GridValues, nominalHz: number): OutsideValues {
  // an outage has no values that could hold after it
  if (outage) return { aPu: 1, bPu: 1, cPu: 1, hz: nominalHz, angleDeg: 0, island: false, outage };
  return { ...present, island, outage };
}
