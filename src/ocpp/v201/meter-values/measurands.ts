/** The measurands of 2.x that a station meters, as its messages show them. */
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { meteredRows } from '../../meter-values/measurands.ts';
import type { MeasuredValue, MeasurandRow, Reading } from '../../meter-values/measurands.ts';
import type { SampledValue } from '../messages.ts';
import type { Version2 } from '../version.ts';

type Measurand = NonNullable<SampledValue['measurand']>;
type Context = NonNullable<SampledValue['context']>;

/** What one instant of an EVSE shows. */
export interface EvseReading extends Reading {
  /** null: the meter of the station */
  readonly connector: EvseConnectorDetail | null;
  /** set-point of the charging profiles in force, + into the vehicle, W; null: there is none */
  readonly setpointW: number | null;
}

interface Row {
  readonly unit?: string;
  readonly digits: number;
  readonly inVehicle?: true;
  /** empty: there is nothing to tell */
  readonly read: (reading: EvseReading) => readonly MeasuredValue[];
}

const up = (value: number) => (value > 0 ? value : 0);

type Vehicle = NonNullable<EvseConnectorDetail['ev']>;

function ofVehicle(unit: string | undefined, digits: number, read: (ev: Vehicle, r: EvseReading) => number): Row {
  return {
    ...(unit === undefined ? {} : { unit }),
    digits,
    inVehicle: true,
    read: (reading) => {
      const ev = reading.connector?.ev ?? null;
      return ev === null ? [] : [{ value: read(ev, reading) }];
    },
  };
}

function ofConnector(unit: string, digits: number, read: (connector: EvseConnectorDetail) => number): Row {
  return { unit, digits, read: ({ connector }) => (connector === null ? [] : [{ value: read(connector) }]) };
}

function ofSetpoint(read: (setpointW: number, reading: EvseReading) => number): Row {
  return {
    unit: 'W',
    digits: 1,
    read: (reading) => (reading.setpointW === null ? [] : [{ value: read(reading.setpointW, reading) }]),
  };
}

/** From the meter into the battery, without the losses of the charger, which the station does not know. */
const missingWh = (ev: Vehicle, socPct: number) => ((socPct - ev.socPct) / 100) * ev.batteryCapacityWh;

const energyNet: Row = {
  unit: 'Wh',
  digits: 0,
  read: ({ energy }) => [{ value: energy.importWh - energy.exportWh }],
};

/** What 2.1 has added and the state of the device has. */
const added = {
  'Current.Import.Offered': ofConnector('A', 2, ({ allocatedA }) => up(allocatedA)),
  'Current.Export.Offered': ofConnector('A', 2, ({ allocatedA }) => up(-allocatedA)),
  'Power.Import.Offered': ofConnector('W', 1, ({ allocatedW }) => up(allocatedW)),
  'Power.Export.Offered': ofConnector('W', 1, ({ allocatedW }) => up(-allocatedW)),
  'Power.Import.Minimum': ofConnector('W', 1, ({ minPowerW }) => minPowerW),
  'Power.Active.Setpoint': ofSetpoint((setpointW) => setpointW),
  'Power.Active.Residual': ofSetpoint((setpointW, { sample }) => setpointW - sample.powerW),
  'Display.PresentSOC': ofVehicle('Percent', 1, ({ socPct }) => socPct),
  'Display.MinimumSOC': ofVehicle('Percent', 1, ({ reserveSocPct }) => reserveSocPct),
  'Display.TargetSOC': ofVehicle('Percent', 1, ({ targetSocPct }) => targetSocPct),
  'Display.ChargingComplete': ofVehicle(undefined, 0, ({ socPct, targetSocPct }) => (socPct >= targetSocPct ? 1 : 0)),
  'Display.BatteryEnergyCapacity': ofVehicle('Wh', 0, ({ batteryCapacityWh }) => batteryCapacityWh),
  'EnergyRequest.Target': ofVehicle('Wh', 0, (ev) => up(missingWh(ev, ev.targetSocPct))),
  'EnergyRequest.Minimum': ofVehicle('Wh', 0, (ev) => missingWh(ev, ev.reserveSocPct)),
  'EnergyRequest.Maximum': ofVehicle('Wh', 0, (ev) => up(missingWh(ev, 100))),
} as const satisfies Partial<Record<Measurand, Row>>;

/** Of both versions; none has apparent or reactive energy: the meters of the device do not count it. */
const common: Readonly<Record<string, MeasurandRow | Row>> = { ...meteredRows, 'Energy.Active.Net': energyNet };
const tables: Readonly<Record<Version2, Readonly<Record<string, MeasurandRow | Row>>>> = {
  'ocpp2.0.1': common,
  'ocpp2.1': { ...common, ...added },
};

/** What a station of a version meters: the values of the measurand lists. */
export function suppliedMeasurands(version: Version2): readonly string[] {
  return Object.keys(tables[version]);
}

/** Decimals of a measurand. */
export function digitsOf(version: Version2, measurand: string): number {
  return tables[version][measurand]?.digits ?? 0;
}

function rounded(value: number, digits: number): number {
  const number = Number(value.toFixed(digits));
  // a reading is never -0
  return number === 0 ? 0 : number;
}

/**
 * The values of a sample in the order of the list; what the EVSE does not have (a vehicle, a set-point) is left out.
 * @param evseId 0: the meter of the station, at its inlet
 */
export function sampledValues(
  version: Version2,
  reading: EvseReading,
  measurands: readonly string[],
  { evseId, context }: { readonly evseId: number; readonly context: Context },
): readonly SampledValue[] {
  const place = evseId === 0 ? 'Inlet' : 'Outlet';
  return measurands.flatMap((measurand) => {
    const row = tables[version][measurand];
    if (row === undefined) return [];
    return row.read(reading).map(
      ({ value, phase }): SampledValue => ({
        value: rounded(value, row.digits),
        context,
        measurand: measurand as Measurand,
        ...(phase === undefined ? {} : { phase }),
        location: row.inVehicle === true ? 'EV' : place,
        ...(row.unit === undefined ? {} : { unitOfMeasure: { unit: row.unit } }),
      }),
    );
  });
}
