/** Grid-support objects of REST from registers, and requests to registers: all of a request in one transaction. */
import { hasPoint, pointNumber, pointValue } from '../../sunspec/map/bank.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { isEnabled, isSupported, reversionRemainingS, reversionTimeS } from '../../sunspec/map/grid-support/state.ts';
import { pointWriter } from '../common/points.ts';
import { isoOrNull } from '../common/schemas.ts';
import { selectedMode } from './members.ts';
import type { GridFunction, Member, Members } from './members.ts';
import type { Origin } from '../../core/origin.ts';
import { outsideWords, SimError } from '../../core/errors.ts';
import type { Issue, OutsideRange } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import type { FunctionName } from '../../sunspec/map/grid-support/functions.ts';
import { apply, factsOf, isRefused, place } from '../../sunspec/map/grid-support/wish.ts';
import type { FunctionWish, PointValue } from '../../sunspec/map/grid-support/wish.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { pointName } from '../../sunspec/map/view.ts';
import { HttpProblem, invalidAll, problemOf } from '../http/errors.ts';
import { gridFunctionNames, gridFunctions } from './functions.ts';
import type { GridFunctionName } from './functions.ts';

type DateMs = (at: SimTime) => number;
type ReplyObject = Record<string, unknown>;

function engineering(bank: Bank, model: number, point: string, kilo: boolean): number | null {
  const value = pointNumber(bank, model, point);
  if (value === null) return null;
  // no -0 in replies
  return value === 0 ? 0 : kilo ? value / 1000 : value;
}

function symbolOf(bank: Bank, model: number, point: string): string | null {
  const value = pointValue(bank, model, point);
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function memberReply(bank: Bank, model: number, member: Member, dateMs: DateMs): unknown {
  switch (member.kind) {
    case 'number':
      return engineering(bank, model, member.point, member.kilo === true);
    case 'symbol':
      return symbolOf(bank, model, member.point);
    case 'flag':
      return hasPoint(bank, model, member.point) ? pointValue(bank, model, member.point) === 'ENABLED' : null;
    case 'object':
      return membersReply(bank, model, member.members, dateMs);
    case 'part':
      return functionReply(bank, member.part, dateMs);
    case 'curve': {
      const length = pointNumber(bank, model, `${member.at}.ActPt`) ?? 0;
      return Array.from({ length }, (_, i) =>
        Object.fromEntries(
          member.axes.map(({ name, point }) => [
            name,
            engineering(bank, model, `${member.at}.Pt[${i}].${point}`, false),
          ]),
        ),
      );
    }
  }
}

/** Members of a function or of a stored set, by name. */
export function membersReply(bank: Bank, model: number, members: Members, dateMs: DateMs): ReplyObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, memberReply(bank, model, member, dateMs)]),
  );
}

/** The object of one function, from its registers. */
export function functionReply(bank: Bank, spec: GridFunction, dateMs: DateMs): ReplyObject {
  if (!isSupported(bank, spec)) return { supported: false };
  const { model, enable } = spec;
  const writer = pointWriter(bank, model, enable);
  return {
    supported: true,
    enabled: isEnabled(bank, spec),
    source: writer?.source ?? 'default',
    changed_at: isoOrNull(writer && dateMs(writer.at)),
    reversion_time_s: reversionTimeS(bank, spec),
    reversion_remaining_s: reversionRemainingS(bank, spec),
    ...membersReply(bank, model, spec.members, dateMs),
  };
}

/** One function of a request, with the pointer of its object. */
export interface FunctionRequest {
  readonly spec: GridFunction;
  /** member of `grid-support`, for example `volt_var` */
  readonly name: string;
  readonly pointer: string;
  /** object that has passed the request schema of the function */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The request of one function. @param pointer JSON pointer of its object in the body */
export function functionRequest(
  name: GridFunctionName,
  pointer: string,
  body: FunctionRequest['body'],
): FunctionRequest {
  return { spec: gridFunctions[name], name, pointer, body };
}

/** The requests of a body with functions by name. @param pointer JSON pointer of the object with the functions */
export function functionRequests(
  body: Partial<Readonly<Record<GridFunctionName, FunctionRequest['body'] | undefined>>>,
  pointer: string,
): readonly FunctionRequest[] {
  return gridFunctionNames.flatMap((name) => {
    const settings = body[name];
    return settings === undefined ? [] : [functionRequest(name, `${pointer}/${name}`, settings)];
  });
}

interface Write {
  readonly slot: PointSlot;
  readonly value: AnyPointValue;
  readonly pointer: string;
  /** the request has the value in thousands of the unit of the point */
  readonly kilo?: boolean;
}

type RequestObject = FunctionRequest['body'];

/** Collects the writes and the issues of a request before the first write is carried out. */
class Collector {
  readonly #bank: Bank;
  readonly writes = new Map<PointSlot, Write>();
  readonly issues: ProblemIssue[] = [];

  constructor(bank: Bank) {
    this.#bank = bank;
  }

  add({ spec, name, pointer, body }: FunctionRequest): void {
    if (!isSupported(this.#bank, spec))
      throw new HttpProblem('disabled', `The device does not have the function ${name}.`);
    const { enabled, reversion_time_s: reversionS } = body;
    if (typeof enabled === 'boolean') this.#wish({ name: spec.name, on: enabled }, `${pointer}/enabled`);
    if (typeof reversionS === 'number') this.#wish({ name: spec.name, reversionS }, `${pointer}/reversion_time_s`);
    this.#members(spec, spec.members, body, pointer, name);
    this.#selectUnit(spec, body, pointer);
  }

  /** Sets the mode that the values of the request select. */
  #selectUnit({ name, model, enable, units }: GridFunction, body: RequestObject, pointer: string): void {
    if (units === undefined) return;
    const mode = pointValue(this.#bank, model, units.point);
    const { selected, issues } = selectedMode(units, {
      body,
      mode: typeof mode === 'string' ? mode.toLowerCase() : null,
      enabled:
        body['enabled'] === undefined ? pointValue(this.#bank, model, enable) === 'ENABLED' : body['enabled'] === true,
    });
    for (const issue of issues) this.#issue(`${pointer}/${issue.name}`, issue.detail);
    if (selected) this.#value(name, units.point, selected.mode.toUpperCase(), `${pointer}/${selected.by}`);
  }

  #members(spec: GridFunction, members: Members, body: RequestObject, pointer: string, name: string): void {
    for (const [key, value] of Object.entries(body)) {
      const member = members[key];
      if (member && value !== undefined) this.#member(spec, member, value, `${pointer}/${key}`, `${name}.${key}`);
    }
  }

  #member(spec: GridFunction, member: Member, value: unknown, pointer: string, name: string): void {
    switch (member.kind) {
      case 'number':
        this.#value(spec.name, member.point, Number(value) * (member.kilo === true ? 1000 : 1), pointer, member.kilo);
        break;
      case 'symbol':
        this.#value(spec.name, member.point, String(value).toUpperCase(), pointer);
        break;
      case 'flag':
        this.#value(spec.name, member.point, value === true ? 'ENABLED' : 'DISABLED', pointer);
        break;
      case 'object':
        this.#members(spec, member.members, value as RequestObject, pointer, name);
        break;
      case 'part':
        this.add({ spec: member.part, name, pointer, body: value as RequestObject });
        break;
      case 'curve': {
        const [x, y] = member.axes;
        const rows = value as readonly Readonly<Record<string, number>>[];
        const points = rows.map((point) => ({ x: point[x.name] ?? NaN, y: point[y.name] ?? NaN }));
        const { region } = member;
        const coordinates = points.flatMap((_, i) => [`/${i}/${x.name}`, `/${i}/${y.name}`]);
        this.#wish({ name: spec.name, curve: { points, ...(region && { region }) } }, pointer, { coordinates });
        break;
      }
    }
  }

  #value(name: FunctionName, point: string, value: AnyPointValue, pointer: string, kilo: boolean = false): void {
    this.#wish({ name, values: { [point]: value } }, pointer, { kilo });
  }

  /** @param coordinates pointers to the coordinates of a curve, relative to `pointer` */
  #wish(
    wish: FunctionWish,
    pointer: string,
    { kilo = false, coordinates = [] }: { readonly kilo?: boolean; readonly coordinates?: readonly string[] } = {},
  ): void {
    const placed = place(factsOf(this.#bank), [wish]);
    if (isRefused(placed)) {
      const count = wish.curve?.points.length ?? 0;
      const isLong = placed.reason === 'too_many_points';
      this.#issue(pointer, isLong ? `must have at most ${placed.max} items; given ${count}` : placed.detail);
      return;
    }
    placed.forEach((value, i) => {
      this.#put(value, `${pointer}${coordinates[i] ?? ''}`, kilo);
    });
  }

  #issue(name: string, detail: string): void {
    this.issues.push({ in: 'body', name, detail });
  }

  #put({ model, path, value }: PointValue, pointer: string, kilo: boolean): void {
    const slot = this.#bank.layout.slot(model, path);
    if (!slot?.implemented) {
      this.#issue(pointer, 'the device does not have this setting');
      return;
    }
    const unfit = typeof value === 'number' ? unfitNumber(slot, value) : null;
    const former = this.writes.get(slot);
    if (unfit !== null) this.#issue(pointer, unfit);
    else if (former === undefined) this.writes.set(slot, { slot, value, pointer, kilo });
    else if (former.value !== value) this.#issue(pointer, `contradicts ${former.pointer}: both are ${pointName(slot)}`);
  }
}

/** Reason why rounding to the register changes the meaning of a number; null: it does not. */
function unfitNumber({ def, sf }: PointSlot, value: number): string | null {
  if (def.sf === undefined && !def.type.startsWith('float') && !Number.isInteger(value))
    return `must be a whole number; given ${value}`;
  // 0 in the register means that no time is set
  if (def.units === 'Secs' && value > 0 && value < 0.5 * 10 ** sf)
    return `is too small: the register counts in steps of ${10 ** sf}; given ${value}`;
  return null;
}

const kiloUnits: Readonly<Record<string, string>> = { W: 'kW', Var: 'kvar' };

/** A refused value and its range in the unit of the request: `-5 kvar is outside -4.4..4.4 kvar`. */
function outsideInKilo({ given, min, max }: OutsideRange, { def }: PointSlot): string {
  const [minInKilo, maxInKilo] = [min, max].map((bound) => (bound === undefined ? undefined : bound / 1000));
  const unit = kiloUnits[def.units ?? ''];
  return outsideWords(
    {
      given: given / 1000,
      ...(minInKilo !== undefined && { min: minInKilo }),
      ...(maxInKilo !== undefined && { max: maxInKilo }),
    },
    unit,
  );
}

/** An error of the bank, which names points, in terms of the members of the request. */
function inBodyTerms(error: unknown, writes: Collector['writes'], requests: readonly FunctionRequest[]): unknown {
  if (!(error instanceof SimError) || problemOf[error.code] !== 'validation') return error;
  const byName = new Map([...writes.values()].map((write) => [pointName(write.slot), write]));
  const faults = (error.issues.length > 0 ? error.issues : [{ name: '', detail: error.message }]).map(
    (issue: Issue): ProblemIssue => {
      const write = byName.get(issue.name);
      const pointer = write?.pointer;
      const detail = write?.kilo === true && issue.outside ? outsideInKilo(issue.outside, write.slot) : issue.detail;
      const request = requests.find(({ spec }) => issue.name.startsWith(`${spec.model}.`));
      return {
        in: 'body',
        name: pointer ?? request?.pointer ?? '',
        detail: pointer === undefined && issue.name !== '' ? `${issue.name}: ${detail}` : detail,
        ...(issue.allowed && {
          allowed: issue.allowed.map((value) => (typeof value === 'string' ? value.toLowerCase() : value)),
        }),
      };
    },
  );
  return invalidAll(faults);
}

/** Requests as values of points. */
export interface FunctionValues {
  readonly values: readonly { readonly slot: PointSlot; readonly value: AnyPointValue }[];
  /** An error of the bank in terms of the members of the requests; any other error unchanged. */
  inBodyTerms(error: unknown): unknown;
}

/** @throws HttpProblem `disabled` when the device lacks a function, `validation` with every invalid member */
export function functionValues(bank: Bank, requests: readonly FunctionRequest[]): FunctionValues {
  const collector = new Collector(bank);
  for (const request of requests) collector.add(request);
  if (collector.issues.length > 0) throw invalidAll(collector.issues);
  return {
    values: [...collector.writes.values()],
    inBodyTerms: (error) => inBodyTerms(error, collector.writes, requests),
  };
}

/**
 * Carries out requests as one: all of them, or nothing. Set 1 of the curve functions is changed in place.
 * @throws HttpProblem as `functionValues`; SimError
 */
export function writeFunctions(bank: Bank, by: Origin, requests: readonly FunctionRequest[]): void {
  const translated = functionValues(bank, requests);
  try {
    apply(bank, by, translated.values);
  } catch (error) {
    throw translated.inBodyTerms(error);
  }
}
