/** Writes of Modbus masters that were answered without an exception, point by point. */
import type { Device } from '../../contract/device.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { functionNames } from '../../core/wire/modbus.ts';
import type { ModbusContent, ModbusExchange, ModbusFacts } from '../../core/wire/modbus.ts';
import type { WireEntry } from '../../core/wire/wire-log.ts';
import { isClassicModel, adoptionPoints, isAdoptionRequest } from '../../sunspec/map/layout.ts';
import { pointNumber } from '../../sunspec/map/bank.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { AnswerSources } from '../sources.ts';
import type { Answered, Claim, Exchange, Value } from './model.ts';
import { registerPlace, slotNamed, stepOf } from './model.ts';

type Entry = WireEntry<ModbusFacts>;

/** Functions that change registers or coils: Modbus application protocol 1.1b3, 6.5 to 6.17. */
const writes: ReadonlySet<number> = new Set([5, 6, 15, 16, 22, 23]);
/** Model of the surroundings, whose values change by themselves. */
const surroundingsModel = 64414;

/** Reason why a point need not show the written value; undefined: it must. */
function unseen(slot: PointSlot | undefined, isIgnored: boolean): string | undefined {
  if (slot === undefined) return 'the device has no such point';
  if (isIgnored) return 'the device acknowledges writes of the point and does not change it';
  if (slot.modelId === surroundingsModel) return 'the point belongs to the surroundings, which change by themselves';
  if (slot.def.effect === 'latch') return 'the point acts at the moment of the write and keeps no value';
  return undefined;
}

/** A write with its positive answer, and its decoded content. */
interface Write {
  readonly exchange: Exchange;
  readonly content: ModbusContent;
  readonly request: ModbusExchange;
}

/** Reason why a written value may have reverted: timers of classic models do so without a writer; undefined: none. */
function endOf(device: Device, slot: PointSlot, { at }: Exchange, present: SimTime): string | undefined {
  const timer = isClassicModel(slot.modelId) && slot.def.reversion !== undefined ? slot.def.reversion : null;
  const seconds = timer === null ? null : pointNumber(device.bank, slot.modelId, timer);
  return seconds !== null && seconds > 0 && secondsBetween(at, present) >= seconds
    ? `its reversion time of ${seconds} s is over`
    : undefined;
}

/** A request to adopt a stored set: the set in force must be the stored one afterwards. */
type AdoptionClaim = Pick<Claim, 'actual' | 'holds' | 'reason'>;

/** Points of a stored set, each with its counterpart in the set in force. @param number number of the set, from 1 */
function pairsOf(
  layout: Layout,
  { modelId, path }: PointSlot,
  number: number,
): readonly (readonly [PointSlot, PointSlot])[] {
  const sets = path.startsWith('AdptCtl') ? 'Ctl' : 'Crv';
  const [stored, inForce] = [`${sets}[${number - 1}].`, `${sets}[0].`];
  return layout.slots.flatMap((slot) => {
    if (slot.modelId !== modelId || !slot.path.startsWith(stored) || !slot.implemented) return [];
    if (slot.def.access !== 'RW') return [];
    const other = layout.slot(modelId, inForce + slot.path.slice(stored.length));
    return other?.implemented === true ? [[slot, other] as const] : [];
  });
}

interface Adoption {
  readonly exchange: Exchange;
  /** True if a later write over the same protocol has the point. */
  readonly isLater: (point: string) => boolean;
}

/** Claim about the adoption of a stored set. @param number number of the set, from 1 */
function adoptionClaim(
  device: Device,
  request: PointSlot,
  number: number,
  { exchange, isLater }: Adoption,
): AdoptionClaim {
  const { bank } = device;
  const result = adoptionPoints(bank.layout, request.modelId)?.result;
  if (result === undefined) return { actual: null, reason: 'the model has no result of the adoption' };
  const state = bank.value(result);
  const place = pointName(result);
  const outcome = typeof state === 'string' ? state : null;
  const valueInForce = (slot: PointSlot) => device.heldValue(slot) ?? bank.value(slot);
  // a stored set that was written since the adoption differs from the adopted one
  const isChangedSince = (stored: PointSlot) =>
    isLater(pointName(stored)) || (bank.provenance(stored)?.wallMs ?? 0) > exchange.answeredWallMs;
  const differing = pairsOf(bank.layout, request, number).find(
    ([stored, inForce]) => bank.value(stored) !== valueInForce(inForce) && !isChangedSince(stored),
  );
  const writer = bank.provenance(differing?.[1] ?? request) ?? null;
  const holder = 'the register';
  if (state !== 'COMPLETED') return { actual: { place, holder, value: outcome, writer }, holds: false };
  if (differing === undefined) return { actual: { place, holder, value: outcome, writer }, holds: true };
  const [stored, inForce] = differing;
  const [required, has] = [String(bank.value(stored)), String(valueInForce(inForce))];
  const value = `${state}, but ${pointName(inForce)} is ${has} and not ${required}`;
  return { actual: { place, holder, value, writer }, holds: false };
}

/** Claim about a written point. @param isLater true: a later answered write has the point */
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
  if (slot === undefined || reason !== undefined) return { ...common, actual: null, reason: reason ?? '' };
  const step = stepOf(slot);
  const ended = endOf(device, slot, exchange, now);
  return {
    ...common,
    actual: registerPlace(device, slot),
    ...(step !== undefined && { resolution: step }),
    ...(ended !== undefined && { ended }),
  };
}

/** True if a master accepts these octets as the answer to its request. */
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
function writesTo({ modbusMessages }: AnswerSources, device: Device, sinceMs: number): readonly Write[] {
  const requests = new Map<ModbusExchange, Entry>();
  const entries = modbusMessages.list({
    where: ({ deviceIndex, facts: { exchange } }) =>
      deviceIndex === device.index && writes.has(exchange.functionCode) && !exchange.broadcast,
  });
  return entries.flatMap((entry): Write[] => {
    const { exchange } = entry.facts;
    // requests that the built-in master sends are left out: the listener records them too
    if (entry.kind === 'request' && entry.direction === 'in') requests.set(exchange, entry);
    const request = requests.get(exchange);
    if (entry.kind !== 'answer' || request === undefined || request.wallMs < sinceMs) return [];
    const content = modbusMessages.decode(request);
    if (content === null || !isPositive(content, modbusMessages.decode(entry))) return [];
    // a fault may send an answer twice
    requests.delete(exchange);
    return [{ exchange: exchangeOf(request, entry), content, request: exchange }];
  });
}

/** Claims of all positive answers to Modbus masters. @param sinceMs wall time of the earliest write, ms */
export function modbusAnswers(from: AnswerSources, device: Device, sinceMs: number): readonly Answered[] {
  const context = { device, now: from.plant.time.sim };
  const all = writesTo(from, device, sinceMs);
  const last = new Map<string, number>();
  all.forEach(({ content }, n) => {
    for (const name of Object.keys(content.values ?? {})) last.set(name, n);
  });
  return all.flatMap((write, n): readonly Answered[] => {
    const { exchange } = write;
    const values = Object.entries(write.content.values ?? {});
    if (values.length === 0) return [{ exchange, claim: withoutPoints(write.request) }];
    const isLater = (point: string) => (last.get(point) ?? -1) > n;
    return values.map((value) => ({ exchange, claim: claimOf(context, value, write, isLater) }));
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

/** Claim about a write that covers no whole point: registers without a name, or moved by a fault of the map. */
function withoutPoints({ address, count }: ModbusExchange): Claim {
  const name = `registers ${address ?? 'unknown'}${count !== null && count > 1 ? ` and ${count - 1} more` : ''}`;
  const reason = 'no point of the device lies whole in the registers that were written';
  return { name, value: null, unit: null, did: `wrote ${name}`, actual: null, subject: name, reason };
}
