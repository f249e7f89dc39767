import type { DeviceDetail, IvCurve } from '../../src/contract/device.ts';
import { SimError } from '../../src/core/errors.ts';
import { keptMembers, keptParts, keptRecord } from '../../src/core/kept.ts';
import type { Kept } from '../../src/core/kept.ts';
import type { DcPort, DcRequest, DcSource, SourceCondition } from '../../src/der/source/source.ts';

/** What a store holds; states of charge are 0..1. */
export interface IdealContent {
  readonly capacityWh: number;
  readonly soc: number;
  readonly socMin: number;
  readonly socMax: number;
  /** all losses fall on charging */
  readonly chargeEfficiency: number;
}

const secondsPerHour = 3600;
/** A sub-step that would pass a bound of the content ends there, but is no shorter than this. */
const shortestStepS = 1e-3;

/** A source without physics: delivers (and, as a store, absorbs) at once the power that the test sets, within its content. */
export class IdealSource implements DcSource {
  readonly #ports: readonly [DcPort & { powerW: number; currentA: number }];
  readonly starting = false;
  readonly conditions: ReadonlySet<SourceCondition> = new Set();
  readonly #absorbableDcW: number;
  readonly #content: IdealContent | null;
  /** state of charge, 0..1 */
  soc: number;
  #availableDcW: number;
  #settled = true;
  #preparedS = 0;

  /**
   * @param absorbableDcW power that it can take, W; 0 for a source that only gives
   * @param content null: it never runs empty or full
   */
  constructor(availableDcW: number, absorbableDcW = 0, content: IdealContent | null = null) {
    this.#availableDcW = availableDcW;
    this.#absorbableDcW = absorbableDcW;
    this.#content = content;
    this.soc = content?.soc ?? 0;
    this.#ports = [{ type: absorbableDcW > 0 ? 'ESS' : 'PV', name: 'ideal', voltageV: 800, currentA: 0, powerW: 0 }];
  }

  get ports(): readonly DcPort[] {
    return this.#ports;
  }

  get availableDcW(): number {
    const content = this.#content;
    return content
      ? Math.min(this.#availableDcW, this.#sustained(content.capacityWh * (this.soc - content.socMin)))
      : this.#availableDcW;
  }

  set availableDcW(watts: number) {
    this.#availableDcW = watts;
    // the sub-step with the change must be short
    this.#settled = false;
  }

  get absorbableDcW(): number {
    const content = this.#content;
    if (!content) return this.#absorbableDcW;
    return Math.min(
      this.#absorbableDcW,
      this.#sustained((content.capacityWh * (content.socMax - this.soc)) / content.chargeEfficiency),
    );
  }

  /** Power that this energy lasts for in the prepared sub-step, W. */
  #sustained(energyWh: number): number {
    if (energyWh <= 1e-9) return 0;
    return this.#preparedS > 0 ? (energyWh * secondsPerHour) / this.#preparedS : Infinity;
  }

  /** Time to the bound that the present power leads to, s. */
  get maxStepS(): number {
    const content = this.#content;
    const [{ powerW }] = this.#ports;
    if (!content || powerW === 0) return Infinity;
    const leftWh =
      content.capacityWh *
      (powerW > 0 ? this.soc - content.socMin : (content.socMax - this.soc) / content.chargeEfficiency);
    return leftWh > 1e-9 ? Math.max(shortestStepS, (leftWh * secondsPerHour) / Math.abs(powerW)) : Infinity;
  }

  get settled(): boolean {
    return this.#settled;
  }

  prepare(dtS: number): void {
    this.#settled = true;
    this.#preparedS = dtS;
  }

  settle(): void {
    this.#settled = true;
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const natural = this.absorbableDcW > 0 ? 0 : ceilingW;
    const wantedW = Math.max(floorW, Math.min(ceilingW, targetW ?? natural));
    return Math.max(-this.absorbableDcW, Math.min(this.#availableDcW, wantedW));
  }

  command(): never {
    throw new SimError('COMMAND_NOT_APPLICABLE', 'an ideal source takes no commands');
  }

  clearFaults(): void {
    /* has none */
  }

  restart(): void {
    /* has no memory */
  }

  kept(): Kept {
    return keptParts({
      port: keptMembers(this.#ports[0], 'powerW', 'currentA'),
      members: keptRecord(
        () => ({
          soc: this.soc,
          availableDcW: this.#availableDcW,
          settled: this.#settled,
          preparedS: this.#preparedS,
        }),
        ({ soc, availableDcW, settled, preparedS }) => {
          this.soc = soc;
          this.#availableDcW = availableDcW;
          this.#settled = settled;
          this.#preparedS = preparedS;
        },
      ),
    });
  }

  draw(dcW: number, energized: boolean): void {
    const [port] = this.#ports;
    const powerW = energized ? dcW : 0;
    Object.assign(port, { powerW, currentA: powerW / port.voltageV });
    if (!this.#content) return;
    const { capacityWh, chargeEfficiency } = this.#content;
    this.soc -= (powerW * (powerW < 0 ? chargeEfficiency : 1) * this.#preparedS) / secondsPerHour / capacityWh;
    this.#preparedS = 0;
  }

  detail(): DeviceDetail {
    const [{ voltageV, currentA, powerW }] = this.#ports;
    return {
      kind: 'pv',
      irradianceWm2: 0,
      cellTemperatureC: 25,
      availableDcW: this.#availableDcW,
      operatingPoint: { v: voltageV, i: currentA, p: powerW },
      mpptState: 'track',
      shading: null,
    };
  }

  curve(): IvCurve {
    throw new SimError('COMMAND_NOT_APPLICABLE', 'an ideal source has no DC curve');
  }
}
