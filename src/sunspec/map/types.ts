/** The types that model tables are written in, and the static types derived from them. */

export type PointType =
  | 'int16'
  | 'uint16'
  | 'count'
  | 'acc16'
  | 'enum16'
  | 'bitfield16'
  | 'int32'
  | 'uint32'
  | 'acc32'
  | 'enum32'
  | 'bitfield32'
  | 'ipaddr'
  | 'int64'
  | 'uint64'
  | 'acc64'
  | 'float32'
  | 'float64'
  | 'ipv6addr'
  | 'eui48'
  | 'string'
  | 'sunssf'
  | 'pad';

export interface PointDef {
  readonly name: string;
  readonly type: PointType;
  /** registers */
  readonly size: number;
  /** name of the scale-factor point (same group first, then the model's top level), or the exponent itself */
  readonly sf?: string | number;
  readonly units?: string;
  /** absent: read only */
  readonly access?: 'RW';
  /** absent: optional */
  readonly mandatory?: true;
  /** absent: dynamic */
  readonly static?: true;
  /** absent: not demanded by the IEEE 1547-2018 profile */
  readonly profile1547?: true;
  /** enumeration values, or bit numbers of a bit field */
  readonly symbols?: Readonly<Record<string, number>>;
  readonly label: string;
  /** `latch`: a write is a command that the commit carries out (adopts a curve, resets alarms); it cannot be held */
  readonly effect?: 'latch';
  /** timer point of the reversion group of which this point is the set-point or enable */
  readonly reversion?: string;
}

export interface GroupDef {
  readonly name: string;
  readonly type: 'group' | 'sync';
  /** repetitions: a number, 0 if the length of the model decides, or the name of the count point of the model */
  readonly count: number | string;
  readonly label: string;
  readonly points: readonly PointDef[];
  readonly groups?: readonly GroupDef[];
}

export interface ModelDef {
  readonly id: number;
  readonly name: string;
  readonly label: string;
  readonly points: readonly PointDef[];
  readonly groups?: readonly GroupDef[];
}

type EnumSymbol<P extends PointDef> = P extends { symbols: infer S } ? keyof S & string : never;

type Decoded<P extends PointDef> = P['type'] extends 'string'
  ? string
  : P['type'] extends 'enum16' | 'enum32'
    ? P extends { symbols: object }
      ? EnumSymbol<P>
      : number
    : number;

/** Value of a point in engineering units: number, symbol or text; null when the device does not implement it. */
export type PointValue<P extends PointDef> = P extends { mandatory: true } ? Decoded<P> : Decoded<P> | null;

declare const measurable: unique symbol;
declare const settable: unique symbol;

/** Points that can be assigned through a view: none, points that no protocol writes, or all. */
export type ViewAccess = 'read' | 'measurements' | 'all';

/**
 * Marks the views that can be assigned through; no such member exists at run time. Without marks the compiler would
 * accept a read-only view as a writable one: `readonly` plays no part in assignability.
 */
export type AccessMark<A extends ViewAccess> = A extends 'all'
  ? { readonly [measurable]: true; readonly [settable]: true }
  : A extends 'measurements'
    ? { readonly [measurable]: true }
    : unknown;

/** Names of the points that a view of this access can assign. */
type AssignableName<P extends PointDef, A extends ViewAccess> = A extends 'all'
  ? P['name']
  : A extends 'measurements'
    ? P extends { access: 'RW' }
      ? never
      : P['name']
    : never;

// a property of an intersection is read-only only where each side says so
type PointMembers<Ps extends readonly PointDef[], A extends ViewAccess> = {
  readonly [P in Ps[number] as P['name']]: PointValue<P>;
} & { -readonly [P in Ps[number] as AssignableName<P, A>]: PointValue<P> };

type GroupMembers<Gs, A extends ViewAccess> = Gs extends readonly GroupDef[]
  ? { readonly [G in Gs[number] as G['name']]: G extends { count: 1 } ? GroupView<G, A> : readonly GroupView<G, A>[] }
  : unknown;

/** View of one group: its points as accessors, its inner groups as views or lists of views. */
export type GroupView<
  G extends { points: readonly PointDef[]; groups?: readonly GroupDef[] },
  A extends ViewAccess = 'read',
> = PointMembers<G['points'], A> & GroupMembers<G['groups'], A> & AccessMark<A>;

/**
 * View of one model over the bytes of a bank. Reading decodes; where the access allows it, assigning encodes. A number
 * beyond the type is clamped, and refused in a transaction.
 */
export type View<M extends ModelDef, A extends ViewAccess = 'read'> = GroupView<M, A>;

/** A value at an untyped boundary (REST, JSON files). */
export type AnyPointValue = number | string | null;
