import type { Plant } from '../../contract/plant.ts';
import type { ControlFunction, Device } from '../../contract/device.ts';
import { functionNames, functionTable } from '../../sunspec/map/functions.ts';
import { isEnabled, isSupported, reversionRemainingS } from '../../sunspec/map/function-state.ts';
import { pointBits, pointNumber, pointWriter } from '../common/points.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery, isoOrNull } from '../common/schemas.ts';
import { slopesReply } from './gradient-routes.ts';
import { controlsSchema, exampleControls } from './schemas.ts';
import type { ModeReply } from './schemas.ts';
import { gridReply } from '../surroundings/replies.ts';
import { siteCut } from '../site/members.ts';
import { timeReply } from '../time/replies.ts';
import { overridesReply } from '../common/writer-replies.ts';
import { selectedDevice } from '../common/device-replies.ts';

function modeReply(
  plant: Plant,
  device: Device,
  name: ControlFunction,
  active: ReadonlySet<ControlFunction>,
): ModeReply {
  const points = functionTable[name];
  const { model, enable } = points;
  const writer = pointWriter(device.bank, model, enable);
  return {
    supported: isSupported(device.bank, points),
    enabled: isEnabled(device.bank, points),
    active: active.has(name),
    source: writer?.source ?? 'default',
    source_detail: writer?.peer ?? null,
    changed_at: isoOrNull(writer && plant.dateMs(writer.at)),
    reversion_remaining_s: reversionRemainingS(device.bank, points),
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
    const cut = activeDecidedBy === 'site' ? ctx.plant.siteCut(device.index) : null;
    const replies = Object.fromEntries(
      functionNames.map((name) => [name, modeReply(ctx.plant, device, name, active)]),
    ) as Record<ControlFunction, ModeReply>;
    return {
      device_index: device.index,
      service: {
        es_enabled: isEnabled(device.bank, functionTable.enter_service),
        es_delay_remaining_s: device.enterService.delayRemainingS,
        trip_active: [...device.activeTrips],
        es_state: device.enterService.state,
        switch_closed: device.switchClosed,
      },
      modes: replies,
      decided_by: {
        active: activeDecidedBy,
        reactive: reactiveDecidedBy,
        site_limit: cut && siteCut.reply(cut),
      },
      ride_through: rideThrough,
      throttle: throttleReply(device),
      gradient: slopesReply(ctx.plant, device),
      grid: gridReply(ctx.plant, device.index),
      time: timeReply(ctx.plant),
      overrides: overridesReply(ctx.plant, device),
    };
  },
});

export const controlsRoutes: readonly Route[] = [controls];
