/** Requests of Modbus masters with their recorded answers. */
import { Buffer } from 'node:buffer';
import { functionNames } from '../../core/wire/modbus.ts';
import { isMembers } from './recording.ts';
import type { RecordedMessage } from './recording.ts';
import { counted } from './report.ts';

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
  /** all octets of the answer; null: neither an answer nor a reason for its absence is recorded */
  readonly answer: Buffer | null;
  /** reason for the absence of an answer */
  readonly noAnswer: string | null;
}

export interface RecordedExchanges {
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

/** Why a request cannot be replayed. null: it can. */
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
export function exchangeInWords({ n, functionCode, address, count, unitId }: RecordedExchange): string {
  const name = `function ${functionCode} (${functionNames[functionCode] ?? 'unknown'})`;
  if (address === null) return `request ${n}, ${name} by unit ${unitId}`;
  const last = address + Math.max(count ?? 1, 1) - 1;
  const registers = last > address ? `${address}..${last}` : String(address);
  return `request ${n}, ${verbs[functionCode] ?? `${name} of`} ${registers} by unit ${unitId}`;
}
