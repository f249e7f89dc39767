/** The models that devices serve, in the order of their maps. Lists and types of "every model" derive from here. */
import type { ModelDef } from '../map/types.ts';
import { m1 } from './m001.ts';
import { m101 } from './m101.ts';
import { m102 } from './m102.ts';
import { m103 } from './m103.ts';
import { m111 } from './m111.ts';
import { m112 } from './m112.ts';
import { m113 } from './m113.ts';
import { m120 } from './m120.ts';
import { m121 } from './m121.ts';
import { m122 } from './m122.ts';
import { m123 } from './m123.ts';
import { m124 } from './m124.ts';
import { m160 } from './m160.ts';
import { m701 } from './m701.ts';
import { m702 } from './m702.ts';
import { m703 } from './m703.ts';
import { m704 } from './m704.ts';
import { m705 } from './m705.ts';
import { m706 } from './m706.ts';
import { m707 } from './m707.ts';
import { m708 } from './m708.ts';
import { m709 } from './m709.ts';
import { m710 } from './m710.ts';
import { m711 } from './m711.ts';
import { m712 } from './m712.ts';
import { m713 } from './m713.ts';
import { m714 } from './m714.ts';
import { m715 } from './m715.ts';
import { m802 } from './m802.ts';
import { m64413 } from './m64413.ts';
import { m64414 } from './m64414.ts';

/** The models of the default map. */
export const servedModels = [
  m1,
  m701,
  m702,
  m703,
  m704,
  m705,
  m706,
  m707,
  m708,
  m709,
  m710,
  m711,
  m712,
  m713,
  m714,
  m715,
  m802,
  m64413,
  m64414,
] as const satisfies readonly ModelDef[];

/** The models of the generation before, which devices with a classic map serve (`MapLayout`). */
export const classicModels = [
  m101,
  m102,
  m103,
  m111,
  m112,
  m113,
  m120,
  m121,
  m122,
  m123,
  m124,
  m160,
] as const satisfies readonly ModelDef[];

export type ServedModel = (typeof servedModels)[number] | (typeof classicModels)[number];
export type ClassicModelId = (typeof classicModels)[number]['id'];
export type ServedModelId = ServedModel['id'];
