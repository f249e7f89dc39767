/** The definitions that the client knows: all that we serve, and those of older devices and of batteries. */
import type { ModelDef } from '../map/types.ts';
import { m1 } from '../models/m001.ts';
import { m101 } from '../models/m101.ts';
import { m102 } from '../models/m102.ts';
import { m103 } from '../models/m103.ts';
import { m111 } from '../models/m111.ts';
import { m112 } from '../models/m112.ts';
import { m113 } from '../models/m113.ts';
import { m120 } from '../models/m120.ts';
import { m121 } from '../models/m121.ts';
import { m122 } from '../models/m122.ts';
import { m123 } from '../models/m123.ts';
import { m124 } from '../models/m124.ts';
import { m125 } from '../models/m125.ts';
import { m126 } from '../models/m126.ts';
import { m160 } from '../models/m160.ts';
import { m701 } from '../models/m701.ts';
import { m702 } from '../models/m702.ts';
import { m703 } from '../models/m703.ts';
import { m704 } from '../models/m704.ts';
import { m705 } from '../models/m705.ts';
import { m706 } from '../models/m706.ts';
import { m707 } from '../models/m707.ts';
import { m708 } from '../models/m708.ts';
import { m709 } from '../models/m709.ts';
import { m710 } from '../models/m710.ts';
import { m711 } from '../models/m711.ts';
import { m712 } from '../models/m712.ts';
import { m713 } from '../models/m713.ts';
import { m714 } from '../models/m714.ts';
import { m715 } from '../models/m715.ts';
import { m802 } from '../models/m802.ts';
import { m803 } from '../models/m803.ts';
import { m804 } from '../models/m804.ts';
import { m805 } from '../models/m805.ts';
import { m64413 } from '../models/m64413.ts';
import { m64414 } from '../models/m64414.ts';

const all: readonly ModelDef[] = [
  m1,
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
  m125,
  m126,
  m160,
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
  m803,
  m804,
  m805,
  m64413,
  m64414,
];

const byId = new Map(all.map((def) => [def.id, def]));

/** Undefined for a model that we do not know. */
export function definitionOf(id: number): ModelDef | undefined {
  return byId.get(id);
}

/** Points that count the repetitions of groups whose definition leaves that to the length. */
export const countPoints: Readonly<Record<number, string>> = { 126: 'NCrv', 160: 'N', 805: 'NCell' };
