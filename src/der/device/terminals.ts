/** The terminals of a device: the grid behind its feeder, and the surroundings of its source. */
import { SimError } from '../../core/errors.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Environment, GridValues, WeatherCourse } from '../surroundings/environment.ts';
import { FeederTerminal } from '../surroundings/grid/feeder.ts';
import type { FeederSpec } from '../surroundings/grid/feeder.ts';
import { meanPu, phaseVoltages } from '../inverter/ac.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { Ratings } from '../inverter/ratings.ts';
import type { DcSource, SourceInput } from '../source/source.ts';
import { lagged } from '../source/lag.ts';

/** final rise above ambient at full load, K */
const fullLoadK = 25;
/** time constant of heat sink and air in the cabinet, s */
const timeConstantS = 600;

/** The temperature inside the cabinet of an inverter (701.TmpCab). */
class Cabinet {
  #targetC = 20;
  #temperatureC = 20;

  /** Degrees Celsius. */
  get temperatureC(): number {
    return this.#temperatureC;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ targetC: this.#targetC, temperatureC: this.#temperatureC }),
      (saved) => {
        ({ targetC: this.#targetC, temperatureC: this.#temperatureC } = saved);
      },
    );
  }

  /** Jumps to the steady state at an ambient temperature and share of the rated power. */
  settle(ambientC: number, loadShare: number): void {
    this.#temperatureC = this.#targetC = steadyC(ambientC, loadShare);
  }

  /**
   * Advances by `dtS` seconds that end at this ambient temperature and share of the rated power.
   * @param held true: constant power; false: linear change
   */
  advance(dtS: number, ambientC: number, loadShare: number, held: boolean): void {
    const targetC = steadyC(ambientC, loadShare);
    // a failed model gives no temperature
    if (!Number.isFinite(targetC)) return;
    this.#temperatureC = lagged(this.#temperatureC, held ? targetC : this.#targetC, targetC, dtS, timeConstantS);
    this.#targetC = targetC;
  }
}

function steadyC(ambientC: number, loadShare: number): number {
  return ambientC + fullLoadK * Math.abs(loadShare);
}

/**
 * Finds by halving, to the microsecond, an instant between `from` and `to` at which `changed` becomes true. Returns
 * `to` when `changed` is false there. Of several such instants it finds one.
 */
function findChange(from: number, to: number, changed: (t: number) => boolean): number {
  if (!changed(to)) return to;
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (changed(middle)) after = middle;
    else before = middle;
  }
  return after;
}

export interface TerminalsContext {
  readonly environment: Environment;
  /** null: a stiff grid at the terminals */
  readonly feeder: FeederSpec | null;
  /** simulated seconds per real second */
  readonly rate: () => number;
}

/** Rounds in which power and feeder voltage converge at start. */
const settleRounds = 24;

/** Shared by all devices, since a source uses it only within one call; `lent` is true meanwhile. */
const surroundings = {
  irradianceWm2: 0,
  ambientTemperatureC: 20,
  cellTemperatureC: null,
  windSpeedMS: 1,
  planesWm2: [],
  terminalPu: 1,
  phaseLnV: [0, 0, 0],
  loadW: 0,
  frequencySupport: false,
  rate: 1,
} as SourceInput;
let lent = false;

export class Terminals {
  readonly #index: number;
  readonly #context: TerminalsContext;
  readonly #ratings: Pick<Ratings, 'wiring' | 'vaMaxVa' | 'vNomV'>;
  readonly #feeder: FeederTerminal;
  /** local load at the last read of the surroundings, W */
  loadW = 0;
  /** energy of the local load, Wh */
  loadWh = 0;
  readonly cabinet = new Cabinet();
  /** temperature at the end of the last sub-step, degrees Celsius */
  #ambientC = 20;
  /** weather of the last sub-step; null: none yet */
  #course: WeatherCourse | null = null;

  constructor(index: number, context: TerminalsContext, ratings: Pick<Ratings, 'wiring' | 'vaMaxVa' | 'vNomV'>) {
    this.#index = index;
    this.#context = context;
    this.#ratings = ratings;
    this.#feeder = new FeederTerminal(context.feeder, (grid) => meanPu(ratings.wiring, grid));
  }

  /** True if the feeder cannot carry the power; the last ratio of terminal to source voltage stays in force. */
  get collapsed(): boolean {
    return this.#feeder.collapsed;
  }

  /** The grid at the terminals while the device gives `pW` and `qVar`. */
  gridAt(t: SimTime, pW: number, qVar: number): GridValues {
    const { environment, feeder } = this.#context;
    const grid = environment.gridAt(this.#index, t);
    if (!feeder) return grid;
    const { vaMaxVa } = this.#ratings;
    return this.#feeder.at(grid, (pW - environment.loadW(this.#index, t)) / vaMaxVa, qVar / vaMaxVa);
  }

  /** The object that `gridAt` gives for these arguments; null: it would make a new one. */
  presentGrid(t: SimTime, pW: number, qVar: number): GridValues | null {
    const { environment, feeder } = this.#context;
    const grid = environment.gridAt(this.#index, t);
    if (!feeder) return grid;
    const { vaMaxVa } = this.#ratings;
    return this.#feeder.present(grid, (pW - environment.loadW(this.#index, t)) / vaMaxVa, qVar / vaMaxVa);
  }

  /** State that a restart keeps. @param instant the end of the last sub-step */
  kept(instant: () => SimTime): Kept {
    const { environment } = this.#context;
    const presentCourse = () => environment.weatherCourse(this.#index, instant());
    return keptParts({
      cabinet: this.cabinet.kept(),
      feeder: this.#feeder.kept(() => environment.gridAt(this.#index, instant())),
      members: keptRecord(
        // of the course of the weather only its identity counts: a jump begins a new one
        () => ({
          loadW: this.loadW,
          loadWh: this.loadWh,
          ambientC: this.#ambientC,
          sameCourse: this.#course === presentCourse(),
        }),
        ({ loadW, loadWh, ambientC, sameCourse }) => {
          this.loadW = loadW;
          this.loadWh = loadWh;
          this.#ambientC = ambientC;
          this.#course = sameCourse ? presentCourse() : null;
        },
      ),
    });
  }

  /**
   * Settles source and inverter in the surroundings of `t`.
   * @param grid grid values before the feeder
   * @returns ambient temperature, degrees Celsius
   */
  settle(t: SimTime, grid: GridValues, inverter: Inverter, source: DcSource): number {
    const input = this.#borrow(t, grid, false);
    const { ambientTemperatureC } = input;
    try {
      source.settle(input);
    } finally {
      lent = false;
    }
    // the voltage follows the power, and the power the voltage
    let [pW, qVar] = [0, 0];
    for (let i = 0; i < (this.#context.feeder ? settleRounds : 1); i += 1) {
      inverter.settle(this.gridAt(t, pW, qVar), source);
      // half-way: a steep curve would oscillate
      pW += (inverter.pW - pW) / 2;
      qVar += (inverter.qVar - qVar) / 2;
    }
    this.cabinet.settle(ambientTemperatureC, inverter.loadShare);
    return ambientTemperatureC;
  }

  /** Begins a sub-step at `t`; notifies the source of a jump of the weather there. */
  begin(t: SimTime, grid: GridValues, source: DcSource): void {
    const course = this.#context.environment.weatherCourse(this.#index, t);
    if (course === this.#course) return;
    this.#course = course;
    this.loadW = this.#context.environment.loadW(this.#index, t);
    if (!source.weatherJumps) return;
    try {
      source.weatherJumps(this.#borrow(t, grid, false));
    } finally {
      lent = false;
    }
  }

  /** End of a sub-step under a moving grid: `next`, or earlier where the grid crosses a threshold and timers begin. */
  crossing(from: SimTime, next: number, grid: GridValues, inverter: Inverter): number {
    const ahead = (t: number) => this.#feeder.ahead(this.#context.environment.gridAt(this.#index, t as SimTime));
    if (inverter.canSkip(grid) && inverter.canSkip(ahead(next))) return next;
    const thresholds = inverter.thresholdState(grid);
    return findChange(from, next, (t) => inverter.thresholdState(ahead(t)) !== thresholds);
  }

  /**
   * Prepares the source for a sub-step of `dtS`, with the weather at its end; a jump there belongs to the next one.
   * @param t end of the sub-step
   * @param frequencySupport true: the device responds to low frequency
   * @returns ambient temperature, degrees Celsius
   */
  prepare(source: DcSource, dtS: number, t: SimTime, grid: GridValues, frequencySupport: boolean): number {
    const fromW = this.loadW;
    const input = this.#borrow(t, grid, frequencySupport);
    this.#countLoad(dtS, fromW, t);
    const { ambientTemperatureC } = input;
    try {
      source.prepare(dtS, input);
    } finally {
      lent = false;
    }
    this.#ambientC = ambientTemperatureC;
    return ambientTemperatureC;
  }

  /** Adds the local load of a sub-step, which has no bend within it. @param t end of the sub-step */
  #countLoad(dtS: number, fromW: number, t: SimTime): void {
    // a load that jumps at the end belongs to the next sub-step
    const toW = this.loadW === fromW ? fromW : this.#context.environment.loadW(this.#index, (t - 1) as SimTime);
    this.loadWh += (((fromW + toW) / 2) * dtS) / 3600;
  }

  /** Advances the cabinet by a sub-step of `dtS`, to the power of the inverter at its end. */
  warm(dtS: number, inverter: Inverter, { heldPower }: DcSource): void {
    this.cabinet.advance(dtS, this.#ambientC, inverter.loadShare, heldPower === true);
  }

  /** Resets the cabinet to that of a new device. */
  restart(): void {
    this.cabinet.settle(this.#ambientC, 0);
  }

  /** The shared surroundings, filled for `t`. @throws SimError INTERNAL while a source uses them */
  #borrow(t: SimTime, grid: GridValues, frequencySupport: boolean): SourceInput {
    if (lent)
      throw new SimError('INTERNAL', 'the surroundings of a source were requested while another source used them');
    const { environment, rate } = this.#context;
    environment.weatherAt(this.#index, t, surroundings, this.#course ?? undefined);
    surroundings.terminalPu = meanPu(this.#ratings.wiring, grid);
    phaseVoltages(this.#ratings.wiring, this.#ratings.vNomV, grid, surroundings.phaseLnV);
    this.loadW = environment.loadW(this.#index, t);
    surroundings.loadW = this.loadW;
    surroundings.frequencySupport = frequencySupport;
    surroundings.rate = rate();
    lent = true;
    return surroundings;
  }
}
