import { tcp } from '../support/conformance/bed.ts';
import { reversionProcedures } from './reversion.ts';

reversionProcedures(tcp, 'PV-3Phase');
reversionProcedures(tcp, 'Batt-3Phase');
