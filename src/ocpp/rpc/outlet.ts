/** Where frames leave: counted, kept in the wire log, and disturbed by faults on the way. */
import type { OcppMessageType } from '../../contract/ocpp.ts';
import type { WireDirection } from '../../core/wire/wire-log.ts';
import type { Later } from '../../core/time/timers.ts';
import type { FrameDisturbance, FrameDisturber, Payload } from './model.ts';
import { frameText, isObject } from './frames.ts';
import type { OutFrame } from './frames.ts';

/** Facts of a frame beside its text. */
export interface FrameFacts {
  readonly direction: WireDirection;
  readonly type: OcppMessageType;
  readonly messageId: string | null;
  /** of the call, also for its answer; null: unknown */
  readonly action: string | null;
  /** of an answer, since its call */
  readonly durationMs: number | null;
}

interface OutletOptions {
  readonly deviceIndex: number;
  readonly later: Later;
  readonly disturber: FrameDisturber;
  /** Counts a frame and keeps it. */
  readonly record: (facts: FrameFacts, text: string) => void;
}

/** The connection that frames leave by. */
interface OutletLine {
  /** @returns false: it is closing, nothing was sent */
  send(text: string): boolean;
  terminate(): void;
}

export interface Outlet {
  /** null: there is none; what a fault delays is then dropped */
  line: OutletLine | null;
  /** @param about the action, also of an answer, and of an answer the time since its call */
  send(frame: OutFrame, about: Pick<FrameFacts, 'action' | 'durationMs'>): void;
}

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Every date-time of a payload moved by so many seconds. */
export function skewed(value: unknown, skewS: number): unknown {
  if (typeof value === 'string' && dateTime.test(value)) {
    const ms = Date.parse(value) + skewS * 1000;
    return Number.isNaN(ms) || Math.abs(ms) > 8.64e15 ? value : new Date(ms).toISOString();
  }
  if (Array.isArray(value)) return value.map((each) => skewed(each, skewS));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, skewed(each, skewS)]));
}

const payloadOf = (frame: OutFrame): Payload => ('payload' in frame ? frame.payload : frame.details);

function withPayload(frame: OutFrame, payload: Payload): OutFrame {
  return 'payload' in frame ? { ...frame, payload } : { ...frame, details: payload };
}

export function createOutlet({ deviceIndex, later, disturber, record }: OutletOptions): Outlet {
  const put = (frame: OutFrame, text: string, about: Pick<FrameFacts, 'action' | 'durationMs'>) => {
    if (outlet.line?.send(text) !== true) return;
    const { action, durationMs } = about;
    record({ direction: 'out', type: frame.kind, messageId: frame.id, action, durationMs }, text);
  };

  const disturbed = (given: OutFrame, about: Pick<FrameFacts, 'action' | 'durationMs'>) => {
    const disturbance: FrameDisturbance =
      disturber.disturb({
        deviceIndex,
        direction: 'out',
        type: given.kind === 'result_error' ? 'error' : given.kind,
        action: about.action ?? '',
        payload: payloadOf(given),
      }) ?? {};
    const { line } = outlet;
    if (disturbance.drop) {
      line?.terminate();
      return;
    }
    if (disturbance.suppress) return;
    const skewS = disturber.skewS(deviceIndex);
    const payload = disturbance.payload ?? payloadOf(given);
    const moved = withPayload(given, skewS === 0 ? payload : (skewed(payload, skewS) as Payload));
    const frame = disturbance.messageId === undefined ? moved : { ...moved, id: disturbance.messageId };
    const plain = frameText(frame);
    const text = disturbance.rewrite?.(plain) ?? plain;
    const go = () => {
      if (outlet.line !== line) return;
      put(frame, text, about);
      if (disturbance.twice) put(frame, text, about);
    };
    if (disturbance.delayMs !== undefined && disturbance.delayMs > 0) later(disturbance.delayMs, go);
    else go();
  };

  const outlet: Outlet = {
    line: null,
    send(frame, about) {
      if (disturber.active) disturbed(frame, about);
      else put(frame, frameText(frame), about);
    },
  };
  return outlet;
}
