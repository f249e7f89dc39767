/** Operations about a fleet. Only its gateway answers them. */
import { members, count, list, measured, member, nested, number, text, word } from '../common/members.ts';
import { z } from '../description/zod.ts';
import { HttpProblem } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { inverterStates } from '../../contract/snapshot.ts';
import { alarmSeverities } from '../devices.ts';
import { stopBodySchema, stopping } from '../lifecycle.ts';
import { linkStates, missingShard } from './members.ts';
import type { MissingShard } from './members.ts';

const shardStates = ['live', 'lost'] as const;

export interface ShardFacts {
  readonly shard: string;
  readonly state: (typeof shardStates)[number];
  readonly seenS: number;
  readonly first: number;
  readonly room: number;
  readonly count: number;
  readonly host: string;
  readonly http: string | null;
  readonly ports: Readonly<Record<string, readonly number[]>>;
  readonly pid: number;
  readonly version: string;
  readonly apiVersion: string;
  readonly session: string;
  readonly epoch: number;
  readonly tick: number | null;
  readonly tickAgeS: number | null;
  readonly lateSlots: number | null;
  readonly rateEffective: number | null;
  readonly ticks: number;
  readonly ticksMissed: number;
  readonly messagesFenced: number;
  readonly messagesRepeated: number;
  readonly messagesBroken: number;
}

const ports = member<ShardFacts['ports']>(() => z.record(z.string(), z.array(z.int())));

export const shardTable = members<ShardFacts>()('Shard', () => ({
  shard: text('Name of the shard.'),
  state: word(shardStates)('`lost`: it has not renewed its lease for 4 s, or two requests found nobody.'),
  seen_s: number('Seconds since the last renewal of its lease.'),
  first: count('Index of its first device.'),
  room: count('Indexes reserved for it, from `first` on.'),
  count: count('Devices that it has.'),
  host: text('Name of its machine.'),
  http: text.orNull('`address:port` of its own HTTP interface; null: it has none.'),
  ports: ports('Ports of its first and its last device, by protocol.'),
  pid: count('Number of its process.'),
  version: text('Semantic version of its process.'),
  api_version: text('Version of its HTTP interface.'),
  session: text('A random value per process.'),
  epoch: count('Rises with each process that has had the name; messages with a lower one are dropped.'),
  tick: count.orNull('Number of its newest whole tick; null: none has come.'),
  tick_age_s: number.orNull('Seconds since that tick came.'),
  late_slots: count.orNull('Ticks since its start that it has joined with later ones because its machine was late.'),
  rate_effective: number.orNull('Simulated seconds per second of wall time that it reaches.'),
  ticks: count('Whole ticks that have come.'),
  ticks_missed: count('Ticks that did not come, or not whole.'),
  messages_fenced: count('Messages dropped because their process has lost the name to another one.'),
  messages_repeated: count('Messages dropped because they came twice, or behind a newer tick.'),
  messages_broken: count('Messages dropped because they do not add up.'),
}));

export interface ShardsFacts {
  readonly shards: readonly ShardFacts[];
  readonly missing: readonly MissingShard[];
}

export const shardsTable = members<ShardsFacts>()('Shards', () => ({
  shards: list(shardTable)('In the order of their devices.'),
  missing: list(missingShard)('Those that are lost.'),
}));

export interface FleetFacts {
  readonly state: (typeof linkStates)[number];
  readonly prefix: string;
  readonly server: string;
  readonly shardsLive: number;
  readonly shardsLost: number;
  readonly devices: number;
  readonly powerKw: number;
  readonly reactivePowerKvar: number;
  readonly tickSpan: { readonly lowest: number; readonly highest: number } | null;
  readonly ticksMissed: number;
  readonly streamTicksDropped: number;
  readonly missing: readonly MissingShard[];
}

const tickSpan = members<{ readonly lowest: number; readonly highest: number }>()('TickSpan', () => ({
  lowest: count('Number of the oldest tick.'),
  highest: count('Number of the newest tick.'),
}));

export const fleetTable = members<FleetFacts>()('Fleet', () => ({
  state: word(linkStates)('Connection of the gateway to the server of the fleet.'),
  prefix: text('First token of the subjects of the fleet.'),
  server: text('Name and version of the server, for people.'),
  shards_live: count('Shards that renew their leases.'),
  shards_lost: count('Shards that do not.'),
  devices: count('Devices in the newest ticks of the shards that live. The sums below are theirs.'),
  power_kw: measured('Active power; positive = injected.'),
  reactive_power_kvar: measured('Reactive power; positive = injected.'),
  tick_span: nested(tickSpan).orNull('Numbers of the oldest and the newest of these ticks; null: none has come.'),
  ticks_missed: count('Ticks of all shards that did not come, or not whole.'),
  stream_ticks_dropped: count(
    'Ticks that the stream has left out, since a newer one of their shard came before their turn.',
  ),
  missing: list(missingShard)('Shards that the sums are without.'),
}));

/** Columns of the devices of a shard in its newest tick. */
export interface ShardMap {
  readonly shard: string;
  readonly state: (typeof shardStates)[number];
  readonly first: number;
  readonly count: number;
  readonly tick: number | null;
  readonly tickAgeS: number | null;
  readonly index: readonly number[];
  readonly powerW: readonly number[];
  readonly sharePct: readonly number[];
  readonly inverterState: readonly number[];
  readonly alarmSeverity: readonly number[];
}

const numbers = list({ schema: () => z.number() });
const whole = list({ schema: () => z.int() });

/** Watts are exact enough, and short as text. */
const inKilowatts = (watts: readonly number[]) => watts.map((each) => Math.round(each) / 1000 || 0);

export const shardMapTable = members<ShardMap>()('ShardMap', () => ({
  shard: text('Name of the shard.'),
  state: word(shardStates)('`lost`: its columns are empty.'),
  first: count('Index of its first device.'),
  count: count('Devices that it had when it was seen last.'),
  tick: count.orNull('Number of the tick of the columns; null: none has come.'),
  tick_age_s: number.orNull('Seconds since that tick came.'),
  index: whole('Indexes of its devices, ascending; the columns below are in this order.'),
  power_kw: numbers('Active power; positive = injected.', ({ powerW }) => inKilowatts(powerW)),
  share_pct: whole('Share of the power that it could give or take now, in the direction of its power.'),
  inverter_state: whole('Positions in `codes.inverter_state`.'),
  alarm_severity: whole('Its worst alarm: positions in `codes.alarm_severity`.'),
}));

/** Severities of the column of alarms. */
export const mapSeverities = ['none', ...alarmSeverities] as const;

const mapCodes = members<null>()('FleetMapCodes', () => ({
  inverter_state: list({ schema: () => z.enum(inverterStates) })('States of inverters.', () => inverterStates),
  alarm_severity: list({ schema: () => z.enum(mapSeverities) })('Severities of alarms.', () => mapSeverities),
}));

export const fleetMapTable = members<readonly ShardMap[]>()('FleetMap', () => ({
  codes: nested(mapCodes)('Words of the codes in the columns.', () => null),
  shards: list(shardMapTable)('In the order of their devices.', (shards) => shards),
}));

const notGateway = () =>
  new HttpProblem('disabled', 'This simulator is no gateway of a fleet: start one with "derbench gateway".');

/** Answers at a simulator: a gateway answers by its own. */
const refuse = (): never => {
  throw notGateway();
};

const shardParams = z.strictObject({
  name: z.string().max(32).openapi({ description: 'Name of the shard.', example: 'b' }),
});

const note = 'Only the gateway of a fleet has it: a single simulator answers 409 with the code `disabled`.';

export const fleetRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/fleet',
    tag: 'Core',
    operationId: 'get_fleet',
    summary: 'State of a fleet of several processes, with sums over its shards',
    description: note,
    reply: fleetTable.schema,
    problems: ['disabled'],
    handle: refuse,
  }),
  route({
    method: 'get',
    path: '/fleet/map',
    tag: 'Core',
    operationId: 'get_fleet_map',
    summary: 'Power, state and alarm of every device of a fleet, in columns',
    description: `The newest ticks of the shards, which the gateway has without asking them. ${note}`,
    reply: fleetMapTable.schema,
    problems: ['disabled'],
    handle: refuse,
  }),
  route({
    method: 'get',
    path: '/fleet/shards',
    tag: 'Core',
    operationId: 'list_shards',
    summary: 'The shards of a fleet',
    description: note,
    reply: shardsTable.schema,
    problems: ['disabled'],
    handle: refuse,
  }),
  route({
    method: 'get',
    path: '/fleet/shards/{name}',
    tag: 'Core',
    operationId: 'get_shard',
    summary: 'One shard of a fleet',
    description: note,
    params: shardParams,
    reply: shardTable.schema,
    problems: ['disabled', 'unknown-resource'],
    handle: refuse,
  }),
  route({
    method: 'post',
    path: '/fleet/shards/{name}/stop',
    tag: 'Controls',
    operationId: 'stop_shard',
    summary: 'Shuts one shard of a fleet down cleanly',
    description: note,
    params: shardParams,
    body: stopBodySchema,
    reply: stopping.schema,
    status: 202,
    problems: ['disabled', 'unknown-resource', 'shard-lost', 'fleet-offline', 'upstream-timeout', 'upstream-error'],
    handle: refuse,
  }),
];
