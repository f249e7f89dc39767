/** The list of who controls what: rows of equal limits, from the chains of the daemon. */
import { get, perform, Problem } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { kindOf } from '../../kit/kind-icons';
import { capitalized, fixed, pair, show } from '../../look/format';
import { isAtSetpoint, isHeld } from '../devices/condition';
import type { Condition } from '../devices/condition';

export type Why = ReplyOf<'controls/why'>;

export interface ControlRow {
  readonly key: string;
  /** kind of the icon */
  readonly kind: string;
  readonly title: string;
  /** `6.00 of 11.00 kW` */
  readonly value: string;
  readonly text: string;
  /** the first of its devices */
  readonly device: number;
  /** of the first device; absent: the device itself */
  readonly connector?: number | undefined;
}

const isForced = ({ state }: Condition) => state.endsWith('forced');

/** Devices whose power somebody decides. */
export const controlled = (conditions: readonly Condition[]) =>
  conditions.filter((each) => isHeld(each) || isForced(each) || isAtSetpoint(each));

/** Number of answers that the page asks for at a time. */
const maxAnswers = 12;

/** Devices to ask for: all while they are few, otherwise one of each kind and limit. */
export function askedFor(conditions: readonly Condition[]): readonly (readonly Condition[])[] {
  const all = controlled(conditions);
  if (all.length <= maxAnswers) return all.map((condition) => [condition]);
  const groups = new Map<string, Condition[]>();
  for (const condition of all) {
    const key = `${condition.device.asset_type} ${condition.limitedBy} ${isForced(condition)}`;
    groups.set(key, [...(groups.get(key) ?? []), condition]);
  }
  return [...groups.values()].slice(0, maxAnswers);
}

/** The end of a sentence of the daemon: what decides, and who did it. */
export function reasonIn(sentence: string): string {
  const at = sentence.indexOf(': ');
  const reason = at < 0 ? sentence : sentence.slice(at + 2);
  return capitalized(reason);
}

const winnerOf = ({ chain }: Why) => chain.find(({ state }) => state === 'wins');

/** Equal rows have the same function, writer and value. */
function keyOf(why: Why, [first]: readonly Condition[]): string {
  const { key = why.basis.key, by = null } = winnerOf(why) ?? {};
  // one writer has another port with each connection, and writes to one device after the other
  const writer = by && `${by.source} ${by.source_detail?.replace(/:\d+$/, '')}`;
  return JSON.stringify([first?.device.asset_type, key, writer, fixed(why.delivered_kw, 2)]);
}

function valueText({ basis, delivered_kw: kw }: Why, members: readonly Condition[]): string {
  const [first] = members;
  const forced = basis.key === 'forced' && first !== undefined ? ` ${first.state.split(',')[0]}` : '';
  const each = `${forced}${members.length === 1 ? '' : ' each'}`;
  return fixed(kw, 2) === fixed(basis.kw, 2)
    ? `${show(kw, 'activePower')}${each}`
    : `${pair(kw, basis.kw, 'activePower')}${each}`;
}

function titleOf(members: readonly Condition[], all: readonly Condition[]): string {
  const [first] = members;
  if (first === undefined) return '';
  if (members.length === 1) return first.device.name;
  const kind = first.device.asset_type;
  const ofKind = all.filter(({ device }) => device.asset_type === kind).length;
  return `${members.length} of ${ofKind} ${kindOf(kind).title.toLowerCase()}`;
}

interface Answered {
  readonly members: readonly Condition[];
  readonly why: Why;
  readonly connector?: number | undefined;
}

/** One row for each function, writer and value, those of most devices first. */
export function rowsOf(answers: readonly Answered[], all: readonly Condition[]): readonly ControlRow[] {
  const groups = new Map<string, Answered>();
  for (const answer of answers) {
    const key = keyOf(answer.why, answer.members);
    const present = groups.get(key);
    groups.set(key, present ? { ...present, members: [...present.members, ...answer.members] } : answer);
  }
  return [...groups]
    .map(([key, { members, why, connector }]) => ({
      key,
      kind: members[0]?.device.asset_type ?? '',
      title: titleOf(members, all),
      value: valueText(why, members),
      text: reasonIn(why.sentence),
      device: members[0]?.device.device_index ?? 0,
      connector,
      count: members.length,
    }))
    .toSorted((a, b) => b.count - a.count);
}

/** Limits of connectors that the overview names as those of a station. */
const stationLimits: readonly string[] = ['charging_profile', 'local', 'sharing', 'der', 'hardware', 'ev'];

type Connector = ReplyOf<'evse/{id}'>['connectors'][number];

/** The connector that the limit of its station holds: one whose vehicle wants more than it gets comes first. */
export function connectorHeldBy(limit: string, connectors: readonly Connector[]): Connector | undefined {
  const ofLimit = connectors.filter(({ ev, limit_source: source }) => ev !== null && source === limit);
  return (
    ofLimit.find(({ limit_kw: limitKw, wanted_kw: wantedKw }) => limitKw < Math.abs(wantedKw)) ??
    ofLimit[0] ??
    connectors.find(({ ev }) => ev !== null)
  );
}

/** The connector to ask about; undefined: the device itself. */
async function connectorOf({ device, limitedBy }: Condition): Promise<number | undefined> {
  const { charge_point_id: id } = device;
  if (id === null || limitedBy === null || !stationLimits.includes(limitedBy)) return undefined;
  const { connectors } = await perform(get('evse/{id}', { params: { id } }));
  return (connectorHeldBy(limitedBy, connectors) ?? connectors[0])?.connector_id;
}

async function readAnswer(members: readonly Condition[]): Promise<Answered | null> {
  const [first] = members;
  if (first === undefined) return null;
  try {
    const connector = await connectorOf(first);
    const query = { device: first.device.device_index, ...(connector !== undefined && { connector }) };
    return { members, connector, why: await perform(get('controls/why', { query })) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return null;
  }
}

/** Asks why for one device of each group; a device that has left is left out. */
export async function readAnswers(groups: readonly (readonly Condition[])[]): Promise<readonly Answered[]> {
  const answers = await Promise.all(groups.map(readAnswer));
  return answers.filter((answer) => answer !== null);
}
