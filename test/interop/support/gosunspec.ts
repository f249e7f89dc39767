/** gosunspec, the SunSpec library of evcc and mbmd. */
import { LinePeer, installedPath } from './peers.ts';

export function startGoSunSpec(modbusPort: number, unit = 1): LinePeer {
  return new LinePeer('gosunspec', installedPath('goSunSpec'), [`127.0.0.1:${modbusPort}`, String(unit)]);
}
