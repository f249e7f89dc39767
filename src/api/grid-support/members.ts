/**
 * Maps a member of a grid-support object to register points. The tables in `functions.ts` consist of these mappings.
 */
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import type {
  Axis as MapAxis,
  CurveFunction,
  FunctionName,
  FunctionRow,
} from '../../sunspec/map/grid-support/functions.ts';
import { curvePlace } from '../../sunspec/map/grid-support/wish.ts';
import type { TripRegion } from '../../sunspec/map/grid-support/wish.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';

/** A number in engineering units. */
interface NumberMember {
  readonly kind: 'number';
  readonly point: string;
  /** the member is in thousands of the unit of the point */
  readonly kilo?: true;
  readonly readOnly?: true;
  /** limits of requests, if the rule of the point depends on other points */
  readonly range?: readonly [number, number];
  /** the register holds whole units: no fractions */
  readonly whole?: true;
  readonly about?: string;
}

/** A symbol in lower case. */
interface SymbolMember {
  readonly kind: 'symbol';
  readonly point: string;
  readonly symbols: readonly [string, ...string[]];
  readonly readOnly?: true;
  readonly about?: string;
}

/** ENABLED and DISABLED as yes and no. */
interface FlagMember {
  readonly kind: 'flag';
  readonly point: string;
  readonly about?: string;
}

interface Axis {
  readonly name: string;
  readonly point: string;
}

/** The points in use of a curve. */
interface CurveMember {
  readonly kind: 'curve';
  readonly region?: TripRegion;
  /** path of the group that has ActPt and Pt */
  readonly at: string;
  readonly axes: readonly [Axis, Axis];
  readonly minPoints: 0 | 1;
}

/** Members of the same function in a separate object. */
interface ObjectMember {
  readonly kind: 'object';
  readonly members: Members;
  readonly about?: string;
}

/** A function inside a function, with its own enable point; a device may lack the inner function. */
interface PartMember {
  readonly kind: 'part';
  readonly part: GridFunction;
  readonly about?: string;
}

export type Member = NumberMember | SymbolMember | FlagMember | CurveMember | ObjectMember | PartMember;
export type Members = Readonly<Record<string, Member>>;

/** One grid-support function: its members, and parts of its row in the table of functions. */
export interface GridFunction extends Pick<FunctionRow, 'model' | 'mode' | 'timer' | 'sets'> {
  readonly name: FunctionName;
  /** name in words */
  readonly title: string;
  /** the enable point; for the ramp the limit itself */
  readonly enable: string;
  /** the function is always on: `enabled` is read-only */
  readonly always?: true;
  /** values in two units, of which a mode selects one */
  readonly units?: UnitChoice;
  readonly members: Members;
}

/** A function of the table with its members. */
export function gridFunction(name: FunctionName, members: Members): GridFunction {
  const { label, model, enable, mode, timer, sets } = functionTable[name];
  return {
    name,
    title: label,
    model,
    enable,
    ...(mode && { mode }),
    ...(timer && { timer }),
    ...(sets && { sets }),
    members,
  };
}

interface NumberOptions {
  readonly kilo?: true;
  readonly readOnly?: true;
  readonly range?: readonly [number, number];
  readonly whole?: true;
}

/** A number; its limits are those of the point unless `range` says otherwise. */
export function number(point: string, about?: string, options: NumberOptions = {}): Member {
  return { kind: 'number', point, ...(about !== undefined && { about }), ...options };
}

export function symbol(point: string, symbols: readonly [string, ...string[]], about?: string): Member {
  return { kind: 'symbol', point, symbols, ...(about !== undefined && { about }) };
}

export function flag(point: string, about?: string): Member {
  return { kind: 'flag', point, ...(about !== undefined && { about }) };
}

const axisNames: Readonly<Record<MapAxis, string>> = {
  V: 'v_pct',
  Hz: 'hz',
  W: 'w_pct',
  Var: 'var_pct',
  Tms: 'time_s',
};

/** The points in use of a curve in force, with the coordinates that the table of functions gives. */
export function curve(name: CurveFunction, region?: TripRegion): Member {
  const { at, axes } = curvePlace(name, region);
  const axis = (point: MapAxis): Axis => ({ name: axisNames[point], point });
  const minPoints = region === undefined || region === 'MustTrip' ? 1 : 0;
  return { kind: 'curve', at, axes: [axis(axes[0]), axis(axes[1])], minPoints, ...(region && { region }) };
}

/** True if a request may set a member. */
export function isWritable(member: Member): boolean {
  return !('readOnly' in member);
}

/** Members in one unit. */
interface Unit {
  /** modes with this unit, in lower case; the first is selected if none of them is in force */
  readonly modes: readonly [string, ...string[]];
  readonly now: string;
  readonly afterReversion: string;
}

/** The mode of a function, and the members whose unit it names. */
interface UnitChoice {
  /** point of the mode, whose member is `mode` */
  readonly point: string;
  readonly units: readonly [Unit, Unit];
}

interface SelectionInput {
  /** members of the request */
  readonly body: Readonly<Record<string, unknown>>;
  /** mode in force, in lower case; null: none */
  readonly mode: string | null;
  /** true: the function is on after the request */
  readonly enabled: boolean;
}

/** The mode that a request selects, with the member that selects it; null: the request selects none. */
type Selection = { readonly mode: string; readonly by: string } | null;

/**
 * The mode that the members of a request select. A value in a unit selects a mode of this unit, since the value would
 * otherwise have no effect. With `mode` in the request, values in both units may be present, as in a reply.
 * @returns `issues` by the names of members, where the request contradicts itself or the mode in force
 */
export function selectedMode(
  { units }: UnitChoice,
  { body, mode, enabled }: SelectionInput,
): { readonly selected: Selection; readonly issues: readonly Pick<ProblemIssue, 'name' | 'detail'>[] } {
  const has = (name: string) => body[name] !== undefined;
  const requestedMode = body['mode'];
  if (typeof requestedMode === 'string') {
    const selectedUnit = units.find(({ modes }) => modes.includes(requestedMode));
    const others = units.filter((unit) => unit !== selectedUnit);
    const issues = others.flatMap((other) =>
      (['now', 'afterReversion'] as const)
        .filter((time) => has(other[time]) && !(selectedUnit && has(selectedUnit[time])))
        .map((time) => ({
          name: other[time],
          detail: `contradicts mode ${requestedMode}, in which ${selectedUnit?.[time] ?? 'another member'} counts`,
        })),
    );
    return { selected: null, issues };
  }
  const candidates = [
    ...units.filter(({ now }) => has(now)),
    ...units.filter(({ now, afterReversion }) => !has(now) && has(afterReversion)),
  ];
  const [unit, other] = candidates;
  if (unit === undefined) return { selected: null, issues: [] };
  const by = has(unit.now) ? unit.now : unit.afterReversion;
  if (other !== undefined) {
    const name = has(other.now) ? other.now : other.afterReversion;
    return { selected: null, issues: [{ name, detail: `contradicts ${by}: without mode only one unit can count` }] };
  }
  if (mode !== null && unit.modes.includes(mode)) return { selected: { mode, by }, issues: [] };
  const [first] = unit.modes;
  // a reversion value alone must not change the mode in force
  if (!has(unit.now) && enabled && mode !== null) {
    const detail = `counts in mode ${first} only, and the function is on in mode ${mode}; give ${unit.now} or mode too`;
    return { selected: null, issues: [{ name: by, detail }] };
  }
  return { selected: { mode: first, by }, issues: [] };
}
