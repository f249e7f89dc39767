/** Calls of central systems that change something, for the timeline, from the wire log: told when they are answered. */
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import { messageRef } from './messages.ts';
import type { WireChannel, WireEntry, WireLog } from '../../core/wire/wire-log.ts';

/** Calls that only read, or ask for messages. */
const reading = /^(Get|Trigger|DataTransfer$|CustomerInformation$|Report|NotifyPeriodicEventStream|CostUpdated$)/;

/** Words of a positive answer. */
const positive: ReadonlySet<string> = new Set(['Accepted', 'RebootRequired', 'Scheduled', 'Unlocked', 'NoCancelled']);

/** The status in the payload of an answer; null: it has none, and the call was carried out. */
function statusOf(frame: unknown): string | null {
  const payload: unknown = Array.isArray(frame) ? frame[2] : null;
  const status = typeof payload === 'object' && payload !== null ? (payload as { status?: unknown }).status : null;
  return typeof status === 'string' ? status : null;
}

function codeOf(frame: unknown): string {
  const parts: readonly unknown[] = Array.isArray(frame) ? frame.slice(2, 4) : [];
  return parts.filter((each) => typeof each === 'string' && each !== '').join(': ');
}

/** Tells of one answer to a call of the central system. */
export function tellAnswer(timeline: TimelineSink, channel: WireChannel, entry: WireEntry<unknown>): void {
  const { direction, kind, summary: action, deviceIndex, peer, id } = entry;
  if (direction !== 'out' || (kind !== 'result' && kind !== 'error')) return;
  const frame = channel.decode(entry);
  const isError = kind === 'error';
  if (!isError && reading.test(action)) return;
  const status = isError ? null : statusOf(frame);
  const isRefused = isError || (status !== null && !positive.has(status));
  const answer = isError ? `an error (${codeOf(frame)})` : (status ?? 'a result');
  const message = `ocpp/${channel.key}/${id}`;
  timeline.add({
    kind: isRefused ? 'refusal' : 'peer',
    level: isRefused ? 'warn' : 'info',
    title: isRefused ? `${action} refused` : action,
    text: `Called ${action}, which was answered with ${answer}.`,
    deviceIndex: deviceIndex ?? undefined,
    by: { source: 'ocpp', peer },
    ref: messageRef(message),
    message,
  });
}

/** @returns function that ends it */
export function tellOcppCalls(wireLog: WireLog, timeline: TimelineSink): () => void {
  let isEnded = false;
  const end = wireLog.onChannel((channel) => {
    if (channel.protocol !== 'ocpp') return;
    // without a list of channels: a station that is switched off leaves with its channel
    channel.subscribe((entry) => {
      if (!isEnded) tellAnswer(timeline, channel, entry);
    });
  });
  return () => {
    isEnded = true;
    end();
  };
}
