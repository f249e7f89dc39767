import type { HybridDetail } from '../../contract/kinds/hybrid.ts';
import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { pointBits, pointNumber } from '../common/points.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { exampleHybrid, hybridDispatchBodySchema, hybridManualBodySchema, hybridSchema } from './schemas.ts';
import {
  checkSetPoint,
  endSetPoint,
  isSetPointOurs,
  setPointKw,
  setPointRangeW,
  setPointWriter,
  writeSetPoint,
} from '../common/set-point.ts';
import { bank as batteryBank } from '../battery/members.ts';
import { detailOf, kilo, rounded } from '../common/kind-replies.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { overrideWriter, writerReply } from '../common/writer-replies.ts';

/** Output of the inverter divided by its input, in either direction; null at standstill. */
function efficiencyPct(dcW: number, acW: number): number | null {
  if (dcW > 0 && acW > 0) return rounded(Math.min(100, (100 * acW) / dcW));
  // 701.W is rounded to its register: near zero power the ratio could exceed 1
  return dcW < 0 && acW < 0 ? rounded(Math.min(100, (100 * dcW) / acW)) : null;
}

function inverterReply({ bank }: Device, { dcPowerW }: HybridDetail, acW: number) {
  return {
    dc_power_kw: kilo(dcPowerW),
    ac_power_kw: kilo(acW),
    reactive_power_kvar: kilo(pointNumber(bank, 701, 'Var') ?? 0),
    efficiency_pct: efficiencyPct(dcPowerW, acW),
    rated_kva: kilo(pointNumber(bank, 702, 'VAMaxRtg') ?? 0),
    target_kw: setPointKw(bank),
    limited: pointBits(bank, 701, 'ThrotSrc').length > 0,
  };
}

function hybridReply({ plant }: RouteContext, device: Device) {
  const d = detailOf(device, 'hybrid-dc');
  const acW = pointNumber(device.bank, 701, 'W') ?? 0;
  const battery = batteryBank.reply(d.battery, { device, plant });
  return {
    policy: d.policy,
    bus_voltage_v: rounded(d.busVoltageV),
    pv: {
      power_kw: kilo(d.pv.powerW),
      available_kw: kilo(d.pv.availableW),
      voltage_v: rounded(d.pv.voltageV),
      current_a: rounded(d.pv.currentA),
      irradiance_w_m2: rounded(d.pv.irradianceWm2),
      curtailed_kw: kilo(d.curtailedW),
    },
    battery: {
      power_kw: kilo(d.batteryPowerW),
      soc_pct: battery.soc_pct,
      soc_min_pct: battery.soc_min_pct,
      soc_max_pct: battery.soc_max_pct,
      mode: battery.mode,
      max_charge_kw: battery.max_charge_kw,
      max_discharge_kw: battery.max_discharge_kw,
    },
    inverter: inverterReply(device, d, acW),
    losses_kw: kilo(d.dcPowerW - acW),
    policy_by: overrideWriter(plant, device, 'hybrid_policy'),
    manual_target_kw: d.policy === 'manual' ? setPointKw(device.bank) : null,
    manual_target_by: d.policy === 'manual' ? writerReply(plant, setPointWriter(device.bank)) : null,
    manual_battery_kw: d.manualBatteryW === null ? null : kilo(d.manualBatteryW),
    manual_battery_by: d.manualBatteryW === null ? null : overrideWriter(plant, device, 'hybrid_battery'),
  };
}

/** @throws HttpProblem `validation` */
function checkWithin(givenKw: number, ratedW: number, pointer: string): void {
  if (Math.abs(givenKw * 1000) <= ratedW) return;
  throw invalid('body', pointer, `given ${givenKw} kW; the rating allows ${-ratedW / 1000} to ${ratedW / 1000} kW`);
}

const getHybrid = route({
  method: 'get',
  path: '/hybrid-dc',
  tag: 'Hybrid DC',
  operationId: 'get_hybrid_dc',
  summary: 'Power flows and dispatch of a DC-coupled hybrid',
  query: deviceQuery,
  reply: hybridSchema,
  problems: ['not-applicable'],
  examples: { reply: exampleHybrid },
  handle: (ctx, { query }) => hybridReply(ctx, selectedDevice(ctx, query.device)),
});

const setDispatch = route({
  method: 'post',
  path: '/hybrid-dc/dispatch',
  tag: 'Hybrid DC',
  operationId: 'set_hybrid_dispatch',
  summary: 'Changes the dispatch policy',
  description:
    'Entering `manual` keeps the present output as target: it is written to the set-point of model 704. Leaving it ' +
    'switches the set-point off, unless another interface was the last to switch it.',
  query: deviceQuery,
  body: hybridDispatchBodySchema,
  reply: hybridSchema,
  problems: ['not-applicable', 'disabled'],
  examples: { body: { policy: 'manual' }, reply: exampleHybrid },
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const { bank } = device;
    const { policy } = detailOf(device, 'hybrid-dc');
    if (policy === body.policy) return hybridReply(ctx, device);
    // registers first: they may refuse, the policy cannot
    if (body.policy === 'manual') {
      const { minW, maxW } = setPointRangeW(bank);
      writeSetPoint(bank, by, Math.min(Math.max(pointNumber(bank, 701, 'W') ?? 0, minW), maxW));
    } else if (policy === 'manual' && setPointKw(bank) !== null && isSetPointOurs(bank)) endSetPoint(bank, by);
    device.command({ kind: 'hybrid.policy', policy: body.policy }, by);
    return hybridReply(ctx, device);
  },
});

const setManual = route({
  method: 'post',
  path: '/hybrid-dc/manual',
  tag: 'Hybrid DC',
  operationId: 'set_hybrid_manual',
  summary: 'Sets the target of policy manual, and the flow of the battery',
  description: 'Writes the set-point of active power of model 704. Outside policy `manual` the answer is `conflict`.',
  query: deviceQuery,
  body: hybridManualBodySchema,
  reply: hybridSchema,
  problems: ['not-applicable', 'conflict', 'disabled'],
  examples: { body: { target_kw: 6 }, reply: exampleHybrid },
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const detail = detailOf(device, 'hybrid-dc');
    const { target_kw: targetKw, battery_kw: batteryKw } = body;
    if (detail.policy !== 'manual') {
      throw new HttpProblem(
        'conflict',
        `The dispatch policy is ${detail.policy}; a target is taken in policy manual only (POST hybrid-dc/dispatch).`,
      );
    }
    checkWithin(targetKw, pointNumber(device.bank, 702, 'WMaxRtg') ?? 0, '/target_kw');
    checkSetPoint(device.bank, targetKw, '/target_kw');
    if (typeof batteryKw === 'number') checkWithin(batteryKw, detail.battery.ratedPowerW, '/battery_kw');
    writeSetPoint(device.bank, by, targetKw * 1000);
    if (batteryKw !== undefined)
      device.command({ kind: 'hybrid.battery', powerW: batteryKw === null ? null : batteryKw * 1000 }, by);
    return hybridReply(ctx, device);
  },
});

export const hybridRoutes: readonly Route[] = [getHybrid, setDispatch, setManual];
