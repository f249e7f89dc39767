/** The models of meters, whole numbers first, then floating point. Devices serve none of them. */
import type { ModelDef } from '../map/types.ts';
import { m201 } from './m201.ts';
import { m202 } from './m202.ts';
import { m203 } from './m203.ts';
import { m204 } from './m204.ts';
import { m211 } from './m211.ts';
import { m212 } from './m212.ts';
import { m213 } from './m213.ts';
import { m214 } from './m214.ts';

export const meterModels = [m201, m202, m203, m204, m211, m212, m213, m214] as const satisfies readonly ModelDef[];
