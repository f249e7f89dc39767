import { lines, tcp } from '../support/conformance/bed.ts';
import { reversionProcedures } from './reversion.ts';

for (const line of lines) reversionProcedures(line, 'PV-3Phase');
reversionProcedures(tcp, 'Batt-3Phase');
