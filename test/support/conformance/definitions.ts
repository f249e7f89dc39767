/** The models as a master knows them: the official definitions if they are present, else the tables made from them. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readModelJson } from '../../../scripts/generate-models.ts';
import type { JsonGroup } from '../../../scripts/generate-models.ts';
import type { GroupDef, ModelDef, PointDef } from '../../../src/sunspec/map/types.ts';
import { definitionOf as tableOf } from '../../../src/sunspec/client/shape.ts';

export interface Point {
  readonly name: string;
  readonly type: string;
  /** registers */
  readonly size: number;
  readonly sf: string | number | null;
  readonly writable: boolean;
  readonly mandatory: boolean;
  readonly static: boolean;
  readonly symbols: Readonly<Record<string, number>> | null;
}

export interface Group {
  readonly name: string;
  readonly count: string | number;
  readonly points: readonly Point[];
  readonly groups: readonly Group[];
}

const beside = fileURLToPath(new URL('../../../../shared/data/sunspec/json', import.meta.url));
const folder = [process.env['SUNSPEC_MODELS_DIR'], beside].find((path) => path !== undefined && existsSync(path));

/** Where the definitions come from, for the titles of tests. */
export const definitionsFrom = folder === undefined ? 'our tables' : 'the official definitions';

function fromJson({ name, count, points, groups }: JsonGroup): Group {
  return {
    name,
    count: count ?? 1,
    groups: (groups ?? []).map(fromJson),
    points: points.map((point) => ({
      name: point.name,
      type: point.type,
      size: point.size,
      sf: point.sf ?? null,
      writable: point.access === 'RW',
      mandatory: point.mandatory === 'M',
      static: point.static === 'S',
      symbols: point.symbols ? Object.fromEntries(point.symbols.map((symbol) => [symbol.name, symbol.value])) : null,
    })),
  };
}

function fromTable(
  { name, points, groups }: Pick<ModelDef, 'name' | 'points' | 'groups'>,
  count: string | number = 1,
): Group {
  const point = (def: PointDef): Point => ({
    name: def.name,
    type: def.type,
    size: def.size,
    sf: def.sf ?? null,
    writable: def.access === 'RW',
    mandatory: def.mandatory === true,
    static: def.static === true,
    symbols: def.symbols ?? null,
  });
  return {
    name,
    count,
    points: points.map(point),
    groups: (groups ?? []).map((group: GroupDef) => fromTable(group, group.count)),
  };
}

const known = new Map<number, Group>();

/** @throws Error for an unknown model */
export function definitionOf(modelId: number): Group {
  const cached = known.get(modelId);
  if (cached) return cached;
  const table = tableOf(modelId);
  if (table === undefined) throw new Error(`model ${modelId} is not known`);
  const definition = folder === undefined ? fromTable(table) : fromJson(readModelJson(folder, modelId).group);
  known.set(modelId, definition);
  return definition;
}
