/** Groups of devices with their sums, and the colour of a cell. */
import type { ReplyOf } from '../../../api/call';
import { kindOf, kinds } from '../../../kit/kind-icons';
import { figuresOf } from '../../../store/stream';
import { isHeld, limitWords, shapeOf } from '../condition';
import type { Condition } from '../condition';
import { show, sourceName } from '../../../look/format';

export const colours = { power: 'Power', voltage: 'Voltage', soc: 'SoC', owner: 'Owner' } as const;
export type Colour = keyof typeof colours;

export const groupings = { kind: 'Kind', feeder: 'Feeder', profile: 'Profile', owner: 'Owner' } as const;
export type Grouping = keyof typeof groupings;

export interface Group {
  readonly title: string;
  /** kind of its icon; null: of several kinds */
  readonly kind: string | null;
  readonly members: readonly Condition[];
}

type Scope = ReplyOf<'site/scopes'>['scopes'][number];

export const ownerOf = ({ device }: Condition): string =>
  device.last_write === null ? 'nobody' : sourceName(device.last_write.source);

/** The smallest group of site limits that has a device. */
function feederTitle({ device }: Condition, scopes: readonly Scope[]): string {
  const around = scopes.filter(({ devices }) => devices?.includes(device.device_index) === true);
  const [inner] = around.toSorted((a, b) => (a.devices?.length ?? 0) - (b.devices?.length ?? 0));
  const indexes = inner?.devices ?? [];
  return indexes.length === 0 ? 'No group' : `Devices ${indexes[0]} to ${indexes.at(-1)}`;
}

function titleOf(condition: Condition, by: Grouping, scopes: readonly Scope[]): string {
  const { device } = condition;
  if (by === 'kind') return kindOf(device.asset_type).title;
  if (by === 'feeder') return feederTitle(condition, scopes);
  return by === 'owner' ? ownerOf(condition) : (device.device_profile_name ?? device.device_type);
}

/** Kinds in the order of the feeders, other groups in that of their first device. */
export function groupsOf(conditions: readonly Condition[], by: Grouping, scopes: readonly Scope[]): readonly Group[] {
  const groups = new Map<string, Condition[]>();
  if (by === 'kind') for (const { title } of Object.values(kinds)) groups.set(title, []);
  for (const condition of conditions) {
    const title = titleOf(condition, by, scopes);
    const members = groups.get(title);
    if (members) members.push(condition);
    else groups.set(title, [condition]);
  }
  return [...groups].flatMap(([title, members]) => {
    const [first] = members;
    if (first === undefined) return [];
    const kind = first.device.asset_type;
    return { title, members, kind: members.every(({ device }) => device.asset_type === kind) ? kind : null };
  });
}

/** Numbers of the most frequent entries: `3 charging`. */
function countsBy(words: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word, count]) => `${count} ${word}`);
}

const maxCounts = 3;

/** States of the devices of a group with their numbers: faults first, then limits, then the rest. */
export function countsText(members: readonly Condition[]): string {
  const wrong = countsBy(members.filter((each) => shapeOf(each) === 'tripped').map(({ state }) => state));
  const limited = countsBy(members.filter((each) => shapeOf(each) === 'limited').flatMap(limitedText));
  const others = countsBy(
    members.filter((each) => ['plain', 'idle'].includes(shapeOf(each))).map(({ state }) => state),
  );
  return [...wrong, ...limited, ...others].slice(0, maxCounts).join(', ');
}

const limitedText = ({ limitedBy }: Condition) => (limitedBy === null ? [] : `limited by ${limitWords[limitedBy]}`);

/** Range of the voltage that the colours span, percent of nominal. */
const voltageRange = { from: 88, to: 110 } as const;

/** The share of the colour, from 0 to 100; null: there is no value. */
export function shareOf(condition: Condition, colour: Colour): number | null {
  const { device, powerKw, socPct } = condition;
  const within = (share: number) => Math.min(100, Math.max(0, share));
  switch (colour) {
    case 'power':
      return device.rated_kw > 0 ? within((Math.abs(powerKw) / device.rated_kw) * 100) : null;
    case 'voltage': {
      const pct = figuresOf(device.device_index)?.voltagePct ?? null;
      const { from, to } = voltageRange;
      return pct === null ? null : within(((pct - from) / (to - from)) * 100);
    }
    case 'soc':
      return socPct === null ? null : within(socPct);
    case 'owner':
      return null;
  }
}

/** Ends of the scale of a colour. */
export const scaleEnds: Readonly<Record<Exclude<Colour, 'owner'>, readonly [from: string, to: string]>> = {
  power: ['0', '100\u00a0% of rating'],
  voltage: [`${voltageRange.from}`, `${voltageRange.to}\u00a0% of nominal`],
  soc: ['0', '100\u00a0%'],
};

/** Fills of owners: class that sets `--k`, told apart by letters too. */
const ownerLooks = ['charger', 'solar', 'storage', 'hybrid', 'wind', 'load'] as const;

/** Letter and fill of an owner. */
export function ownerLook(owner: string, owners: readonly string[]): readonly [letter: string, look: string] {
  const at = Math.max(0, owners.indexOf(owner));
  // fills repeat, letters do not
  return [String.fromCodePoint(65 + at), ownerLooks[at % ownerLooks.length] ?? 'load'];
}

export const ownersOf = (conditions: readonly Condition[]) => [...new Set(conditions.map(ownerOf))].toSorted();

/** The name of a device with what it does, for tips and readers. */
export function cellText({ device, state, limitedBy, powerKw, socPct }: Condition): string {
  const limit = limitedBy !== null && isHeld({ limitedBy, state }) ? `, ${limitWords[limitedBy]}` : '';
  const soc = socPct === null ? '' : `, ${show(socPct, 'soc')}`;
  return `${device.device_index} ${device.name}: ${show(Math.abs(powerKw), 'activePower')}${soc}, ${state}${limit}`;
}
