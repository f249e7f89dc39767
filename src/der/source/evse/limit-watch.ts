/** Reports to the listeners of a station when a limit begins, changes or ends. */
import type { EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import { heldByStation } from './connector.ts';
import type { Connector } from './connector.ts';
import { limitNow, limitWriter } from './limit-now.ts';
import { phaseTraits } from './phases.ts';
import { because, byItself } from './station.ts';
import type { Station } from './station.ts';
import { tell, tellStation } from './tell.ts';

/** Smaller changes are not reported; share of the maximum power. */
const significant = 0.01;

/** Records the present limits as reported. */
export function knowLimits(station: Station): void {
  for (const c of station.connectors) know(station, c);
  station.toldLimit = station.outside.limit;
}

/**
 * Limits count while energy may flow; those of hardware and vehicle count as none.
 * @returns true if the change is worth reporting
 */
function know(station: Station, c: Connector): boolean {
  if (!phaseTraits[c.phase].powered || c.errorCode !== null) {
    c.toldSource = 'none';
    return false;
  }
  // a suspension by command is reported as one
  if (heldByStation(c) || c.evHeldByCommand) return false;
  const { limitW, limitSource } = limitNow(station, c);
  const source = limitSource === 'hardware' || limitSource === 'ev' ? 'none' : limitSource;
  const moved = source !== 'none' && Math.abs(limitW - c.toldLimitW) > significant * c.p.maxPowerW;
  if (source === c.toldSource && !moved) return false;
  [c.toldSource, c.toldLimitW] = [source, limitW];
  return true;
}

function differs(present: EvseExternalLimit | null, reported: EvseExternalLimit | null, maxPowerW: number): boolean {
  if (present === null || reported === null) return present !== reported;
  return (
    present.decidedBy !== reported.decidedBy || Math.abs(present.limitW - reported.limitW) > significant * maxPowerW
  );
}

/** Reports limits that differ from the last report. Only called while there are listeners. */
export function tellLimits(station: Station): void {
  for (const c of station.connectors) {
    const before = c.toldSource;
    if (!know(station, c)) continue;
    const by = limitWriter(station, c, c.toldSource === 'none' ? before : c.toldSource);
    because(station, { by, cause: 'limit' }, () => {
      tell(station, c, 'limit');
    });
  }
  const { limit } = station.outside;
  if (!differs(limit, station.toldLimit, station.p.maxPowerW)) return;
  const by = limit?.writer ?? byItself;
  station.toldLimit = limit;
  because(station, { by, cause: 'limit' }, () => {
    tellStation(station, 'external_limit');
  });
}
