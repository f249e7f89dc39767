/** Tools that change the simulator. */
import { z } from 'zod';
import { clearFaults, injectFault } from '../client-commands/faults.ts';
import { limitDevice, limitSite, percentOf, siteLimits, valueText } from '../client-commands/points.ts';
import { actAt, connectorActions } from '../client-commands/stations.ts';
import { normalGrid } from '../client-commands/surroundings.ts';
import { waitFor } from '../client-commands/waiting.ts';
import { DerbenchError } from '../library/error.ts';
import {
  acts,
  at,
  device,
  numberOrNull,
  sets,
  shortClock,
  someValue,
  someValueOrNull,
  textOrNull,
  tool,
} from './tool.ts';
import type { Tool } from './tool.ts';

const values = (reply: object) =>
  Object.entries(reply)
    .filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');

/** @throws DerbenchError `validation` */
function refuse(name: string, detail: string): never {
  throw new DerbenchError({ code: 'validation', detail: `${name}: ${detail}`, issues: [{ name: `/${name}`, detail }] });
}

const writePoints = tool({
  name: 'write_points',
  description: 'Writes points of one SunSpec model, all or none: numbers in engineering units, enumerations by name.',
  input: {
    device: device.default(0),
    model: z.int().min(1),
    points: z.record(z.string(), someValue).describe('such as {"WMaxLimPct": 50}'),
  },
  output: {
    device: z.int(),
    points: z.array(z.object({ point: z.string(), value: someValueOrNull, symbol: textOrNull, unit: textOrNull })),
  },
  annotations: sets,
  async run({ device: index, model, points }, { client }) {
    await client.write(model, points, { device: index });
    const { points: after } = await client.registers(model, { points: Object.keys(points), device: index });
    return {
      sentence: `Device ${index}: ${after.map((point) => `${model}.${point.name} is ${valueText(point)}`).join(', ')}.`,
      data: {
        device: index,
        points: after.map(({ name, value, symbol = null, unit }) => ({
          point: `${model}.${name}`,
          value,
          symbol,
          unit,
        })),
      },
    };
  },
});

const limit = tool({
  name: 'limit',
  description:
    'Limits active power. Give one of percent (of 702.WMax), kw, off. for_s: simulated seconds until it reverts. ' +
    'site: limits the connection point instead (kw or off), without device that of all.',
  input: {
    device: device.optional(),
    site: z.enum(siteLimits).optional(),
    percent: z.number().min(0).max(100).optional(),
    kw: z.number().min(0).optional(),
    off: z.literal(true).optional(),
    for_s: z.number().min(0).optional(),
  },
  output: { device: numberOrNull, changes: z.array(z.string()) },
  annotations: sets,
  async run({ device: index, site, percent, kw, off, for_s: seconds }, { client }) {
    if ([percent, kw, off].filter((each) => each !== undefined).length !== 1)
      refuse('percent', 'give exactly one of percent, kw and off');
    if (site !== undefined) {
      if (percent !== undefined) refuse('percent', 'does not go with site');
      if (seconds !== undefined) refuse('for_s', 'does not go with site');
      const { lines } = await limitSite({ client, device: at(index) }, site, kw ?? null);
      const place = index === undefined ? 'Site' : `Connection point of device ${index}`;
      return { sentence: `${place}: ${lines.join(', ')}.`, data: { device: index ?? null, changes: [...lines] } };
    }
    const target = index ?? 0;
    const share = percent ?? (kw === undefined ? null : await percentOf(client, kw, at(target)));
    const { lines } = await limitDevice({ client, device: at(target) }, share, seconds ?? 0);
    return { sentence: `Device ${target}: ${lines.join(', ')}.`, data: { device: target, changes: [...lines] } };
  },
});

const gridEventOrNull = z.object({ name: z.string(), remaining_s: numberOrNull }).nullable();

const grid = z.object({
  device_index: numberOrNull,
  voltage_a_pu: z.number(),
  voltage_b_pu: z.number(),
  voltage_c_pu: z.number(),
  frequency_hz: z.number(),
  phase_angle_deg: z.number(),
  outage: z.boolean(),
  island: z.boolean(),
  event: gridEventOrNull,
});

const setGrid = tool({
  name: 'set_grid',
  description:
    'Grid of all devices, or of one. ramp_s, duration_s: simulated seconds. normal: nominal again, without event.',
  input: {
    device: device.optional(),
    voltage_pu: z.number().min(0).max(2).exactOptional(),
    frequency_hz: z.number().min(0).max(100).exactOptional(),
    ramp_s: z.number().min(0).exactOptional(),
    duration_s: z.number().min(0).exactOptional(),
    outage: z.boolean().exactOptional(),
    normal: z.literal(true).optional(),
  },
  output: { grid },
  annotations: sets,
  async run({ device: index, normal, ...change }, { client }) {
    if (normal && Object.keys(change).length > 0) refuse('normal', 'stands alone');
    const after = normal ? await normalGrid({ client, device: at(index) }) : await client.grid(change, at(index));
    return { sentence: `Grid: ${values(after)}.`, data: { grid: after } };
  },
});

const setWeather = tool({
  name: 'set_weather',
  description:
    'Irradiance (0 to 1500; null: back to its source), ambient temperature, load of the site. ramp_s, duration_s: ' +
    'simulated seconds.',
  input: {
    device: device.optional(),
    irradiance_w_m2: z.number().nullable().exactOptional(),
    ambient_temperature_c: z.number().nullable().exactOptional(),
    load_kw: z.number().nullable().exactOptional(),
    ramp_s: z.number().min(0).exactOptional(),
    duration_s: z.number().min(0).exactOptional(),
  },
  output: {
    environment: z.object({
      device_index: numberOrNull,
      irradiance_w_m2: z.number(),
      ambient_temperature_c: z.number(),
      cell_temperature_c: numberOrNull,
      load_kw: z.number(),
      source: z.string(),
    }),
  },
  annotations: sets,
  async run({ device: index, ...change }, { client }) {
    const environment = await client.environment(change, at(index));
    return { sentence: `Environment: ${values(environment)}.`, data: { environment } };
  },
});

const gridEvent = tool({
  name: 'grid_event',
  description:
    'Starts an event such as sag {"residual_pu": 0.4, "duration_s": 0.5}; api GET grid-events lists them. null ends ' +
    'the active one.',
  input: {
    device: device.optional(),
    name: z.string().nullable(),
    params: z.record(z.string(), someValue).default({}),
  },
  output: { event: gridEventOrNull },
  annotations: acts,
  async run({ device: index, name, params }, { client }) {
    if (name === null && Object.keys(params).length > 0) refuse('params', 'go with the start of an event');
    const after = await client.gridEvent(name, params, at(index));
    const event = after.event as z.output<typeof gridEventOrNull>;
    return { sentence: name === null ? 'The event has ended.' : `The event ${name} has started.`, data: { event } };
  },
});

const actions = Object.keys(connectorActions) as (keyof typeof connectorActions)[];

const vehicle = tool({
  name: 'vehicle',
  description:
    'At a charging station: plug a vehicle in (soc_pct: its charge), start or continue charging, pause, stop, unplug.',
  input: {
    device,
    connector: z.int().min(1).default(1),
    action: z.enum(actions),
    soc_pct: z.number().min(0).max(100).optional(),
  },
  output: {
    station: z.string(),
    connector: z.object({
      connector_id: z.int(),
      status: z.string(),
      power_kw: z.number(),
      limit_kw: z.number(),
      limit_source: z.string(),
      ev: z.object({ soc_pct: z.number() }).nullable(),
      session: z.object({ state: z.string(), energy_wh: z.number(), stop_reason: textOrNull }).nullable(),
    }),
  },
  annotations: acts,
  async run({ device: index, connector: number, action, soc_pct: soc = null }, { client }) {
    if (soc !== null && action !== 'plug') refuse('soc_pct', 'goes with plug only');
    const { station, connector, line } = await actAt(client, `${index}:${number}`, connectorActions[action], soc);
    return { sentence: `${line}.`, data: { station, connector } };
  },
});

const fault = tool({
  name: 'fault',
  description:
    'Injects a fault such as kind scale, params {"points": ["701.W"], "factor": 0.5}; api GET faults/kinds lists ' +
    'them. for_s: simulated seconds. clear: ends all faults.',
  input: {
    kind: z.string().optional(),
    params: z.record(z.string(), z.unknown()).default({}),
    device: device.optional(),
    for_s: z.number().min(0).optional(),
    clear: z.literal(true).optional(),
  },
  output: {
    faults: z.array(
      z.object({
        id: z.int(),
        protocol: z.string(),
        kind: z.string(),
        device_index: numberOrNull,
        strikes: z.int(),
      }),
    ),
  },
  annotations: acts,
  async run({ kind, params, device: index, for_s: seconds = null, clear }, { client }) {
    if ((kind === undefined) !== (clear === true)) refuse('kind', 'give either kind or clear');
    if (kind === undefined) {
      const { total } = await clearFaults(client);
      return { sentence: `${total} ${total === 1 ? 'fault has' : 'faults have'} ended.`, data: { faults: [] } };
    }
    const { protocol } = params;
    const order = { name: kind, protocol, seconds, parameters: () => params };
    const injected = await injectFault({ client, device: at(index) }, order);
    return {
      sentence: `Fault ${injected.id} (${injected.protocol} ${injected.kind}) is injected.`,
      data: { faults: [injected] },
    };
  },
});

const time = tool({
  name: 'time',
  description:
    'The simulated clock: pause, run at rate (simulated seconds per second), or step the paused clock by ticks or ' +
    'seconds (default one tick).',
  input: {
    action: z.enum(['pause', 'rate', 'step']),
    rate: z.number().min(0.01).max(3600).optional(),
    ticks: z.int().min(1).max(100_000).optional(),
    seconds: z.number().min(0).max(604_800).optional(),
  },
  output: { clock: shortClock },
  annotations: acts,
  async run({ action, rate, ticks, seconds }, { client }) {
    if (action !== 'rate' && rate !== undefined) refuse('rate', 'goes with the action rate only');
    if (action !== 'step' && (ticks ?? seconds) !== undefined) refuse('ticks', 'goes with the action step only');
    if (action === 'rate' && rate === undefined) refuse('rate', 'is missing');
    const span = { ...(ticks !== undefined && { ticks }), ...(seconds !== undefined && { seconds }) };
    const clock =
      action === 'pause'
        ? await client.pause()
        : action === 'rate'
          ? await client.rate(rate ?? 1)
          : (await client.step(span)).time;
    const rateText = clock.mode === 'paused' ? 'paused' : `running at rate ${clock.rate}`;
    return { sentence: `The clock shows ${clock.sim_time}, tick ${clock.tick}, ${rateText}.`, data: { clock } };
  },
});

const maxWaitS = 86_400;

/** Steps a paused clock, so it changes the simulator. */
const waitUntil = tool({
  name: 'wait_until',
  description:
    'Waits for a point such as 701.W, or a member such as metrics.power_kw; steps a paused clock. timeout_s: ' +
    'simulated seconds while paused, else real.',
  input: {
    device: device.default(0),
    point: z.string(),
    op: z.enum(['=', '!=', '<', '<=', '>', '>=']),
    value: someValue,
    timeout_s: z.number().min(0).max(maxWaitS).default(60),
  },
  output: { point: z.string(), value: z.string() },
  annotations: acts,
  limitMs: null,
  async run({ device: index, point, op, value: bound, timeout_s: timeoutS }, { client }) {
    if (typeof bound === 'string' && !['=', '!='].includes(op)) refuse('value', `must be a number for ${op}`);
    const condition = { name: point, operator: op, bound };
    const value = await waitFor(client, condition, { timeoutS, device: index });
    return { sentence: `${point} of device ${index} is ${value}.`, data: { point, value } };
  },
});

export const changeTools: readonly Tool[] = [
  writePoints,
  limit,
  setGrid,
  setWeather,
  gridEvent,
  vehicle,
  fault,
  time,
  waitUntil,
];
