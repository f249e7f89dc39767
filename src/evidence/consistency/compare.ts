/**
 * Compares the values of a quantity that protocols present, and explains in plain words why they differ, also by faults
 * of one protocol.
 */
import { strictPointsFault } from '../../fault-kinds/modbus-map.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { tidy } from './model.ts';
import type { Cause, Presented, Presenter, Unit, Value } from './model.ts';
import type { FaultProtocol } from '../../core/faults/kinds.ts';
import { malformedXmlFault, missingElementFault, staleFault, wrongMultiplierFault } from '../../fault-kinds/csip.ts';
import { meterJumpFault } from '../../fault-kinds/ocpp.ts';

/** Protocol of the faults that change the values of a presenter; absent: no such faults. */
export const faultProtocolOf: Readonly<Partial<Record<Presenter, FaultProtocol>>> = {
  modbus: 'modbus',
  dnp3: 'dnp3',
  ocpp: 'ocpp',
  csip: 'csip',
};

const csipValueFaults = [malformedXmlFault, missingElementFault, staleFault, wrongMultiplierFault] as const;

/** True if a fault changes values; other faults delay, suppress or garble answers. */
export function changesValues(fault: ActiveFault): boolean {
  switch (fault.protocol) {
    case 'modbus':
      return fault.layer === 'reading' && !fault.isOf(strictPointsFault);
    case 'ocpp':
      return fault.isOf(meterJumpFault);
    case 'csip':
      return csipValueFaults.some((kind) => fault.facts.kind.kind === kind.kind);
    default:
      return false;
  }
}

/** True if the target of a fault may include a register; a target by address always may. */
function mayConcern(fault: ActiveFault, place: string): boolean {
  const { points } = targetOf(fault.facts.target);
  if (points === undefined) return true;
  // a scale factor is named by itself and changes the points that use it
  const model = place.slice(0, place.indexOf('.'));
  return points.some(
    (name) =>
      name === place ||
      name === model ||
      place.startsWith(`${name}.`) ||
      (name.startsWith(`${model}.`) && name.endsWith('_SF')),
  );
}

/** The faults in force that can explain what a protocol presents. */
function faultsExplaining(faults: readonly ActiveFault[], { presenter, place }: Presented): readonly ActiveFault[] {
  const protocol = faultProtocolOf[presenter];
  const changing = faults.filter((fault) => fault.protocol === protocol && changesValues(fault));
  if (presenter === 'modbus') return changing.filter((fault) => mayConcern(fault, place));
  // the faults of OCPP change the energy registers alone
  return presenter === 'ocpp' && !place.startsWith('Energy.') ? [] : changing;
}

export interface Compared extends Presented {
  /** value minus that of the reference; null: no numbers, or nothing to compare */
  readonly difference: number | null;
  /** null: there is nothing to compare */
  readonly agrees: boolean | null;
  readonly cause: Cause;
  /** null: equal */
  readonly explanation: string | null;
}

const names: Readonly<Record<Presenter, string>> = {
  registers: 'the register',
  modbus: 'Modbus',
  rest: 'REST',
  stream: 'the stream',
  dnp3: 'DNP3',
  ocpp: 'OCPP',
  csip: 'IEEE 2030.5',
};

/** Relative error of doubles that were summed in different orders. */
const relativeNoise = 1e-9;

function words(value: Value, unit: Unit): string {
  if (value === null) return 'nothing';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string') return value;
  return unit === '' ? String(tidy(value)) : `${tidy(value)} ${unit}`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `HH:MM:SS` */
const clockOf = (ms: number) => new Date(ms).toISOString().slice(11, 19);

/** The difference that the steps of both encodings explain. */
function roomFor(a: Presented, b: Presented): number {
  const errorOf = ({ resolution, floors }: Presented) => (resolution ?? 0) * (floors ? 1 : 0.5);
  return errorOf(a) + errorOf(b);
}

function differenceOf(one: Presented, reference: Presented): number | null {
  const [a, b] = [one.value, reference.value];
  if (typeof a !== 'number' || typeof b !== 'number') return null;
  return one.isMagnitude || reference.isMagnitude ? Math.abs(a) - Math.abs(b) : a - b;
}

/** The holder and its value: `the register has 3990 W`. */
function had({ presenter, value }: Presented, unit: Unit): string {
  return `${names[presenter]} has ${words(value, unit)}`;
}

function rounding(one: Presented, reference: Presented, unit: Unit): string {
  const [step, other] = [one.resolution ?? 0, reference.resolution ?? 0];
  const shows = `${capital(names[one.presenter])} shows ${words(one.value, unit)}`;
  return step >= other
    ? `${shows} in steps of ${words(step, unit)}; ${had(reference, unit)}: rounding.`
    : `${shows}; ${had(reference, unit)} in steps of ${words(other, unit)}: rounding.`;
}

function faultWords(faults: readonly ActiveFault[]): string {
  if (faults.length === 0) return 'a fault that has ended since has changed it';
  const listed = faults.map(({ facts: { id, kind } }) => `'${kind.kind}' (${id})`);
  return faults.length === 1 ? `fault ${listed[0]} is on` : `faults ${listed.join(', ')} are on`;
}

function gap(one: Presented, reference: Presented, unit: Unit, difference: number | null): string {
  const shows = `${capital(names[one.presenter])} shows ${words(one.value, unit)} and ${had(reference, unit)}`;
  if (difference === null) return shows;
  const room = roomFor(one, reference);
  const more = room > 0 ? `, more than rounding of ${words(room, unit)} explains` : '';
  return `${shows}, a difference of ${words(Math.abs(difference), unit)}${more}`;
}

function earlier({ interval, sentAtMs }: Presented): string | null {
  if (interval !== undefined) {
    const { startMs, endMs } = interval;
    const span = `${clockOf(startMs)} to ${clockOf(endMs)} UTC by the time of its server`;
    return `it is the mean from ${span} (a period of ${Math.round((endMs - startMs) / 1000)} s)`;
  }
  return sentAtMs === undefined ? null : `it was sent last at ${clockOf(sentAtMs)} UTC`;
}

/** The comparison of a protocol that shows no value. */
function withoutValue(one: Presented, reference: Presented, faults: readonly ActiveFault[]): Compared {
  const explaining = reference.value === null ? [] : faultsExplaining(faults, one);
  const isExplained = one.disturbed === true || (explaining.length > 0 && one.presenter === 'modbus');
  const text = `${capital(names[one.presenter])} shows nothing: ${one.missing ?? 'it has no value'}`;
  return {
    ...one,
    difference: null,
    agrees: isExplained ? false : null,
    cause: isExplained ? 'fault' : 'no_value',
    explanation: isExplained ? `${text}; ${faultWords(explaining)}.` : `${text}.`,
  };
}

/**
 * @param faults those in force that concern the device
 * @param isMeaningful false: too little power flows for the quantity to mean anything
 */
export function compared(
  one: Presented,
  reference: Presented,
  unit: Unit,
  faults: readonly ActiveFault[],
  isMeaningful = true,
): Compared {
  if (one.value === null || reference.value === null) {
    if (one.value === null) return withoutValue(one, reference, faults);
    const explanation = `${capital(names[reference.presenter])} shows nothing to compare it with.`;
    return { ...one, difference: null, agrees: null, cause: 'no_value', explanation };
  }
  const raw = differenceOf(one, reference);
  const difference = raw === null ? null : tidy(raw);
  const done = (agrees: boolean, cause: Cause, explanation: string | null): Compared => ({
    ...one,
    difference,
    agrees,
    cause,
    explanation,
  });
  if (raw === null ? one.value === reference.value : isSame(raw, reference)) return done(true, 'equal', null);
  if (raw !== null && Math.abs(raw) <= roomFor(one, reference) * (1 + relativeNoise))
    return done(true, 'rounding', rounding(one, reference, unit));
  const explaining = faultsExplaining(faults, one);
  const apart = gap(one, reference, unit, difference);
  if (one.presenter === 'csip' ? one.disturbed === true : explaining.length > 0)
    return done(false, 'fault', `${apart}: ${faultWords(explaining)}.`);
  if (!isMeaningful) return done(true, 'rounding', `${apart}: hardly any power flows, so that it means nothing.`);
  const before = earlier(one);
  return before === null ? done(false, 'unexplained', `${apart}.`) : done(false, 'earlier', `${apart}: ${before}.`);
}

function isSame(difference: number, { value }: Presented): boolean {
  const size = typeof value === 'number' ? Math.abs(value) : 0;
  return Math.abs(difference) <= Math.max(size, 1e-3) * relativeNoise;
}
