import { lines } from '../support/conformance/bed.ts';
import { curveEffectProcedures } from './curve-effects.ts';

for (const line of lines) curveEffectProcedures(line);
