/** Tools that read. */
import { z } from 'zod';
import { stationsOf, terminalsOf } from '../client-commands/stations.ts';
import { pointsByModel, valueText } from '../client-commands/points.ts';
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { Device } from '../library/replies.ts';
import { at, device, fromPeer, numberOrNull, reads, shortClock, someValueOrNull, textOrNull, tool } from './tool.ts';
import type { Tool } from './tool.ts';

const shortDevice = ({ device_index: index, name, device_type: kind, status, metrics, alarms, modbus }: Device) => ({
  device: index,
  name,
  kind,
  state: status.inverter_state,
  power_kw: metrics.power_kw,
  reactive_power_kvar: metrics.reactive_power_kvar,
  state_of_charge_pct: metrics.state_of_charge_pct,
  alarms: alarms.active_count,
  modbus: modbus === null ? null : `${modbus.host}:${modbus.port} unit ${modbus.unit_id}`,
});

const detailsOf = ({ metrics, status, charge_point_id: chargePoint, alarms }: Device) => ({
  metrics: { ...metrics },
  connection_state: status.connection_state,
  charge_point: chargePoint,
  alarms: [...alarms.active],
});

const deviceText = ({ device: index, name, kind, power_kw: kw }: ReturnType<typeof shortDevice>) =>
  `${index} ${name} (${kind}) ${kw} kW`;

const listDevices = tool({
  name: 'list_devices',
  description:
    'All devices and the clock. power_kw is positive into the grid. With device: that one, with metrics and alarms.',
  input: { device: device.optional() },
  output: {
    devices: z.array(
      z.object({
        device: z.int(),
        name: z.string(),
        kind: z.string(),
        state: z.string(),
        power_kw: z.number(),
        reactive_power_kvar: z.number(),
        state_of_charge_pct: numberOrNull,
        alarms: z.int(),
        modbus: textOrNull,
      }),
    ),
    details: z
      .object({
        metrics: z.record(z.string(), someValueOrNull),
        connection_state: z.string(),
        charge_point: textOrNull,
        alarms: z.array(
          z.object({
            code: z.string(),
            severity: z.string(),
            since: z.string(),
            message: z.string(),
          }),
        ),
      })
      .optional(),
    clock: shortClock,
  },
  annotations: reads,
  async run({ device: index }, { client }) {
    const clock = await client.time();
    const all = index === undefined ? await client.devices() : [await client.device(index)];
    const devices = all.map(shortDevice);
    const place = `${devices.length} device${devices.length === 1 ? '' : 's'} at ${clock.sim_time} (${clock.mode})`;
    return {
      sentence: `${place}: ${devices.map(deviceText).join('; ')}.`,
      data: { devices, ...(index !== undefined && { details: all.map(detailsOf)[0] }), clock },
      narrower: 'list_devices with device',
    };
  },
});

/** Protocols whose peers can write texts into the map. */
const peerSources = ['modbus', 'csip', 'ocpp', 'dnp3'];

const readPoints = tool({
  name: 'read_points',
  description:
    'SunSpec points in engineering units, with their last writer. Names are MODEL.POINT such as 701.W; MODEL.* is a ' +
    'whole model (large).',
  input: { device: device.default(0), points: z.array(z.string()).min(1).max(50) },
  output: {
    device: z.int(),
    points: z.array(
      z.object({
        point: z.string(),
        value: someValueOrNull.optional().describe('null: not implemented'),
        from_peer: fromPeer.optional(),
        symbol: textOrNull,
        unit: textOrNull,
        source: z.string(),
      }),
    ),
  },
  annotations: reads,
  async run({ device: index, points: names }, { client }) {
    const points = [];
    const texts: string[] = [];
    for (const [model, wanted] of pointsByModel(names)) {
      const answer = await client.registers(model, {
        device: index,
        ...(!wanted.includes('*') && { points: wanted }),
      });
      for (const point of answer.points) {
        const { name, value, symbol = null, unit, source } = point;
        const isOfPeer = typeof value === 'string' && peerSources.includes(source);
        const shown = isOfPeer ? { from_peer: value } : { value };
        points.push({ point: `${answer.id}.${name}`, ...shown, symbol, unit, source });
        texts.push(`${answer.id}.${name} ${isOfPeer ? 'has a text of a peer' : valueText(point)}`);
      }
    }
    return {
      sentence: `Device ${index}: ${texts.join(', ')}.`,
      data: { device: index, points },
      narrower: 'read_points with fewer points',
    };
  },
});

const basis = z.object({
  kw: z.number().describe('without limits'),
  text: z.string(),
});
const limit = z.object({
  kw: numberOrNull,
  text: z.string(),
  by: z.object({ source: z.string(), changed_at: textOrNull }).nullable(),
  until: textOrNull,
});

interface Why {
  readonly device_index: number;
  readonly connector_id: number | null;
  readonly sentence: string;
  readonly delivered_kw: number;
  readonly basis: z.output<typeof basis>;
  readonly chain: readonly (z.output<typeof limit> & { readonly state: string })[];
}

const why = tool({
  name: 'why',
  description: 'Why a device, or each, has its active power: a sentence, the source, and the limit that wins.',
  input: { device: device.optional() },
  output: {
    answers: z.array(
      z.object({
        device: z.int(),
        connector: numberOrNull,
        sentence: z.string(),
        delivered_kw: z.number(),
        basis,
        wins: limit.nullable().describe('null: no limit'),
      }),
    ),
  },
  annotations: reads,
  async run({ device: index }, { client }) {
    const queries = (await terminalsOf(client)).filter((each) => index === undefined || each.device === index);
    if (queries.length === 0)
      throw new DerbenchError({ code: 'unknown-device', detail: `there is no device ${String(index)}` });
    const answers = [];
    for (const query of queries) {
      const of = (await client.get('controls/why', { query: { ...query } })) as Why;
      answers.push({
        device: of.device_index,
        connector: of.connector_id,
        sentence: of.sentence,
        delivered_kw: of.delivered_kw,
        basis: of.basis,
        wins: of.chain.find(({ state }) => state === 'wins') ?? null,
      });
    }
    const texts = answers.map(
      (of) => `Device ${of.device}${of.connector === null ? '' : `, connector ${of.connector}`}: ${of.sentence}`,
    );
    return { sentence: texts.join(' '), data: { answers }, narrower: 'why with device' };
  },
});

interface Finding {
  readonly id: number;
  readonly rule: string;
  readonly title: string;
  readonly severity: string;
  readonly count: number;
  readonly clause: string;
  readonly peer: unknown;
  readonly text: string | null;
}

interface Item {
  readonly level: string;
  readonly title: string;
  readonly text: string;
}

const findings = tool({
  name: 'findings',
  description:
    'Rules that peers broke, newest first, and what needs attention: alarms, refused writes, commands not in force. ' +
    'since: last_id of an earlier answer.',
  input: { since: z.int().min(0).optional() },
  output: {
    last_id: z.int(),
    findings: z.array(
      z.object({
        id: z.int(),
        rule: z.string(),
        title: z.string(),
        severity: z.string(),
        count: z.int(),
        clause: z.string(),
        from_peer: fromPeer,
      }),
    ),
    attention: z.array(z.object({ level: z.string(), title: z.string(), from_peer: fromPeer })),
  },
  annotations: reads,
  async run({ since }, { client }) {
    const page = (await client.get('findings', { query: { after_id: since } })) as {
      readonly last_id: number;
      readonly findings: readonly Finding[];
    };
    const { items } = (await client.get('attention')) as { readonly items: readonly Item[] };
    const rows = page.findings.map(({ id, rule, title, severity, count, clause, peer, text }) => ({
      id,
      rule,
      title,
      severity,
      count,
      clause,
      from_peer: { peer, text },
    }));
    const attention = items.map(({ level, title, text }) => ({ level, title, from_peer: { text } }));
    const rules = rows.map(({ rule, count }) => `${rule} (${count})`);
    const titles = attention.map(({ title }) => title);
    return {
      sentence:
        `${rows.length === 0 ? 'No rule is broken' : `Broken rules: ${rules.join(', ')}`}; ` +
        `${titles.length === 0 ? 'nothing needs attention' : `attention: ${titles.join(', ')}`}.`,
      data: { last_id: page.last_id, findings: rows, attention },
      narrower: 'findings with since',
    };
  },
});

/** Path of the messages of a protocol; OCPP has them by station. */
async function messagesPath(client: Client, protocol: string, index: number | undefined): Promise<string> {
  if (protocol !== 'ocpp') return `${protocol}/messages`;
  const stations = await stationsOf(client);
  const station = stations.find((each) => index === undefined || each.device_index === index);
  if (station === undefined)
    throw new DerbenchError({ code: 'unknown-resource', detail: 'there is no such charging station' });
  return `ocpp/${encodeURIComponent(station.id)}/messages`;
}

const messages = tool({
  name: 'messages',
  description:
    'Messages, newest last. OCPP is always recorded, others after api POST {protocol}/messages {"enabled": true}.',
  input: {
    protocol: z.enum(['modbus', 'csip', 'ocpp', 'dnp3']),
    device: device.optional(),
    limit: z.int().min(1).max(50).default(10),
  },
  output: { enabled: z.boolean(), messages: z.array(z.object({ from_peer: fromPeer })) },
  annotations: reads,
  async run({ protocol, device: index, limit }, { client }) {
    const path = await messagesPath(client, protocol, index);
    const isPerDevice = protocol === 'modbus' && index !== undefined;
    const answer = (await client.get(path, { query: { limit, ...(isPerDevice && at(index)) } })) as {
      readonly enabled?: boolean;
      readonly messages: readonly unknown[];
    };
    const { enabled = true } = answer;
    return {
      sentence: `${answer.messages.length} messages of ${protocol}${enabled ? '' : ', whose recording is off'}.`,
      data: { enabled, messages: answer.messages.map((message) => ({ from_peer: message })) },
      narrower: 'messages with a smaller limit',
    };
  },
});

const difference = z.object({
  quantity: z.string(),
  unit: textOrNull,
  presentations: z.array(
    z.object({
      protocol: z.string(),
      place: z.string(),
      value: z.union([z.number(), z.string(), z.boolean()]).nullable(),
      agrees: z.boolean().nullable(),
      explanation: textOrNull,
    }),
  ),
});

interface Compared {
  readonly consistent: boolean;
  readonly difference_count: number;
  readonly quantities: readonly (z.output<typeof difference> & { readonly agrees: boolean })[];
}

interface Answers {
  readonly done: boolean;
  readonly causes: Readonly<Record<string, number>>;
  readonly answers: readonly { readonly protocol: string; readonly cause: string }[];
}

const compare = tool({
  name: 'compare',
  description:
    'Whether all protocols show the same values, and whether accepted commands are in force. Lists only differences.',
  input: { device: device.default(0) },
  output: {
    consistent: z.boolean(),
    done: z.boolean(),
    differences: z.array(difference),
    not_done: z.array(z.object({ protocol: z.string(), cause: z.string(), from_peer: fromPeer })),
  },
  annotations: reads,
  async run({ device: index }, { client }) {
    const same = (await client.get('consistency', { query: at(index) })) as Compared;
    const answers = (await client.get('answers', { query: at(index) })) as Answers;
    const differences = same.quantities.filter(({ agrees }) => !agrees);
    const undone = answers.answers.filter(({ cause }) => cause !== 'done');
    return {
      sentence:
        `Device ${index}: ${same.consistent ? 'all protocols agree' : `protocols differ in ${same.difference_count} values`}; ` +
        `${answers.done ? 'accepted commands are in force' : 'an accepted command is not in force'}.`,
      data: {
        consistent: same.consistent,
        done: answers.done,
        differences,
        not_done: undone.map(({ protocol, cause, ...from_peer }) => ({ protocol, cause, from_peer })),
      },
      narrower: 'api GET consistency or GET answers with a narrower query',
    };
  },
});

export const lookTools: readonly Tool[] = [listDevices, readPoints, why, findings, messages, compare];
