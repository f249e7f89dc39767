/**
 * Maps a member of a grid-support object to register points. The tables in `functions.ts` consist of these mappings.
 */
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import { curvePlace } from '../../sunspec/map/grid-support/wish.ts';
import type { TripRegion } from '../../sunspec/map/grid-support/wish.ts';
import type { UnitChoice } from './units.ts';
import type {
  Axis as MapAxis,
  CurveFunction,
  FunctionName,
  FunctionRow,
} from '../../sunspec/map/grid-support/functions.ts';

/** A number in engineering units. */
interface NumberMember {
  readonly kind: 'number';
  readonly point: string;
  /** the member is in thousands of the unit of the point */
  readonly kilo?: true;
  readonly readOnly?: true;
  /** limits of requests where the rule of the point depends on other points */
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

/** Members of the same function in an object of their own. */
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

/** One grid-support function: what the interface needs of its row in the table of functions, and its members. */
export interface GridFunction extends Pick<FunctionRow, 'model' | 'mode' | 'timer' | 'sets'> {
  readonly name: FunctionName;
  /** in words */
  readonly title: string;
  /** the enable point; for the ramp the limit itself */
  readonly enable: string;
  /** there is no switch: `enabled` can only be read */
  readonly always?: true;
  /** values in two units, of which a mode says which counts */
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
