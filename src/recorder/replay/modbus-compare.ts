/** Requests of Modbus masters with their recorded answers, and the comparison of new answers with the recorded ones. */
import { exceptionNames, functionNames } from '../../core/wire/modbus.ts';
import { Buffer } from 'node:buffer';
import type { ReplayOptions } from './options.ts';
import { isIgnored, pointOf, shown } from './points.ts';
import type { ShownValue } from './points.ts';
import { counted } from './report.ts';
import type { Findings } from './report.ts';
import { isMembers } from './recording.ts';
import type { RecordedMessage } from './recording.ts';

export interface RecordedExchange {
  /** number of the request in the recording, from 1 */
  readonly n: number;
  readonly request: RecordedMessage;
  readonly unitId: number;
  readonly functionCode: number;
  /** PDU address and number of registers; null: not in the request */
  readonly address: number | null;
  readonly count: number | null;
  /** address of the first register of each point */
  readonly points: ReadonlyMap<string, number>;
  /** all octets of the answer; null: no answer is recorded */
  readonly answer: Buffer | null;
  /** recorded reason for the absence of an answer; null: none */
  readonly noAnswer: string | null;
}

interface RecordedExchanges {
  readonly exchanges: readonly RecordedExchange[];
  /** parts that cannot be replayed, with reasons */
  readonly notes: readonly string[];
}

const numberIn = (value: unknown) => (typeof value === 'number' ? value : null);

function pointsOf(points: unknown): ReadonlyMap<string, number> {
  if (!isMembers(points)) return new Map();
  return new Map(Object.entries(points).flatMap(([name, at]) => (typeof at === 'number' ? [[name, at]] : [])));
}

/** Answers of one exchange in order. */
interface Answers {
  octets: Buffer[];
  noAnswer: string | null;
}

function answersById(messages: readonly RecordedMessage[]): ReadonlyMap<number, Answers> {
  const byId = new Map<number, Answers>();
  for (const { kind, raw, details } of messages) {
    const id = numberIn(details.exchange_id);
    if (id === null || (kind !== 'answer' && kind !== 'no_answer')) continue;
    const answers = byId.get(id) ?? { octets: [], noAnswer: null };
    byId.set(id, answers);
    if (kind === 'answer') answers.octets.push(raw);
    else answers.noAnswer = typeof details.no_answer === 'string' ? details.no_answer : 'unknown';
  }
  return byId;
}

/** The reason why a request cannot be replayed, worded to follow `left out: 3 requests`; null: it can be. */
function refusal({ cut, details: { interface: comm, framing } }: RecordedMessage): string | null {
  if (comm === 'sunspec_client') return 'of the built-in SunSpec client, whose devices are not part of a replay';
  if (framing !== 'mbap') return 'of serial lines or with RTU framing, which are not replayed';
  return cut ? 'that were cut' : null;
}

/** @param messages of Modbus only */
export function exchangesOf(messages: readonly RecordedMessage[]): RecordedExchanges {
  const answers = answersById(messages);
  const refused = new Map<string, number>();
  const exchanges: RecordedExchange[] = [];
  for (const request of messages) {
    if (request.kind !== 'request') continue;
    const why = refusal(request);
    if (why !== null) {
      refused.set(why, (refused.get(why) ?? 0) + 1);
      continue;
    }
    const { details } = request;
    const { octets = [], noAnswer = null } = answers.get(numberIn(details.exchange_id) ?? -1) ?? {};
    exchanges.push({
      n: exchanges.length + 1,
      request,
      unitId: numberIn(details.unit_id) ?? 0,
      functionCode: numberIn(details.function) ?? 0,
      address: numberIn(details.address),
      count: numberIn(details.count),
      points: pointsOf(details.points),
      answer: octets.length > 0 ? Buffer.concat(octets) : null,
      noAnswer,
    });
  }
  const notes = [...refused].map(([why, n]) => `left out: ${counted(n, 'request')} ${why}`);
  return { exchanges, notes };
}

const verbs: Readonly<Record<number, string>> = {
  3: 'read of',
  4: 'read of input registers',
  6: 'write of',
  16: 'write of',
};

/** `request 14, read of 40072..40081 by unit 1` */
function exchangeInWords({ n, functionCode, address, count, unitId }: RecordedExchange): string {
  const name = `function ${functionCode} (${functionNames[functionCode] ?? 'unknown'})`;
  if (address === null) return `request ${n}, ${name} by unit ${unitId}`;
  const last = address + Math.max(count ?? 1, 1) - 1;
  const registers = last > address ? `${address}..${last}` : String(address);
  return `request ${n}, ${verbs[functionCode] ?? `${name} of`} ${registers} by unit ${unitId}`;
}

/** The octets of an answer; none if they did not arrive in time or the connection ended. */
export interface Received {
  readonly octets: Buffer;
  readonly closed: boolean;
}

type Rules = Pick<ReplayOptions, 'measurementTolerance' | 'ignore'>;

const mbapOctets = 7;
const exceptionBit = 0x80;

/** The parts of one complete frame. */
interface Answer {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Buffer;
}

/** @returns null: the octets are not one complete frame */
function answerIn(octets: Buffer): Answer | null {
  const isWhole =
    octets.length > mbapOctets && octets.readUInt16BE(2) === 0 && octets.readUInt16BE(4) === octets.length - 6;
  if (!isWhole) return null;
  return { transactionId: octets.readUInt16BE(0), unitId: octets[6] ?? 0, pdu: octets.subarray(mbapOctets) };
}

const hexOf = (octets: Buffer) => (octets.length > 40 ? `${octets.toString('hex', 0, 40)}...` : octets.toString('hex'));

/** Outcome of a request, recorded or replayed. */
function answerInWords({ octets, closed }: Received): string {
  if (octets.length === 0) return closed ? 'cut off: the connection ended' : 'not answered';
  const answer = answerIn(octets);
  return `answered with ${answer === null ? `octets that are no frame (${hexOf(octets)})` : inFull(answer)}`;
}

/** An exception by name, other answers by their octets. */
function inFull({ pdu }: Answer): string {
  const [code = 0, detail = 0] = pdu;
  if ((code & exceptionBit) === 0) return `function ${code} (${hexOf(pdu)})`;
  return `exception ${detail} (${exceptionNames[detail] ?? 'unknown'})`;
}

/** Registers of one point, or one register without a name. */
interface Field {
  readonly address: number;
  readonly count: number;
  /** null: unknown */
  readonly name: string | null;
  /** true if the request covers only a part of the point */
  readonly partial: boolean;
}

/** The registers of a request in order of address, split at the start and the end of each point. */
function fieldsOf({ points }: Pick<RecordedExchange, 'points'>, address: number, count: number): Field[] {
  const end = address + count;
  const starts = [...points].sort(([, a], [, b]) => a - b);
  const fields: Field[] = [];
  let at = address;
  const addNameless = (to: number) => {
    for (; at < to; at += 1) fields.push({ address: at, count: 1, name: null, partial: false });
  };
  starts.forEach(([name, start], i) => {
    addNameless(Math.min(start, end));
    // a point in no table has all registers up to the next one
    const next = starts[i + 1]?.[1] ?? end;
    const size = pointOf(name)?.size ?? next - start;
    const to = Math.min(start + size, next, end);
    if (to > at) fields.push({ address: at, count: to - at, name, partial: to - at < size });
    at = Math.max(at, to);
  });
  addNameless(end);
  return fields;
}

function placeInWords({ address, count, name, partial }: Field): string {
  const registers = count === 1 ? `register ${address}` : `registers ${address}..${address + count - 1}`;
  return name === null ? registers : `${registers} (${partial ? 'part of ' : ''}${name})`;
}

/** True if a measurement differs by no more than the tolerance. A percentage does not refer to a part of one. */
function mayDiffer(
  recorded: ShownValue,
  replayed: ShownValue,
  isPart: boolean,
  { measurementTolerance: tolerance }: Rules,
): boolean {
  if (tolerance === 'exact' || recorded.absent !== replayed.absent) return false;
  if (tolerance === 'any' || isPart) return true;
  if (recorded.number === null || replayed.number === null) return false;
  return Math.abs(replayed.number - recorded.number) <= (Math.abs(recorded.number) * tolerance) / 100;
}

function compareRegisters(
  exchange: RecordedExchange,
  recordedWords: Buffer,
  replayedWords: Buffer,
  rules: Rules,
  to: Findings,
): void {
  const { address } = exchange;
  if (address === null) return;
  for (const field of fieldsOf(exchange, address, recordedWords.length / 2)) {
    const from = 2 * (field.address - address);
    const [recorded, replayed] = [recordedWords, replayedWords].map((words) =>
      words.subarray(from, from + 2 * field.count),
    );
    if (recorded === undefined || replayed === undefined || recorded.equals(replayed)) continue;
    const point = field.name === null ? undefined : pointOf(field.name);
    const type = field.partial ? undefined : point?.type;
    const [before, after] = [shown(recorded, type), shown(replayed, type)];
    const isLoose = point?.moves === true && mayDiffer(before, after, field.partial, rules);
    if (isLoose || (field.name !== null && isIgnored(field.name, rules.ignore))) {
      to.ignored += 1;
      continue;
    }
    const wasVerb = field.count === 1 ? 'was' : 'were';
    const isVerb = field.count === 1 ? 'is' : 'are';
    to.differ(
      `${exchangeInWords(exchange)}: ${placeInWords(field)} ${wasVerb} ${before.text}, ${isVerb} ${after.text}`,
    );
  }
}

/** Compares two complete frames. */
function compareFrames(
  exchange: RecordedExchange,
  recorded: Answer,
  replayed: Answer,
  rules: Rules,
  to: Findings,
): void {
  const differ = (text: string) => {
    to.differ(`${exchangeInWords(exchange)}: ${text}`);
  };
  if (recorded.transactionId !== replayed.transactionId)
    differ(`the transaction id of the answer was ${recorded.transactionId}, is ${replayed.transactionId}`);
  if (recorded.unitId !== replayed.unitId)
    differ(`the unit id of the answer was ${recorded.unitId}, is ${replayed.unitId}`);
  if (recorded.pdu.equals(replayed.pdu)) return;
  const isRead = exchange.functionCode === 3 || exchange.functionCode === 4;
  const [recordedCode = 0, recordedLength = 0] = recorded.pdu;
  const [replayedCode = 0, replayedLength = 0] = replayed.pdu;
  const sameShape =
    recordedCode === replayedCode && recordedLength === replayedLength && recorded.pdu.length === replayed.pdu.length;
  if (isRead && sameShape && recorded.pdu.length === 2 + recordedLength)
    compareRegisters(exchange, recorded.pdu.subarray(2), replayed.pdu.subarray(2), rules, to);
  else if (isRead && recordedCode === replayedCode && (recordedCode & exceptionBit) === 0)
    differ(`the answer had ${recordedLength / 2} registers, has ${replayedLength / 2}`);
  else differ(`was answered with ${inFull(recorded)}, is answered with ${inFull(replayed)}`);
}

/** Adds the differences to the findings. */
export function compareAnswer(exchange: RecordedExchange, received: Received, rules: Rules, to: Findings): void {
  const { answer, noAnswer } = exchange;
  if (answer === null) {
    if (received.octets.length > 0)
      to.differ(
        `${exchangeInWords(exchange)}: was not answered (${noAnswer ?? 'unknown'}), is ${answerInWords(received)}`,
      );
    return;
  }
  const [recorded, replayed] = [answerIn(answer), answerIn(received.octets)];
  if (recorded !== null && replayed !== null) compareFrames(exchange, recorded, replayed, rules, to);
  else if (!answer.equals(received.octets))
    to.differ(
      `${exchangeInWords(exchange)}: was ${answerInWords({ octets: answer, closed: false })}, is ${answerInWords(received)}`,
    );
}
