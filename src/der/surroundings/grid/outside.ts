/** The grid of a device that is attached to a grid outside of the simulator: steps from value to value, without layers. */
import type { GridSource } from '../../../contract/environment.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import { deadGrid, sameGrid } from './layers.ts';
import type { GridValues } from './layers.ts';
import type { GridCourse } from './grid-scope.ts';
import type { Motion } from './trajectory.ts';

/** Set values, an outage included, under which voltages and frequency are kept for its end. */
export interface OutsideValues extends GridValues {
  readonly outage: boolean;
}

/** True if the device has no grid, also where no phase has a voltage. */
const isOut = ({ outage, aPu, bPu, cPu }: OutsideValues) => outage || (aPu === 0 && bPu === 0 && cPu === 0);

/** The grid under set values. */
export const outsideGrid = (values: OutsideValues): GridValues => (isOut(values) ? deadGrid : values);

export class OutsideGrid implements GridCourse {
  #set: OutsideValues;
  #values: GridValues;
  /** values before `#since` */
  #before: GridValues;
  #since: SimTime;

  constructor(values: OutsideValues, t: SimTime) {
    this.#set = values;
    this.#values = this.#before = outsideGrid(values);
    this.#since = t;
  }

  get values(): OutsideValues {
    return this.#set;
  }

  /** Changes the values from `t` on. The object stays the same one when nothing changes, which settled devices need. */
  set(values: OutsideValues, t: SimTime): void {
    this.#set = values;
    const present = outsideGrid(values);
    if (sameGrid(present, this.#values)) return;
    if (t > this.#since) this.#before = this.#values;
    this.#values = present;
    this.#since = t;
  }

  at(t: SimTime): GridValues {
    return t < this.#since ? this.#before : this.#values;
  }

  motion(): Motion {
    return 'still';
  }

  source(): GridSource {
    return 'const';
  }

  nextBreak(t: SimTime): number {
    return t < this.#since ? this.#since : Infinity;
  }

  now(): ReturnType<GridCourse['now']> {
    const { aPu, bPu, cPu, hz, angleDeg, island } = this.#set;
    const outage = isOut(this.#set);
    const [voltageAPu, voltageBPu, voltageCPu] = outage ? [0, 0, 0] : [aPu, bPu, cPu];
    return {
      voltageAPu,
      voltageBPu,
      voltageCPu,
      frequencyHz: outage ? 0 : hz,
      phaseAngleDeg: outage ? 0 : angleDeg,
      outage,
      island: !outage && island,
      source: 'const',
      profileLoaded: false,
      rampRemainingS: 0,
      durationRemainingS: null,
      event: null,
    };
  }
}
