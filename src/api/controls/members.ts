/** Controls of devices: members of replies and requests. */
import type { ControlFunction, Device } from '../../contract/device.ts';
import { gradientRange } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { memo } from '../../core/lazy.ts';
import type { Provenance } from '../../core/origin.ts';
import { isEnabled, isSupported, reversionRemainingS } from '../../sunspec/map/grid-support/state.ts';
import { functionNames, functionTable } from '../../sunspec/map/grid-support/functions.ts';
import { kilo, measured } from '../common/kind-replies.ts';
import { flag, list, member, members, nested, number, text, time, word } from '../common/members.ts';
import { pointBits, pointNumber, pointWriter } from '../common/points.ts';
import { deviceIndex, sourceSchema } from '../common/schemas.ts';
import { overrideOf, overridesReply, writer } from '../common/writer-replies.ts';
import { asSetNow, overrideSchema, sourceDetailSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';
import { decidedBySchema, rideThroughSchema } from '../grid-support/trace-schemas.ts';
import { siteCut } from '../site/members.ts';
import { grid } from '../surroundings/members.ts';
import { clock } from '../time/members.ts';

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
    `Slope of active power on commands. ${ofWMax}; of 704.WRmpRef \`a_max\` converted to it.`,
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

export const gradient = members<Device, WithPlant>()('Gradient', () => ({
  device_index: index((device) => device.index),
  ...slopes.members(),
}));

const magnitude = nested({ schema: () => z.number().min(0), reply: kilo });

export const available = members<Device>()('AvailablePower', () => ({
  device_index: index((device) => device.index),
  inject_kw: magnitude(
    'Active power that the device could inject once ramps of its source are over, kW.',
    (device) => device.available.injectW,
  ),
  absorb_kw: magnitude(
    'Active power that it could absorb, kW; 0 for a device that only delivers.',
    (device) => device.available.absorbW,
  ),
  inject_kvar: magnitude(
    'Reactive power that it could inject beside the present active power, kvar.',
    (device) => device.available.injectVar,
  ),
  absorb_kvar: magnitude(
    'Reactive power that it could absorb beside the present active power, kvar.',
    (device) => device.available.absorbVar,
  ),
}));

export const local = members<Device, WithPlant>()('LocalControl', () => ({
  device_index: index((device) => device.index),
  local: flag(({ localControl }) => localControl),
  changed_by: writer.orNull('Last writer; null: as started.', (device) => overrideOf(device, 'local_control')),
}));

/** A grid-support function of a device. */
interface Mode {
  readonly bank: Device['bank'];
  readonly points: (typeof functionTable)[ControlFunction];
  readonly active: boolean;
  /** of the enable point; undefined: a default */
  readonly writer: Provenance | undefined;
}

const mode = members<Mode, WithPlant>()('ControlMode', () => ({
  supported: flag('702.CtrlModes, or the point exists.', ({ bank, points }) => isSupported(bank, points)),
  enabled: flag(({ bank, points }) => isEnabled(bank, points)),
  active: flag('Limits or sets the output in this tick.'),
  source: member(() => sourceSchema)('Last writer of the enable point.', (of) => of.writer?.source ?? 'default'),
  source_detail: member(() => sourceDetailSchema)((of: Mode) => of.writer?.peer ?? null),
  changed_at: time.orNull(
    `Simulated time of that write, of the start for a value of the profile; null: default. ${asSetNow}`,
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

export const controls = members<Device, { readonly plant: Plant; readonly deviceIndex: number }>()('Controls', () => ({
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
    .openapi({ description: `${base}; null ends the gradient, then ${register} counts; absent: stays.` });

export const gradientBodySchema = memo(() =>
  z
    .strictObject({ w_pct_per_s: slope(ofWMax, '704.WRmp'), var_pct_per_s: slope(ofVarMax, '704.VarRmp') })
    .refine((body) => body.w_pct_per_s !== undefined || body.var_pct_per_s !== undefined, {
      error: 'at least one of w_pct_per_s, var_pct_per_s is required',
    })
    .openapi('GradientRequest', { minProperties: 1 }),
);

export const localBodySchema = memo(() =>
  z
    .strictObject({
      local: z.boolean().openapi({ description: 'True: the device refuses remote writes and commands.' }),
    })
    .openapi('LocalControlRequest'),
);
