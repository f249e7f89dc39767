import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { quantity } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

export const windSchema = memo(() =>
  z
    .strictObject({
      wind_speed_m_s: z.number().openapi({ description: 'At hub height, turbulence included.' }),
      wind_speed_measured_m_s: z.number().openapi({ description: 'Mean wind at the height of the anemometer.' }),
      source: z.enum(['dataset', 'override']),
      override_wind_speed_m_s: quantity('As given, even when negative; null without override.'),
      override_by: writerSchema.nullable().openapi({ description: 'Writer of the override; null without one.' }),
      rotor_rpm: z.number(),
      generator_rpm: z.number(),
      pitch_deg: z.number(),
      cp: z.number().openapi({
        description: 'Power coefficient of the rotor; negative while the feathered blades brake it.',
      }),
      tip_speed_ratio: z.number(),
      mechanical_power_kw: z.number().openapi({ description: 'Aerodynamic power on the rotor; as `cp`.' }),
      electrical_power_kw: z.number().openapi({ description: '701.W: AC power at the terminals.' }),
      dc_power_kw: z.number().openapi({ description: 'DC power into the inverter.' }),
      reactive_power_kvar: z.number().openapi({ description: '701.Var; positive = injected.' }),
      region: z.enum(['parked', '1', '2', '3', 'cut_out']),
      state: z.enum(['stopped', 'starting', 'run_mppt', 'run_rated', 'high_wind_stop']),
      lvrt_state: z.enum(['normal', 'active', 'recovering', 'tripped']),
      quasi_steady: z.boolean().openapi({
        description: 'Above a clock rate of 50 the power follows the steady curve with a lag, without rotor dynamics.',
      }),
      turbine: z.enum(['T3', 'T4']).openapi({ description: '`T3`: doubly fed generator; `T4`: full converter.' }),
      rated_power_kw: z.number(),
      hub_height_m: z.number(),
      rotor_diameter_m: z.number(),
      dataset: z
        .strictObject({
          name: z.string(),
          position: z.number().openapi({ description: 'Time in the series, s.' }),
          time_scale: z.number().openapi({ description: 'Seconds of the series per simulated second.' }),
        })
        .nullable()
        .openapi({ description: 'The series that the wind comes from; it runs on under an override.' }),
    })
    .openapi('Wind'),
);

export const powerCurveSchema = memo(() =>
  z
    .strictObject({
      device_index: z.int(),
      cut_in_m_s: z.number().openapi({ description: 'First wind speed of the curve with power.' }),
      cut_out_m_s: z.number().openapi({ description: 'Last wind speed of the curve with power.' }),
      points: z.array(z.strictObject({ wind_speed_m_s: z.number(), mechanical_power_kw: z.number() })).openapi({
        description: 'Steps of 0.5 m/s at hub height, from 0 on.',
      }),
    })
    .openapi('WindPowerCurve'),
);

export const windOverrideBodySchema = memo(() =>
  z
    .strictObject({
      wind_speed_m_s: z.number().nullable().openapi({
        description:
          'Any number; the physics takes 0 to 60 m/s at the hub, what lies outside as the nearer end. Null ends the override.',
      }),
      height: z
        .enum(['hub', 'anemometer'])
        .optional()
        .openapi({ description: 'Where that wind blows; default `hub`.' }),
    })
    .openapi('WindOverrideRequest'),
);

/** A 15 MW turbine two minutes after the override. */
export const exampleWind = {
  wind_speed_m_s: 9,
  wind_speed_measured_m_s: 5.59,
  source: 'override' as const,
  override_wind_speed_m_s: 9,
  override_by: exampleWriter,
  rotor_rpm: 6.46,
  generator_rpm: 6.46,
  pitch_deg: 0,
  cp: 0.48,
  tip_speed_ratio: 9,
  mechanical_power_kw: 9748,
  electrical_power_kw: 9318,
  dc_power_kw: 9710,
  reactive_power_kvar: 0,
  region: '2' as const,
  state: 'run_mppt' as const,
  lvrt_state: 'normal' as const,
  quasi_steady: false,
  turbine: 'T4' as const,
  rated_power_kw: 15_000,
  hub_height_m: 150,
  rotor_diameter_m: 240,
  dataset: { name: 'wind-week', position: 43_354.5, time_scale: 1 },
};
