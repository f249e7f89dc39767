import type { DeviceDetail, IvCurve, SourceCommand } from '../../../../src/contract/device.ts';
import { SimError } from '../../../../src/core/errors.ts';
import { keptRecord } from '../../../../src/core/kept.ts';
import type { Kept } from '../../../../src/core/kept.ts';
import type { DcPort, DcRequest, DcSource, SourceCondition } from '../../../../src/der/source/source.ts';

/** A source whose limits the test sets, and which records its calls. */
export class FakeSource implements DcSource {
  readonly #kind: 'pv' | 'battery';
  readonly ports: readonly DcPort[];
  readonly conditions = new Set<SourceCondition>();
  readonly commands: SourceCommand[] = [];
  readonly calls: string[] = [];
  availableDcW: number;
  absorbableDcW: number;
  starting = false;
  settled = true;
  maxStepS = Infinity;
  powerW = 0;
  energized = false;
  /** the answer to any request; null: the target */
  forcedW: number | null = null;

  constructor(kind: 'pv' | 'battery', availableDcW: number, absorbableDcW = 0) {
    this.#kind = kind;
    this.availableDcW = availableDcW;
    this.absorbableDcW = absorbableDcW;
    const powerW = () => this.powerW;
    const voltageV = kind === 'pv' ? 600 : 400;
    this.ports = [
      {
        type: kind === 'pv' ? 'PV' : 'ESS',
        name: kind,
        voltageV,
        get currentA() {
          return powerW() / voltageV;
        },
        get powerW() {
          return powerW();
        },
      },
    ];
  }

  prepare(dtS: number): void {
    this.calls.push(`prepare ${dtS}`);
  }
  settle(): void {
    this.calls.push('settle');
  }
  clearFaults(): void {
    this.calls.push('clearFaults');
  }
  restart(): void {
    this.calls.push('restart');
  }

  kept(): Kept {
    return keptRecord(
      () => ({ powerW: this.powerW, energized: this.energized }),
      ({ powerW, energized }) => {
        this.powerW = powerW;
        this.energized = energized;
      },
    );
  }

  command(command: SourceCommand): void {
    if (this.#kind === 'pv') throw new SimError('COMMAND_NOT_APPLICABLE', 'a PV array takes no commands');
    this.commands.push(command);
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    return Math.max(floorW, Math.min(ceilingW, this.forcedW ?? targetW ?? 0));
  }

  draw(dcW: number, energized: boolean): void {
    if (dcW > this.availableDcW || dcW < -this.absorbableDcW)
      throw new Error(`${this.#kind}: ${dcW} W is out of bounds`);
    this.powerW = dcW;
    this.energized = energized;
  }

  detail(): DeviceDetail {
    const i = this.powerW / 600;
    const pv = {
      kind: 'pv',
      irradianceWm2: 800,
      cellTemperatureC: 40,
      availableDcW: this.availableDcW,
      operatingPoint: { v: 600, i, p: this.powerW },
      mpptState: 'track',
      shading: null,
    } as const;
    return this.#kind === 'pv' ? pv : ({ kind: 'battery', socPct: 50 } as DeviceDetail);
  }

  curve(port: number | undefined): IvCurve {
    const operatingPoint = { v: 0, i: 0, p: 0 };
    return {
      kind: this.#kind,
      port: port ?? 0,
      irradianceWm2: null,
      cellTemperatureC: 25,
      operatingPoint,
      curve: [operatingPoint],
      mpp: null,
      vOcV: null,
      iScA: null,
    };
  }
}
