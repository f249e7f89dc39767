/** The table of points in the form that py1815 reads; it comes with none of its own. */
import type { PointRow } from '../../../src/dnp3/profile/types.ts';

interface ModeBlock {
  readonly name: string;
  /** enabling output; the input that tells of support stands 19 above, that of the state 52 above */
  readonly enable: number;
  readonly outputs: readonly [number, number];
  /** inputs beside those that mirror the outputs */
  readonly inputs?: readonly [number, number];
  readonly switches?: readonly number[];
}

const blocks: readonly ModeBlock[] = [
  { name: 'Voltage ride-through', enable: 12, outputs: [22, 26] },
  { name: 'Frequency ride-through', enable: 13, outputs: [27, 31] },
  { name: 'Dynamic reactive current', enable: 14, outputs: [32, 47] },
  { name: 'Dynamic volt-watt', enable: 15, outputs: [48, 56] },
  { name: 'Frequency-watt', enable: 16, outputs: [57, 81], inputs: [115, 141] },
  { name: 'Active power limit', enable: 17, outputs: [82, 88], inputs: [142, 149] },
  { name: 'Charge and discharge', enable: 18, outputs: [89, 101], inputs: [150, 162] },
  { name: 'Coordinated charge', enable: 19, outputs: [102, 114] },
  { name: 'Active power response 1', enable: 20, outputs: [115, 125] },
  { name: 'Active power response 2', enable: 21, outputs: [126, 136] },
  { name: 'Active power response 3', enable: 22, outputs: [137, 147] },
  { name: 'Automatic generation control', enable: 23, outputs: [148, 156] },
  { name: 'Active power smoothing', enable: 24, outputs: [157, 167] },
  { name: 'Volt-watt', enable: 25, outputs: [168, 180], inputs: [242, 256] },
  { name: 'Frequency-watt curve', enable: 26, outputs: [181, 198] },
  { name: 'Constant var', enable: 27, outputs: [199, 205], inputs: [277, 283] },
  { name: 'Power factor', enable: 28, outputs: [206, 211], inputs: [284, 289], switches: [10, 11] },
  { name: 'Volt-var', enable: 29, outputs: [212, 220], inputs: [290, 301], switches: [41] },
  { name: 'Watt-var', enable: 30, outputs: [221, 228], inputs: [302, 311] },
  { name: 'Power factor correction', enable: 31, outputs: [229, 236] },
  { name: 'Pricing signal', enable: 32, outputs: [237, 243] },
];

/** Outputs that name a curve: py1815 finds them by their names. */
const curveIndexes: ReadonlySet<number> = new Set([23, 24, 25, 26, 28, 29, 30, 31, 173, 186, 217, 226]);

const within = (index: number, [first, last]: readonly [number, number]) => index >= first && index <= last;

function blockOf({ type, index }: PointRow, mirrors: ReadonlyMap<string, ModeBlock>): ModeBlock | undefined {
  switch (type) {
    case 'AO':
      return blocks.find(({ outputs }) => within(index, outputs));
    case 'AI':
      return mirrors.get(`AI${index}`) ?? blocks.find(({ inputs }) => inputs !== undefined && within(index, inputs));
    case 'BO':
      return blocks.find(({ enable, switches = [] }) => enable === index || switches.includes(index));
    case 'BI':
      return blocks.find(({ enable }) => index === enable + 19 || index === enable + 52) ?? mirrors.get(`BI${index}`);
    default:
      return undefined;
  }
}

function nameOf(row: PointRow, block: ModeBlock | undefined): string {
  if (row.type === 'BO' && row.index === block?.enable) return `Enable ${block.name}`;
  if (row.type === 'BI' && block !== undefined && row.index === block.enable + 19) return `Supports ${block.name}`;
  if (row.type === 'AO' && curveIndexes.has(row.index)) return `${row.name} curve index`;
  return row.name;
}

/** @param rows the points of the profile, served or not */
export function py1815Tables(rows: readonly PointRow[]): object {
  const mirrors = new Map(
    rows.flatMap((row) => {
      const block = row.type === 'AO' || row.type === 'BO' ? blockOf(row, new Map()) : undefined;
      return block === undefined || row.readBack === undefined ? [] : [[row.readBack, block] as const];
    }),
  );
  const points: Record<string, object[]> = { AI: [], AO: [], BI: [], BO: [], CTR: [] };
  for (const row of rows) {
    const block = blockOf(row, mirrors);
    points[row.type]?.push({
      index: row.index,
      name: nameOf(row, block),
      section: null,
      purpose: block?.name ?? null,
      event_class: row.type === 'CTR' ? null : row.class,
      ...(row.type === 'CTR' && { frozen: true, frozen_event_class: 3 }),
      multiplier: row.multiplier ?? null,
      minimum: row.min ?? null,
      maximum: row.max ?? null,
      units: row.unit ?? null,
      associated: row.readBack ?? null,
    });
  }
  return { key: { equipment: {}, fixed: {} }, points, edition: 'AN2018-001 as served' };
}
