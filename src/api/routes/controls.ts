import { controlFunctions } from '../../sunspec/map/device.ts';
import type { ControlFunction, Device, Plant } from '../../sunspec/map/device.ts';
import { hasPoint, pointBits, pointNumber, pointValue, pointWriter } from '../points.ts';
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
  /** symbol of 702.CtrlModes; without one the function is supported where its point exists */
  readonly capability?: string;
  /** prefix of the reversion timer points; null: the function has none */
  readonly reversion: string | null;
}

const modePoints: Readonly<Record<ControlFunction, ModePoints>> = {
  volt_var: { model: 705, enable: 'Ena', capability: 'volt_var', reversion: '' },
  volt_watt: { model: 706, enable: 'Ena', capability: 'volt_watt', reversion: '' },
  watt_var: { model: 712, enable: 'Ena', capability: 'watt_var', reversion: '' },
  freq_droop: { model: 711, enable: 'Ena', capability: 'freq_watt', reversion: '' },
  pf_inject: { model: 704, enable: 'PFWInjEna', capability: 'fixed_pf', reversion: 'PFWInj' },
  pf_absorb: { model: 704, enable: 'PFWAbsEna', capability: 'fixed_pf', reversion: 'PFWAbs' },
  constant_var: { model: 704, enable: 'VarSetEna', capability: 'fixed_var', reversion: 'VarSet' },
  max_power: { model: 704, enable: 'WMaxLimPctEna', capability: 'max_w', reversion: 'WMaxLimPct' },
  active_power: { model: 704, enable: 'WSetEna', capability: 'fixed_w', reversion: 'WSet' },
  enter_service: { model: 703, enable: 'ES', reversion: null },
  lv_trip: { model: 707, enable: 'Ena', capability: 'lv_trip', reversion: null },
  hv_trip: { model: 708, enable: 'Ena', capability: 'hv_trip', reversion: null },
  lf_trip: { model: 709, enable: 'Ena', capability: 'lf_trip', reversion: null },
  hf_trip: { model: 710, enable: 'Ena', capability: 'hf_trip', reversion: null },
  anti_islanding: { model: 704, enable: 'AntiIslEna', reversion: null },
  ramp: { model: 704, enable: 'WRmp', reversion: null },
};

function isEnabled(device: Device, { model, enable }: ModePoints): boolean {
  const value = pointValue(device.bank, model, enable);
  return value === 'ENABLED' || (enable === 'WRmp' && typeof value === 'number' && value > 0);
}

function reversionRemainingS({ bank }: Device, { model, reversion }: ModePoints): number | null {
  if (reversion === null || (pointNumber(bank, model, `${reversion}RvrtTms`) ?? 0) === 0) return null;
  return pointNumber(bank, model, `${reversion}RvrtRem`);
}

function modeReply(plant: Plant, device: Device, name: ControlFunction, capabilities: ReadonlySet<string>): ModeReply {
  const points = modePoints[name];
  const { model, enable, capability } = points;
  const writer = pointWriter(device.bank, model, enable);
  return {
    supported: hasPoint(device.bank, model, enable) && (capability === undefined || capabilities.has(capability)),
    enabled: isEnabled(device, points),
    active: device.activeFunctions.has(name),
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
    const capabilities = new Set(pointBits(device.bank, 702, 'CtrlModes'));
    const modes = Object.fromEntries(controlFunctions.map((name) => [name, modeReply(ctx.plant, device, name, capabilities)])) as
      Record<ControlFunction, ModeReply>;
    return {
      device_index: device.index,
      service: {
        es_enabled: isEnabled(device, modePoints.enter_service),
        es_delay_remaining_s: device.enterService.delayRemainingS,
        trip_active: [...device.activeTrips],
        es_state: device.enterService.state,
      },
      modes,
      throttle: throttleReply(device),
      grid: gridReply(ctx.plant, device.index),
      time: timeReply(ctx.plant.time),
    };
  },
});

export const controlsRoutes: readonly Route[] = [controls];
