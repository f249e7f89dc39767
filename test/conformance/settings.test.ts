import { deviceTypes, lines, tcp } from '../support/conformance/bed.ts';
import { settingProcedures } from './settings.ts';

// every kind over TCP, one of them over each other line
for (const line of lines) settingProcedures(line, line === tcp ? deviceTypes : ['PV-3Phase']);
