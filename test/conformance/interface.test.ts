import { lines } from '../support/conformance/bed.ts';
import { addressProcedures, interfaceProcedures } from './interface.ts';

// with the models over every line; test/interop/conformance-lines.test.ts adds the procedures that take long
for (const line of lines) {
  interfaceProcedures(line);
  if (line.framing === 'rtu') addressProcedures(line);
}
