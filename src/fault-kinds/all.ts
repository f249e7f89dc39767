/** The whole catalogue of faults. */
import type { FaultKind } from '../core/faults/kinds.ts';
import { deviceEffectFaults } from './device-effect.ts';
import { modbusAcceptanceFaults } from './modbus-acceptance.ts';
import { modbusReadingFaults } from './modbus-reading.ts';
import { modbusStructureFaults } from './modbus-structure.ts';
import { modbusTransportFaults } from './modbus-transport.ts';

/** Every kind, in the order of the catalogue. */
export const faultKinds: readonly FaultKind[] = [
  ...modbusTransportFaults,
  ...modbusAcceptanceFaults,
  ...modbusReadingFaults,
  ...modbusStructureFaults,
  ...deviceEffectFaults,
];
