/** Binds each row of a point map: to a part, to the output that it mirrors, or to the register named by a file. */
import type { Dnp3Profile } from '../../contract/dnp3-settings.ts';
import type { PointPath } from '../../sunspec/map/point-path.ts';
import type { DevicePort } from '../device-port.ts';
import { computed, registerOutput } from './bind.ts';
import { an2018Rows, isOutput, pointName } from './table/rows.ts';
import type { InputSource, OutputTarget, PartContext, PointName, PointRow, PointType, ProfilePart } from './types.ts';

/** Indexes of AN2018-001 from here on are left out, because IEEE 1815.2 gives them another meaning. */
const sharedEnd: Readonly<Record<PointType, number>> = { BI: 108, BO: 42, AI: 569, AO: 461, CTR: 4 };

/** IEEE 1815.2 limits the active power where AN2018-001 limits charging, and has its least value beside it. */
const otherNames: Readonly<Record<PointName, string>> = {
  AI148: 'Active power limit maximum',
  AI149: 'Active power limit minimum',
  AO87: 'Active power limit maximum',
  AO88: 'Active power limit minimum',
};

/** The rows of the built-in map as a profile has them. */
export function builtInRows(profile: Dnp3Profile): readonly PointRow[] {
  if (profile === 'an2018') return an2018Rows;
  return an2018Rows
    .filter(({ type, index }) => index < sharedEnd[type])
    .map((row) => {
      const name = otherNames[pointName(row)];
      return name === undefined ? row : { ...row, name };
    });
}

export interface BoundRow {
  readonly row: PointRow;
  readonly source: InputSource | OutputTarget;
}

export interface BoundRows {
  /** rows that are served, in their order */
  readonly served: readonly BoundRow[];
  readonly outputs: ReadonlyMap<PointName, OutputTarget>;
}

/** All that the parts give by the names of AN2018-001, with the inputs that mirror outputs. */
function partBindings(parts: readonly ProfilePart[], context: PartContext) {
  const inputs = new Map<PointName, InputSource>();
  const outputs = new Map<PointName, OutputTarget>();
  for (const part of parts) {
    const partPoints = part(context);
    for (const [name, source] of partPoints.inputs) inputs.set(name, source);
    for (const [name, target] of partPoints.outputs) outputs.set(name, target);
  }
  for (const row of an2018Rows) {
    const target = outputs.get(pointName(row));
    // a part may give the mirror itself
    if (target && row.readBack !== undefined && !inputs.has(row.readBack)) inputs.set(row.readBack, target);
  }
  return { inputs, outputs };
}

const isPointName = (bind: string): bind is PointName => /^[A-Z]/.test(bind);

/** An input that shows a register; an enumeration has its number. It is compared with every read: any writer may change it. */
function registerInput(port: DevicePort, point: PointPath): InputSource | undefined {
  return port.has(point) ? computed(() => port.code(point), point, { live: true }) : undefined;
}

function registerTarget(port: DevicePort, point: PointPath): OutputTarget | undefined {
  const output = registerOutput(port, { point });
  if (output === null) return undefined;
  const read = () => (typeof port.value(point) === 'number' ? output.read() : port.code(point));
  return { ...output, read, live: true };
}

/**
 * Binds rows, without points that the device lacks. A row without `bind` has the meaning of its name in the profile.
 */
export function bindRows(rows: readonly PointRow[], parts: readonly ProfilePart[], context: PartContext): BoundRows {
  const { port, profile } = context;
  const profilePoints = partBindings(parts, context);
  const meant = new Set(builtInRows(profile).map(pointName));
  const outputs = new Map<PointName, OutputTarget>();
  const mirrors = new Map<PointName, OutputTarget>();
  for (const row of rows.filter(isOutput)) {
    const { bind, readBack } = row;
    const name = pointName(row);
    const at = bind ?? (meant.has(name) ? name : undefined);
    if (at === undefined) continue;
    const target = isPointName(at) ? profilePoints.outputs.get(at) : registerTarget(port, at as PointPath);
    if (target === undefined) continue;
    outputs.set(name, target);
    if (bind !== undefined && readBack !== undefined) mirrors.set(readBack, target);
  }
  const sourceOf = (row: PointRow): InputSource | OutputTarget | undefined => {
    const name = pointName(row);
    if (isOutput(row)) return outputs.get(name);
    const { bind } = row;
    if (bind === undefined) return mirrors.get(name) ?? (meant.has(name) ? profilePoints.inputs.get(name) : undefined);
    return isPointName(bind)
      ? (profilePoints.inputs.get(bind) ?? profilePoints.outputs.get(bind))
      : registerInput(port, bind as PointPath);
  };
  const served = rows.flatMap((row) => {
    const source = sourceOf(row);
    return source === undefined ? [] : [{ row, source }];
  });
  return { served, outputs };
}
