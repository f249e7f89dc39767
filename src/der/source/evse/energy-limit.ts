/**
 * The energy that a session may still take from the station; after it the station stops delivering, as by a command. The
 * limit ends with its session, and with a reset of the device.
 */
import type { EvseCommand } from '../../../contract/kinds/evse-commands.ts';
import { badValue } from '../shared.ts';
import { conflict } from './conflict.ts';
import { isUsedUp } from './connector.ts';
import type { Connector } from './connector.ts';
import { negligibleWh } from './flow.ts';
import { cutPower, fire } from './machine.ts';
import { phaseTraits } from './phases.ts';
import type { Station } from './station.ts';

const maxEnergyWh = 1e9;

/** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT */
export function limitEnergy(
  station: Station,
  c: Connector,
  { energyWh }: Extract<EvseCommand, { readonly kind: 'evse.energy_limit' }>,
): void {
  if (energyWh !== null && !(energyWh >= 0 && energyWh <= maxEnergyWh))
    throw badValue('energyWh', energyWh, `0..${maxEnergyWh}, or null`);
  if (!phaseTraits[c.phase].session) throw conflict(c, 'no session is running');
  const before = isUsedUp(c);
  c.energyLeftWh = energyWh === null ? Infinity : energyWh < negligibleWh ? 0 : energyWh;
  c.energyLimitBy = station.trigger.by;
  const after = isUsedUp(c);
  if (before === after) return;
  if (after) cutPower(c);
  const { powered, evseHolds } = phaseTraits[c.phase];
  if (powered && !c.evseHeldByCommand && evseHolds !== after) fire(station, c, after ? 'evse_hold' : 'evse_release');
}
