import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { pointNumber } from '../common/points.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { exampleWind, powerCurveSchema, windOverrideBodySchema, windSchema } from './schemas.ts';
import { detailOf, kilo, rounded } from '../common/kind-replies.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { overrideWriter } from '../common/writer-replies.ts';

function windReply({ plant }: RouteContext, device: Device) {
  const d = detailOf(device, 'wind');
  const { dataset } = plant.surroundings(device.index);
  return {
    wind_speed_m_s: rounded(d.windSpeedMS),
    wind_speed_measured_m_s: rounded(d.windSpeedMeasuredMS),
    source: d.source,
    override_wind_speed_m_s: d.overrideSpeedMS,
    override_by: d.overrideSpeedMS === null ? null : overrideWriter(plant, device, 'wind_override'),
    rotor_rpm: rounded(d.rotorRpm),
    generator_rpm: rounded(d.generatorRpm),
    pitch_deg: rounded(d.pitchDeg),
    cp: rounded(d.cp),
    tip_speed_ratio: rounded(d.tipSpeedRatio),
    mechanical_power_kw: kilo(d.mechanicalPowerW),
    electrical_power_kw: kilo(pointNumber(device.bank, 701, 'W') ?? 0),
    dc_power_kw: kilo(d.dcPowerW),
    reactive_power_kvar: kilo(pointNumber(device.bank, 701, 'Var') ?? 0),
    region: d.region,
    state: d.state,
    lvrt_state: d.lvrtState,
    quasi_steady: d.quasiSteady,
    turbine: d.turbine,
    rated_power_kw: kilo(d.ratedPowerW),
    hub_height_m: d.hubHeightM,
    rotor_diameter_m: d.rotorDiameterM,
    dataset: dataset && { name: dataset.name, position: rounded(dataset.positionS), time_scale: dataset.timeScale },
  };
}

const getWind = route({
  method: 'get',
  path: '/wind',
  tag: 'Wind',
  operationId: 'get_wind',
  summary: 'Wind, rotor and power of a turbine',
  query: deviceQuery,
  reply: windSchema,
  problems: ['not-applicable'],
  examples: { reply: exampleWind },
  handle: (ctx, { query }) => windReply(ctx, selectedDevice(ctx, query.device)),
});

const overrideWind = route({
  method: 'post',
  path: '/wind/override',
  tag: 'Wind',
  operationId: 'override_wind',
  summary: 'Puts a steady wind in place of the data, or ends that',
  description: 'An override has no turbulence. The turbine takes it up with the next tick.',
  query: deviceQuery,
  body: windOverrideBodySchema,
  reply: windSchema,
  problems: ['not-applicable'],
  examples: { body: { wind_speed_m_s: 9 }, reply: exampleWind },
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    detailOf(device, 'wind');
    device.command({ kind: 'wind.override', speedMS: body.wind_speed_m_s, height: body.height ?? 'hub' }, by);
    return windReply(ctx, device);
  },
});

const getPowerCurve = route({
  method: 'get',
  path: '/wind/power-curve',
  tag: 'Wind',
  operationId: 'get_wind_power_curve',
  summary: 'Power curve of a turbine: power on the rotor in steady wind',
  description:
    'Without curtailment. Turbulence, and the inertia of the rotor, let the present power lie beside the curve.',
  query: deviceQuery,
  reply: powerCurveSchema,
  problems: ['not-applicable'],
  examples: {
    reply: {
      device_index: 0,
      cut_in_m_s: 3,
      cut_out_m_s: 25,
      points: [{ wind_speed_m_s: 9, mechanical_power_kw: 9748 }],
    },
  },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const { powerCurve } = detailOf(device, 'wind');
    const working = powerCurve.filter(({ mechanicalPowerW }) => mechanicalPowerW > 0);
    return {
      device_index: device.index,
      cut_in_m_s: working[0]?.windSpeedMS ?? 0,
      cut_out_m_s: working.at(-1)?.windSpeedMS ?? 0,
      points: powerCurve.map(({ windSpeedMS, mechanicalPowerW }) => ({
        wind_speed_m_s: windSpeedMS,
        mechanical_power_kw: kilo(mechanicalPowerW),
      })),
    };
  },
});

export const windRoutes: readonly Route[] = [getWind, getPowerCurve, overrideWind];
