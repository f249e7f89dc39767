import { phasesInUse } from './connector.ts';
import type { Connector } from './connector.ts';

const phases = 3;
const negligibleW = 1e-6;

/**
 * Part of each supply phase in the power of a three-phase station, or null where all carry the same. A single-phase
 * vehicle loads L1 of a three-phase connector; single-phase connectors take the phases in turn.
 */
export function phaseSplit(connectors: readonly Connector[], totalW: number): readonly [number, number, number] | null {
  let uneven = false;
  for (const c of connectors) if (c.p.type === 'ac' && c.powerW !== 0 && phasesInUse(c) === 1) uneven = true;
  if (!uneven || Math.abs(totalW) < negligibleW) return null;
  const onPhase: [number, number, number] = [0, 0, 0];
  let oneSidedW = 0;
  for (const c of connectors) {
    if (c.p.type !== 'ac' || phasesInUse(c) !== 1) continue;
    const at = c.p.phases === phases ? 0 : (c.p.connectorId - 1) % phases;
    onPhase[at] = (onPhase[at] ?? 0) + c.powerW;
    oneSidedW += c.powerW;
  }
  const [a, b, c] = onPhase;
  const evenW = (totalW - oneSidedW) / phases;
  return [(a + evenW) / totalW, (b + evenW) / totalW, (c + evenW) / totalW];
}
