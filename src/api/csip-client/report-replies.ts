/** Reports, subscriptions and messages of the client of IEEE 2030.5 as members of replies. */
import type { CsipClient } from '../../contract/csip-client.ts';
import type {
  CsipLogEvent,
  CsipMessage,
  CsipMessages,
  CsipNotification,
  CsipReadings,
  CsipSentDocument,
  CsipSubscriptions,
} from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
import { isoOrNull } from '../common/schemas.ts';
import { writerReply } from '../common/writer-replies.ts';
import { iso } from './replies.ts';

function sentReply(sent: CsipSentDocument | null) {
  return (
    sent && {
      sent_at: iso(sent.sentAtMs),
      result: sent.result,
      http_status: sent.httpStatus,
      href: sent.href,
      body: sent.body,
    }
  );
}

export function derReply({ capability, settings, status, availability }: ReturnType<CsipClient['der']>) {
  return {
    capability: sentReply(capability),
    settings: sentReply(settings),
    status: sentReply(status),
    availability: sentReply(availability),
  };
}

export function readingsReply({ mupHref, postRateS, sets }: CsipReadings) {
  return {
    mup_href: mupHref,
    post_rate_s: postRateS,
    sets: sets.map((set) => ({
      mrid: set.mrid,
      description: set.description,
      device_index: set.deviceIndex,
      uom: set.uom,
      flow_direction: set.flowDirection,
      phase: set.phase,
      multiplier: set.multiplier,
      last_post: isoOrNull(set.lastPostMs),
      values: set.values.map(({ startServerMs, durationS, value }) => ({
        start: iso(startServerMs),
        duration_s: durationS,
        value,
      })),
    })),
  };
}

function logEventReply(event: CsipLogEvent) {
  return {
    created_at: iso(event.createdServerMs),
    function_set: event.functionSet,
    code: event.code,
    event_id: event.eventId,
    pen: event.pen,
    profile_id: event.profileId,
    details: event.details,
    device_index: event.deviceIndex,
    result: event.result,
  };
}

export function logEventsReply({ enabled, events }: ReturnType<CsipClient['logEvents']>) {
  return { enabled, events: events.map(logEventReply) };
}

export function subscriptionsReply({ notificationUri, items }: CsipSubscriptions) {
  return {
    notification_uri: notificationUri,
    subscriptions: items.map((item) => ({
      resource: item.resource,
      href: item.href,
      state: item.state,
      renewed_at: isoOrNull(item.renewedAtMs),
      notifications: item.notifications,
      last_error: item.lastError,
    })),
  };
}

export function notificationReply(notification: CsipNotification) {
  return {
    received_at: iso(notification.receivedAtMs),
    resource: notification.resource,
    status: notification.status,
    content: notification.content,
    http_status: notification.httpStatus,
    peer: notification.peer,
  };
}

export function recorderReply(plant: Pick<Plant, 'dateMs'>, messages: CsipMessages) {
  return {
    enabled: messages.recording,
    capacity: messages.capacity,
    kept: messages.count,
    dropped: messages.dropped,
    last_id: messages.lastId,
    changed_by: writerReply(plant, messages.changedBy),
  };
}

export function messageReply(message: CsipMessage) {
  return {
    id: message.id,
    timestamp: iso(message.atMs),
    direction: message.direction,
    peer: message.peer,
    device_index: message.deviceIndex,
    method: message.method,
    url: message.url,
    status: message.status,
    duration_ms: message.durationMs,
    request_headers: { ...message.requestHeaders },
    request_body: message.requestBody,
    response_headers: { ...message.responseHeaders },
    response_body: message.responseBody,
    truncated: message.truncated,
    error: message.error,
  };
}
