/** Tells the listeners of a station when a limit begins, changes or ends. */
import type { EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import { heldByStation } from './connector.ts';
import type { Connector } from './connector.ts';
import { limitNow, limitWriter } from './limit-now.ts';
import { phaseTraits } from './phases.ts';
import { because, byItself } from './station.ts';
import type { Station } from './station.ts';
import { tell, tellStation } from './tell.ts';

/** Smaller changes are not told, as a share of the maximum power. */
const significant = 0.01;

/** Remembers the limits of now as told. */
export function knowLimits(station: Station): void {
  for (const c of station.connectors) know(station, c);
  station.toldLimit = station.outside.limit;
}

/**
 * Limits count while energy may flow; those of hardware and vehicle count as none.
 * @returns whether this is a change worth telling
 */
function know(station: Station, c: Connector): boolean {
  if (!phaseTraits[c.phase].powered || c.errorCode !== null) {
    c.toldSource = 'none';
    return false;
  }
  // a suspension by command is told as one
  if (heldByStation(c) || c.evHeldByCommand) return false;
  const { limitW, limitSource } = limitNow(station, c);
  const source = limitSource === 'hardware' || limitSource === 'ev' ? 'none' : limitSource;
  const moved = source !== 'none' && Math.abs(limitW - c.toldLimitW) > significant * c.p.maxPowerW;
  if (source === c.toldSource && !moved) return false;
  [c.toldSource, c.toldLimitW] = [source, limitW];
  return true;
}

function differs(now: EvseExternalLimit | null, told: EvseExternalLimit | null, maxPowerW: number): boolean {
  if (now === null || told === null) return now !== told;
  return now.decidedBy !== told.decidedBy || Math.abs(now.limitW - told.limitW) > significant * maxPowerW;
}

/** Compares the limits with what listeners know. Only called while there are listeners. */
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
