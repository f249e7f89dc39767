/** The curve and control models, with edits that keep a stored set fit and edits that do not. */
import type { GroupPlace } from '../../src/sunspec/map/layout.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import type { TestBank } from './map.ts';

export interface CurveModel {
  readonly id: number;
  readonly request: string;
  readonly result: string;
  readonly group: 'Crv' | 'Ctl';
  /** a change of a stored set, by path inside the set, that keeps it consistent */
  readonly edit: Readonly<Record<string, AnyPointValue>>;
  /** changes that leave a stored set unfit */
  readonly faults: Readonly<Record<string, Readonly<Record<string, AnyPointValue>>>>;
}

const curve = { request: 'AdptCrvReq', result: 'AdptCrvRslt', group: 'Crv' } as const;
const points = (x: string, y: string) => ({
  'no points in use': { ActPt: 0 },
  'x of a point not set': { [`Pt[1].${x}`]: null },
  'y of a point not set': { [`Pt[1].${y}`]: null },
  'more points in use than are set': { ActPt: 3 },
  'falling x': { [`Pt[0].${x}`]: 90.1, [`Pt[1].${x}`]: 90 },
});
const trips = (x: string) => ({
  'no must-trip points': { 'MustTrip.ActPt': 0 },
  'a must-trip limit not set': { [`MustTrip.Pt[0].${x}`]: null },
  'a must-trip time not set': { 'MustTrip.Pt[1].Tms': null },
  'a may-trip limit not set': { 'MayTrip.ActPt': 2, [`MayTrip.Pt[1].${x}`]: null },
  'a momentary-cessation time not set': { 'MomCess.ActPt': 1, 'MomCess.Pt[0].Tms': null },
});
const hertz = {
  ...trips('Hz'),
  'a must-trip limit that no grid has': { 'MustTrip.Pt[1].Hz': 0 },
  'a may-trip limit that no grid has': { 'MayTrip.ActPt': 1, 'MayTrip.Pt[0].Hz': 90, 'MayTrip.Pt[0].Tms': 1 },
};

export const models: readonly CurveModel[] = [
  {
    id: 705,
    ...curve,
    edit: { ActPt: 3, DeptRef: 'VA_MAX_PCT', 'Pt[2].V': 108, 'Pt[2].Var': -30 },
    faults: points('V', 'Var'),
  },
  { id: 706, ...curve, edit: { RspTms: 3.25, 'Pt[1].V': 112, 'Pt[1].W': -20 }, faults: points('V', 'W') },
  {
    id: 707,
    ...curve,
    edit: { 'MustTrip.Pt[0].V': 45, 'MayTrip.ActPt': 1, 'MayTrip.Pt[0].V': 70, 'MayTrip.Pt[0].Tms': 1 },
    faults: { ...trips('V'), 'a limit above nominal': { 'MustTrip.Pt[0].V': 101 } },
  },
  {
    id: 708,
    ...curve,
    edit: { 'MustTrip.Pt[0].V': 120, 'MomCess.ActPt': 1, 'MomCess.Pt[0].V': 110 },
    faults: { ...trips('V'), 'a limit below nominal': { 'MustTrip.Pt[0].V': 99 } },
  },
  { id: 709, ...curve, edit: { 'MustTrip.Pt[0].Hz': 56.5, 'MustTrip.Pt[0].Tms': 0.16 }, faults: hertz },
  { id: 710, ...curve, edit: { 'MustTrip.Pt[1].Hz': 61.2, 'MustTrip.Pt[1].Tms': 300 }, faults: hertz },
  {
    id: 711,
    request: 'AdptCtlReq',
    result: 'AdptCtlRslt',
    group: 'Ctl',
    edit: { DbOf: 0.1, KOf: 0.03, PMin: -10 },
    faults: {},
  },
  { id: 712, ...curve, edit: { Pri: 'REACTIVE', 'Pt[0].W': -50, 'Pt[0].Var': 10 }, faults: points('W', 'Var') },
];

export function setPlace(test: TestBank, model: CurveModel, number: number): GroupPlace {
  return test.layout.models.find((place) => place.def.id === model.id)!.groups[model.group]![number - 1]!;
}

/** All registers of a set. */
export function setBytes(test: TestBank, model: CurveModel, number: number): Buffer {
  const place = setPlace(test, model, number);
  return test.dump().subarray(place.offset, place.offset + place.registers * 2);
}

/** Values of all points of a set but its ReadOnly flag. */
export function setValues(test: TestBank, model: CurveModel, number: number): Record<string, AnyPointValue> {
  const prefix = `${model.group}[${number - 1}].`;
  const slots = test.layout.slots.filter(
    ({ modelId, path }) => modelId === model.id && path.startsWith(prefix) && path !== `${prefix}ReadOnly`,
  );
  return Object.fromEntries(slots.map((slot) => [slot.path.slice(prefix.length), test.bank.value(slot)]));
}

export const inSet = (model: CurveModel, number: number, changes: Readonly<Record<string, AnyPointValue>>) =>
  Object.fromEntries(
    Object.entries(changes).map(([path, value]) => [`${model.id}.${model.group}[${number - 1}].${path}`, value]),
  );
export const request = (model: CurveModel, number: number) => ({ [`${model.id}.${model.request}`]: number });
export const result = (test: TestBank, model: CurveModel) => test.value(`${model.id}.${model.result}`);
export const readOnly = (test: TestBank, model: CurveModel) =>
  [1, 2, 3].map((number) => test.value(`${model.id}.${model.group}[${number - 1}].ReadOnly`));
