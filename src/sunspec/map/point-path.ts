/**
 * Names of points as types, made from the model tables: a rule about a point that no model has does not compile.
 * The names have no set or point numbers, as those of `plainPath`: `705.Crv.Pt.V`.
 */
import type { ServedModel, ServedModelId } from '../models/served.ts';
import type { GroupDef, PointDef } from './types.ts';

interface PointsAndGroups {
  readonly points: readonly PointDef[];
  readonly groups?: readonly GroupDef[];
}

type PathsIn<G extends PointsAndGroups> =
  | G['points'][number]['name']
  | (G extends { readonly groups: readonly (infer Inner extends GroupDef)[] } ? PathsInGroup<Inner> : never);

// distributes over the groups of a model
type PathsInGroup<G extends GroupDef> = G extends GroupDef ? `${G['name']}.${PathsIn<G>}` : never;

/** Paths of the points inside one served model: `PathIn<705>` has `Ena` and `Crv.Pt.V`. */
export type PathIn<Id extends ServedModelId> = PathsIn<Extract<ServedModel, { readonly id: Id }>>;

/** Names of all points of the served models: `705.Crv.Pt.V`. */
export type PointPath = { [Id in ServedModelId]: `${Id}.${PathIn<Id>}` }[ServedModelId];
