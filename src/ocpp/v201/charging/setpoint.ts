/** The set-point of the charging profiles in force at an EVSE, for what its meters show. */
import type { ChargingControl } from '../../charging/control.ts';
import { inUnit } from '../../charging/composite.ts';
import { limitAt } from '../../charging/limits.ts';
import type { StationPort } from '../../station/port.ts';

/** + into the vehicle, W at nominal voltage; null: the profiles have none */
export function setpointWAt(
  { ratings }: Pick<StationPort, 'ratings'>,
  { state, nowMs }: Pick<ChargingControl, 'state' | 'nowMs'>,
  evseId: number,
): number | null {
  const rating = ratings.find(({ connectorId }) => connectorId === evseId);
  if (rating === undefined) return null;
  const { setpointW = null, setpointA = null, numberPhases } = limitAt(state, evseId, nowMs);
  return inUnit({ limitW: setpointW, limitA: setpointA, numberPhases }, 'W', rating);
}
