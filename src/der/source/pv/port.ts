import type { IvCurve, SourceCommand } from '../../../contract/device.ts';
import type { PvDetail, PvInputDetail, PvShading } from '../../../contract/kinds/pv.ts';
import { SimError } from '../../../core/errors.ts';
import { badValue, checkCurvePort, LivePort } from '../shared.ts';
import { PvSource } from './array.ts';
import type { PvConfig } from './array.ts';
import type { WeatherNow } from '../../surroundings/environment.ts';
import type { DcPort, DcRequest, DcSource, PvArray, SourceCondition } from '../source.ts';

/** A tracker with a gap up to this counts as settled, share of its voltage. */
const followingGap = 0.005;

/** A PV array as the one DC port of a device. */
export class PvPort implements DcSource {
  readonly #array: PvSource;
  readonly ports: readonly DcPort[];
  /** shading of the profile */
  readonly #shading: PvShading | null;
  readonly absorbableDcW = 0;
  readonly maxStepS = Infinity;
  readonly #conditions = new Set<SourceCondition>();

  /** @param name of the port */
  constructor(config: PvConfig, name = 'PV') {
    this.#shading = config.shading ?? null;
    const array = new PvSource(config);
    this.#array = array;
    this.ports = [
      new LivePort('PV', name, {
        voltageV: () => array.voltageV,
        currentA: () => array.currentA,
        powerW: () => array.powerW,
        conditions: () => this.conditions,
      }),
    ];
  }

  get availableDcW(): number {
    return this.#array.availableDcW;
  }

  /**
   * Under slowly moving light the tracker is always a little behind and the cell temperature drifts: both lags are exact
   * for a step of one second.
   */
  get settled(): boolean {
    return this.#array.trackingGap <= followingGap;
  }

  get starting(): boolean {
    return this.#array.state === 'start';
  }

  get array(): PvArray {
    return this.#array;
  }

  prepare(dtS: number, input: WeatherNow): void {
    this.#array.prepare(dtS, input);
  }

  weatherJumps(input: WeatherNow): void {
    this.#array.jumpTo(input);
  }

  settle(input: WeatherNow): void {
    this.#array.settle(input);
  }

  draw(dcW: number, energized: boolean): void {
    this.#array.draw(dcW, energized);
  }

  answer({ targetW, ceilingW }: DcRequest): number {
    const wantedW = targetW === null ? ceilingW : Math.min(targetW, ceilingW);
    return Math.max(0, Math.min(this.#array.availableDcW, wantedW));
  }

  get conditions(): ReadonlySet<SourceCondition> {
    if (this.#array.overVoltage) this.#conditions.add('dc_over_volt');
    else this.#conditions.delete('dc_over_volt');
    return this.#conditions;
  }

  command(command: SourceCommand): void {
    if (command.kind !== 'pv.shading')
      throw new SimError('COMMAND_NOT_APPLICABLE', `a PV array does not take ${command.kind}`);
    const { shading, input = 0 } = command;
    if (input !== 0) throw badValue('input', input, '0, the only input');
    if (shading !== null) {
      checkShare('shadedShare', shading.shadedShare);
      checkShare('irradianceShare', shading.irradianceShare);
    }
    this.#array.shading = shading;
  }

  clearFaults(): void {
    /* a PV array has no latched faults */
  }

  restart(): void {
    this.#array.shading = this.#shading;
  }

  detail(): PvDetail {
    return { kind: 'pv', ...this.state() };
  }

  /** As one of several inputs. */
  state(): PvInputDetail {
    const a = this.#array;
    return {
      irradianceWm2: a.irradianceWm2,
      cellTemperatureC: a.cellTemperatureC,
      availableDcW: a.mppW,
      operatingPoint: { v: a.voltageV, i: a.currentA, p: a.powerW },
      mpptState: a.state,
      shading: a.shading,
    };
  }

  curve(port: number | undefined, points: number): IvCurve {
    checkCurvePort(port);
    const a = this.#array;
    const { curve, mpp, vOcV, iScA } = a.curve(points);
    return {
      kind: 'pv',
      port: 0,
      irradianceWm2: a.irradianceWm2,
      cellTemperatureC: a.cellTemperatureC,
      operatingPoint: { v: a.voltageV, i: a.currentA, p: a.powerW },
      curve,
      mpp,
      vOcV,
      iScA,
    };
  }
}

function checkShare(name: string, value: number): void {
  if (!(value >= 0 && value <= 1)) throw badValue(name, value, '0 to 1');
}
