import { lines } from '../support/conformance/bed.ts';
import { addressProcedures, interfaceProcedures } from './interface.ts';

for (const line of lines) {
  interfaceProcedures(line);
  if (line.framing === 'rtu') addressProcedures(line);
}
