/** Operations on the outstations of DNP3. */
import type { Dnp3Outstations } from '../../contract/dnp3.ts';
import { deviceQuery } from '../common/schemas.ts';
import type { z } from '../description/zod.ts';
import { HttpProblem } from '../http/errors.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { exampleMessages, examplePoints, exampleProfile, exampleStatus } from './examples.ts';
import { messageReply, pointReply, statusReply } from './replies.ts';
import {
  defaultMessages,
  messagesQuery,
  messagesSchema,
  pointsQuery,
  pointsSchema,
  profileSchema,
  recorderBodySchema,
  recorderSchema,
  statusSchema,
} from './schemas.ts';

const tag = 'DNP3';

/** The outstations, for an operation. @throws HttpProblem `disabled` */
function enabledOutstations({ dnp3 }: { readonly dnp3: Dnp3Outstations }): Dnp3Outstations {
  if (dnp3.enabled) return dnp3;
  throw new HttpProblem('disabled', 'DNP3 is switched off: start with --dnp3_enable yes.');
}

const getOutstation = route({
  method: 'get',
  path: '/dnp3',
  tag,
  operationId: 'get_dnp3',
  summary: 'The outstation of a device: link, masters, indications, events, coverage',
  query: deviceQuery,
  reply: statusSchema,
  examples: { reply: exampleStatus },
  handle({ dnp3, plant }, { query: { device = plant.firstIndex } }) {
    plant.device(device);
    return statusReply(dnp3.enabled, device, dnp3.outstation(device));
  },
});

const getPoints = route({
  method: 'get',
  path: '/dnp3/points',
  tag,
  operationId: 'get_dnp3_points',
  summary: 'The points of the profile: what the device serves, from where, and what it does not have',
  query: pointsQuery,
  reply: pointsSchema,
  examples: { reply: examplePoints },
  handle({ dnp3, plant }, { query: { device = plant.firstIndex, type, coverage, from, to } }) {
    plant.device(device);
    const found = dnp3.points(device, {
      ...(type !== undefined && { type }),
      ...(coverage !== undefined && { coverage }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    });
    return replyInPieces<z.output<ReturnType<typeof pointsSchema>>>({
      enabled: dnp3.enabled,
      device_index: device,
      points: eachLater(found, pointReply),
    });
  },
});

const getMessages = route({
  method: 'get',
  path: '/dnp3/messages',
  tag,
  operationId: 'get_dnp3_messages',
  summary: 'Fragments as they went over the wire',
  description:
    'Kept only while it is switched on with POST. All filters must match. To follow, pass the id of the last message seen as ' +
    '`after_id`: ids rise by one, so a gap says that messages are missing. TLS is shown as clear text.',
  query: messagesQuery,
  reply: messagesSchema,
  examples: { reply: exampleMessages },
  handle({ dnp3, plant }, { query }) {
    const { limit = defaultMessages, after_id: afterId, device, direction, function: name } = query;
    if (device !== undefined) plant.device(device);
    const found = dnp3.messages({
      limit,
      ...(afterId !== undefined && { afterId }),
      ...(device !== undefined && { deviceIndex: device }),
      ...(direction !== undefined && { direction }),
      ...(name !== undefined && { function: name }),
    });
    return replyInPieces<z.output<ReturnType<typeof messagesSchema>>>({
      enabled: dnp3.recording,
      messages: eachLater(found, messageReply),
    });
  },
});

const setMessages = route({
  method: 'post',
  path: '/dnp3/messages',
  tag,
  operationId: 'set_dnp3_messages',
  summary: 'Switches the recording of messages on or off',
  body: recorderBodySchema,
  reply: recorderSchema,
  problems: ['disabled'],
  examples: { body: { enabled: true }, reply: { enabled: true } },
  handle(ctx, { body: { enabled }, by }) {
    const dnp3 = enabledOutstations(ctx);
    dnp3.record(enabled, by);
    return { enabled: dnp3.recording };
  },
});

const getProfile = route({
  method: 'get',
  path: '/dnp3/device-profile',
  tag,
  operationId: 'get_dnp3_device_profile',
  summary: 'DNP3 XML device profile of the outstation of a device',
  query: deviceQuery,
  reply: profileSchema,
  examples: { reply: exampleProfile },
  handle({ dnp3, plant }, { query: { device = plant.firstIndex } }) {
    plant.device(device);
    return { enabled: dnp3.enabled, device_index: device, document: dnp3.deviceProfile(device) };
  },
});

export const dnp3Routes: readonly Route[] = [getOutstation, getPoints, getMessages, setMessages, getProfile];
