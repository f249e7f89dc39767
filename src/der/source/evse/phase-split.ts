import { phasesInUse } from './connector.ts';
import type { Connector } from './connector.ts';

const phases = 3;

/**
 * Power of each supply phase of a three-phase station beyond an even share, W, + out of the source; null: balanced. A
 * single-phase vehicle loads L1 of a three-phase connector; single-phase connectors use the phases in turn.
 */
export function phaseSkew(connectors: readonly Connector[]): readonly [number, number, number] | null {
  let uneven = false;
  for (const c of connectors) if (c.p.type === 'ac' && c.powerW !== 0 && phasesInUse(c) === 1) uneven = true;
  if (!uneven) return null;
  const skew: [number, number, number] = [0, 0, 0];
  for (const c of connectors) {
    if (c.p.type !== 'ac' || phasesInUse(c) !== 1) continue;
    const at = c.p.phases === phases ? 0 : (c.p.connectorId - 1) % phases;
    for (let i = 0; i < phases; i += 1) skew[i] = (skew[i] ?? 0) - c.powerW * ((i === at ? 1 : 0) - 1 / phases);
  }
  return skew;
}
