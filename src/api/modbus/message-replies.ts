import { exceptionNames, functionNames } from '../../core/wire/modbus-pdu.ts';
import type { ModbusFacts, ModbusMessageKind } from '../../core/wire/modbus-messages.ts';
import type { WireEntry } from '../../core/wire/wire-log.ts';
import type { RouteContext } from '../http/context.ts';
import { asciiJson } from '../http/pieces.ts';
import { writerReply } from '../common/writer-replies.ts';
import { defaultMessageLimit } from './message-schemas.ts';
import type { MessageReply, MessagesQuery } from './message-schemas.ts';

type Entry = WireEntry<ModbusFacts>;
type Context = Pick<RouteContext, 'plant' | 'modbusMessages'>;

/** Whether a message passes the filters. */
function isWanted(
  { direction, peer, deviceIndex, facts: { exchange } }: Entry,
  wanted: Omit<MessagesQuery, 'limit' | 'after_id'>,
): boolean {
  const { address, count, functionCode, broadcast } = exchange;
  return (
    (wanted.direction === undefined || direction === wanted.direction) &&
    (wanted.device === undefined || deviceIndex === wanted.device || broadcast) &&
    (wanted.function === undefined || functionCode === wanted.function) &&
    (wanted.address === undefined ||
      (address !== null && wanted.address >= address && wanted.address < address + (count ?? 1))) &&
    (wanted.peer === undefined || peer === wanted.peer || peer.replace(/:\d+$/, '') === wanted.peer)
  );
}

/** The name of a code; null: there is no code, or it has no name. */
function nameOf(code: number | null, names: Readonly<Record<number, string>>): string | null {
  return code === null ? null : (names[code] ?? null);
}

function messageReply({ plant, modbusMessages }: Context, entry: Entry): MessageReply {
  const { exchange, durationMs, noAnswer } = entry.facts;
  const content = modbusMessages.decode(entry);
  const isSilence = noAnswer !== null;
  const functionCode = isSilence ? exchange.functionCode : (content?.functionCode ?? null);
  const exceptionCode = content?.exceptionCode ?? null;
  return {
    id: entry.id,
    exchange_id: exchange.id,
    wall_time: new Date(entry.wallMs).toISOString(),
    sim_time: new Date(plant.dateMs(entry.sim)).toISOString(),
    interface: exchange.comm,
    direction: entry.direction,
    kind: entry.kind as ModbusMessageKind,
    peer: entry.peer,
    device_index: entry.deviceIndex,
    whole: isSilence ? null : (content?.whole ?? false),
    transaction_id: content?.transactionId ?? null,
    unit_id: isSilence ? exchange.unitId : (content?.unitId ?? null),
    function: functionCode,
    function_name: nameOf(functionCode, functionNames),
    address: exchange.address,
    count: exchange.count,
    points: content?.points ? [...content.points] : null,
    ignored: content?.ignored ? [...content.ignored] : null,
    values: content?.values ?? null,
    exception_code: exceptionCode,
    exception_name: nameOf(exceptionCode, exceptionNames),
    no_answer: noAnswer,
    duration_ms: durationMs === null ? null : Math.round(durationMs * 1000) / 1000,
    raw: entry.raw.toString('hex'),
  };
}

/** The recorder itself. */
export function recorderReply({ plant, modbusMessages: channel }: Context) {
  return {
    enabled: channel.recording,
    entries: channel.capacity,
    kept: channel.count,
    dropped: channel.dropped,
    last_id: channel.lastId,
    changed_by: writerReply(plant, channel.changedBy),
  };
}

/** Messages per piece: about a millisecond of work. */
const perPiece = 16;

/** The chosen messages as JSON, in pieces: decoding all of them at once could delay a tick. */
export function* messagesJson(
  ctx: Context,
  { limit = defaultMessageLimit, after_id: afterId, ...wanted }: MessagesQuery,
) {
  const chosen = ctx.modbusMessages.list({
    limit,
    ...(afterId !== undefined && { afterId }),
    where: (entry) => isWanted(entry, wanted),
  });
  yield `${asciiJson(JSON.stringify(recorderReply(ctx))).slice(0, -1)},"messages":[`;
  for (let at = 0; at < chosen.length; at += perPiece) {
    const replies = chosen.slice(at, at + perPiece).map((entry) => asciiJson(JSON.stringify(messageReply(ctx, entry))));
    yield (at === 0 ? '' : ',') + replies.join(',');
  }
  yield ']}';
}
