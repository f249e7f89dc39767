import { controlFunctions } from '../../sunspec/map/device.ts';
import type { ControlFunction, Device, Plant } from '../../sunspec/map/device.ts';
import { isEnabled, isSupported } from '../grid-support/read.ts';
import { pointBits, pointNumber, pointWriter } from '../points.ts';
import { route } from '../route.ts';
import type { Route } from '../route.ts';
import { deviceQuery, isoOrNull } from '../schemas/common.ts';
import { controlsSchema, exampleControls } from '../schemas/controls.ts';
import type { ModeReply } from '../schemas/controls.ts';
import { gridReply } from '../views-grid.ts';
import { timeReply } from '../views-time.ts';
import { selectedDevice } from '../views.ts';

interface ModePoints {
  readonly model: number;
  /** the enable point; for the ramp the limit itself */
  readonly enable: string;
  /** prefix of the reversion timer points; null: the function has none */
  readonly reversion: string | null;
}

const modePoints: Readonly<Record<ControlFunction, ModePoints>> = {
  volt_var: { model: 705, enable: 'Ena', reversion: '' },
  volt_watt: { model: 706, enable: 'Ena', reversion: '' },
  watt_var: { model: 712, enable: 'Ena', reversion: '' },
  freq_droop: { model: 711, enable: 'Ena', reversion: '' },
  pf_inject: { model: 704, enable: 'PFWInjEna', reversion: 'PFWInj' },
  pf_absorb: { model: 704, enable: 'PFWAbsEna', reversion: 'PFWAbs' },
  constant_var: { model: 704, enable: 'VarSetEna', reversion: 'VarSet' },
  max_power: { model: 704, enable: 'WMaxLimPctEna', reversion: 'WMaxLimPct' },
  active_power: { model: 704, enable: 'WSetEna', reversion: 'WSet' },
  enter_service: { model: 703, enable: 'ES', reversion: null },
  lv_trip: { model: 707, enable: 'Ena', reversion: null },
  hv_trip: { model: 708, enable: 'Ena', reversion: null },
  lf_trip: { model: 709, enable: 'Ena', reversion: null },
  hf_trip: { model: 710, enable: 'Ena', reversion: null },
  anti_islanding: { model: 704, enable: 'AntiIslEna', reversion: null },
  ramp: { model: 704, enable: 'WRmp', reversion: null },
};

function reversionRemainingS({ bank }: Device, { model, reversion }: ModePoints): number | null {
  if (reversion === null || (pointNumber(bank, model, `${reversion}RvrtTms`) ?? 0) === 0) return null;
  return pointNumber(bank, model, `${reversion}RvrtRem`);
}

function modeReply(plant: Plant, device: Device, name: ControlFunction, active: ReadonlySet<ControlFunction>): ModeReply {
  const points = modePoints[name];
  const { model, enable } = points;
  const writer = pointWriter(device.bank, model, enable);
  return {
    supported: isSupported(device.bank, points),
    enabled: isEnabled(device.bank, points),
    active: active.has(name),
    source: writer?.source ?? 'default',
    source_detail: writer?.peer ?? null,
    changed_at: isoOrNull(writer && plant.dateMs(writer.at)),
    reversion_remaining_s: reversionRemainingS(device, points),
  };
}

function throttleReply({ bank }: Device) {
  const sources = pointBits(bank, 701, 'ThrotSrc');
  return { active: sources.length > 0, pct: pointNumber(bank, 701, 'ThrotPct'), sources };
}

const controls = route({
  method: 'get',
  path: '/controls',
  tag: 'Controls',
  operationId: 'get_controls',
  summary: 'Grid-support modes, throttling, grid and clock of a device',
  query: deviceQuery,
  reply: controlsSchema,
  examples: { reply: exampleControls },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const { activeDecidedBy, reactiveDecidedBy, rideThrough } = device.trace.now;
    const active = device.activeFunctions;
    const modes = Object.fromEntries(controlFunctions.map((name) => [name, modeReply(ctx.plant, device, name, active)])) as
      Record<ControlFunction, ModeReply>;
    return {
      device_index: device.index,
      service: {
        es_enabled: isEnabled(device.bank, modePoints.enter_service),
        es_delay_remaining_s: device.enterService.delayRemainingS,
        trip_active: [...device.activeTrips],
        es_state: device.enterService.state,
      },
      modes,
      decided_by: { active: activeDecidedBy, reactive: reactiveDecidedBy },
      ride_through: rideThrough,
      throttle: throttleReply(device),
      grid: gridReply(ctx.plant, device.index),
      time: timeReply(ctx.plant.time),
    };
  },
});

export const controlsRoutes: readonly Route[] = [controls];
