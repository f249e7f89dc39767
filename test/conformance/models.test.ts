import { deviceTypes, lines, tcp } from '../support/conformance/bed.ts';
import { modelProcedures } from './models.ts';

// every kind over TCP, one of them over each other line
for (const line of lines) modelProcedures(line, line === tcp ? deviceTypes : ['PV-3Phase']);
