/** Fuel cells: members of replies and requests. */
import type { Device } from '../../contract/device.ts';
import {
  fuelCellChemistries,
  fuelCellFuels,
  fuelCellOperatingModes,
  fuelCellStates,
  hydrogenTankStates,
} from '../../contract/kinds/fuelcell.ts';
import type { FuelCellDetail } from '../../contract/kinds/fuelcell.ts';
import { memo } from '../../core/lazy.ts';
import { inKilo, measured } from '../common/kind-replies.ts';
import type { OfDevice } from '../common/kind-replies.ts';
import { flag, integer, members, number, word } from '../common/members.ts';
import { setPointKw, setPointWriter } from '../common/set-point.ts';
import { writer } from '../common/writer-replies.ts';
import { z } from '../description/zod.ts';

/** The set-point in force as power of the stack, to the watt; null while it is off. */
function stackSetPointKw({ bank, stackPower }: Device): number | null {
  const acKw = setPointKw(bank);
  return acKw === null || !stackPower ? acKw : Math.round(stackPower.stackW(acKw * 1000)) / 1000;
}

export const fuelCell = members<FuelCellDetail, OfDevice>()('FuelCell', () => ({
  mode: word(['FC', 'EL', 'idle'])('`FC` delivers power; `EL` takes power and produces hydrogen.'),
  state: word(fuelCellStates)('`transition`: at rest until the dwell between the directions is over.'),
  chemistry: word(fuelCellChemistries)(),
  operating_mode: word(fuelCellOperatingModes)(),
  fuel: word(fuelCellFuels)(),
  stack_voltage_v: measured(),
  stack_current_a: measured('Positive = fuel cell, negative = electrolysis.'),
  stack_power_kw: inKilo(
    'Before the consumption of the plant itself; same sign as the current.',
    ({ stackPowerW }) => stackPowerW,
  ),
  setpoint_kw: number.orNull(
    'Power of the stack under the set-point in force, whatever its source; null while it is off.',
    (_of, { device }) => stackSetPointKw(device),
  ),
  setpoint_ac_kw: number.orNull('The same at the AC terminals: 704.WSet.', (_of, { device }) =>
    setPointKw(device.bank),
  ),
  setpoint_by: writer.orNull(
    'Last writer of its value or enable; null while it is off, or with a default.',
    (_of, { device }) => setPointWriter(device.bank),
  ),
  h2_flow_kg_h: measured('Positive = consumed, negative = produced.'),
  tank_level_pct: measured.orNull('Null with a continuous supply.'),
  tank_mass_kg: measured.orNull('As `tank_level_pct`.'),
  tank_pressure_bar: measured.orNull('As `tank_level_pct`.'),
  tank_state: word(hydrogenTankStates).orNull(),
  stack_temperature_c: measured(),
  ramp_limited: flag('The stack is still ramping to the requested power.'),
  dwell_remaining_s: measured('Rest until the other direction may start.'),
  efficiency_pct: measured(
    'Net DC power divided by the lower heating value of the hydrogen, in electrolysis the inverse; 0 at rest.',
  ),
  cell_count: integer(),
  rated_power_kw: inKilo(({ ratedPowerW }) => ratedPowerW),
  rated_el_power_kw: inKilo('Of the electrolyser; 0 for `fc_only`.', ({ ratedElPowerW }) => ratedElPowerW),
}));

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
