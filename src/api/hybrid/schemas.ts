import { memo } from '../../core/memo.ts';
import { hybridPolicies } from '../../contract/kinds/hybrid.ts';
import { z } from '../description/zod.ts';
import { quantity } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

const policy = z.enum(hybridPolicies);

export const hybridSchema = memo(() =>
  z
    .strictObject({
      policy: policy.openapi({ description: 'How PV power is shared, and what a set-point means.' }),
      bus_voltage_v: z.number(),
      pv: z.strictObject({
        power_kw: z.number(),
        available_kw: z.number().openapi({ description: 'Power that the array could deliver now.' }),
        voltage_v: z.number(),
        current_a: z.number(),
        irradiance_w_m2: z.number(),
        curtailed_kw: z.number().openapi({ description: 'Available power that is not used.' }),
      }),
      battery: z.strictObject({
        power_kw: z.number().openapi({ description: 'At the bus; positive = discharge.' }),
        soc_pct: z.number(),
        soc_min_pct: z.number(),
        soc_max_pct: z.number(),
        mode: z.enum(['charge', 'discharge', 'idle']),
        max_charge_kw: z.number(),
        max_discharge_kw: z.number(),
      }),
      inverter: z.strictObject({
        dc_power_kw: z.number().openapi({ description: 'PV and battery together.' }),
        ac_power_kw: z.number().openapi({ description: '701.W' }),
        reactive_power_kvar: z.number().openapi({ description: '701.Var' }),
        efficiency_pct: quantity('Null at standstill.'),
        rated_kva: z.number().openapi({ description: '702.VAMaxRtg' }),
        target_kw: quantity('Set-point of 704 in force; null while it is off.'),
        limited: z
          .boolean()
          .openapi({ description: 'A function, a rating or a ramp limits the output (701.ThrotSrc).' }),
      }),
      losses_kw: z.number().openapi({ description: 'DC power minus AC power.' }),
      policy_by: writerSchema.nullable().openapi({ description: 'Last writer of the policy; null: as started.' }),
      manual_target_kw: quantity('`target_kw` in policy `manual`, else null.'),
      manual_target_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer of its value or enable; null without a set-point, or with a default.' }),
      manual_battery_kw: quantity('Battery flow pinned in policy `manual`; null: it follows the target.'),
      manual_battery_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer of the fixed battery power; null: none.' }),
    })
    .openapi('HybridDc'),
);

export const hybridDispatchBodySchema = z.strictObject({ policy }).openapi('HybridDispatchRequest');

export const hybridManualBodySchema = memo(() =>
  z
    .strictObject({
      target_kw: z
        .number()
        .openapi({ description: 'AC output of the inverter, within its rating in either direction.' }),
      battery_kw: z.number().nullable().optional().openapi({
        description:
          'Pins the flow of the battery at the bus, positive = discharge; null ends that, absent leaves it as it is.',
      }),
    })
    .openapi('HybridManualRequest'),
);

/** With a target of 6 kW for some seconds. */
export const exampleHybrid = {
  policy: 'manual' as const,
  bus_voltage_v: 800,
  pv: {
    power_kw: 8.588,
    available_kw: 8.588,
    voltage_v: 532.3,
    current_a: 16.13,
    irradiance_w_m2: 973.8,
    curtailed_kw: 0,
  },
  battery: {
    power_kw: -2.344,
    soc_pct: 53,
    soc_min_pct: 10,
    soc_max_pct: 95,
    mode: 'charge' as const,
    max_charge_kw: 10,
    max_discharge_kw: 10,
  },
  inverter: {
    dc_power_kw: 6.244,
    ac_power_kw: 6,
    reactive_power_kvar: 0,
    efficiency_pct: 96.1,
    rated_kva: 15,
    target_kw: 6,
    limited: false,
  },
  losses_kw: 0.244,
  policy_by: exampleWriter,
  manual_target_kw: 6,
  manual_target_by: exampleWriter,
  manual_battery_kw: null,
  manual_battery_by: null,
};
