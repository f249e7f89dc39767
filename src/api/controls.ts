/** Controls of devices: operations, and members of replies and requests. */
import { gradientRange } from '../contract/device.ts';
import { memo } from '../core/lazy.ts';
import { pointNumber } from '../sunspec/map/bank.ts';
import type { ControlFunction, Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { Provenance } from '../core/origin.ts';
import { isEnabled, isSupported, reversionRemainingS } from '../sunspec/map/grid-support/state.ts';
import { functionNames, functionTable } from '../sunspec/map/grid-support/functions.ts';
import { selectedDevice, stateOperations } from './common/device-replies.ts';
import {
  flag,
  list,
  member,
  members,
  nested,
  number,
  text,
  time,
  word,
  camelCased,
  kilo,
  measured,
} from './common/members.ts';
import { pointBits, pointWriter } from './common/points.ts';
import { deviceIndex, sourceSchema, deviceQuery } from './common/schemas.ts';
import { overrideOf, overridesReply, writer, asSetNow, overrideSchema, sourceDetailSchema } from './common/writers.ts';
import { z } from './description/zod.ts';
import { decidedBySchema, rideThroughSchema } from './grid-support/trace.ts';
import { siteCut } from './site.ts';
import { grid } from './surroundings.ts';
import { clock } from './time.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

interface WithPlant {
  readonly plant: Plant;
}

const index = member(() => deviceIndex);

const ofWMax = 'Percent of 702.WMax per second';
const ofVarMax = 'Percent of the larger of 702.VarMaxInj and VarMaxAbs per second';
const slopeSource = member(() =>
  z.enum(['gradient', 'register']).openapi({
    description: '`gradient`: of a request or of the profile; `register`: 704.WRmp with WRmpRef, or 704.VarRmp.',
  }),
);

/** The slopes in force, as a part of `controls`. */
const slopes = members<Device, WithPlant>()('Slopes', () => ({
  w_pct_per_s: measured(
    `Slope of active power on commands. ${ofWMax}; with 704.WRmpRef \`a_max\` converted.`,
    ({ gradient: { w } }) => w.pctPerS,
  ),
  w_source: slopeSource(({ gradient: { w } }) => w.source),
  var_pct_per_s: measured(
    `Slope of reactive power on commands. ${ofVarMax}.`,
    ({ gradient: { var: ofVar } }) => ofVar.pctPerS,
  ),
  var_source: slopeSource(({ gradient: { var: ofVar } }) => ofVar.source),
  changed_by: writer.orNull('Last request that set or ended a gradient; null: as started.', (device) =>
    overrideOf(device, 'gradient'),
  ),
}));

const gradient = members<Device, WithPlant>()('Gradient', () => ({
  device_index: index((device) => device.index),
  ...slopes.members(),
}));

const magnitude = nested({ schema: () => z.number().min(0), reply: kilo });

const available = members<Device>()('AvailablePower', () => ({
  device_index: index((device) => device.index),
  inject_kw: magnitude(
    'Active power that the device could inject once ramps of its source are over, kW.',
    (device) => device.available.injectW,
  ),
  absorb_kw: magnitude(
    'Active power that the device could absorb, kW; 0 for a device that only delivers.',
    (device) => device.available.absorbW,
  ),
  inject_kvar: magnitude(
    'Reactive power that the device could inject beside the present active power, kvar.',
    (device) => device.available.injectVar,
  ),
  absorb_kvar: magnitude(
    'Reactive power that the device could absorb beside the present active power, kvar.',
    (device) => device.available.absorbVar,
  ),
}));

const local = members<Device, WithPlant>()('LocalControl', () => ({
  device_index: index((device) => device.index),
  local: flag(({ localControl }) => localControl),
  changed_by: writer.orNull('Last writer; null: as started.', (device) => overrideOf(device, 'local_control')),
}));

/** A grid-support function of a device. */
interface Mode {
  readonly bank: Device['bank'];
  readonly points: (typeof functionTable)[ControlFunction];
  readonly active: boolean;
  /** last writer of the enable point; undefined: start value */
  readonly writer: Provenance | undefined;
}

const mode = members<Mode, WithPlant>()('ControlMode', () => ({
  supported: flag(
    'True if the device has the enable point and, where 702.CtrlModes has a bit for the function, the bit is set.',
    ({ bank, points }) => isSupported(bank, points),
  ),
  enabled: flag(({ bank, points }) => isEnabled(bank, points)),
  active: flag('The function limits or sets the output in this tick.'),
  source: member(() => sourceSchema)('Last writer of the enable point.', (of) => of.writer?.source ?? 'default'),
  source_detail: member(() => sourceDetailSchema)((of: Mode) => of.writer?.peer ?? null),
  changed_at: time.orNull(
    `Simulated time of that write; of the start for a value from the profile; null for a default. ${asSetNow}`,
    (of: Mode, { plant }: WithPlant) => of.writer && plant.dateMs(of.writer.at),
  ),
  reversion_remaining_s: number.orNull('Null while no reversion time is set.', ({ bank, points }) =>
    reversionRemainingS(bank, points),
  ),
}));

interface Modes {
  readonly bank: Device['bank'];
  readonly active: ReadonlySet<ControlFunction>;
}

const modeOf = (name: ControlFunction) =>
  nested(mode)(({ bank, active }: Modes) => {
    const points = functionTable[name];
    return { bank, points, active: active.has(name), writer: pointWriter(bank, points.model, points.enable) };
  });

const modes = members<Modes, WithPlant>()(
  null,
  () =>
    Object.fromEntries(functionNames.map((name) => [name, modeOf(name)])) as Record<
      ControlFunction,
      ReturnType<typeof modeOf>
    >,
);

const service = members<Device>()(null, () => ({
  es_enabled: flag(({ bank }) => isEnabled(bank, functionTable.enter_service)),
  es_delay_remaining_s: number(({ enterService }) => enterService.delayRemainingS),
  trip_active: list(text())(({ activeTrips }) => [...activeTrips]),
  es_state: word(['in_service', 'waiting', 'out_of_service'])(({ enterService }) => enterService.state),
  switch_closed: flag('Position of the disconnect switch; 701.ConnSt also reads DISCONNECTED after a trip.'),
}));

const decidedBy = member(() =>
  decidedBySchema.extend({
    site_limit: siteCut.schema().nullable().openapi({
      description: 'The limit behind `active: site`. Null: another function decided, or power returns after a limit.',
    }),
  }),
);

const throttle = members<Device>()(null, () => ({
  active: flag(({ bank }) => pointBits(bank, 701, 'ThrotSrc').length > 0),
  pct: number.orNull('701.ThrotPct', ({ bank }) => pointNumber(bank, 701, 'ThrotPct')),
  sources: list(text())('701.ThrotSrc', ({ bank }) => pointBits(bank, 701, 'ThrotSrc')),
}));

const controls = members<Device, { readonly plant: Plant; readonly deviceIndex: number }>()('Controls', () => ({
  device_index: index((device) => device.index),
  service: nested(service)((device) => device),
  modes: nested(modes)(({ bank, activeFunctions }) => ({ bank, active: activeFunctions })),
  decided_by: decidedBy(({ index: at, trace: { now } }: Device, { plant }: WithPlant) => {
    const cut = now.activeDecidedBy === 'site' ? plant.siteCut(at) : null;
    return { active: now.activeDecidedBy, reactive: now.reactiveDecidedBy, site_limit: cut && siteCut.reply(cut) };
  }),
  ride_through: member(() => rideThroughSchema)(({ trace }) => trace.now.rideThrough),
  throttle: nested(throttle)((device) => device),
  gradient: nested(slopes)('Slopes of commands in force.', (device) => device),
  grid: nested(grid)((device, { plant }) => plant.grid(device.index)),
  time: nested(clock)((_device, { plant }) => plant.time),
  overrides: member(() => z.array(overrideSchema()))(
    'Last writers of settings without a register, newest first; a setting that was not written since the ' +
      'start, or since a reset of the device, is absent.',
    (device, { plant }: WithPlant) => overridesReply(plant, device),
  ),
}));

const slope = (base: string, register: string) =>
  z
    .number()
    .min(gradientRange.min)
    .max(gradientRange.max)
    .nullable()
    .optional()
    .openapi({ description: `${base}; null ends the gradient, so that ${register} applies; absent: unchanged.` });

const gradientBodySchema = memo(() =>
  z
    .strictObject({ w_pct_per_s: slope(ofWMax, '704.WRmp'), var_pct_per_s: slope(ofVarMax, '704.VarRmp') })
    .refine((body) => body.w_pct_per_s !== undefined || body.var_pct_per_s !== undefined, {
      error: 'at least one of w_pct_per_s, var_pct_per_s is required',
    })
    .openapi('GradientRequest', { minProperties: 1 }),
);

const localBodySchema = memo(() =>
  z
    .strictObject({
      local: z.boolean().openapi({ description: 'True: the device refuses remote writes and commands.' }),
    })
    .openapi('LocalControlRequest'),
);

const gradients = stateOperations('Controls', gradient, (device) => device);
const localControl = stateOperations('Controls', local, (device) => device);

export const controlsRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/controls',
    tag: 'Controls',
    operationId: 'get_controls',
    summary: 'Grid-support modes, throttling, grid and clock of a device',
    query: deviceQuery,
    reply: controls.schema,
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      return controls.reply(device, { plant: ctx.plant, deviceIndex: device.index });
    },
  }),
  localControl.get({
    path: '/controls/local',
    operationId: 'get_local_control',
    summary: 'The local/remote switch at the device (715.LocRemCtl)',
  }),
  localControl.post({
    path: '/controls/local',
    operationId: 'set_local_control',
    summary: 'Turns the local/remote switch at the device',
    description:
      'Under local control writes and commands of Modbus, IEEE 2030.5, OCPP and DNP3 are refused, each in the terms of its ' +
      'protocol; this interface stands for the panel at the device and keeps working.',
    body: localBodySchema,
    change(device, body, by) {
      device.command({ kind: 'local', local: body.local }, by);
    },
  }),
  gradients.get({
    path: '/controls/gradient',
    operationId: 'get_gradient',
    summary: 'How fast power follows commands',
  }),
  gradients.post({
    path: '/controls/gradient',
    operationId: 'set_gradient',
    summary: 'Sets or ends slopes finer and slower than 704.WRmp and VarRmp',
    description:
      'A gradient takes the place of 704.WRmp (and WRmpRef) or 704.VarRmp, which keep their values. It ends with null, with ' +
      'a later write to its register, and with a reset of the device, which returns to the gradient of the profile.',
    body: gradientBodySchema,
    problems: ['conflict'],
    change(device, body, by) {
      device.command({ kind: 'gradient', ...camelCased(body) }, by);
    },
  }),
  route({
    method: 'get',
    path: '/controls/available',
    tag: 'Controls',
    operationId: 'get_available_power',
    summary: 'Power that a device could give or take at its terminals now',
    description:
      'Magnitudes from the source at the end of the last tick with conversion losses, state of charge and temperature, and ' +
      'from ratings and settings (702). Limits, set-points, curves and the site are ignored. All are 0 while no power can ' +
      'flow: out of service, with an open switch, in momentary cessation, during a reboot.',
    query: deviceQuery,
    reply: available.schema,
    handle: (ctx, { query }) => available.reply(selectedDevice(ctx, query.device)),
  }),
];
