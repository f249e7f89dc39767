/** The whole catalogue of faults. */
import type { FaultKind } from '../core/faults/kinds.ts';
import { protocolFaults } from './protocols.ts';

/** Every kind in the order of the catalogue. */
export const faultKinds: readonly FaultKind[] = protocolFaults.flatMap(({ kinds }) => kinds);
