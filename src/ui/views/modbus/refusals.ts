/** Refused requests of masters, with reasons. */
import type { ReplyOf } from '../../api/call';

type Wire = ReplyOf<'modbus/messages'>['messages'][number];
export type LogEntry = ReplyOf<'logs'>['logs'][number];

/** A message with its request, and the logged reason of an exception. */
export interface Message extends Wire {
  readonly asked?: Wire;
  readonly why?: string;
}

/** Maximum delay between an answer and its log line, ms. */
const nearMs = 500;

const lead = 'refused with exception';

export function refusalsOf(entries: readonly LogEntry[]): readonly LogEntry[] {
  return entries.filter(({ message }) => message.includes(lead));
}

/** The reason after the name of the exception. */
export function reasonOf(line: string): string {
  return /refused with exception \d+ \([^)]*\): (.*)$/s.exec(line)?.[1] ?? line;
}

function whyOf(message: Wire, refusals: readonly LogEntry[]): string | undefined {
  const start = `${message.peer}, unit ${message.unit_id}: function ${message.function} `;
  const at = Date.parse(message.wall_time);
  const distance = ({ timestamp }: LogEntry) => Math.abs(Date.parse(timestamp) - at);
  const [nearest] = refusals
    .filter((entry) => entry.message.startsWith(start) && distance(entry) < nearMs)
    .sort((a, b) => distance(a) - distance(b));
  return nearest && reasonOf(nearest.message);
}

function ignoredText(asked: Wire): string {
  return `acknowledged, but left as they are: ${(asked.ignored ?? []).join(', ')}`;
}

/** Adds facts from requests and log to each message. */
export function explained(messages: readonly Wire[], log: readonly LogEntry[]): readonly Message[] {
  const requests = new Map(messages.filter(({ kind }) => kind === 'request').map((wire) => [wire.exchange_id, wire]));
  const refusals = refusalsOf(log);
  return messages.map((wire): Message => {
    const asked = wire.kind === 'request' ? undefined : requests.get(wire.exchange_id);
    if (wire.kind === 'request') return (wire.ignored?.length ?? 0) > 0 ? { ...wire, why: ignoredText(wire) } : wire;
    const why = wire.exception_code === null ? undefined : whyOf(wire, refusals);
    return { ...wire, ...(asked && { asked }), ...(why !== undefined && { why }) };
  });
}

/** True for exceptions, and for writes that were partly ignored. */
export function isRefusal({ exception_code: code, ignored }: Message): boolean {
  return code !== null || (ignored?.length ?? 0) > 0;
}
