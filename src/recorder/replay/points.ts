/** Facts of the model tables about the points of compared registers. */
import type { Buffer } from 'node:buffer';
import { memo } from '../../core/lazy.ts';
import { meterModels } from '../../sunspec/models/meters.ts';
import { classicModels, servedModels } from '../../sunspec/models/served.ts';
import type { GroupDef, ModelDef, PointDef, PointType } from '../../sunspec/map/types.ts';

interface KnownPoint {
  readonly type: PointType;
  /** number of registers */
  readonly size: number;
  /** true for a measurement, a counter or a remaining time, which differ from run to run */
  readonly moves: boolean;
}

const models: readonly ModelDef[] = [...servedModels, ...classicModels, ...meterModels];
/** Heartbeats and counters of cycles, which have no unit. */
const counters: ReadonlySet<string> = new Set(['715.DERHb', '802.Hb', '802.NCyc', '160.Tms']);
const quantity = /^(u?int|acc|float|count)/;

/** True for read-only quantities except ratings. */
function moves(name: string, { access, type, sf, units, ...def }: PointDef): boolean {
  if (counters.has(name)) return true;
  const isMeasured = access === undefined && def.static === undefined && quantity.test(type);
  return isMeasured && (sf !== undefined || units !== undefined) && !/Rtg/.test(name);
}

const pointsByName = memo(() => {
  const points = new Map<string, KnownPoint>();
  const add = (group: Pick<GroupDef, 'points' | 'groups'>, prefix: string) => {
    for (const def of group.points) {
      const name = prefix + def.name;
      points.set(name, { type: def.type, size: def.size, moves: moves(name, def) });
    }
    for (const inner of group.groups ?? []) add(inner, `${prefix}${inner.name}.`);
  };
  for (const model of models) add(model, `${model.id}.`);
  return points;
});

/** @param name with indices of groups: `714.Prt[0].DCW` */
export function pointOf(name: string): KnownPoint | undefined {
  return pointsByName().get(plainName(name));
}

/** Without indices of groups, and without the number of a repeated model: `203:2.W` is a point as `203.W` is. */
function plainName(name: string): string {
  return name.replace(/\[\d+\]/g, '').replace(/^(\d+):\d+/, '$1');
}

/** Names of all points of all models, without indices: `714.Prt.DCW`. */
export const pointNames = memo((): readonly string[] => [...pointsByName().keys()]);

/** True if a point is excluded from the comparison. */
export function isIgnored(name: string, ignore: readonly string[]): boolean {
  const plain = plainName(name);
  const [model = '', ...path] = plain.split('.');
  return ignore.some((each) => each === name || each === plain || each === model || each === path.join('.'));
}

/** The value of registers as text, and as a number if possible. */
export interface ShownValue {
  readonly text: string;
  readonly number: number | null;
  /** true if the device does not implement the point */
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

/** The value for "not implemented": all bits set, or the sign bit alone; accumulators have none (-1n is never read). */
function absentValue(type: PointType, bits: number): bigint {
  if (/^int|sunssf/.test(type)) return -(1n << BigInt(bits - 1));
  return type.startsWith('acc') ? -1n : (1n << BigInt(bits)) - 1n;
}

/** @param type undefined: the point is in no table, or the registers are a part of it */
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
