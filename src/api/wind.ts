/** Wind turbines: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { pointNumber } from '../sunspec/map/bank.ts';
import type { Device } from '../contract/device.ts';
import type { WindCurvePoint, WindDetail } from '../contract/kinds/wind.ts';
import type { DatasetNow } from '../contract/environment.ts';
import { detailOf, stateOperations } from './common/device-replies.ts';
import type { OfDevice } from './common/device-replies.ts';
import { flag, integer, list, members, nested, number, text, word, inKilo, measured } from './common/members.ts';
import { overrideOf, writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import type { Route } from './http/route.ts';

const dataset = members<DatasetNow>()(null, () => ({
  name: text(),
  position: measured('Time in the series, s.', ({ positionS }) => positionS),
  time_scale: number('Seconds of the series per simulated second.'),
}));

const wind = members<WindDetail, OfDevice>()('Wind', () => ({
  wind_speed_m_s: measured('Wind speed at hub height, turbulence included.'),
  wind_speed_measured_m_s: measured('Mean wind at the height of the anemometer.'),
  source: word(['dataset', 'override'])(),
  override_wind_speed_m_s: number.orNull(
    'As given, even when negative; null without override.',
    ({ overrideSpeedMS }) => overrideSpeedMS,
  ),
  override_by: writer.orNull('Writer of the override; null without override.', ({ overrideSpeedMS }, { device }) =>
    overrideSpeedMS === null ? null : overrideOf(device, 'wind_override'),
  ),
  rotor_rpm: measured(),
  generator_rpm: measured(),
  pitch_deg: measured(),
  cp: measured('Power coefficient of the rotor; negative while the feathered blades brake it.'),
  tip_speed_ratio: measured(),
  mechanical_power_kw: inKilo(
    'Aerodynamic power on the rotor; negative when `cp` is.',
    ({ mechanicalPowerW }) => mechanicalPowerW,
  ),
  electrical_power_kw: inKilo(
    '701.W: AC power at the terminals.',
    (_of, { device }) => pointNumber(device.bank, 701, 'W') ?? 0,
  ),
  dc_power_kw: inKilo('DC power into the inverter.', ({ dcPowerW }) => dcPowerW),
  reactive_power_kvar: inKilo(
    '701.Var; positive = injected.',
    (_of, { device }) => pointNumber(device.bank, 701, 'Var') ?? 0,
  ),
  region: word(['parked', '1', '2', '3', 'cut_out'])(),
  state: word(['stopped', 'starting', 'run_mppt', 'run_rated', 'high_wind_stop'])(),
  lvrt_state: word(['normal', 'active', 'recovering', 'tripped'])(),
  quasi_steady: flag('Above a clock rate of 50 the power follows the steady curve with a lag, without rotor dynamics.'),
  turbine: word(['T3', 'T4'])('`T3`: doubly fed generator; `T4`: full converter.'),
  rated_power_kw: inKilo(({ ratedPowerW }) => ratedPowerW),
  hub_height_m: number(),
  rotor_diameter_m: number(),
  dataset: nested(dataset).orNull(
    'Series that the wind comes from; it continues during an override.',
    (_of, { device, plant }) => plant.surroundings(device.index).dataset,
  ),
}));

const curvePoint = members<WindCurvePoint>()(null, () => ({
  wind_speed_m_s: number(),
  mechanical_power_kw: inKilo(({ mechanicalPowerW }) => mechanicalPowerW),
}));

const withPower = ({ powerCurve }: WindDetail) => powerCurve.filter(({ mechanicalPowerW }) => mechanicalPowerW > 0);

const powerCurve = members<WindDetail, OfDevice>()('WindPowerCurve', () => ({
  device_index: integer((_of, { device }) => device.index),
  cut_in_m_s: number('First wind speed of the curve with power.', (of) => withPower(of)[0]?.windSpeedMS ?? 0),
  cut_out_m_s: number('Last wind speed of the curve with power.', (of) => withPower(of).at(-1)?.windSpeedMS ?? 0),
  points: list(curvePoint)('Steps of 0.5 m/s at hub height, from 0 on.', (of) => of.powerCurve),
}));

const windOverrideBodySchema = memo(() =>
  z
    .strictObject({
      wind_speed_m_s: z.number().nullable().openapi({
        description: 'Any number; the physics limits it to 0 to 60 m/s at the hub. Null ends the override.',
      }),
      height: z
        .enum(['hub', 'anemometer'])
        .optional()
        .openapi({ description: 'Height at which the wind has this speed; default `hub`.' }),
    })
    .openapi('WindOverrideRequest'),
);

const turbineOf = (device: Device) => detailOf(device, 'wind');
const turbine = stateOperations('Wind', wind, turbineOf, ['not-applicable']);
const powerCurves = stateOperations('Wind', powerCurve, turbineOf, ['not-applicable']);

export const windRoutes: readonly Route[] = [
  turbine.get({
    path: '/wind',
    operationId: 'get_wind',
    summary: 'Wind, rotor and power of a turbine',
  }),
  powerCurves.get({
    path: '/wind/power-curve',
    operationId: 'get_wind_power_curve',
    summary: 'Power curve of a turbine: power on the rotor in steady wind',
    description:
      'Without curtailment. Turbulence and the inertia of the rotor make the present power differ from the curve.',
  }),
  turbine.post({
    path: '/wind/override',
    operationId: 'override_wind',
    summary: 'Puts a steady wind in place of the data, or ends that',
    description: 'An override has no turbulence. The turbine follows it from the next tick on.',
    body: windOverrideBodySchema,
    change(device, body, by) {
      device.command({ kind: 'wind.override', speedMS: body.wind_speed_m_s, height: body.height ?? 'hub' }, by);
    },
  }),
];
