/** The meter value of a transaction whose meter cannot be read any more. */
import type { MeterValue } from '../messages.ts';
import { stamp } from '../parts.ts';
import type { StationParts } from '../parts.ts';

const measurand = 'Energy.Active.Import.Register';

/** The last known register, where Ended is to have it. */
export function lastValues(
  variables: StationParts['variables'],
  atMs: number,
  energyWh: number,
): readonly MeterValue[] {
  const isAsked =
    variables.boolean('SampledDataCtrlr', 'Enabled') &&
    variables.list('SampledDataCtrlr', 'TxEndedMeasurands').includes(measurand);
  if (!isAsked) return [];
  const value = {
    value: energyWh,
    context: 'Transaction.End',
    measurand,
    location: 'Outlet',
    unitOfMeasure: { unit: 'Wh' },
  } as const;
  return [{ timestamp: stamp(atMs), sampledValue: [value] }];
}
