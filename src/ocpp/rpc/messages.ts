/** The messages of a station in the wire log, and the book that REST reads. */
import type { OcppMessage, OcppMessageFilter } from '../../contract/ocpp.ts';
import type { WireChannel, WireEntry, WireLog } from '../../core/wire/wire-log.ts';
import { isObject, isTooDeep } from './frames.ts';
import type { FrameFacts } from './outlet.ts';
import { redacted } from './redaction.ts';

export type OcppFacts = Omit<FrameFacts, 'direction'>;
export type OcppChannel = WireChannel<OcppFacts, unknown, string>;

const keptEntries = 1000;
const keptBytes = 1024 * 1024;
const keptMessageBytes = 64 * 1024;

/** @param secrets what the station must never show now */
export function ocppChannel(wireLog: WireLog, stationId: string, secrets: () => readonly string[]): OcppChannel {
  const channel: OcppChannel = wireLog.channel<OcppFacts, unknown, string>({
    protocol: 'ocpp',
    key: stationId,
    entries: keptEntries,
    bytes: keptBytes,
    messageBytes: keptMessageBytes,
    text: true,
    report: ({ facts: { messageId, action, durationMs } }) => ({
      message_id: messageId,
      action,
      duration_ms: durationMs,
    }),
    redact(message) {
      const known = secrets();
      const clean = redacted(message.raw, known);
      const { messageId, action } = message.facts;
      // that of an answer is not in its text; the message id is
      const cleanAction = action === null ? null : redacted(action, known);
      if (clean === message.raw && cleanAction === action) return message;
      return {
        ...message,
        summary: cleanAction ?? '',
        raw: clean,
        facts: {
          ...message.facts,
          messageId: messageId === null ? null : redacted(messageId, known),
          action: cleanAction,
        },
      };
    },
    decode({ raw }) {
      return JSON.parse(raw.toString()) as unknown;
    },
  });
  // from the first message on: a user asks for messages after something has gone wrong
  channel.record(true, { source: 'default' });
  return channel;
}

/** Hands a frame to the channel; to be called only while it is `active`. */
export function recordFrame(
  channel: OcppChannel,
  { direction, type, messageId, action, durationMs }: FrameFacts,
  text: string,
  { peer, deviceIndex }: { readonly peer: string; readonly deviceIndex: number },
): void {
  // member by member: this runs for every frame, and a spread costs several times as much
  const facts = { type, messageId, action, durationMs };
  channel.push({ direction, peer, deviceIndex, kind: type, summary: action ?? '', raw: text, facts });
}

/** The payload as REST shows it: of what is no whole frame, or has too many levels to be shown, its text. */
function payloadOf(channel: OcppChannel, entry: WireEntry<OcppFacts>): unknown {
  const asText = () => entry.raw.toString();
  if (isTooDeep(asText())) return asText();
  const frame = channel.decode(entry);
  if (!Array.isArray(frame)) return asText();
  const [, , first, second, third] = frame as readonly unknown[];
  switch (entry.facts.type) {
    case 'call':
    case 'send':
      return second ?? null;
    case 'result':
      return first ?? null;
    case 'error':
    case 'result_error':
      return { code: first ?? null, description: second ?? null, details: isObject(third) ? third : {} };
    case 'invalid':
      return asText();
  }
}

export interface OcppMessageBook {
  /** oldest first */
  list(filter: OcppMessageFilter): readonly OcppMessage[];
}

export function messageBook(channel: OcppChannel): OcppMessageBook {
  return {
    list({ afterId, action, direction, limit }) {
      const entries = channel.list({
        ...(afterId !== undefined && { afterId }),
        ...(limit !== undefined && { limit }),
        where: (entry) =>
          (action === undefined || entry.facts.action === action) &&
          (direction === undefined || entry.direction === direction),
      });
      return entries.map((entry) => {
        const { type, messageId, action: of, durationMs } = entry.facts;
        return {
          id: entry.id,
          atMs: entry.wallMs,
          at: entry.sim,
          direction: entry.direction,
          type,
          messageId,
          action: of,
          payload: payloadOf(channel, entry),
          durationMs,
          truncated: entry.rawLength > entry.raw.length,
        };
      });
    },
  };
}
