import { tcp } from '../support/conformance/bed.ts';
import { curveEffectProcedures } from './curve-effects.ts';

curveEffectProcedures(tcp);
