/**
 * The definitions that the client knows: all models that the simulator serves, and models of older devices, batteries
 * and meters.
 */
import type { ModelDef } from '../map/types.ts';
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
import { m803 } from '../models/m803.ts';
import { m804 } from '../models/m804.ts';
import { m805 } from '../models/m805.ts';
import { meterModels } from '../models/meters.ts';
import { servedModels } from '../models/served.ts';

const all: readonly ModelDef[] = [
  ...servedModels,
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
  m803,
  m804,
  m805,
  ...meterModels,
];

const byId = new Map(all.map((def) => [def.id, def]));

/** The definition of a model; undefined for an unknown one. */
export function definitionOf(id: number): ModelDef | undefined {
  return byId.get(id);
}

/** Points that count the repetitions of groups; their definitions leave the count to the length. */
export const countPoints: Readonly<Record<number, string>> = { 126: 'NCrv', 160: 'N', 805: 'NCell' };
