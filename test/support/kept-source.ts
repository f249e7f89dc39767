import type { DeviceDetail, IvCurve, SourceCommand } from '../../src/contract/device.ts';
import type { BatteryDetail } from '../../src/contract/kinds/battery.ts';
import { SimError } from '../../src/core/errors.ts';
import { keptParts, keptRecord } from '../../src/core/kept.ts';
import type { Kept } from '../../src/core/kept.ts';
import { createRandom } from '../../src/core/random.ts';
import { freeFlow } from '../../src/der/inverter/storage-flow.ts';
import type { StorageFlow } from '../../src/der/inverter/storage-flow.ts';
import type {
  DcPort,
  DcRequest,
  DcSource,
  PhaseLoads,
  PvArray,
  SourceCondition,
  SourceInput,
  Writable,
} from '../../src/der/source/source.ts';

const lagS = 5;
const capacityWh = 20;

/**
 * A source with a little of everything that a source can remember: a lag, a content, a random efficiency from each jump
 * of the weather on, limits, alarms, and as an array a curve. A restart keeps its state.
 */
export class KeptSource implements DcSource {
  readonly #ratedW: number;
  readonly #isStorage: boolean;
  readonly #random = createRandom(1, 'kept-source');
  readonly #port: Writable<DcPort>;
  readonly #conditions = new Set<SourceCondition>();
  dischargeLimitDcW = Infinity;
  chargeLimitDcW = Infinity;
  #flow: StorageFlow = freeFlow;
  #soc = 0.5;
  #availableDcW = 0;
  #goalDcW = 0;
  #efficiency = 1;
  #pendingS = 0;
  #irradianceWm2 = 0;
  #shade = 1;
  #solved = curveOf(0, 1);

  constructor(ratedW: number, isStorage: boolean) {
    this.#ratedW = ratedW;
    this.#isStorage = isStorage;
    this.#port = {
      type: isStorage ? 'ESS' : 'PV',
      name: 'kept',
      voltageV: 700,
      currentA: 0,
      powerW: 0,
      conditions: this.#conditions,
    };
  }

  kept(): Kept {
    return keptParts({
      random: this.#random.kept(),
      members: keptRecord(
        () => ({
          dischargeLimitDcW: this.dischargeLimitDcW,
          chargeLimitDcW: this.chargeLimitDcW,
          flow: this.#flow,
          soc: this.#soc,
          availableDcW: this.#availableDcW,
          goalDcW: this.#goalDcW,
          efficiency: this.#efficiency,
          pendingS: this.#pendingS,
          irradianceWm2: this.#irradianceWm2,
          shade: this.#shade,
          powerW: this.#port.powerW,
          conditions: [...this.#conditions],
        }),
        ({ powerW, conditions, ...members }) => {
          ({
            dischargeLimitDcW: this.dischargeLimitDcW,
            chargeLimitDcW: this.chargeLimitDcW,
            flow: this.#flow,
            soc: this.#soc,
            availableDcW: this.#availableDcW,
            goalDcW: this.#goalDcW,
            efficiency: this.#efficiency,
            pendingS: this.#pendingS,
            irradianceWm2: this.#irradianceWm2,
            shade: this.#shade,
          } = members);
          this.#operate(powerW);
          this.#conditions.clear();
          for (const condition of conditions) this.#conditions.add(condition);
          this.#solved = curveOf(this.#irradianceWm2, this.#shade);
        },
      ),
    });
  }

  get ports(): readonly DcPort[] {
    return [this.#port];
  }

  get conditions(): ReadonlySet<SourceCondition> {
    return this.#conditions;
  }

  get array(): PvArray | undefined {
    return this.#isStorage ? undefined : { irradianceWm2: this.#irradianceWm2, solved: this.#solved };
  }

  get availableDcW(): number {
    return Math.min(this.#availableDcW, this.dischargeLimitDcW);
  }

  get dischargeLimited(): boolean {
    return this.dischargeLimitDcW < this.#availableDcW;
  }

  get absorbableDcW(): number {
    return this.#isStorage && this.#soc < 0.95 ? this.#ratedW : 0;
  }

  /** the content decides what a storage gives once its lag is over */
  get potentialDcW(): number {
    return Math.min(Math.max(this.#availableDcW, this.#goalDcW), this.dischargeLimitDcW);
  }

  get potentialAbsorbableDcW(): number {
    return 1.2 * this.absorbableDcW;
  }

  get starting(): boolean {
    return false;
  }

  get settled(): boolean {
    return Math.abs(this.#goalDcW - this.#availableDcW) < 1e-3 * this.#ratedW;
  }

  get maxStepS(): number {
    return this.#isStorage ? 2 : Infinity;
  }

  weatherJumps(): void {
    this.#efficiency = 0.9 + 0.1 * this.#random.next();
  }

  prepare(dtS: number, { irradianceWm2 }: SourceInput): void {
    this.#pendingS = dtS;
    if (irradianceWm2 !== this.#irradianceWm2) this.#solved = curveOf(irradianceWm2, this.#shade);
    this.#irradianceWm2 = irradianceWm2;
    this.#goalDcW = this.#goal();
    this.#availableDcW += (this.#goalDcW - this.#availableDcW) * (1 - Math.exp(-dtS / lagS));
  }

  #goal(): number {
    if (this.#isStorage) return this.#soc > 0.05 ? this.#ratedW * this.#efficiency : 0;
    return (this.#ratedW * this.#irradianceWm2 * this.#efficiency * this.#shade) / 1000;
  }

  settle(input: SourceInput): void {
    this.prepare(0, input);
    this.#availableDcW = this.#goalDcW;
  }

  boundFlow(flow: StorageFlow): void {
    this.#flow = flow;
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const wantedW = targetW ?? (this.#isStorage ? 0 : ceilingW);
    const boundW = Math.max(this.#flow.floorW, Math.min(this.#flow.ceilingW, wantedW));
    return Math.max(-this.absorbableDcW, Math.min(this.availableDcW, Math.max(floorW, Math.min(ceilingW, boundW))));
  }

  draw(dcW: number, energized: boolean): void {
    this.#operate(energized ? dcW : 0);
    this.#soc = Math.max(0, Math.min(1, this.#soc - (this.#port.powerW * this.#pendingS) / 3600 / capacityWh));
    this.#pendingS = 0;
    for (const [condition, isActive] of [
      ['soc_low', this.#isStorage && this.#soc < 0.2],
      ['over_temp', this.#isStorage && (this.#soc > 0.8 || this.#conditions.has('over_temp'))],
      ['dc_over_volt', this.#irradianceWm2 > 1100],
    ] as const) {
      if (isActive) this.#conditions.add(condition);
      else this.#conditions.delete(condition);
    }
  }

  #operate(powerW: number): void {
    Object.assign(this.#port, { powerW, voltageV: 700 - powerW / 1000, currentA: powerW / 700 });
  }

  command(command: SourceCommand): void {
    if (command.kind === 'pv.shading' && !this.#isStorage) {
      this.#shade = command.shading === null ? 1 : 1 - command.shading.shadedShare;
      this.#solved = curveOf(this.#irradianceWm2, this.#shade);
      return;
    }
    if (this.#isStorage && command.kind.startsWith('battery.')) return;
    throw new SimError('COMMAND_NOT_APPLICABLE', `${command.kind} is for other sources`);
  }

  clearFaults(): void {
    this.#conditions.delete('over_temp');
  }

  restart(): void {
    this.#soc = 0.5;
    this.#shade = 1;
    this.#solved = curveOf(this.#irradianceWm2, 1);
  }

  detail(): DeviceDetail {
    const { voltageV: v, currentA: i, powerW: p } = this.#port;
    if (this.#isStorage) return this.#storageDetail();
    return {
      kind: 'pv',
      irradianceWm2: this.#irradianceWm2,
      cellTemperatureC: 100 * this.#soc,
      availableDcW: this.#availableDcW,
      operatingPoint: { v, i, p },
      mpptState: 'track',
      shading: null,
    };
  }

  #storageDetail(): BatteryDetail {
    const { voltageV, currentA, powerW } = this.#port;
    const socPct = 100 * this.#soc;
    const [maxW, maxA] = [this.#ratedW, this.#ratedW / voltageV];
    return {
      kind: 'battery',
      chemistry: 'lfp',
      capacityWh,
      ratedPowerW: this.#ratedW,
      ampHourRating: capacityWh / 700,
      socPct,
      trueSocPct: socPct,
      sohPct: 100,
      energyAvailableWh: this.#soc * capacityWh,
      socMinPct: 5,
      socMaxPct: 95,
      socReserveMinPct: 10,
      socReserveMaxPct: 90,
      mode: powerW > 0 ? 'discharge' : powerW < 0 ? 'charge' : 'idle',
      control: 'auto',
      powerW,
      dcVoltageV: voltageV,
      dcCurrentA: currentA,
      maxChargeW: maxW,
      maxDischargeW: maxW,
      maxChargeA: maxA,
      maxDischargeA: maxA,
      temperatureC: 25,
      cellVoltageMinV: 3.2,
      cellVoltageMaxV: 3.3,
      cellVoltageAvgV: 3.25,
      cellVoltageMinAt: { string: 0, module: 0 },
      cellVoltageMaxAt: { string: 0, module: 0 },
      cycleCount: 0,
      energyChargedWh: 0,
      energyDischargedWh: 0,
      state: 'connected',
      inhibit: 'none',
      requestedMode: 'auto',
      requestedPowerW: null,
      clampedPowerW: null,
      remainingS: null,
      events: [],
      contactorsClosed: 1,
      stringCount: 1,
    };
  }

  curve(): IvCurve {
    throw new SimError('COMMAND_NOT_APPLICABLE', 'only the registers have a curve here');
  }
}

/** The source with a load on one phase, which takes reactive power. */
export class LoadedSource extends KeptSource {
  get #loadW(): number {
    return 0.2 * Math.abs(this.ports[0]?.powerW ?? 0);
  }

  get phaseLoads(): PhaseLoads | null {
    return this.#loadW > 100 ? { watts: [-this.#loadW, 0, 0], vars: [this.ownVar, 0, 0] } : null;
  }

  get ownVar(): number {
    return -0.3 * this.#loadW;
  }
}

function curveOf(irradianceWm2: number, shade: number): PvArray['solved'] {
  const amps = (irradianceWm2 * shade) / 100;
  return {
    curve: (points) => ({
      curve: Array.from({ length: points }, (_, n) => ({ v: 10 * n, i: amps, p: 10 * n * amps })),
    }),
  };
}
