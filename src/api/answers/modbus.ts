/** Writes of Modbus masters that were answered without an exception, point by point. */
import type { Device } from '../../contract/device.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { functionNames } from '../../core/wire/modbus-pdu.ts';
import type { ModbusContent, ModbusExchange, ModbusFacts } from '../../core/wire/modbus-messages.ts';
import type { WireEntry } from '../../core/wire/wire-log.ts';
import { isClassicModel } from '../../sunspec/map/classic.ts';
import { pointNumber } from '../../sunspec/map/named-points.ts';
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

/** A write that was answered, and what its octets say. */
interface Write {
  readonly exchange: Exchange;
  readonly content: ModbusContent;
  readonly asked: ModbusExchange;
}

/** Classic models revert by timers of their own, which leave no writer behind. */
function endOf(device: Device, slot: PointSlot, { at }: Exchange, now: SimTime): string | undefined {
  const timer = isClassicModel(slot.modelId) && slot.def.reversion !== undefined ? slot.def.reversion : null;
  const seconds = timer === null ? null : pointNumber(device.bank, slot.modelId, timer);
  return seconds !== null && seconds > 0 && secondsBetween(at, now) >= seconds
    ? `its reversion time of ${seconds} s is over`
    : undefined;
}

/** @param isLater whether a later write that was answered has a point */
function claimOf(
  { device, now }: { readonly device: Device; readonly now: SimTime },
  [name, value]: readonly [string, Value],
  { exchange, content }: Write,
  isLater: (point: string) => boolean,
): Claim {
  const slot = slotNamed(device, name);
  const did = `wrote ${name} = ${String(value)}`;
  const common = { name, value, unit: slot?.def.units ?? null, did, subject: name };
  if (slot !== undefined && isAdoptionRequest(slot) && typeof value === 'number')
    return { ...common, ...adoptionClaim(device, slot, value, { exchange, isLater }) };
  const reason = unseen(slot, content.ignored?.includes(name) === true);
  if (slot === undefined || reason !== undefined) return { ...common, found: null, reason: reason ?? '' };
  const step = stepOf(slot);
  const ended = endOf(device, slot, exchange, now);
  return {
    ...common,
    found: registerPlace(device, slot),
    ...(step !== undefined && { resolution: step }),
    ...(ended !== undefined && { ended }),
  };
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

/** Writes to a device that were answered without an exception, in the order of their answers. */
function writesTo({ modbusMessages }: RouteContext, device: Device, sinceMs: number): readonly Write[] {
  const requests = new Map<ModbusExchange, Entry>();
  const entries = modbusMessages.list({
    where: ({ deviceIndex, facts: { exchange } }) =>
      deviceIndex === device.index && writes.has(exchange.functionCode) && !exchange.broadcast,
  });
  return entries.flatMap((entry): Write[] => {
    const { exchange: asked } = entry.facts;
    // the built-in master is no peer of the device: its request comes in at the listener too
    if (entry.kind === 'request' && entry.direction === 'in') requests.set(asked, entry);
    const request = requests.get(asked);
    if (entry.kind !== 'answer' || request === undefined || request.wallMs < sinceMs) return [];
    const content = modbusMessages.decode(request);
    if (content === null || !isPositive(content, modbusMessages.decode(entry))) return [];
    // a fault may send an answer twice
    requests.delete(asked);
    return [{ exchange: exchangeOf(request, entry), content, asked }];
  });
}

/** @param sinceMs only commands that came at this wall time or later */
export function modbusAnswers(ctx: RouteContext, device: Device, sinceMs: number): readonly Answered[] {
  const place = { device, now: ctx.plant.time.sim };
  const all = writesTo(ctx, device, sinceMs);
  const last = new Map<string, number>();
  all.forEach(({ content }, n) => {
    for (const name of Object.keys(content.values ?? {})) last.set(name, n);
  });
  return all.flatMap((write, n): readonly Answered[] => {
    const { exchange } = write;
    const values = Object.entries(write.content.values ?? {});
    if (values.length === 0) return [{ exchange, claim: withoutPoints(write.asked) }];
    const isLater = (point: string) => (last.get(point) ?? -1) > n;
    return values.map((value) => ({ exchange, claim: claimOf(place, value, write, isLater) }));
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
