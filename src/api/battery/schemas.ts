import { memo } from '../../core/memo.ts';
import { batteryChemistries, batteryControlModes } from '../../contract/kinds/battery.ts';
import { z } from '../description/zod.ts';
import { deviceParam, quantity } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

export const batteryDetails = ['bank', 'strings', 'modules', 'cells'] as const;
export type BatteryDetailLevel = (typeof batteryDetails)[number];

export const batteryQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  detail: z
    .enum(batteryDetails)
    .optional()
    .openapi({ param: { name: 'detail' }, description: 'Deepest level in the answer; default `cells`.' }),
});

const index = z.int().min(0).openapi({ description: '0-based.' });
const contactor = z.enum(['open', 'closed']);

const cellSchema = memo(() =>
  z
    .strictObject({
      index,
      voltage_v: z.number(),
      temperature_c: z.number(),
      balancing: z.boolean().openapi({ description: 'The balancing resistor draws from this cell.' }),
    })
    .openapi('BatteryCell'),
);

const moduleSchema = memo(() =>
  z
    .strictObject({
      index,
      soc_pct: z.number(),
      soh_pct: z.number(),
      voltage_v: z.number(),
      cell_voltage_max_v: z.number(),
      cell_voltage_min_v: z.number(),
      temperature_min_c: z.number(),
      temperature_max_c: z.number(),
      cells: z.array(cellSchema()).optional().openapi({ description: 'With `detail=cells`.' }),
    })
    .openapi('BatteryModule'),
);

const stringSchema = memo(() =>
  z
    .strictObject({
      index,
      contactor: contactor.openapi({ description: '`open` also while it pre-charges before closing.' }),
      soc_pct: z.number(),
      soh_pct: z.number(),
      voltage_v: z.number(),
      current_a: z.number().openapi({ description: 'Positive = discharge.' }),
      cell_voltage_avg_v: z.number(),
      cell_voltage_min_v: z.number(),
      cell_voltage_max_v: z.number(),
      temperature_c: z.number(),
      modules: z.array(moduleSchema()).optional().openapi({ description: 'With `detail` `modules` and `cells`.' }),
    })
    .openapi('BatteryString'),
);

const bank = {
  soc_pct: z
    .number()
    .openapi({ description: '713.SoC, 802.SoC: of the closed strings, or of all when none is closed.' }),
  true_soc_pct: z
    .number()
    .openapi({ description: 'Of the cells, without the drift of the reported one; not rounded.' }),
  soh_pct: z.number(),
  mode: z.enum(['charge', 'discharge', 'idle']).openapi({
    description: 'What the battery did in the last tick, by the sign of its power; a command shows with the next one.',
  }),
  control: z.enum(['auto', 'forced']).openapi({ description: '`auto`: set-points and functions decide.' }),
  power_kw: z.number().openapi({ description: '802.W, DC; positive = discharge.' }),
  dc_voltage_v: z.number().openapi({ description: '802.V; 0 while no string is closed.' }),
  dc_current_a: z.number(),
  chemistry: z.enum(batteryChemistries),
  capacity_kwh: z.number(),
  energy_available_kwh: z.number(),
  max_charge_kw: z
    .number()
    .openapi({ description: 'Present limit at the DC terminals, a magnitude: the battery, and 702 below its rating.' }),
  max_discharge_kw: z.number(),
  soc_min_pct: z.number(),
  soc_max_pct: z.number(),
  soc_reserve_min_pct: quantity('802.SoCRsvMin'),
  soc_reserve_max_pct: quantity('802.SocRsvMax'),
  temperature_c: z.number(),
  cell_voltage_min_v: z.number(),
  cell_voltage_max_v: z.number(),
  cell_voltage_avg_v: z.number(),
  cycle_count: z.number().openapi({ description: '802.NCyc: equivalent full cycles.' }),
  energy_charged_wh: z.number(),
  energy_discharged_wh: z.number(),
  state: z
    .enum(['disconnected', 'initializing', 'connected', 'standby', 'soc_protection', 'suspending', 'fault'])
    .openapi({ description: '802.State' }),
  inhibit: z
    .enum(['none', 'soc_floor', 'soc_ceiling', 'temperature'])
    .openapi({ description: 'Reason why the battery cannot charge or discharge.' }),
};

export const batterySchema = memo(() =>
  z
    .strictObject({
      ...bank,
      strings: z.array(stringSchema()).optional().openapi({ description: 'Not with `detail=bank`.' }),
    })
    .openapi('Battery'),
);

export const batteryControlSchema = memo(() =>
  z
    .strictObject({
      ...bank,
      requested_mode: z
        .enum(batteryControlModes)
        .openapi({ description: 'Mode that was commanded, from the command on; `auto`: nothing is forced.' }),
      requested_power_kw: quantity('Magnitude that the forced mode was given; null: nothing is forced.'),
      clamped_power_kw: quantity('The same within the present limits.'),
      remaining_s: quantity('Simulated time until control returns to `auto`; null: without end, or nothing is forced.'),
      forced_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer of mode, power or duration; null: nothing is forced.' }),
    })
    .openapi('BatteryControl'),
);

const controlMembers = {
  mode: z
    .enum(batteryControlModes)
    .optional()
    .openapi({ description: '`auto` returns control to set-points and functions.' }),
  power_kw: z.number().min(0).max(1e6).optional().openapi({
    description:
      'Magnitude at the DC terminals, clamped to what the battery can do; default the rating. Not with `auto`, for `idle` 0 at most.',
  }),
  soc_pct: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .openapi({ description: 'Sets the state of charge at once, cells included.' }),
  duration_s: z
    .number()
    .gt(0)
    .max(1e8)
    .nullable()
    .optional()
    .openapi({ description: 'Simulated time, then `auto`; null: without end. No time with `auto`.' }),
  strings: z
    .array(z.strictObject({ index, contactor }))
    .min(1)
    .max(1000)
    .optional()
    .openapi({ description: 'Opens or closes strings; a string closes when its voltage is near that of the bus.' }),
};

export const batteryControlBodySchema = memo(() =>
  z
    .strictObject(controlMembers)
    .refine((body) => Object.values(body).some((value) => value !== undefined), {
      error: `at least one of ${Object.keys(controlMembers).join(', ')} is required`,
    })
    .refine(
      ({ mode, power_kw: powerKw }) => powerKw === undefined || (mode !== 'auto' && !(mode === 'idle' && powerKw > 0)),
      {
        path: ['power_kw'],
        error: 'modes `auto` and `idle` have no power; allowed with `charge` and `discharge`',
      },
    )
    .refine(({ mode, duration_s: durationS }) => mode !== 'auto' || typeof durationS !== 'number', {
      path: ['duration_s'],
      error: 'mode `auto` has no end; allowed with `charge`, `discharge` and `idle`',
    })
    .openapi('BatteryControlRequest', { minProperties: 1 }),
);

export type BatteryReply = z.output<ReturnType<typeof batterySchema>>;
export type BatteryBankReply = Omit<z.output<ReturnType<typeof batterySchema>>, 'strings'>;
export type BatteryStringReply = z.output<ReturnType<typeof stringSchema>>;
export type BatteryControlBody = z.output<ReturnType<typeof batteryControlBodySchema>>;

const exampleBank = {
  soc_pct: 50,
  true_soc_pct: 50,
  soh_pct: 100,
  mode: 'idle' as const,
  control: 'forced' as const,
  power_kw: 0,
  dc_voltage_v: 240,
  dc_current_a: 0,
  chemistry: 'nmc' as const,
  capacity_kwh: 15,
  energy_available_kwh: 7.5,
  max_charge_kw: 10.5,
  max_discharge_kw: 10.5,
  soc_min_pct: 10,
  soc_max_pct: 90,
  soc_reserve_min_pct: 10,
  soc_reserve_max_pct: 90,
  temperature_c: 20,
  cell_voltage_min_v: 3.745,
  cell_voltage_max_v: 3.758,
  cell_voltage_avg_v: 3.751,
  cycle_count: 0,
  energy_charged_wh: 0,
  energy_discharged_wh: 0,
  state: 'standby' as const,
  inhibit: 'none' as const,
};
/** Directly after the request: the power follows with the next tick. */
export const exampleBatteryControl = {
  ...exampleBank,
  requested_mode: 'discharge' as const,
  requested_power_kw: 5,
  clamped_power_kw: 5,
  remaining_s: 600,
  forced_by: exampleWriter,
};
export const exampleBattery = {
  ...exampleBank,
  control: 'auto' as const,
  strings: [
    {
      index: 0,
      contactor: 'closed' as const,
      soc_pct: 50,
      soh_pct: 100,
      voltage_v: 240.05,
      current_a: -0.014,
      cell_voltage_avg_v: 3.7508,
      cell_voltage_min_v: 3.7449,
      cell_voltage_max_v: 3.7577,
      temperature_c: 20,
      modules: [
        {
          index: 0,
          soc_pct: 50.1,
          soh_pct: 100,
          voltage_v: 60.02,
          cell_voltage_max_v: 3.7577,
          cell_voltage_min_v: 3.7475,
          temperature_min_c: 19.21,
          temperature_max_c: 20.43,
          cells: [
            { index: 0, voltage_v: 3.7564, temperature_c: 19.21, balancing: false },
            { index: 1, voltage_v: 3.7479, temperature_c: 20.16, balancing: false },
          ],
        },
      ],
    },
  ],
};
