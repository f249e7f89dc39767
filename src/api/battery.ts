/** Batteries: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { pointNumber } from '../sunspec/map/bank.ts';
import { batteryChemistries, batteryControlModes } from '../contract/kinds/battery.ts';
import type {
  BatteryCell,
  BatteryDetail,
  BatteryModule,
  BatteryString,
  BatteryCommand,
} from '../contract/kinds/battery.ts';
import type { Device } from '../contract/device.ts';
import { storageOf, selectedDevice, stateOperations } from './common/device-replies.ts';
import type { OfDevice } from './common/device-replies.ts';
import { flag, member, members, nested, word, camelCased, inKilo, kilo, measured, rounded } from './common/members.ts';
import { durationS, deviceParam } from './common/schemas.ts';
import { overrideOf, writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import type { RouteContext } from './http/context.ts';
import { listInPieces, replyInPieces } from './http/streaming.ts';
import type { ProblemIssue } from '../core/http/problem.ts';
import { invalidAll } from './http/errors.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const batteryDetails = ['bank', 'strings', 'modules', 'cells'] as const;
type BatteryDetailLevel = (typeof batteryDetails)[number];

const batteryQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  detail: z
    .enum(batteryDetails)
    .optional()
    .openapi({ param: { name: 'detail' }, description: 'Deepest level in the answer; default `cells`.' }),
});

const index = z.int().min(0).openapi({ description: '0-based.' });
const contactor = z.enum(['open', 'closed']);

interface Level {
  readonly level: BatteryDetailLevel;
}

const cell = members<BatteryCell>()('BatteryCell', () => ({
  index: member(() => index)(),
  voltage_v: measured(),
  temperature_c: measured(),
  balancing: flag('The balancing resistor draws from this cell.'),
}));

const batteryModule = members<BatteryModule, Level>()('BatteryModule', () => ({
  index: member(() => index)(),
  soc_pct: measured(),
  soh_pct: measured(),
  voltage_v: measured(),
  cell_voltage_max_v: measured(),
  cell_voltage_min_v: measured(),
  temperature_min_c: measured(),
  temperature_max_c: measured(),
  cells: listInPieces(cell).optional('With `detail=cells`.', (of, { level }) =>
    level === 'cells' ? of.cells : undefined,
  ),
}));

const batteryString = members<BatteryString, Level>()('BatteryString', () => ({
  index: member(() => index)(),
  contactor: member(() => contactor)('`open` also while it pre-charges before closing.', (of) =>
    of.contactor === 'closed' ? 'closed' : 'open',
  ),
  soc_pct: measured(),
  soh_pct: measured(),
  voltage_v: measured(),
  current_a: measured('Positive = discharge.'),
  cell_voltage_avg_v: measured(),
  cell_voltage_min_v: measured(),
  cell_voltage_max_v: measured(),
  temperature_c: measured(),
  modules: listInPieces(batteryModule).optional('With `detail` `modules` and `cells`.', (of, { level }) =>
    level === 'strings' ? undefined : of.modules,
  ),
}));

/** The value of the point where the device serves the point, so that all interfaces show the same number. */
export const point = (modelId: number, name: string, show = rounded) =>
  nested<number, number, OfDevice>({
    schema: () => z.number(),
    reply: (otherwise, { device }) => show(rounded(pointNumber(device.bank, modelId, name) ?? otherwise)),
  });

/** The bank without its strings. */
const bank = members<BatteryDetail, OfDevice>()(null, () => ({
  soc_pct: point(713, 'SoC')('713.SoC, 802.SoC: of the closed strings, or of all when none is closed.'),
  true_soc_pct: measured('State of charge of the cells, without the drift of `soc_pct`; not rounded.'),
  soh_pct: point(713, 'SoH')(),
  mode: word(['charge', 'discharge', 'idle'])(
    'Operation of the battery in the last tick, by the sign of its power; a command shows with the next tick.',
  ),
  control: word(['auto', 'forced'])('`auto`: set-points and functions decide.'),
  power_kw: point(802, 'W', kilo)('802.W, DC; positive = discharge.', ({ powerW }) => powerW),
  dc_voltage_v: point(802, 'V')('802.V; 0 while no string is closed.'),
  dc_current_a: point(802, 'A')(),
  chemistry: word(batteryChemistries)(),
  capacity_kwh: point(713, 'WHRtg', kilo)(({ capacityWh }) => capacityWh),
  energy_available_kwh: point(713, 'WHAvail', kilo)(({ energyAvailableWh }) => energyAvailableWh),
  max_charge_kw: inKilo(
    'Present limit at the DC terminals, a magnitude: that of the battery, or a lower setting of 702.',
    ({ maxChargeW }) => maxChargeW,
  ),
  max_discharge_kw: inKilo(({ maxDischargeW }) => maxDischargeW),
  soc_min_pct: point(802, 'SoCMin')(),
  soc_max_pct: point(802, 'SoCMax')(),
  soc_reserve_min_pct: point(802, 'SoCRsvMin').orNull('802.SoCRsvMin'),
  soc_reserve_max_pct: point(802, 'SocRsvMax').orNull('802.SocRsvMax'),
  temperature_c: measured(),
  cell_voltage_min_v: point(802, 'CellVMin')(),
  cell_voltage_max_v: point(802, 'CellVMax')(),
  cell_voltage_avg_v: point(802, 'CellVAvg')(),
  cycle_count: point(802, 'NCyc')('802.NCyc: equivalent full cycles.'),
  energy_charged_wh: measured(),
  energy_discharged_wh: measured(),
  state: word(['disconnected', 'initializing', 'connected', 'standby', 'soc_protection', 'suspending', 'fault'])(
    '802.State',
  ),
  inhibit: word(['none', 'soc_floor', 'soc_ceiling', 'temperature'])(
    'Reason why the battery cannot charge or discharge.',
  ),
}));

/** Strings of a storage at this moment; undefined for the level `bank`. */
export function stringsOf(
  { replyCache }: Pick<RouteContext, 'replyCache'>,
  device: Device,
  level: BatteryDetailLevel,
): readonly BatteryString[] | undefined {
  if (level === 'bank') return undefined;
  // clients that request at the same time share the objects of all cells
  return replyCache.of(`storage tree of ${device.index}`, () => device.storageTree())?.strings;
}

const battery = members<BatteryDetail, OfDevice & Level & Pick<RouteContext, 'replyCache'>>()('Battery', () => ({
  ...bank.members(),
  strings: listInPieces(batteryString).optional('Not with `detail=bank`.', (_detail, context) =>
    stringsOf(context, context.device, context.level),
  ),
}));

const batteryControl = members<BatteryDetail, OfDevice>()('BatteryControl', () => ({
  ...bank.members(),
  requested_mode: word(batteryControlModes)('Mode that was commanded, from the command on; `auto`: nothing is forced.'),
  requested_power_kw: inKilo.orNull(
    'Requested power of the forced mode, a magnitude; null: nothing is forced.',
    ({ requestedPowerW }) => requestedPowerW,
  ),
  clamped_power_kw: inKilo.orNull(
    '`requested_power_kw` within the present limits.',
    ({ clampedPowerW }) => clampedPowerW,
  ),
  remaining_s: measured.orNull(
    'Simulated time until control returns to `auto`; null: without end, or nothing is forced.',
  ),
  forced_by: writer.orNull(
    'Last writer of mode, power or duration; null: nothing is forced.',
    ({ control }, { device }) => (control === 'forced' ? overrideOf(device, 'battery_mode') : null),
  ),
}));

const controlMembers = {
  mode: z
    .enum(batteryControlModes)
    .optional()
    .openapi({ description: '`auto` returns control to set-points and functions.' }),
  power_kw: z.number().min(0).max(1e6).optional().openapi({
    description:
      'Magnitude at the DC terminals, clamped to the limits of the battery; default the rating. Not with `auto`; with `idle` only 0.',
  }),
  soc_pct: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .openapi({ description: 'Sets the state of charge at once, cells included.' }),
  duration_s: durationS.openapi({
    description: 'Simulated seconds until `auto`; null: without end. No number with `auto`.',
  }),
  strings: z
    .array(z.strictObject({ index, contactor }))
    .min(1)
    .max(1000)
    .optional()
    .openapi({ description: 'Opens or closes strings; a string closes when its voltage is near that of the bus.' }),
};

const batteryControlBodySchema = memo(() =>
  z
    .strictObject(controlMembers)
    .refine((body) => Object.values(body).some((value) => value !== undefined), {
      error: `at least one of ${Object.keys(controlMembers).join(', ')} is required`,
    })
    .refine(
      ({ mode, power_kw: powerKw }) => powerKw === undefined || (mode !== 'auto' && !(mode === 'idle' && powerKw > 0)),
      {
        path: ['power_kw'],
        error: 'modes `auto` and `idle` have no power; allowed with `charge` and `discharge`',
      },
    )
    .refine(({ mode, duration_s: durationS }) => mode !== 'auto' || typeof durationS !== 'number', {
      path: ['duration_s'],
      error: 'mode `auto` has no end; allowed with `charge`, `discharge` and `idle`',
    })
    .openapi('BatteryControlRequest', { minProperties: 1 }),
);

type BatteryControlBody = z.output<ReturnType<typeof batteryControlBodySchema>>;

/** @throws HttpProblem `validation` for strings that the bank does not have or that are named twice */
function checkStrings(strings: NonNullable<BatteryControlBody['strings']>, count: number): void {
  const indexes = new Set<number>();
  const issues = strings.flatMap(({ index }, i): ProblemIssue[] => {
    const repeated = indexes.has(index);
    indexes.add(index);
    if (index < count && !repeated) return [];
    const detail = repeated
      ? `string ${index} is given more than once`
      : `given ${index}; the strings are 0 to ${count - 1}`;
    return [{ in: 'body', name: `/strings/${i}/index`, detail }];
  });
  if (issues.length > 0) throw invalidAll(issues);
}

function controlCommand({ power_kw: powerKw, ...body }: BatteryControlBody): BatteryCommand {
  return { kind: 'battery.control', ...camelCased(body), ...(powerKw !== undefined && { powerW: powerKw * 1000 }) };
}

const forcedModes = stateOperations('Battery', batteryControl, storageOf, ['not-applicable']);

export const batteryRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/battery',
    tag: 'Battery',
    operationId: 'get_battery',
    summary: 'Bank, strings, modules and cells of a battery',
    description:
      'Of a device of kind battery or hybrid-dc. The example shows one string, one module and two of its cells.',
    query: batteryQuerySchema,
    reply: battery.schema,
    problems: ['not-applicable'],
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      const { plant, replyCache } = ctx;
      const context = { device, plant, replyCache, level: query.detail ?? 'cells' };
      return replyInPieces(battery.reply(storageOf(device), context));
    },
  }),
  forcedModes.get({
    path: '/controls/battery',
    operationId: 'get_battery_control',
    summary: 'Forced mode and state of a battery',
  }),
  forcedModes.post({
    path: '/controls/battery',
    operationId: 'set_battery_control',
    summary: 'Forces charging, discharging or rest; sets the state of charge; opens and closes strings',
    description:
      'A forced mode wins over set-points until it ends; limits, functions and the bounds of the state of charge ' +
      'still hold. A new mode begins at the rating and without end, unless the request says otherwise; power or duration without ' +
      '`mode` change the mode that is forced already, or are refused with `conflict` when nothing is forced.',
    body: batteryControlBodySchema,
    problems: ['conflict'],
    change(device, body, by, { stringCount }) {
      checkStrings(body.strings ?? [], stringCount);
      device.command(controlCommand(body), by);
    },
  }),
];
