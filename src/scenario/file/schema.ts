/**
 * The members of a scenario file after substitution of parameters. The bodies of requests are checked by their
 * operations.
 */
import { z } from 'zod';
import { memo } from '../../core/lazy.ts';
import { findingProtocols } from '../../core/findings/identity.ts';
import { severities } from '../../core/findings/rule.ts';
import { sources } from '../../core/origin.ts';
import { csipEventStates, messageProtocols } from '../model.ts';
import { nameForm } from './parameters.ts';
import { shortForms } from './short-forms.ts';

const secondsOf = { ms: 0.001, s: 1, min: 60, h: 3600, d: 86_400 } as const;
const durationForm = /^(\d+(?:\.\d+)?) ?(ms|s|min|h|d)$/;
const durationText = 'must be seconds, or a number with ms, s, min, h or d, such as 90 s or 1.5 h';
const maxDurationS = 366 * 86_400;

function seconds(durationWithUnit: string): number {
  const [, number = '', unit = 's'] = durationForm.exec(durationWithUnit) ?? [];
  return Number(number) * secondsOf[unit as keyof typeof secondsOf];
}

/** A duration in seconds, or text such as `90 s`; the result is seconds. */
export const duration = z
  .union([z.number().min(0).max(maxDurationS), z.string().regex(durationForm, durationText)], { error: durationText })
  .transform((value) => (typeof value === 'number' ? value : seconds(value)))
  .refine((s) => s <= maxDurationS, 'must be at most 366 d');

const timeOfDayForm = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

/** `HH:MM` or `HH:MM:SS`; the result is seconds since midnight. */
export const timeOfDay = z
  .string()
  .regex(timeOfDayForm, 'must be HH:MM or HH:MM:SS, in quotes')
  .transform((text) => {
    const [, hours = '', minutes = '', s = '0'] = timeOfDayForm.exec(text) ?? [];
    return 3600 * Number(hours) + 60 * Number(minutes) + Number(s);
  });

const text = (max: number) => z.string().min(1).max(max);
const device = z.int().min(0).max(1_000_000);
const scalar = z.union([z.number(), z.string().max(1000), z.boolean(), z.null()]);
/** `203:2.W` is a point of the second model 203 of a map; conditions on writes cannot name it. */
const pointForm = /^\d{1,5}(:\d{1,2})?\.[A-Za-z][\w[\].]*$/;
const writtenForm = /^\d{1,5}\.[A-Za-z][\w[\].]*$/;
const pointText = 'must be a model and a point, such as 701.W or 705.Crv[1].Pt[0].V';
const point = z.string().max(100).regex(pointForm, pointText);
const writtenPoint = z.string().max(100).regex(writtenForm, pointText);
const name = z.string().regex(nameForm, 'must be letters, digits and underscores, at most 64');

/** Members that select a signal. */
const signalMembers = {
  point: point.optional().meta({ description: 'Point of the registers, for example `701.W`.' }),
  snapshot: text(100).optional().meta({ description: 'Member of the snapshot of a device: `metrics.power_kw`.' }),
  get: text(2048).optional().meta({ description: 'Operation whose answer is read: `modbus` or `site?device=1`.' }),
  pointer: z
    .string()
    .max(1000)
    .regex(/^(\/[^/]*)*$/, 'must be a JSON pointer, such as /interfaces/0/counters/requests')
    .optional()
    .meta({ description: 'Place in the answer to `get`, as a JSON pointer; default the whole answer.' }),
  device: device.optional().meta({ description: 'Index of the device; default that of the step, else 0.' }),
};

const comparisonMembers = {
  equals: scalar.optional().meta({ description: 'Enumerations by name or number.' }),
  not: scalar.optional(),
  above: z.number().optional(),
  below: z.number().optional(),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
  between: z
    .tuple([z.number(), z.number()], { error: 'must be two numbers, such as [4900, 5100]' })
    .optional()
    .meta({ description: 'Both ends are allowed.' }),
  tolerance: z
    .number()
    .min(0)
    .optional()
    .meta({ description: 'Deviation that is allowed from the bounds, in their unit.' }),
  since: name
    .optional()
    .meta({ description: 'Compares the difference from the value at this mark; `start` is the mark of the start.' }),
};

const messageMembers = {
  protocol: z.enum(messageProtocols),
  station: text(64).optional().meta({ description: 'Charge point id, with ocpp; default the first one.' }),
  match: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Members as `GET <protocol>/messages` shows them; a message must have all of these.' }),
};
const messageSchema = z.strictObject(messageMembers);

const writeSchema = z
  .strictObject({
    model: z.int().min(1).max(65_535).optional(),
    point: writtenPoint.optional(),
    source: z.enum(sources).optional().meta({ description: 'Writer; default any outside of simulator and scenario.' }),
    device: device.optional(),
  })
  .refine(({ model, point: pointName }) => (model === undefined) !== (pointName === undefined), {
    error: 'exactly one of model, point is required',
  });

const hex = (digits: number) =>
  z.string().regex(new RegExp(`^[0-9A-Fa-f]{1,${digits}}$`), `must be at most ${digits} hexadecimal digits`);

const csipEventSchema = z.strictObject({
  state: z.enum(csipEventStates).meta({
    description: 'As `csip/controls` shows it; `started`: active, and the device carries it out (response 2).',
  }),
  mrid: hex(32).optional().meta({ description: 'mRID of the event; default any.' }),
  device: device.optional().meta({ description: 'Index of a device that the event concerns; default any.' }),
  lfdi: hex(40).optional().meta({ description: 'LFDI of the EndDevice; default any.' }),
  program: text(2048).optional().meta({ description: 'mRID or address of the program of the event; default any.' }),
});

const conditionMembers = {
  ...signalMembers,
  ...comparisonMembers,
  for: duration.optional().meta({ description: 'Simulated time for which the comparison must hold.' }),
  message: messageSchema.optional(),
  write: writeSchema.optional().meta({ description: 'A write to the registers, for example by a master.' }),
  csip_event: csipEventSchema.optional().meta({ description: 'An event of IEEE 2030.5 enters a state.' }),
};

const leafSchema = memo(() => z.strictObject(conditionMembers));
export type RawCondition = z.output<ReturnType<typeof leafSchema>>;

const whenSchema = memo(() =>
  z.strictObject({
    ...conditionMembers,
    all: z.array(leafSchema()).min(1).max(20).optional().meta({ description: 'All of these conditions.' }),
    any: z.array(leafSchema()).min(1).max(20).optional().meta({ description: 'One of these conditions.' }),
    timeout: duration.optional().meta({ description: 'Simulated time after which the step fails; default 1 h.' }),
    real_timeout: duration.optional().meta({
      description:
        'Real time after which the step fails; meanwhile the simulated clock stands still. For answers of a peer.',
    }),
  }),
);

const scope = { device: device.optional(), except: z.array(text(100)).max(100).optional() };

const expectationSchema = memo(() =>
  z.strictObject({
    name: text(200).optional(),
    ...signalMembers,
    ...comparisonMembers,
    messages: z
      .strictObject({ ...messageMembers, at_least: z.int().min(0).optional(), at_most: z.int().min(0).optional() })
      .optional()
      .meta({ description: 'Number of such messages since the step began; default at least 1.' }),
    sequence: z
      .strictObject({
        protocol: messageMembers.protocol,
        station: messageMembers.station,
        messages: z.array(z.record(z.string(), z.unknown())).min(1).max(100),
      })
      .optional()
      .meta({ description: 'Messages since the step began that are in this order; others may be between them.' }),
    no_alarm: z.union([z.literal(true), z.strictObject(scope)]).optional(),
    nothing_left: z
      .union([z.literal(true), z.strictObject(scope)])
      .optional()
      .meta({ description: 'No point differs from its start value, as `registers/changes` shows.' }),
    consistent: z.union([z.literal(true), z.strictObject({ device: device.optional() })]).optional(),
    answered: z
      .union([
        z.literal(true),
        z.strictObject({
          device: device.optional(),
          protocol: z.enum(messageProtocols).optional().meta({ description: 'Default: all enabled protocols.' }),
          except: scope.except.meta({ description: 'Points, keys or commands that are ignored.' }),
        }),
      ])
      .optional()
      .meta({
        description:
          'Commands of peers that were answered positively since the step began are done, as `answers` shows; ' +
          'in `always` and `finally` since the start.',
      }),
    no_findings: z
      .union([
        z.literal(true),
        z.strictObject({
          severity: z.enum(severities).optional().meta({ description: 'This one or worse; default violation.' }),
          protocol: z.enum(findingProtocols).optional().meta({ description: 'Default: every protocol.' }),
          except: z.array(text(100)).max(200).optional().meta({ description: 'Rules that are ignored.' }),
        }),
      ])
      .optional()
      .meta({
        description:
          'No peer has broken a rule since the step began, in `always` and `finally` since the start; excused and ' +
          'waived cases do not count.',
      }),
    finding: z
      .strictObject({ rule: text(100), at_least: z.int().min(1).optional() })
      .optional()
      .meta({ description: 'A peer has broken this rule since the step began, so many times; default once.' }),
    exercised: z
      .array(text(100))
      .min(1)
      .max(500)
      .optional()
      .meta({ description: 'Each of these rules has come up since the step began, kept or broken.' }),
    within: duration.optional().meta({ description: 'Simulated time within which the assertion must become true.' }),
    for: duration.optional().meta({ description: 'Simulated time for which the assertion must hold at every tick.' }),
    after: duration
      .optional()
      .meta({ description: 'With `for` or in `always`: simulated time from which on the assertion must hold.' }),
  }),
);

const callSchema = z.strictObject({
  request: z
    .string()
    .max(2048)
    .regex(/^(GET|POST|PATCH|DELETE) \S+$/, 'must be a method and a path, such as POST /controls/grid')
    .meta({ description: 'Method and path of the REST interface; the path may have a query.' }),
  body: z.unknown().optional(),
  status: z.int().min(100).max(599).optional().meta({ description: 'Expected status; default any below 400.' }),
});

const triggerMembers = {
  at: duration.optional().meta({ description: 'Simulated time after the start of the scenario.' }),
  after: duration.optional().meta({ description: 'Simulated time after the previous step.' }),
  time: timeOfDay
    .optional()
    .meta({ description: 'Time of day: the next instant at which the simulated clock shows it.' }),
  cron: text(100).optional().meta({ description: 'The next match of the pattern, on the simulated clock.' }),
};

export const stepSchema = memo(() =>
  z.strictObject({
    name: text(200).optional(),
    ...triggerMembers,
    when: whenSchema().optional(),
    device: device.optional().meta({ description: 'Device of the short forms and signals of this step; default 0.' }),
    connector: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Connector of the short forms of charging; default 1.' }),
    call: z.union([callSchema, z.array(callSchema).min(1).max(100)]).optional(),
    ...Object.fromEntries(
      Object.entries(shortForms).map(([key, { doc }]) => [key, z.unknown().optional().meta({ description: doc })]),
    ),
    expect: z.union([expectationSchema(), z.array(expectationSchema()).min(1).max(100)]).optional(),
    mark: name.optional().meta({ description: 'Name under which the values of this instant are stored, for `since`.' }),
  }),
);

/** A rule without its steps, which are read like the steps of the scenario. */
export const ruleSchema = memo(() =>
  z
    .strictObject({
      name: text(200).optional(),
      every: duration.refine((s) => s >= 0.1, 'must be at least 0.1 s').optional(),
      cron: triggerMembers.cron,
      when: whenSchema().optional(),
      steps: z.array(z.unknown()).min(1).max(1000),
    })
    .refine((rule) => [rule.every, rule.cron, rule.when].filter((trigger) => trigger !== undefined).length === 1, {
      error: 'exactly one of every, cron, when is required',
    }),
);

export const repeatSchema = memo(() =>
  z.strictObject({
    repeat: z.union([
      z.int().min(1).max(10_000),
      z.record(name, z.array(scalar).min(1).max(10_000)).refine((lists) => Object.keys(lists).length === 1, {
        error: 'must be a number, or one parameter with the list of its values',
      }),
    ]),
    steps: z.array(z.unknown()).min(1).max(10_000),
  }),
);

/** Maximum number of parameters; each round of a loop copies them. */
export const maxParameters = 1000;
const parametersSchema = z
  .record(name, scalar)
  .refine((parameters) => Object.keys(parameters).length <= maxParameters, `has at most ${maxParameters} parameters`);

export const includeSchema = memo(() => z.strictObject({ include: text(1000), with: parametersSchema.optional() }));

/** A scenario file without steps, rules and `config`, which the configuration checks. */
export const headSchema = memo(() =>
  z.strictObject({
    name: text(100).optional().meta({ description: 'Default the name of the file.' }),
    description: z.string().max(4000).optional(),
    standard: text(200).optional().meta({ description: 'Standard and clauses that it is after, for lists.' }),
    takes: duration.optional().meta({ description: 'Simulated time that a run takes, about, for lists.' }),
    parameters: parametersSchema.optional().meta({ description: 'Names and their values, which replace `${name}`.' }),
    duration: duration.optional().meta({ description: 'Minimum duration of the scenario.' }),
    timeout: duration.optional().meta({ description: 'Simulated time after which the scenario fails; default 30 d.' }),
    on_failure: z.enum(['continue', 'stop']).optional().meta({ description: 'Default continue.' }),
    always: z
      .array(expectationSchema())
      .max(100)
      .optional()
      .meta({ description: 'Assertions that must hold from the start to the end.' }),
    plots: z.array(z.strictObject(signalMembers)).max(50).optional(),
  }),
);

/** An included file. */
export const includedSchema = memo(() =>
  z.strictObject({ parameters: parametersSchema.optional(), steps: z.array(z.unknown()).min(1).max(10_000) }),
);

export type RawStep = z.output<ReturnType<typeof stepSchema>> & Readonly<Record<string, unknown>>;
export type RawWhen = z.output<ReturnType<typeof whenSchema>>;
export type RawExpectation = z.output<ReturnType<typeof expectationSchema>>;
export type RawCall = z.output<typeof callSchema>;
export type RawSignal = Pick<RawExpectation, 'point' | 'snapshot' | 'get' | 'pointer' | 'device'>;
