/** Classes and deadbands that masters have set, and frozen counters, as state that a restart keeps. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Database } from '../stack/outstation/types.ts';
import { kindOfStaticGroup } from '../stack/outstation/point-table.ts';
import { groupsOf, pointKinds, quality } from '../stack/points.ts';

export function keptPoints(database: Database): Kept {
  const allPoints = () => pointKinds.flatMap((kind) => database.points(kind));
  return keptRecord(
    () => ({
      classes: allPoints()
        .filter((point) => point.class !== point.spec.class)
        .map(({ spec: { kind, index }, class: to }) => ({ group: groupsOf[kind].static, index, to })),
      deadbands: database
        .points('analogInput')
        .filter(({ deadband, spec }) => deadband !== spec.deadband)
        .map(({ spec: { index }, deadband }) => ({ index, deadband })),
      frozen: database.points('frozenCounter').flatMap(({ spec: { index }, state: { value, flags } }) =>
        // before the first freeze a frozen counter has no value
        flags === quality.restart || typeof value !== 'number' ? [] : [{ index, value, flags }],
      ),
    }),
    ({ classes, deadbands, frozen }) => {
      for (const { group, index, to } of classes) {
        const kind = kindOfStaticGroup(group);
        if (kind !== undefined) database.assignClass(kind, index, to);
      }
      for (const { index, deadband } of deadbands) database.setDeadband(index, deadband);
      for (const { index, value, flags } of frozen) database.restoreFrozen(index, { value, flags });
    },
  );
}
