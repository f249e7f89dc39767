import { z } from 'zod';
import type { Issue } from '../../../core/errors.ts';
import { hybridPolicies } from '../../../contract/kinds/hybrid.ts';
import type { HybridParameters } from '../../../contract/kinds/hybrid.ts';

const size = z.number().min(1).max(1e9);
const percent = z.number().min(0).max(100);

export const hybridSchema = z
  .strictObject({
    policy: z
      .enum(hybridPolicies)
      .optional()
      .meta({ description: 'Dispatch policy at start; default self_consumption.' }),
    pv_w: size.optional().meta({ description: 'PV module power on the DC bus, W; default 10000.' }),
    battery_w: size
      .optional()
      .meta({ description: 'DC rating of the battery, charge and discharge, W; default 10000.' }),
    battery_wh: size.optional().meta({ description: 'Capacity of the battery, Wh; default 1.5 hours of battery_w.' }),
    charge_from_grid: z
      .boolean()
      .optional()
      .meta({ description: 'True: the battery may charge through the inverter; default true.' }),
    soc_min_pct: percent.optional().meta({ description: 'State of charge at which discharging stops, %; default 10.' }),
    soc_max_pct: percent.optional().meta({ description: 'State of charge at which charging stops, %; default 95.' }),
    bus_voltage_v: z
      .number()
      .min(50)
      .max(3000)
      .optional()
      .meta({ description: 'Voltage of the DC bus, V; default 800, or 1100 from 100 kW up.' }),
  })
  .meta({ description: 'PV array and battery on one DC bus; model 702 rates the inverter.' });

export type HybridInput = z.infer<typeof hybridSchema>;

const largeW = 100_000;

/**
 * Fills in the defaults of the block.
 * @param ratedW of the inverter, W
 * @param where prefix of the key in an issue
 * @param issues receives errors across members
 */
export function resolveHybrid(input: HybridInput, ratedW: number, where: string, issues: Issue[]): HybridParameters {
  const batteryW = input.battery_w ?? 10_000;
  const socMinPct = input.soc_min_pct ?? 10;
  const socMaxPct = input.soc_max_pct ?? 95;
  if (socMinPct >= socMaxPct) {
    // named after the member that was given: the other one may be a default
    const [member, given, rule] =
      input.soc_min_pct === undefined
        ? (['soc_max_pct', socMaxPct, `above soc_min_pct, which is ${socMinPct}`] as const)
        : (['soc_min_pct', socMinPct, `below soc_max_pct, which is ${socMaxPct}`] as const);
    issues.push({ name: `${where}: hybrid.${member}`, detail: `given ${given}; allowed: ${rule}` });
  }
  return {
    policy: input.policy ?? 'self_consumption',
    pvW: input.pv_w ?? 10_000,
    batteryW,
    batteryWh: input.battery_wh ?? 1.5 * batteryW,
    chargeFromGrid: input.charge_from_grid ?? true,
    socMinPct,
    socMaxPct,
    busVoltageV: input.bus_voltage_v ?? (ratedW < largeW ? 800 : 1100),
  };
}
