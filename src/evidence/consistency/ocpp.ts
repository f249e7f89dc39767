/** Quantities as measurands of the meter of a charging station: what its next MeterValues would have. */
import type { Device } from '../../contract/device.ts';
import type { OcppMeterReading, OcppSampledValue, OcppStation } from '../../contract/ocpp.ts';
import type { Plant } from '../../contract/plant.ts';
import { shownAs, tidy } from './model.ts';
import type { OcppPlace, Presented, QuantityRow, Shown } from './model.ts';

/** The meter of the station at its grid connection, where the device is measured. */
const stationMeter = 0;

function shownOf({ measurand, phase, unit, value, digits, listed }: OcppSampledValue): Shown {
  const name = phase === null ? measurand : `${measurand} ${phase}`;
  return shownAs(name, value, { unit, decimals: digits, listed });
}

export class OcppReader {
  readonly #inlet: OcppMeterReading;
  /** null: the station has several connectors */
  readonly #connector: OcppMeterReading | null;
  readonly #atMs: number;

  constructor(station: OcppStation, { detail }: Device, plant: Plant) {
    const [first, ...others] = detail.kind === 'evse' ? detail.connectors : [];
    this.#inlet = station.functions.meterReading(stationMeter);
    this.#connector =
      first === undefined || others.length > 0 ? null : station.functions.meterReading(first.connectorId);
    this.#atMs = plant.dateMs(this.#inlet.at);
  }

  read({ ocpp: place }: QuantityRow): Presented | null {
    if (place === undefined) return null;
    const sample = this.#find(place.measurand, place);
    if (sample === undefined) return null;
    const less = place.less === undefined ? undefined : this.#find(place.less, place);
    const [first, second] = [Number(sample.value), Number(less?.value ?? 0)];
    return {
      presenter: 'ocpp',
      place: less === undefined ? sample.measurand : `${sample.measurand}, ${less.measurand}`,
      value: tidy(place.matchesAnyOf ? first + second : first - second),
      missing: null,
      resolution: Number(`1e-${sample.digits}`),
      ...(place.isMagnitude && { isMagnitude: true as const }),
      atMs: this.#atMs,
      shown: [sample, ...(less === undefined ? [] : [less])].map(shownOf),
    };
  }

  #find(measurand: string, { phase, ofConnector }: OcppPlace): OcppSampledValue | undefined {
    const reading = ofConnector ? this.#connector : this.#inlet;
    return reading?.values.find((value) => value.measurand === measurand && value.phase === (phase ?? null));
  }
}
