/** Fuel cells: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import type { Device } from '../contract/device.ts';
import {
  fuelCellChemistries,
  fuelCellFuels,
  fuelCellOperatingModes,
  fuelCellStates,
  hydrogenTankStates,
} from '../contract/kinds/fuelcell.ts';
import type { FuelCellDetail } from '../contract/kinds/fuelcell.ts';
import { detailOf, stateOperations } from './common/device-replies.ts';
import type { OfDevice } from './common/device-replies.ts';
import { flag, integer, members, number, word, inKilo, measured } from './common/members.ts';
import { setPointKw, setPointWriter, endSetPoint, setPointRangeW, writeSetPoint } from './common/points.ts';
import { writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import { invalid } from './http/errors.ts';
import type { Route } from './http/route.ts';

/** Power of the stack at the set-point in force, kW, rounded to 1 W; null while the set-point is off. */
function stackSetPointKw({ bank, stackPower }: Device): number | null {
  const acKw = setPointKw(bank);
  return acKw === null || !stackPower ? acKw : Math.round(stackPower.stackW(acKw * 1000)) / 1000;
}

const fuelCell = members<FuelCellDetail, OfDevice>()('FuelCell', () => ({
  mode: word(['FC', 'EL', 'idle'])('`FC` delivers power; `EL` absorbs power and produces hydrogen.'),
  state: word(fuelCellStates)('`transition`: at rest until the dwell between the directions is over.'),
  chemistry: word(fuelCellChemistries)(),
  operating_mode: word(fuelCellOperatingModes)(),
  fuel: word(fuelCellFuels)(),
  stack_voltage_v: measured(),
  stack_current_a: measured('Positive = fuel cell, negative = electrolysis.'),
  stack_power_kw: inKilo(
    'Power of the stack before the consumption of the plant itself; same sign as the current.',
    ({ stackPowerW }) => stackPowerW,
  ),
  setpoint_kw: number.orNull(
    'Power of the stack under the set-point in force, whatever its source; null while the set-point is off.',
    (_of, { device }) => stackSetPointKw(device),
  ),
  setpoint_ac_kw: number.orNull('`setpoint_kw` at the AC terminals: 704.WSet.', (_of, { device }) =>
    setPointKw(device.bank),
  ),
  setpoint_by: writer.orNull(
    'Last writer of its value, mode or enable; null while it is off, or if none of them was written.',
    (_of, { device }) => setPointWriter(device.bank),
  ),
  h2_flow_kg_h: measured('Positive = consumed, negative = produced.'),
  tank_level_pct: measured.orNull('Null with a continuous supply.'),
  tank_mass_kg: measured.orNull('Null with a continuous supply.'),
  tank_pressure_bar: measured.orNull('Null with a continuous supply.'),
  tank_state: word(hydrogenTankStates).orNull(),
  stack_temperature_c: measured(),
  ramp_limited: flag('The stack is still ramping to the requested power.'),
  dwell_remaining_s: measured('Rest until the other direction may start.'),
  efficiency_pct: measured(
    'Net DC power divided by the lower heating value of the hydrogen, in electrolysis the inverse; 0 at rest.',
  ),
  cell_count: integer(),
  rated_power_kw: inKilo(({ ratedPowerW }) => ratedPowerW),
  rated_el_power_kw: inKilo('Rating of the electrolyser; 0 for `fc_only`.', ({ ratedElPowerW }) => ratedElPowerW),
}));

const power = z.number().nullable().optional();

const fuelCellSetPointBodySchema = memo(() =>
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

const tankBodySchema = memo(() =>
  z
    .strictObject({
      level_pct: z.number().min(0).max(100),
    })
    .openapi('HydrogenTankRequest'),
);

/** Text of a range in kW, rounded to 1 W. */
const range = (minW: number, maxW: number) => `${Math.round(minW) / 1000} to ${Math.round(maxW) / 1000} kW`;

/** Tolerance: set-points in registers and replies are rounded to 1 W, and a client may send back a value that it has read. */
const slackW = 0.5;

/**
 * The AC set-point for a power of the stack, W. The range of the stack follows from the range of the AC set-point:
 * consumption of the plant and losses of the inverter make it wider for the fuel cell and narrower for the electrolyser.
 * @throws HttpProblem `validation`
 */
function acSetPointW(device: Device, { operatingMode }: FuelCellDetail, powerKw: number, pointer: string): number {
  const powerW = powerKw * 1000;
  const acRange = setPointRangeW(device.bank);
  const { stackPower } = device;
  if (!stackPower) return powerW;
  const minW = Math.min(0, stackPower.stackW(acRange.minW));
  const maxW = Math.max(0, stackPower.stackW(acRange.maxW));
  if (powerW < 0 && operatingMode === 'fc_only') {
    const text = `given ${powerKw} kW; this plant has no electrolyser, and its stack takes ${range(0, maxW)}`;
    throw invalid('body', pointer, text);
  }
  if (powerW < minW - slackW || powerW > maxW + slackW) {
    const text = `given ${powerKw} kW; the settings of the device allow ${range(minW, maxW)} at the stack (702.WChaRteMax, 702.WMax)`;
    throw invalid('body', pointer, text);
  }
  const acW = Math.max(acRange.minW, Math.min(acRange.maxW, stackPower.acW(powerW)));
  // a stack power of half a watt or more must not round to an AC set-point of 0
  if (Math.abs(powerW) >= slackW && Math.abs(acW) < slackW) {
    const text = `given ${powerKw} kW; the plant consumes this itself, and nothing would be left at the AC terminals`;
    throw invalid('body', pointer, text);
  }
  return acW;
}

const fuelCells = stateOperations('Fuel Cell', fuelCell, (device) => detailOf(device, 'fuelcell'), ['not-applicable']);

export const fuelCellRoutes: readonly Route[] = [
  fuelCells.get({
    path: '/fuelcell',
    operationId: 'get_fuel_cell',
    summary: 'Stack, hydrogen and tank of a fuel cell',
  }),
  fuelCells.post({
    path: '/fuelcell/setpoint',
    operationId: 'set_fuel_cell_setpoint',
    summary: 'Sets the power of the stack of a fuel cell or electrolyser',
    description:
      'Writes the AC power at which the stack has this power as set-point of model 704 (`WSetMod`, `WSet`, `WSetEna`) in ' +
      'one commit; `registers/704` and `grid-support/active-power` accept the AC power itself. ' +
      'A change of direction waits for the dwell time.',
    body: fuelCellSetPointBodySchema,
    problems: ['disabled'],
    change(device, body, by, detail) {
      const [powerKw, pointer] =
        body.power_kw === undefined ? [body.setpoint_kw ?? null, '/setpoint_kw'] : [body.power_kw, '/power_kw'];
      if (powerKw === null) endSetPoint(device.bank, by);
      else writeSetPoint(device.bank, by, acSetPointW(device, detail, powerKw, pointer));
    },
  }),
  fuelCells.post({
    path: '/fuelcell/tank',
    operationId: 'set_fuel_cell_tank',
    summary: 'Sets the level of the hydrogen tank at once',
    description: 'A plant with a continuous supply has no tank and answers `not-applicable`.',
    body: tankBodySchema,
    change(device, body, by) {
      device.command({ kind: 'fuelcell.tank', levelPct: body.level_pct }, by);
    },
  }),
];
