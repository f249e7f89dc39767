/** What the model tables say of the points behind compared registers. */
import type { Buffer } from 'node:buffer';
import { memo } from '../../core/memo.ts';
import { meterModels } from '../../sunspec/models/meters.ts';
import { classicModels, servedModels } from '../../sunspec/models/served.ts';
import type { GroupDef, ModelDef, PointDef, PointType } from '../../sunspec/map/types.ts';

interface KnownPoint {
  readonly type: PointType;
  /** a measurement, a counter or the rest of a time: it differs from run to run */
  readonly moves: boolean;
}

const models: readonly ModelDef[] = [...servedModels, ...classicModels, ...meterModels];
/** Heartbeats and cycles, which have no unit. */
const counters: ReadonlySet<string> = new Set(['715.DERHb', '802.Hb', '802.NCyc', '160.Tms']);
const quantity = /^(u?int|acc|float|count)/;

/** Read-only quantities that are no ratings. */
function moves(name: string, { access, type, sf, units, ...def }: PointDef): boolean {
  if (counters.has(name)) return true;
  const isMeasured = access === undefined && def.static === undefined && quantity.test(type);
  return isMeasured && (sf !== undefined || units !== undefined) && !/Rtg/.test(name);
}

const known = memo(() => {
  const found = new Map<string, KnownPoint>();
  const add = (group: Pick<GroupDef, 'points' | 'groups'>, prefix: string) => {
    for (const def of group.points) {
      const name = prefix + def.name;
      found.set(name, { type: def.type, moves: moves(name, def) });
    }
    for (const inner of group.groups ?? []) add(inner, `${prefix}${inner.name}.`);
  };
  for (const model of models) add(model, `${model.id}.`);
  return found;
});

/** @param name with indices of groups: `714.Prt[0].DCW` */
export function pointOf(name: string): KnownPoint | undefined {
  return known().get(name.replace(/\[\d+\]/g, ''));
}

/** Names of all points of the models, without indices: `714.Prt.DCW`. */
export const pointNames = memo((): readonly string[] => [...known().keys()]);

/** Whether a name is among those that are not compared. */
export function isIgnored(name: string, ignore: readonly string[]): boolean {
  const plain = name.replace(/\[\d+\]/g, '');
  const [model = '', ...path] = plain.split('.');
  return ignore.some((each) => each === name || each === plain || each === model || each === path.join('.'));
}

/** A value of registers as people read it, and as a number where it is one. */
export interface ShownValue {
  readonly text: string;
  readonly number: number | null;
  /** the device does not implement the point */
  readonly absent: boolean;
}

function textValue(words: Buffer): ShownValue {
  const text = words.toString('latin1').replace(/\0+$/, '');
  return { text: JSON.stringify(text), number: null, absent: false };
}

function floatValue(words: Buffer): ShownValue {
  const value = words.length === 4 ? words.readFloatBE(0) : words.readDoubleBE(0);
  return { text: String(value), number: Number.isFinite(value) ? value : null, absent: Number.isNaN(value) };
}

/** The number that says "not implemented": all bits, or the sign bit alone. */
function absentValue(type: PointType, bits: number): bigint {
  if (/^int|sunssf/.test(type)) return -(1n << BigInt(bits - 1));
  return type.startsWith('acc') ? -1n : (1n << BigInt(bits)) - 1n;
}

/** @param type undefined: of a point that is in no table */
export function shown(words: Buffer, type: PointType | undefined): ShownValue {
  if (type === 'string') return textValue(words);
  if (type?.startsWith('float')) return floatValue(words);
  if (words.length > 8) return { text: `0x${words.toString('hex')}`, number: null, absent: false };
  const bits = 8 * words.length;
  const raw = BigInt(`0x${words.toString('hex')}`);
  const value = /^int|sunssf/.test(type ?? '') ? BigInt.asIntN(bits, raw) : raw;
  return {
    text: String(value),
    number: Number(value),
    absent: type !== undefined && value === absentValue(type, bits),
  };
}
