import { memo } from '../../core/lazy.ts';
import { remainingPoint } from '../../sunspec/map/grid-support/functions.ts';
import { inUseRanges, ranges } from '../../sunspec/map/rules.ts';
import { gridFunctionNames, gridFunctions } from './functions.ts';
import type { GridFunctionName } from './functions.ts';
import { isWritable } from './members.ts';
import type { GridFunction, Member, Members } from './members.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, isoTime, sourceSchema } from '../common/schemas.ts';
import { asSetNow } from '../common/writers.ts';

/** Largest value of the timers: the next value means "not implemented". */
const maxTimerS = 0xffff_fffe;

/** Maximum points of a curve in a request; the device may accept fewer. */
const maxCurvePoints = 100;

function describe(schema: z.ZodType, ...texts: readonly (string | undefined)[]): z.ZodType {
  const description = texts.filter((text) => text !== undefined).join(' ');
  return description === '' ? schema : schema.openapi({ description });
}

function named(model: number, member: Extract<Member, { point: string }>): string {
  return `${model}.${member.point}${'kilo' in member ? ' / 1000' : ''}.`;
}

function replyMember(model: number, member: Member): z.ZodType {
  switch (member.kind) {
    case 'number':
      return describe(z.number().nullable(), member.about, named(model, member));
    case 'symbol':
      return describe(z.enum(member.symbols).nullable(), member.about, named(model, member));
    case 'flag':
      return describe(z.boolean().nullable(), member.about, named(model, member));
    case 'object':
      return describe(replyObject(model, member.members), member.about);
    case 'part':
      return describe(functionReply(member.part), member.about);
    case 'curve':
      return z
        .array(z.strictObject(Object.fromEntries(member.axes.map(({ name }) => [name, z.number().nullable()]))))
        .openapi({ description: `${model}.${member.at}: the points in use.` });
  }
}

/** Schemas of members in replies. @param model model of their points */
export function replyShape(model: number, members: Members): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, replyMember(model, member)]));
}

function replyObject(model: number, members: Members): z.ZodType {
  return z.strictObject(replyShape(model, members));
}

function timerText(model: number, point: string | undefined, zero: string): string {
  return point === undefined ? 'Null: the function has no reversion.' : `${model}.${point}; ${zero}`;
}

/** Reply of a function that the device does not have. */
export const unsupported = z.strictObject({ supported: z.literal(false) });

function functionReply({ model, enable, timer, members }: GridFunction): z.ZodType<Record<string, unknown>> {
  return z.union([
    unsupported,
    z.strictObject({
      supported: z.literal(true),
      enabled: z.boolean().openapi({ description: `${model}.${enable}.` }),
      source: sourceSchema.openapi({ description: `Last writer of ${model}.${enable}.` }),
      changed_at: isoTime
        .nullable()
        .openapi({ description: `Simulated time of that write; null: start value. ${asSetNow}` }),
      reversion_time_s: z
        .number()
        .nullable()
        .openapi({ description: timerText(model, timer, '0 = none.') }),
      reversion_remaining_s: z
        .number()
        .nullable()
        .openapi({
          description: timerText(model, timer && remainingPoint(timer), 'null while no reversion time is set.'),
        }),
      ...replyShape(model, members),
    }),
  ]);
}

/** An integer in the description only: fractions are refused by the register, as are values between its steps. */
function describedWhole(schema: z.ZodNumber, min: unknown, max: unknown): z.ZodNumber {
  return schema.openapi({
    type: 'integer',
    ...(typeof min === 'number' && { minimum: min }),
    ...(typeof max === 'number' && { maximum: max }),
  });
}

interface Limits {
  readonly range?: readonly [number, number];
  readonly whole?: true;
}

function limited(model: number, point: string, { range, whole }: Limits = {}): z.ZodNumber {
  const key = `${model}.${point.replace(/\[\d+\]/g, '')}`;
  const rule = inUseRanges[key] ?? ranges[key];
  const fixed = typeof rule === 'object' ? rule : {};
  const [min, max] = range ?? [fixed.orZero === true ? 0 : fixed.min, fixed.max];
  let schema = z.number();
  if (typeof min === 'number') schema = schema.min(min);
  if (typeof max === 'number') schema = schema.max(max);
  return whole ? describedWhole(schema, min, max) : schema;
}

function requestMember(model: number, member: Member): z.ZodType {
  switch (member.kind) {
    case 'number':
      return describe(limited(model, member.point, member), member.about);
    case 'symbol':
      return describe(z.enum(member.symbols), member.about);
    case 'flag':
      return describe(z.boolean(), member.about);
    case 'object':
      return describe(z.strictObject(requestShape(model, member.members)), member.about);
    case 'part':
      return describe(functionRequest(member.part), member.about);
    case 'curve': {
      const { at, axes, minPoints } = member;
      const point = z.strictObject(
        Object.fromEntries(axes.map(({ name, point: axisPoint }) => [name, limited(model, `${at}.Pt.${axisPoint}`)])),
      );
      return z
        .array(point)
        .min(minPoints)
        .max(maxCurvePoints)
        .openapi({ description: 'All points of the curve, up to `max_points`.' });
    }
  }
}

function requestShape(model: number, members: Members): Record<string, z.ZodOptional> {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, member]) => isWritable(member))
      .map(([name, member]) => [name, requestMember(model, member).optional()]),
  );
}

function functionRequest({ model, always, timer, members }: GridFunction) {
  return z.strictObject({
    ...(always !== true && { enabled: z.boolean().optional() }),
    ...(timer !== undefined && {
      reversion_time_s: describedWhole(z.number().min(0).max(maxTimerS), 0, maxTimerS)
        .optional()
        .openapi({ description: 'Simulated seconds; 0 = none.' }),
    }),
    ...requestShape(model, members),
  });
}

/** `volt_var` as a component of the description: `VoltVar`. */
export function componentName(name: GridFunctionName): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function ofEach<T>(make: (name: GridFunctionName) => T): Record<GridFunctionName, T> {
  return Object.fromEntries(gridFunctionNames.map((name) => [name, make(name)])) as Record<GridFunctionName, T>;
}

// most processes need none of the schemas below: each is made at its first use

/** Reply of each function; only `supported: false` if the device lacks it. */
export const functionSchemas = ofEach((name) =>
  memo(() => functionReply(gridFunctions[name]).openapi(componentName(name))),
);

/** Request of each function: any of its members that can be set. */
export const functionBodySchemas = ofEach((name) =>
  memo(() => functionRequest(gridFunctions[name]).openapi(`${componentName(name)}Request`)),
);

export const gridSupportSchema = memo(() =>
  z.strictObject({ device_index: deviceIndex, ...ofEach((name) => functionSchemas[name]()) }).openapi('GridSupport'),
);

export const gridSupportBodySchema = memo(() =>
  z.strictObject(ofEach((name) => functionBodySchemas[name]().optional())).openapi('GridSupportRequest'),
);
