/** What the client of IEEE 2030.5 knows of its head-end: Time, EndDevices, programs, events and curves. */
import { csipControlStates } from '../../contract/csip-events.ts';
import { newestParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { HttpProblem } from '../http/errors.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  controlSchema,
  controlsSchema,
  controlWithXmlSchema,
  curvesSchema,
  optSchema,
  programsSchema,
  responsesSchema,
} from './control-schemas.ts';
import { enabledClient, tag } from './enabled.ts';
import {
  exampleControl,
  exampleControlWithXml,
  exampleCurve,
  exampleEndDevice,
  exampleProgram,
  exampleResponse,
  exampleServerTime,
} from './examples.ts';
import { controlReply, curveReply, endDeviceReply, programReply, responseReply, timeReply } from './replies.ts';
import { clientParam, clientQuery, clientsQuery, endDevicesSchema, timeSchema } from './schemas.ts';

const maxMrid = 32;
const mridPattern = new RegExp(`^[0-9A-Fa-f]{1,${maxMrid}}$`);
const mridError = { error: `must be 1 to ${maxMrid} hexadecimal digits` };
const mridText = (name: string, description: string) =>
  z
    .string()
    .regex(mridPattern, mridError)
    .transform((given) => given.toUpperCase())
    .openapi({ param: { name }, type: 'string', pattern: mridPattern.source, description });
const mridParams = z.strictObject({ mrid: mridText('mrid', `mRID of an event, 1 to ${maxMrid} hexadecimal digits.`) });

const defaultLimit = 100;
const maxLimit = 1000;
const limit = newestParam(maxLimit, defaultLimit).optional();

const getTime = route({
  method: 'get',
  path: '/csip/time',
  tag,
  operationId: 'get_csip_time',
  summary: 'Clock of the server',
  query: clientQuery,
  reply: timeSchema,
  problems: ['not-connected'],
  examples: { reply: exampleServerTime },
  handle({ csipClient }, { query: { device = null } }) {
    const time = csipClient.time(device);
    if (time === null) throw new HttpProblem('not-connected', 'No Time resource of a server has been read.');
    return timeReply(time);
  },
});

const listEndDevices = route({
  method: 'get',
  path: '/csip/end-devices',
  tag,
  operationId: 'list_csip_end_devices',
  summary: 'EndDevices of the server',
  query: clientQuery,
  reply: endDevicesSchema,
  examples: { reply: { end_devices: [exampleEndDevice] } },
  handle: ({ csipClient }, { query: { device = null } }) => ({
    end_devices: csipClient.endDevices(device).map(endDeviceReply),
  }),
});

const listPrograms = route({
  method: 'get',
  path: '/csip/programs',
  tag,
  operationId: 'list_csip_programs',
  summary: 'DERPrograms with their default controls and curves',
  query: clientQuery,
  reply: programsSchema,
  examples: { reply: { programs: [exampleProgram] } },
  handle: ({ csipClient }, { query: { device = null } }) =>
    replyInPieces<z.output<ReturnType<typeof programsSchema>>>({
      programs: eachLater(csipClient.programs(device), programReply),
    }),
});

const listControls = route({
  method: 'get',
  path: '/csip/controls',
  tag,
  operationId: 'list_csip_controls',
  summary: 'DERControls (events) with their states and responses',
  query: z.strictObject({
    device: clientParam,
    state: z
      .enum(csipControlStates)
      .optional()
      .openapi({ param: { name: 'state' }, description: 'Only events in this state; default all.' }),
    limit,
  }),
  reply: controlsSchema,
  examples: { reply: { controls: [exampleControl] } },
  handle: ({ csipClient }, { query: { device = null, state, limit: most = defaultLimit } }) =>
    replyInPieces<z.output<ReturnType<typeof controlsSchema>>>({
      controls: eachLater(csipClient.controls(device, state).slice(0, most), controlReply),
    }),
});

const getControl = route({
  method: 'get',
  path: '/csip/controls/{mrid}',
  tag,
  operationId: 'get_csip_control',
  summary: 'One event, with its XML as the server sent it',
  params: mridParams,
  query: clientQuery,
  reply: controlWithXmlSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleControlWithXml },
  handle({ csipClient }, { params: { mrid }, query: { device = null } }) {
    const control = csipClient.control(mrid, device);
    return { ...controlReply(control), xml: control.xml };
  },
});

const opt = route({
  method: 'post',
  path: '/csip/controls/{mrid}/opt',
  tag,
  operationId: 'opt_csip_control',
  summary: 'The user takes part in an event, or does not',
  description:
    'Out: the event is not carried out any more (responses 4 and, at its end, 8). In: it is again (5 and 9). Responses go where ' +
    '`responseRequired` asks for them.',
  params: mridParams,
  query: clientsQuery,
  body: optSchema,
  reply: controlSchema,
  problems: ['disabled', 'unknown-resource', 'conflict'],
  examples: { body: { in: false }, reply: { ...exampleControl, opted_out: true } },
  handle: (ctx, { params: { mrid }, query: { device = null }, body }) =>
    controlReply(enabledClient(ctx).opt(mrid, body.in, device)),
});

const listCurves = route({
  method: 'get',
  path: '/csip/curves',
  tag,
  operationId: 'list_csip_curves',
  summary: 'DERCurves, with values in the units of their axes',
  query: clientQuery,
  reply: curvesSchema,
  examples: { reply: { curves: [exampleCurve] } },
  handle: ({ csipClient }, { query: { device = null } }) => ({ curves: csipClient.curves(device).map(curveReply) }),
});

const listResponses = route({
  method: 'get',
  path: '/csip/responses',
  tag,
  operationId: 'list_csip_responses',
  summary: 'Responses to events, sent and waiting',
  query: z.strictObject({
    device: clientParam,
    mrid: mridText(
      'mrid',
      `Only responses to the event with this mRID, 1 to ${maxMrid} hexadecimal digits.`,
    ).optional(),
    limit,
  }),
  reply: responsesSchema,
  examples: { reply: { responses: [exampleResponse] } },
  handle: ({ csipClient }, { query: { device = null, mrid, limit: most = defaultLimit } }) =>
    replyInPieces<z.output<ReturnType<typeof responsesSchema>>>({
      responses: eachLater(csipClient.responses(device, mrid).slice(0, most), responseReply),
    }),
});

export const csipResourceRoutes: readonly Route[] = [
  getTime,
  listEndDevices,
  listPrograms,
  listControls,
  getControl,
  opt,
  listCurves,
  listResponses,
];
