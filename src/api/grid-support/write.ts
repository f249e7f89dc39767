/** Grid-support requests to registers, all of a request in one transaction. */
import type { Origin } from '../../core/origin.ts';
import { outsideWords, SimError } from '../../core/errors.ts';
import type { Issue, OutsideRange } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { isSupported } from '../../sunspec/map/function-state.ts';
import { pointValue } from '../../sunspec/map/named-points.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { pointName } from '../../sunspec/map/view.ts';
import { HttpProblem, invalidAll, problemOf } from '../http/errors.ts';
import { gridFunctionNames, gridFunctions } from './functions.ts';
import type { GridFunctionName } from './functions.ts';
import type { GridFunction, Member, Members } from './members.ts';
import { selectedMode } from './units.ts';

/** One function of a request, with the pointer of its object. */
export interface FunctionRequest {
  readonly spec: GridFunction;
  /** its name in the interface, as `volt_var` */
  readonly name: string;
  readonly pointer: string;
  /** has passed the request schema of the function */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The request of one function. @param pointer of its object in the body */
export function functionRequest(
  name: GridFunctionName,
  pointer: string,
  body: FunctionRequest['body'],
): FunctionRequest {
  return { spec: gridFunctions[name], name, pointer, body };
}

/** The requests of a body with functions by name. @param pointer of the object that holds them */
export function functionRequests(
  body: Partial<Readonly<Record<GridFunctionName, FunctionRequest['body'] | undefined>>>,
  pointer: string,
): readonly FunctionRequest[] {
  return gridFunctionNames.flatMap((name) => {
    const own = body[name];
    return own === undefined ? [] : [functionRequest(name, `${pointer}/${name}`, own)];
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

  function({ spec, name, pointer, body }: FunctionRequest): void {
    if (!isSupported(this.#bank, spec))
      throw new HttpProblem('disabled', `The device does not have the function ${name}.`);
    const { model, enable, timer, always } = spec;
    this.#members(
      model,
      {
        ...(always !== true && { enabled: { kind: 'flag', point: enable } as const }),
        ...(timer !== undefined && { reversion_time_s: { kind: 'number', point: timer } as const }),
        ...spec.members,
      },
      body,
      pointer,
      name,
    );
    this.#selectUnit(spec, body, pointer);
  }

  /** Sets the mode in which the given values count. */
  #selectUnit({ model, enable, units }: GridFunction, body: RequestObject, pointer: string): void {
    if (units === undefined) return;
    const mode = pointValue(this.#bank, model, units.point);
    const { selected, issues } = selectedMode(units, {
      body,
      mode: typeof mode === 'string' ? mode.toLowerCase() : null,
      enabled:
        body['enabled'] === undefined ? pointValue(this.#bank, model, enable) === 'ENABLED' : body['enabled'] === true,
    });
    this.issues.push(
      ...issues.map(({ name, detail }) => ({ in: 'body' as const, name: `${pointer}/${name}`, detail })),
    );
    if (selected) this.#put(model, units.point, selected.mode.toUpperCase(), `${pointer}/${selected.by}`);
  }

  #members(model: number, members: Members, body: RequestObject, pointer: string, name: string): void {
    for (const [key, value] of Object.entries(body)) {
      const member = members[key];
      if (member && value !== undefined) this.#member(model, member, value, `${pointer}/${key}`, `${name}.${key}`);
    }
  }

  #member(model: number, member: Member, value: unknown, pointer: string, name: string): void {
    switch (member.kind) {
      case 'number':
        this.#put(model, member.point, Number(value) * (member.kilo === true ? 1000 : 1), pointer, member.kilo);
        break;
      case 'symbol':
        this.#put(model, member.point, String(value).toUpperCase(), pointer);
        break;
      case 'flag':
        this.#put(model, member.point, value === true ? 'ENABLED' : 'DISABLED', pointer);
        break;
      case 'object':
        this.#members(model, member.members, value as RequestObject, pointer, name);
        break;
      case 'part':
        this.function({ spec: member.part, name, pointer, body: value as RequestObject });
        break;
      case 'curve':
        this.#curve(model, member, value as readonly Readonly<Record<string, number>>[], pointer);
        break;
    }
  }

  #curve(
    model: number,
    { at, axes }: Extract<Member, { kind: 'curve' }>,
    points: readonly Readonly<Record<string, number>>[],
    pointer: string,
  ): void {
    const { layout } = this.#bank;
    const room =
      layout.models
        .find(({ def }) => def.id === model)
        ?.slots.filter(({ path }) => path.startsWith(`${at}.Pt[`) && path.endsWith(`].${axes[0].point}`)).length ?? 0;
    if (points.length > room) {
      this.issues.push({
        in: 'body',
        name: pointer,
        detail: `must have at most ${room} items; given ${points.length}`,
      });
      return;
    }
    this.#put(model, `${at}.ActPt`, points.length, pointer);
    points.forEach((point, i) => {
      for (const axis of axes)
        this.#put(model, `${at}.Pt[${i}].${axis.point}`, point[axis.name] ?? null, `${pointer}/${i}/${axis.name}`);
    });
  }

  #put(model: number, path: string, value: AnyPointValue, pointer: string, kilo = false): void {
    const slot = this.#bank.layout.slot(model, path);
    if (!slot?.implemented) {
      this.issues.push({ in: 'body', name: pointer, detail: 'the device does not have this setting' });
      return;
    }
    const unfit = typeof value === 'number' ? unfitNumber(slot, value) : null;
    if (unfit !== null) {
      this.issues.push({ in: 'body', name: pointer, detail: unfit });
      return;
    }
    const former = this.writes.get(slot);
    if (former && former.value !== value) {
      this.issues.push({
        in: 'body',
        name: pointer,
        detail: `contradicts ${former.pointer}: both are ${pointName(slot)}`,
      });
    } else if (!former) this.writes.set(slot, { slot, value, pointer, kilo });
  }
}

/** Reason why a number would lose its meaning in the register; null: it does not. */
function unfitNumber({ def, sf }: PointSlot, value: number): string | null {
  if (def.sf === undefined && !def.type.startsWith('float') && !Number.isInteger(value))
    return `must be a whole number; given ${value}`;
  // rounded to 0 it would mean that no time is set
  if (def.units === 'Secs' && value > 0 && value < 0.5 * 10 ** sf)
    return `is too small: the register counts in steps of ${10 ** sf}; given ${value}`;
  return null;
}

const kiloUnits: Readonly<Record<string, string>> = { W: 'kW', Var: 'kvar' };

/** A refused value and its range in the unit of the request: `-5 kvar is outside -4.4..4.4 kvar`. */
function outsideInKilo({ given, min, max }: OutsideRange, { def }: PointSlot): string {
  const [least, most] = [min, max].map((bound) => (bound === undefined ? undefined : bound / 1000));
  const unit = kiloUnits[def.units ?? ''];
  return outsideWords(
    { given: given / 1000, ...(least !== undefined && { min: least }), ...(most !== undefined && { max: most }) },
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
  /** An error of the bank in terms of the members of the requests; any other error as it is. */
  inBodyTerms(error: unknown): unknown;
}

/** @throws HttpProblem `disabled` when the device lacks a function, `validation` with every invalid member */
export function functionValues(bank: Bank, requests: readonly FunctionRequest[]): FunctionValues {
  const collector = new Collector(bank);
  for (const request of requests) collector.function(request);
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
    bank.adopt(by, (_, set) => {
      for (const { slot, value } of translated.values) set(slot, value);
    });
  } catch (error) {
    throw translated.inBodyTerms(error);
  }
}
