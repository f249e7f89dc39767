import { memo } from '../../core/memo.ts';
import { csipControlStates } from '../../contract/csip-events.ts';
import { csipResponseResults } from '../../contract/csip-reports.ts';
import { z } from '../description/zod.ts';
import {
  byServer,
  count,
  deviceIndices,
  flag,
  integer,
  integerOrNull,
  json,
  lfdi,
  mrid,
  number,
  numberOrNull,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './members.ts';

export const modesSchema = json(
  'The members of DERControlBase in snake case, in the unit of the name: `op_mod_max_lim_w_pct` in %, `op_mod_target_w` in W, ' +
    '`op_mod_fixed_var` as `{ref, value_pct}`, `op_mod_fixed_pf_inject_w` as `{pf, excitation}`, a curve as `{curve_href, points}`.',
).openapi('CsipModes');

const leftOutSchema = z
  .strictObject({
    mode: text('Member of DERControlBase, such as `opModFreqWatt`.'),
    reason: z.enum(['unsupported', 'invalid', 'outweighed']).openapi({
      description: '`unsupported`: no physics for it; `invalid`: its value; `outweighed`: by another mode.',
    }),
    detail: text('The reason in a sentence.'),
  })
  .openapi('CsipLeftOutMode');

export const responseSchema = z
  .strictObject({
    mrid,
    end_device_lfdi: lfdi,
    device_indices: deviceIndices,
    status: integer('DERControlResponse.status.'),
    status_text: text('The status in words.'),
    created_at: time(`createdDateTime, ${byServer}.`),
    reply_to: text('Where it is posted.'),
    result: z.enum(csipResponseResults).openapi({
      description:
        '`queued`: to be sent, or sent again; `refused`: by the server for good; `dropped`: by a fault, or the queue was full.',
    }),
    sent_at: timeOrNull('When the server accepted or refused it; null: not yet.'),
    attempts: count('Attempts to send it.'),
    http_status: integerOrNull('Status of the last answer; null: none came.'),
    last_error: textOrNull('Why the last attempt failed; null: it did not.'),
  })
  .openapi('CsipResponse');
export type ResponseReply = z.output<typeof responseSchema>;

const controlMembers = {
  mrid,
  href: textOrNull('Its address on the server; null: none was given.'),
  description: textOrNull('Of the server; null: none.'),
  version: integerOrNull('Of the server; null: none.'),
  program_href: text('Its DERProgram.'),
  primacy: integer('Of its program, 0 to 255; the lowest wins.'),
  state: z.enum(csipControlStates).openapi({ description: '`rejected`: answered with 252, 253 or 254.' }),
  creation_time: time(`creationTime, ${byServer}.`),
  start: time(`Start of its interval, ${byServer}.`),
  duration_s: number('Duration of its interval, s.'),
  effective_start: time(`Start with its random part, ${byServer}.`),
  effective_duration_s: number('Duration with its random part, s.'),
  randomize_start_s: number('Range of the random part of the start, s; 0: none.'),
  randomize_duration_s: number('Range of the random part of the duration, s; 0: none.'),
  potentially_superseded: flag('As the server says.'),
  response_required: integer('Bits: 1 received, 2 specific responses, 4 responses of the user.'),
  modes: modesSchema,
  modes_in_force: z.array(z.string()).openapi({
    description: 'Members of DERControlBase that act now; empty unless it is active.',
  }),
  left_out: z.array(leftOutSchema).openapi({ description: 'Modes that are not carried out, with reasons.' }),
  waiting: flag('It is due, but the device takes no control now: local control, or without power.'),
  overwritten: flag('Another writer has changed a point of it since.'),
  opted_out: flag('The user does not take part.'),
  responses: z.array(responseSchema).openapi({ description: 'Responses to it, oldest first.' }),
  end_device_lfdi: lfdi,
  device_indices: deviceIndices,
};

export const controlSchema = z.strictObject(controlMembers).openapi('CsipControl');
export type ControlReply = z.output<typeof controlSchema>;

export const controlsSchema = memo(() =>
  z
    .strictObject({ controls: z.array(controlSchema).openapi({ description: 'The last to start first.' }) })
    .openapi('CsipControls'),
);

export const controlWithXmlSchema = memo(() =>
  z
    .strictObject({
      ...controlMembers,
      xml: textOrNull('The DERControl as the server sent it last; null: it is not kept.'),
    })
    .openapi('CsipControlWithXml'),
);

export const optSchema = memo(() =>
  z
    .strictObject({ in: z.boolean().openapi({ description: 'Whether the user takes part in the event.' }) })
    .openapi('CsipOptRequest'),
);

export const responsesSchema = memo(() =>
  z
    .strictObject({ responses: z.array(responseSchema).openapi({ description: 'Newest first.' }) })
    .openapi('CsipResponses'),
);

export const curveSchema = memo(() =>
  z
    .strictObject({
      href: textOrNull('Its address on the server; null: none was given.'),
      mrid: textOrNull('mRID; null: none.'),
      description: textOrNull('Of the server; null: none.'),
      curve_type: integerOrNull('DERCurveType; null: none was given.'),
      x_multiplier: integer('Power of ten of the x values on the wire.'),
      y_multiplier: integer('Power of ten of the y values on the wire.'),
      y_ref_type: integerOrNull('DERUnitRefType; null: none was given.'),
      points: z
        .array(
          z
            .strictObject({
              x: number('Scaled by its multiplier, in the unit of the curve type.'),
              y: number('Scaled by its multiplier, in the unit of the curve type.'),
              excitation: z
                .boolean()
                .nullable()
                .openapi({ description: 'True: under-excited; null: not part of the point.' }),
            })
            .openapi('CsipCurvePoint'),
        )
        .openapi({ description: 'In the order of the server.' }),
      open_loop_s: numberOrNull('openLoopTms, s; null: none.'),
      ramp_dec_pct_per_s: numberOrNull('rampDecTms, % per s; null: none.'),
      ramp_inc_pct_per_s: numberOrNull('rampIncTms, % per s; null: none.'),
      ramp_pt1_s: numberOrNull('rampPT1Tms, s; null: none.'),
      v_ref_pct: numberOrNull('vRef, %; null: none.'),
    })
    .openapi('CsipCurve'),
);
export type CurveReply = z.output<ReturnType<typeof curveSchema>>;

export const curvesSchema = memo(() =>
  z
    .strictObject({ curves: z.array(curveSchema()).openapi({ description: 'Curves of all programs.' }) })
    .openapi('CsipCurves'),
);

const defaultControlSchema = memo(() =>
  z
    .strictObject({
      mrid: textOrNull('mRID; null: none.'),
      href: textOrNull('Its address on the server; null: none was given.'),
      description: textOrNull('Of the server; null: none.'),
      program_href: text('Its DERProgram.'),
      modes: modesSchema,
      modes_in_force: z
        .array(z.string())
        .openapi({ description: 'Members of DERControlBase that act now, because no event has them.' }),
      settings: json('Its members beside the modes, in the unit of the name: `es_delay_s`, `grad_w_pct_per_s`.'),
      left_out: z.array(leftOutSchema).openapi({ description: 'Modes that are not carried out, with reasons.' }),
    })
    .openapi('CsipDefaultControl'),
);

export const programSchema = memo(() =>
  z
    .strictObject({
      href: text('Its address on the server.'),
      mrid: textOrNull('mRID; null: none.'),
      description: textOrNull('Of the server; null: none.'),
      primacy: integer('0 to 255; the lowest wins.'),
      fsa_hrefs: z.array(z.string()).openapi({ description: 'FunctionSetAssignments that lead to it.' }),
      device_indices: deviceIndices,
      has_default: flag('Whether a DefaultDERControl was read.'),
      default_control: defaultControlSchema()
        .nullable()
        .openapi({ description: 'Null: it has none, or it could not be read.' }),
      control_count: count('Events of its list on the server.'),
      curves: z.array(curveSchema()).openapi({ description: 'Curves of its list, and those that its controls name.' }),
    })
    .openapi('CsipProgram'),
);
export type ProgramReply = z.output<ReturnType<typeof programSchema>>;

export const programsSchema = memo(() =>
  z
    .strictObject({ programs: z.array(programSchema()).openapi({ description: 'By primacy.' }) })
    .openapi('CsipPrograms'),
);
