/** DC-coupled hybrids: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { pointNumber } from '../sunspec/map/bank.ts';
import { hybridPolicies } from '../contract/kinds/hybrid.ts';
import type { HybridDetail } from '../contract/kinds/hybrid.ts';
import { point } from './battery.ts';
import { detailOf, stateOperations } from './common/device-replies.ts';
import type { OfDevice } from './common/device-replies.ts';
import { flag, members, nested, number, word, inKilo, measured, rounded } from './common/members.ts';
import {
  pointBits,
  setPointKw,
  setPointWriter,
  checkSetPoint,
  endSetPoint,
  isSetPointOurs,
  setPointRangeW,
  writeSetPoint,
} from './common/points.ts';
import { overrideOf, writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import { HttpProblem, invalid } from './http/errors.ts';
import type { Route } from './http/route.ts';

const pv = members<HybridDetail>()(null, () => ({
  power_kw: inKilo((of) => of.pv.powerW),
  available_kw: inKilo('Power that the array could deliver now.', (of) => of.pv.availableW),
  voltage_v: measured((of) => of.pv.voltageV),
  current_a: measured((of) => of.pv.currentA),
  irradiance_w_m2: measured((of) => of.pv.irradianceWm2),
  curtailed_kw: inKilo('Available power that is not used.', ({ curtailedW }) => curtailedW),
}));

const storage = members<HybridDetail, OfDevice>()(null, () => ({
  power_kw: inKilo('Power at the bus; positive = discharge.', ({ batteryPowerW }) => batteryPowerW),
  soc_pct: point(713, 'SoC')(({ battery }) => battery.socPct),
  soc_min_pct: point(802, 'SoCMin')(({ battery }) => battery.socMinPct),
  soc_max_pct: point(802, 'SoCMax')(({ battery }) => battery.socMaxPct),
  mode: word(['charge', 'discharge', 'idle'])(({ battery }) => battery.mode),
  max_charge_kw: inKilo(({ battery }) => battery.maxChargeW),
  max_discharge_kw: inKilo(({ battery }) => battery.maxDischargeW),
}));

const acW = ({ device }: OfDevice) => pointNumber(device.bank, 701, 'W') ?? 0;

/** Output of the inverter divided by its input, in either direction; null at standstill. */
function efficiencyPct(dcW: number, outW: number): number | null {
  if (dcW > 0 && outW > 0) return rounded(Math.min(100, (100 * outW) / dcW));
  // 701.W is rounded to its register: near zero power the ratio could exceed 1
  return dcW < 0 && outW < 0 ? rounded(Math.min(100, (100 * dcW) / outW)) : null;
}

const inverter = members<HybridDetail, OfDevice>()(null, () => ({
  dc_power_kw: inKilo('Power of PV and battery together.', ({ dcPowerW }) => dcPowerW),
  ac_power_kw: inKilo('701.W', (_of, context) => acW(context)),
  reactive_power_kvar: inKilo('701.Var', (_of, { device }) => pointNumber(device.bank, 701, 'Var') ?? 0),
  efficiency_pct: number.orNull('Null at standstill.', ({ dcPowerW }, context) =>
    efficiencyPct(dcPowerW, acW(context)),
  ),
  rated_kva: inKilo('702.VAMaxRtg', (_of, { device }) => pointNumber(device.bank, 702, 'VAMaxRtg') ?? 0),
  target_kw: number.orNull('Set-point of 704 in force; null while the set-point is off.', (_of, { device }) =>
    setPointKw(device.bank),
  ),
  limited: flag(
    'A function, a ramp, the apparent power, a cessation or the connection point limits the output (701.ThrotSrc).',
    (_of, { device }) => pointBits(device.bank, 701, 'ThrotSrc').length > 0,
  ),
}));

const hybrid = members<HybridDetail, OfDevice>()('HybridDc', () => ({
  policy: word(hybridPolicies)('How PV power is shared, and what a set-point means.'),
  bus_voltage_v: measured(),
  pv: nested(pv)((of) => of),
  battery: nested(storage)((of) => of),
  inverter: nested(inverter)((of) => of),
  losses_kw: inKilo('DC power minus AC power.', ({ dcPowerW }, context) => dcPowerW - acW(context)),
  policy_by: writer.orNull('Last writer of the policy; null: as started.', (_of, { device }) =>
    overrideOf(device, 'hybrid_policy'),
  ),
  manual_target_kw: number.orNull('`target_kw` in policy `manual`, else null.', ({ policy }, { device }) =>
    policy === 'manual' ? setPointKw(device.bank) : null,
  ),
  manual_target_by: writer.orNull(
    'Last writer of the target, its mode or its enable; null in other policies, without a set-point, or with start values only.',
    ({ policy }, { device }) => (policy === 'manual' ? setPointWriter(device.bank) : null),
  ),
  manual_battery_kw: inKilo.orNull(
    'Fixed battery power at the bus in policy `manual`; null: the battery follows the target.',
    ({ manualBatteryW }) => manualBatteryW,
  ),
  manual_battery_by: writer.orNull(
    'Last writer of the fixed battery power; null: none.',
    ({ manualBatteryW }, { device }) => (manualBatteryW === null ? null : overrideOf(device, 'hybrid_battery')),
  ),
}));

const hybridDispatchBodySchema = z.strictObject({ policy: z.enum(hybridPolicies) }).openapi('HybridDispatchRequest');

const hybridManualBodySchema = memo(() =>
  z
    .strictObject({
      target_kw: z
        .number()
        .openapi({ description: 'AC output of the inverter, within its rating in either direction.' }),
      battery_kw: z.number().nullable().optional().openapi({
        description:
          'Pins the flow of the battery at the bus, positive = discharge; null releases the flow; absent: unchanged.',
      }),
    })
    .openapi('HybridManualRequest'),
);

/** @throws HttpProblem `validation` */
function checkWithin(givenKw: number, ratedW: number, pointer: string): void {
  if (Math.abs(givenKw * 1000) <= ratedW) return;
  throw invalid('body', pointer, `given ${givenKw} kW; the rating allows ${-ratedW / 1000} to ${ratedW / 1000} kW`);
}

const hybrids = stateOperations('Hybrid DC', hybrid, (device) => detailOf(device, 'hybrid-dc'), ['not-applicable']);

export const hybridRoutes: readonly Route[] = [
  hybrids.get({
    path: '/hybrid-dc',
    operationId: 'get_hybrid_dc',
    summary: 'Power flows and dispatch of a DC-coupled hybrid',
  }),
  hybrids.post({
    path: '/hybrid-dc/dispatch',
    operationId: 'set_hybrid_dispatch',
    summary: 'Changes the dispatch policy',
    description:
      'Entering `manual` keeps the present output as target: it is written to the set-point of model 704. Leaving it ' +
      'switches the set-point off, unless another interface was the last to write its enable.',
    body: hybridDispatchBodySchema,
    problems: ['disabled'],
    change(device, body, by, { policy }) {
      const { bank } = device;
      if (policy === body.policy) return;
      // registers first: they may refuse, the policy cannot
      if (body.policy === 'manual') {
        const { minW, maxW } = setPointRangeW(bank);
        writeSetPoint(bank, by, Math.min(Math.max(pointNumber(bank, 701, 'W') ?? 0, minW), maxW));
      } else if (policy === 'manual' && setPointKw(bank) !== null && isSetPointOurs(bank)) endSetPoint(bank, by);
      device.command({ kind: 'hybrid.policy', policy: body.policy }, by);
    },
  }),
  hybrids.post({
    path: '/hybrid-dc/manual',
    operationId: 'set_hybrid_manual',
    summary: 'Sets the target of policy manual, and the flow of the battery',
    description: 'Writes the set-point of active power of model 704. Outside policy `manual` the answer is `conflict`.',
    body: hybridManualBodySchema,
    problems: ['conflict', 'disabled'],
    change(device, body, by, detail) {
      const { target_kw: targetKw, battery_kw: batteryKw } = body;
      if (detail.policy !== 'manual') {
        throw new HttpProblem(
          'conflict',
          `The dispatch policy is ${detail.policy}; a target is accepted in policy manual only (POST hybrid-dc/dispatch).`,
        );
      }
      checkWithin(targetKw, pointNumber(device.bank, 702, 'WMaxRtg') ?? 0, '/target_kw');
      checkSetPoint(device.bank, targetKw, '/target_kw');
      if (typeof batteryKw === 'number') checkWithin(batteryKw, detail.battery.ratedPowerW, '/battery_kw');
      writeSetPoint(device.bank, by, targetKw * 1000);
      if (batteryKw !== undefined)
        device.command({ kind: 'hybrid.battery', powerW: batteryKw === null ? null : batteryKw * 1000 }, by);
    },
  }),
];
