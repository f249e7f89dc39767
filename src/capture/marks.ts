/** The numbered marks of a capture: begins, trips, return of the grid, and the last device at its power before. */
import type { CaptureMark, CaptureTrigger } from '../contract/captures.ts';
import { tripOf } from './breach.ts';
import { powersOf } from './course.ts';
import type { Course } from './course.ts';

type Mark = Omit<CaptureMark, 'number'>;

/** Trips at one instant are one mark. */
function tripMarks(courses: readonly Course[]): readonly Mark[] {
  const byInstant = new Map<number, Course[]>();
  for (const course of courses) {
    const trip = tripOf(course);
    if (trip) byInstant.set(trip.tS, [...(byInstant.get(trip.tS) ?? []), course]);
  }
  return [...byInstant].map(([tS, tripped]) => ({
    kind: 'trip',
    tS,
    devices: tripped.map(({ facts }) => facts.index),
    text: tripped.length === 1 ? `${tripped[0]?.facts.name ?? ''} trips` : `${tripped.length} devices trip`,
  }));
}

/** The last of the devices that lost their power and have it back. */
function deviceBack(courses: readonly Course[]): readonly Mark[] {
  let [last, lastS]: [Course | null, number] = [null, 0];
  for (const course of courses) {
    const { backS } = powersOf(course);
    if (backS !== null && backS > lastS) [last, lastS] = [course, backS];
  }
  if (!last) return [];
  const { index, name } = last.facts;
  return [{ kind: 'device_back', tS: lastS, devices: [index], text: `${name} at its power before` }];
}

/** @param gridBackS instant at which the grid returned by itself; null: it did not, or has not yet */
export function marksOf(
  triggers: readonly CaptureTrigger[],
  courses: readonly Course[],
  gridBackS: number | null,
): readonly CaptureMark[] {
  const begins = triggers
    .filter(({ kind }) => kind !== 'trip')
    .map(
      ({ tS, title, deviceIndex }): Mark => ({
        kind: 'begin',
        tS,
        devices: deviceIndex === null ? [] : [deviceIndex],
        text: title,
      }),
    );
  const back: readonly Mark[] =
    gridBackS === null ? [] : [{ kind: 'grid_back', tS: gridBackS, devices: [], text: 'grid back' }];
  return [...begins, ...tripMarks(courses), ...back, ...deviceBack(courses)]
    .toSorted((a, b) => a.tS - b.tS)
    .map((mark, n) => ({ number: n + 1, ...mark }));
}
