import { tcp } from '../support/conformance/bed.ts';
import { curveProcedures } from './curves.ts';

curveProcedures(tcp);
