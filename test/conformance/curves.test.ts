import { lines } from '../support/conformance/bed.ts';
import { curveProcedures } from './curves.ts';

for (const line of lines) curveProcedures(line);
