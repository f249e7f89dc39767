/** Writes of Modbus masters that were answered without an exception, point by point. */
import type { Device } from '../../contract/device.ts';
import { functionNames } from '../../core/wire/modbus-pdu.ts';
import type { ModbusContent, ModbusExchange, ModbusFacts } from '../../core/wire/modbus-messages.ts';
import type { WireEntry } from '../../core/wire/wire-log.ts';
import { isAdoptionRequest } from '../../sunspec/map/sets.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { RouteContext } from '../http/context.ts';
import { adoptionClaim } from './adoption.ts';
import type { Answered, Claim, Exchange, Value } from './model.ts';
import { registerPlace, slotNamed, stepOf } from './places.ts';

type Entry = WireEntry<ModbusFacts>;

/** Functions that change registers or coils: Modbus application protocol 1.1b3, 6.5 to 6.17. */
const writes: ReadonlySet<number> = new Set([5, 6, 15, 16, 22, 23]);
/** Model of the surroundings, which move by themselves. */
const surroundingsModel = 64414;

/** Why a written point shows nothing of the write afterwards; undefined: it must hold it. */
function unseen(slot: PointSlot | undefined, isIgnored: boolean): string | undefined {
  if (slot === undefined) return 'the device has no such point';
  if (isIgnored) return 'the point takes no value, and the write says so by leaving it as it is';
  if (slot.modelId === surroundingsModel) return 'the point belongs to the surroundings, which move by themselves';
  if (slot.def.effect === 'latch') return 'the point acts at the moment of the write and keeps nothing';
  return undefined;
}

function claimOf(device: Device, name: string, value: Value, content: ModbusContent, exchange: Exchange): Claim {
  const slot = slotNamed(device, name);
  const did = `wrote ${name} = ${String(value)}`;
  const common = { name, value, unit: slot?.def.units ?? null, did, subject: name };
  if (slot !== undefined && isAdoptionRequest(slot) && typeof value === 'number')
    return { ...common, ...adoptionClaim(device, slot, value, exchange) };
  const reason = unseen(slot, content.ignored?.includes(name) === true);
  if (slot === undefined || reason !== undefined) return { ...common, found: null, reason: reason ?? '' };
  const step = stepOf(slot);
  return { ...common, found: registerPlace(device, slot), ...(step !== undefined && { resolution: step }) };
}

/** Whether octets are what a master takes for the answer to its request. */
function isPositive(request: ModbusContent | null, answer: ModbusContent | null): boolean {
  return (
    request?.whole === true &&
    answer?.whole === true &&
    answer.exceptionCode === null &&
    answer.functionCode === request.functionCode &&
    answer.transactionId === request.transactionId &&
    answer.unitId === request.unitId
  );
}

/** @param sinceMs only commands that came at this wall time or later */
export function modbusAnswers({ modbusMessages }: RouteContext, device: Device, sinceMs: number): readonly Answered[] {
  const requests = new Map<ModbusExchange, Entry>();
  const entries = modbusMessages.list({
    where: ({ deviceIndex, facts: { exchange } }) =>
      deviceIndex === device.index && writes.has(exchange.functionCode) && !exchange.broadcast,
  });
  return entries.flatMap((entry) => {
    const { exchange } = entry.facts;
    // the built-in master is no peer of the device: its request comes in at the listener too
    if (entry.kind === 'request' && entry.direction === 'in') requests.set(exchange, entry);
    const request = requests.get(exchange);
    if (entry.kind !== 'answer' || request === undefined || request.wallMs < sinceMs) return [];
    const content = modbusMessages.decode(request);
    if (content === null || !isPositive(content, modbusMessages.decode(entry))) return [];
    requests.delete(exchange);
    const known = exchangeOf(request, entry);
    const values = Object.entries(content.values ?? {});
    if (values.length === 0) return [{ exchange: known, claim: withoutPoints(exchange) }];
    return values.map(([name, value]) => ({
      exchange: known,
      claim: claimOf(device, name, value, content, known),
    }));
  });
}

function exchangeOf(request: Entry, answer: Entry): Exchange {
  const { functionCode } = request.facts.exchange;
  return {
    protocol: 'modbus',
    messageId: request.id,
    answerId: answer.id,
    peer: request.peer,
    peerName: `Modbus master ${request.peer}`,
    command: functionNames[functionCode] ?? `function ${functionCode}`,
    answer: 'success',
    wallMs: request.wallMs,
    answeredWallMs: answer.wallMs,
    at: answer.sim,
  };
}

/** A write to registers that have no names, or that a fault of the structure has torn apart. */
function withoutPoints({ address, count }: ModbusExchange): Claim {
  const name = `registers ${address ?? 'unknown'}${count !== null && count > 1 ? ` and ${count - 1} more` : ''}`;
  const reason = 'no point of the device lies whole in the registers that were written';
  return { name, value: null, unit: null, did: `wrote ${name}`, found: null, subject: name, reason };
}
