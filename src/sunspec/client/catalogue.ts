/**
 * The definitions that the client knows: all models that the simulator serves, and models of older devices, batteries
 * and meters.
 */
import type { ModelDef } from '../map/types.ts';
import { m125 } from '../models/m125.ts';
import { m126 } from '../models/m126.ts';
import { m803 } from '../models/m803.ts';
import { m804 } from '../models/m804.ts';
import { m805 } from '../models/m805.ts';
import { meterModels } from '../models/meters.ts';
import { classicModels, servedModels } from '../models/served.ts';

const all: readonly ModelDef[] = [...servedModels, ...classicModels, m125, m126, m803, m804, m805, ...meterModels];

const byId = new Map(all.map((def) => [def.id, def]));

/** undefined: no definition of this id. */
export function definitionOf(id: number): ModelDef | undefined {
  return byId.get(id);
}

/** Points that count the repetitions of groups; their definitions leave the count to the length. */
export const countPoints: Readonly<Record<number, string>> = { 126: 'NCrv', 160: 'N', 805: 'NCell' };
