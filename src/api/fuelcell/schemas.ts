import { memo } from '../../core/memo.ts';
import {
  fuelCellChemistries,
  fuelCellFuels,
  fuelCellOperatingModes,
  fuelCellStates,
  hydrogenTankStates,
} from '../../contract/kinds/fuelcell.ts';
import { z } from '../description/zod.ts';
import { quantity } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

export const fuelCellSchema = memo(() =>
  z
    .strictObject({
      mode: z
        .enum(['FC', 'EL', 'idle'])
        .openapi({ description: '`FC` delivers power; `EL` takes power and produces hydrogen.' }),
      state: z
        .enum(fuelCellStates)
        .openapi({ description: '`transition`: at rest until the dwell between the directions is over.' }),
      chemistry: z.enum(fuelCellChemistries),
      operating_mode: z.enum(fuelCellOperatingModes),
      fuel: z.enum(fuelCellFuels),
      stack_voltage_v: z.number(),
      stack_current_a: z.number().openapi({ description: 'Positive = fuel cell, negative = electrolysis.' }),
      stack_power_kw: z
        .number()
        .openapi({ description: 'Before the consumption of the plant itself; same sign as the current.' }),
      setpoint_kw: quantity(
        'Power of the stack under the set-point in force, whatever its source; null while it is off.',
      ),
      setpoint_ac_kw: quantity('The same at the AC terminals: 704.WSet.'),
      setpoint_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer of its value or enable; null while it is off, or with a default.' }),
      h2_flow_kg_h: z.number().openapi({ description: 'Positive = consumed, negative = produced.' }),
      tank_level_pct: quantity('Null with a continuous supply.'),
      tank_mass_kg: quantity('As `tank_level_pct`.'),
      tank_pressure_bar: quantity('As `tank_level_pct`.'),
      tank_state: z.enum(hydrogenTankStates).nullable(),
      stack_temperature_c: z.number(),
      ramp_limited: z.boolean().openapi({ description: 'The stack is still ramping to the requested power.' }),
      dwell_remaining_s: z.number().openapi({ description: 'Rest until the other direction may start.' }),
      efficiency_pct: z.number().openapi({
        description:
          'Net DC power divided by the lower heating value of the hydrogen, in electrolysis the inverse; 0 at rest.',
      }),
      cell_count: z.int(),
      rated_power_kw: z.number(),
      rated_el_power_kw: z.number().openapi({ description: 'Of the electrolyser; 0 for `fc_only`.' }),
    })
    .openapi('FuelCell'),
);

const power = z.number().nullable().optional();

export const fuelCellSetPointBodySchema = memo(() =>
  z
    .strictObject({
      power_kw: power.openapi({
        description:
          'Power of the stack, positive = fuel cell, negative = electrolysis; at most what the stack has at ' +
          'the largest AC set-point. Null switches the set-point off.',
      }),
      setpoint_kw: power.openapi({ description: 'Same as `power_kw`; give one of the two.' }),
    })
    .refine((body) => (body.power_kw === undefined) !== (body.setpoint_kw === undefined), {
      error: 'exactly one of power_kw, setpoint_kw is required',
    })
    .openapi('FuelCellSetPointRequest', { minProperties: 1, maxProperties: 1 }),
);

export const tankBodySchema = memo(() =>
  z
    .strictObject({
      level_pct: z.number().min(0).max(100),
    })
    .openapi('HydrogenTankRequest'),
);

export const exampleFuelCell = {
  mode: 'FC' as const,
  state: 'fc' as const,
  chemistry: 'PEMFC' as const,
  operating_mode: 'fc_only' as const,
  fuel: 'tank' as const,
  stack_voltage_v: 51.92,
  stack_current_a: 85.9,
  stack_power_kw: 4.461,
  setpoint_kw: 4,
  setpoint_ac_kw: 3.587,
  setpoint_by: exampleWriter,
  h2_flow_kg_h: 0.26,
  tank_level_pct: 80,
  tank_mass_kg: 2.24,
  tank_pressure_bar: 159.5,
  tank_state: 'ok' as const,
  stack_temperature_c: 65,
  ramp_limited: false,
  dwell_remaining_s: 0,
  efficiency_pct: 47.5,
  cell_count: 78,
  rated_power_kw: 5,
  rated_el_power_kw: 0,
};
