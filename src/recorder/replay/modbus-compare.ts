/** Compares an answer of Modbus with the recorded one, and says in words what differs. */
import type { Buffer } from 'node:buffer';
import { exceptionNames } from '../../core/wire/modbus-pdu.ts';
import type { RecordedExchange } from './modbus-exchange.ts';
import { exchangeInWords } from './modbus-exchange.ts';
import type { ReplayOptions } from './options.ts';
import { isIgnored, pointOf, shown } from './points.ts';
import type { ShownValue } from './points.ts';
import type { Findings } from './report.ts';

/** What came in answer: octets, of which there are none when nothing came in time, or the connection ended. */
export interface Received {
  readonly octets: Buffer;
  readonly closed: boolean;
}

type Rules = Pick<ReplayOptions, 'moving' | 'ignore'>;

const mbapOctets = 7;
const exceptionBit = 0x80;

/** The parts of one whole frame; null: the octets are something else. */
interface Answer {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Buffer;
}

function answerIn(octets: Buffer): Answer | null {
  const isWhole =
    octets.length > mbapOctets && octets.readUInt16BE(2) === 0 && octets.readUInt16BE(4) === octets.length - 6;
  if (!isWhole) return null;
  return { transactionId: octets.readUInt16BE(0), unitId: octets[6] ?? 0, pdu: octets.subarray(mbapOctets) };
}

const hexOf = (octets: Buffer) => (octets.length > 40 ? `${octets.toString('hex', 0, 40)}...` : octets.toString('hex'));

/** What became of a request, behind `was` or `is`. */
function answerInWords({ octets, closed }: Received): string {
  if (octets.length === 0) return closed ? 'cut off: the connection ended' : 'not answered';
  const answer = answerIn(octets);
  return `answered with ${answer === null ? `octets that are no frame (${hexOf(octets)})` : inFull(answer)}`;
}

/** An exception by its name, other answers by their octets. */
function inFull({ pdu }: Answer): string {
  const [code = 0, detail = 0] = pdu;
  if ((code & exceptionBit) === 0) return `function ${code} (${hexOf(pdu)})`;
  return `exception ${detail} (${exceptionNames[detail] ?? 'unknown'})`;
}

/** Registers of one point, or one register without a name. */
interface Field {
  readonly address: number;
  readonly count: number;
  /** null: no point is known there */
  readonly name: string | null;
  /** other registers of the point are not part of the request */
  readonly partial: boolean;
}

/** The registers of a request in the order of addresses, cut at the beginnings of points. */
function fieldsOf({ points }: Pick<RecordedExchange, 'points'>, address: number, count: number): Field[] {
  const end = address + count;
  const starts = [...points].sort(([, a], [, b]) => a - b);
  const fields: Field[] = [];
  let at = address;
  starts.forEach(([name, start], i) => {
    for (; at < Math.min(start, end); at += 1) fields.push({ address: at, count: 1, name: null, partial: false });
    const next = Math.min(starts[i + 1]?.[1] ?? end, end);
    if (next > at) fields.push({ address: at, count: next - at, name, partial: start < at });
    at = Math.max(at, next);
  });
  for (; at < end; at += 1) fields.push({ address: at, count: 1, name: null, partial: false });
  return fields;
}

function placeInWords({ address, count, name, partial }: Field): string {
  const registers = count === 1 ? `register ${address}` : `registers ${address}..${address + count - 1}`;
  return name === null ? registers : `${registers} (${partial ? 'part of ' : ''}${name})`;
}

/** Whether a value that moves differs no more than it may. */
function mayDiffer(was: ShownValue, is: ShownValue, { moving }: Rules): boolean {
  if (moving === 'all' || was.absent !== is.absent) return false;
  if (moving === null) return true;
  if (was.number === null || is.number === null) return false;
  return Math.abs(is.number - was.number) <= (Math.abs(was.number) * moving) / 100;
}

function compareRegisters(exchange: RecordedExchange, was: Buffer, is: Buffer, rules: Rules, to: Findings): void {
  const { address } = exchange;
  if (address === null) return;
  for (const field of fieldsOf(exchange, address, was.length / 2)) {
    const from = 2 * (field.address - address);
    const [old, now] = [was, is].map((words) => words.subarray(from, from + 2 * field.count));
    if (old === undefined || now === undefined || old.equals(now)) continue;
    const point = field.name === null ? undefined : pointOf(field.name);
    const type = field.partial ? undefined : point?.type;
    const [before, after] = [shown(old, type), shown(now, type)];
    const isLoose = point?.moves === true && mayDiffer(before, after, rules);
    if (isLoose || (field.name !== null && isIgnored(field.name, rules.ignore))) {
      to.ignored += 1;
      continue;
    }
    const was1 = field.count === 1 ? 'was' : 'were';
    const is1 = field.count === 1 ? 'is' : 'are';
    to.differ(`${exchangeInWords(exchange)}: ${placeInWords(field)} ${was1} ${before.text}, ${is1} ${after.text}`);
  }
}

/** Two whole frames. */
function compareFrames(exchange: RecordedExchange, was: Answer, is: Answer, rules: Rules, to: Findings): void {
  const differ = (text: string) => {
    to.differ(`${exchangeInWords(exchange)}: ${text}`);
  };
  if (was.transactionId !== is.transactionId)
    differ(`the transaction id of the answer was ${was.transactionId}, is ${is.transactionId}`);
  if (was.unitId !== is.unitId) differ(`the unit id of the answer was ${was.unitId}, is ${is.unitId}`);
  if (was.pdu.equals(is.pdu)) return;
  const isRead = exchange.functionCode === 3 || exchange.functionCode === 4;
  const [old = 0, oldLength = 0] = was.pdu;
  const [now = 0, nowLength = 0] = is.pdu;
  const sameShape = old === now && oldLength === nowLength && was.pdu.length === is.pdu.length;
  if (isRead && sameShape && was.pdu.length === 2 + oldLength)
    compareRegisters(exchange, was.pdu.subarray(2), is.pdu.subarray(2), rules, to);
  else if (isRead && old === now && (old & exceptionBit) === 0)
    differ(`the answer had ${oldLength / 2} registers, has ${nowLength / 2}`);
  else differ(`was answered with ${inFull(was)}, is answered with ${inFull(is)}`);
}

/** Adds what differs to the findings. */
export function compareAnswer(exchange: RecordedExchange, received: Received, rules: Rules, to: Findings): void {
  const { answer, noAnswer } = exchange;
  if (answer === null) {
    if (received.octets.length > 0)
      to.differ(
        `${exchangeInWords(exchange)}: was not answered (${noAnswer ?? 'unknown'}), is ${answerInWords(received)}`,
      );
    return;
  }
  const [was, is] = [answerIn(answer), answerIn(received.octets)];
  if (was !== null && is !== null) compareFrames(exchange, was, is, rules, to);
  else if (!answer.equals(received.octets))
    to.differ(
      `${exchangeInWords(exchange)}: was ${answerInWords({ octets: answer, closed: false })}, is ${answerInWords(received)}`,
    );
}
