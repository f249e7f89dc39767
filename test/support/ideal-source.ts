import type { DeviceDetail, IvCurve } from '../../src/core/device.ts';
import { SimError } from '../../src/core/errors.ts';
import type { DcPort, DcRequest, DcSource, SourceCondition } from '../../src/der/source/source.ts';

/** A source without physics: gives (and, as a store, takes) at once whatever the test says. */
export class IdealSource implements DcSource {
  readonly #ports: readonly [DcPort & { powerW: number }];
  readonly absorbableDcW: number;
  readonly starting = false;
  readonly longestStepS = Infinity;
  readonly conditions: ReadonlySet<SourceCondition> = new Set();
  #availableDcW: number;
  #settled = true;

  /** @param absorbableDcW power that it can take, W; 0 for a source that only gives */
  constructor(availableDcW: number, absorbableDcW = 0) {
    this.#availableDcW = availableDcW;
    this.absorbableDcW = absorbableDcW;
    this.#ports = [{ type: absorbableDcW > 0 ? 'ESS' : 'PV', name: 'ideal', voltageV: 800, currentA: 0, powerW: 0 }];
  }

  get ports(): readonly DcPort[] { return this.#ports; }

  get availableDcW(): number { return this.#availableDcW; }

  set availableDcW(watts: number) {
    this.#availableDcW = watts;
    // the sub-step that meets the change must be a short one
    this.#settled = false;
  }

  get settled(): boolean { return this.#settled; }

  prepare(): void { this.#settled = true; }

  settle(): void { this.#settled = true; }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const natural = this.absorbableDcW > 0 ? 0 : ceilingW;
    const wantedW = Math.max(floorW, Math.min(ceilingW, targetW ?? natural));
    return Math.max(-this.absorbableDcW, Math.min(this.#availableDcW, wantedW));
  }

  command(): never { throw new SimError('COMMAND_NOT_APPLICABLE', 'an ideal source takes no commands'); }

  clearFaults(): void { /* has none */ }

  restart(): void { /* has no memory */ }

  draw(dcW: number, energized: boolean): void {
    const [port] = this.#ports;
    const powerW = energized ? dcW : 0;
    Object.assign(port, { powerW, currentA: powerW / port.voltageV });
  }

  detail(): DeviceDetail {
    const [{ voltageV, currentA, powerW }] = this.#ports;
    return {
      kind: 'pv', irradianceWm2: 0, cellTemperatureC: 25, availableDcW: this.#availableDcW,
      operatingPoint: { v: voltageV, i: currentA, p: powerW }, mpptState: 'track', shading: null,
    };
  }

  curve(): IvCurve {
    throw new SimError('COMMAND_NOT_APPLICABLE', 'an ideal source has no DC curve');
  }
}
