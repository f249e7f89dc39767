/** Operations on the outstations of DNP3. */
import type { Dnp3Outstations } from '../../contract/dnp3.ts';
import { camelCased } from '../common/members.ts';
import { deviceQuery } from '../common/schemas.ts';
import { HttpProblem } from '../http/errors.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  defaultMessages,
  deviceProfile,
  messages,
  messagesQuery,
  outstation,
  pointList,
  pointsQuery,
  recorder,
  recorderBodySchema,
} from './members.ts';

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
  reply: outstation.schema,
  handle({ dnp3, plant }, { query: { device = plant.firstIndex } }) {
    plant.device(device);
    return outstation.reply({ enabled: dnp3.enabled, deviceIndex: device, status: dnp3.outstation(device) });
  },
});

const getPoints = route({
  method: 'get',
  path: '/dnp3/points',
  tag,
  operationId: 'get_dnp3_points',
  summary: 'The points of the profile: what the device serves, from where, and what it does not have',
  query: pointsQuery,
  reply: pointList.schema,
  handle({ dnp3, plant }, { query: { device = plant.firstIndex, ...filter } }) {
    plant.device(device);
    const points = dnp3.points(device, camelCased(filter));
    return replyInPieces(pointList.reply({ enabled: dnp3.enabled, deviceIndex: device, points }));
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
  reply: messages.schema,
  handle({ dnp3, plant }, { query: { limit = defaultMessages, device: deviceIndex, ...filter } }) {
    if (deviceIndex !== undefined) plant.device(deviceIndex);
    const kept = dnp3.messages({ limit, ...(deviceIndex !== undefined && { deviceIndex }), ...camelCased(filter) });
    return replyInPieces(messages.reply(dnp3, { messages: kept }));
  },
});

const setMessages = route({
  method: 'post',
  path: '/dnp3/messages',
  tag,
  operationId: 'set_dnp3_messages',
  summary: 'Switches the recording of messages on or off',
  body: recorderBodySchema,
  reply: recorder.schema,
  problems: ['disabled'],
  handle(ctx, { body: { enabled }, by }) {
    const dnp3 = enabledOutstations(ctx);
    dnp3.record(enabled, by);
    return recorder.reply(dnp3);
  },
});

const getProfile = route({
  method: 'get',
  path: '/dnp3/device-profile',
  tag,
  operationId: 'get_dnp3_device_profile',
  summary: 'DNP3 XML device profile of the outstation of a device',
  query: deviceQuery,
  reply: deviceProfile.schema,
  handle({ dnp3, plant }, { query: { device = plant.firstIndex } }) {
    plant.device(device);
    const document = dnp3.deviceProfile(device);
    return deviceProfile.reply({ enabled: dnp3.enabled, deviceIndex: device, document });
  },
});

export const dnp3Routes: readonly Route[] = [getOutstation, getPoints, getMessages, setMessages, getProfile];
