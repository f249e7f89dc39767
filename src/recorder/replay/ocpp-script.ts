/** The messages of a station and its central system as steps of the central system. */
import { isMembers } from './recording.ts';
import type { RecordedMessage } from './recording.ts';
import { counted } from './report.ts';

/** The part of an answer after the message id. */
export interface RecordedAnswer {
  readonly isError: boolean;
  /** payload of a result; code, description and details of an error */
  readonly parts: readonly unknown[];
}

export interface OcppStep {
  /** number of the call within its direction, from 1 */
  readonly n: number;
  readonly by: 'station' | 'central';
  readonly message: RecordedMessage;
  readonly action: string;
  readonly payload: unknown;
  /** null: none was recorded */
  readonly answer: RecordedAnswer | null;
}

export interface OcppScript {
  readonly id: string;
  readonly steps: readonly OcppStep[];
  readonly notes: readonly string[];
}

const typeNumbers = { call: 2, result: 3, error: 4 } as const;
/** Secrets are masked in a recording: such a call would set a wrong one. */
const hidden = '(hidden)';

interface Frame {
  readonly message: RecordedMessage;
  readonly parts: readonly unknown[];
}

function frameOf(message: RecordedMessage): Frame | null {
  try {
    const parts: unknown = JSON.parse(message.raw.toString());
    return Array.isArray(parts) ? { message, parts } : null;
  } catch {
    return null;
  }
}

/** Answers by direction and id of their call. */
function answersOf(frames: readonly Frame[]): ReadonlyMap<string, RecordedAnswer> {
  const answers = new Map<string, RecordedAnswer>();
  for (const { message, parts } of frames) {
    const [type, id, ...rest] = parts;
    if (type !== typeNumbers.result && type !== typeNumbers.error) continue;
    answers.set(`${message.direction} ${String(id)}`, { isError: type === typeNumbers.error, parts: rest });
  }
  return answers;
}

/** @param messages of one station */
export function scriptOf(id: string, messages: readonly RecordedMessage[]): OcppScript {
  const frames = messages.flatMap((message) => (message.cut ? [] : (frameOf(message) ?? [])));
  const answers = answersOf(frames);
  const steps: OcppStep[] = [];
  const count = { station: 0, central: 0 };
  let secrets = 0;
  for (const { message, parts } of frames) {
    const [type, callId, action, payload] = parts;
    if (type !== typeNumbers.call || typeof action !== 'string' || !isMembers(payload)) continue;
    const by = message.direction === 'out' ? 'station' : 'central';
    if (by === 'central' && message.raw.includes(hidden)) {
      secrets += 1;
      continue;
    }
    count[by] += 1;
    const back = message.direction === 'out' ? 'in' : 'out';
    const answer = answers.get(`${back} ${String(callId)}`) ?? null;
    steps.push({ n: count[by], by, message, action, payload, answer });
  }
  const cut = messages.length - frames.length;
  const notes = [
    ...(cut > 0 ? [`left out: ${counted(cut, 'message')} of ${id} that were cut or are no frame`] : []),
    ...(secrets > 0
      ? [`left out: ${counted(secrets, 'call')} to ${id} whose secrets the recording does not have`]
      : []),
  ];
  return { id, steps, notes };
}

/** Calls whose number depends on the length of a session. */
const periodic: ReadonlySet<string> = new Set(['Heartbeat', 'MeterValues', 'NotifyPeriodicEventStream']);

export const isPeriodic = (action: string) => periodic.has(action);
