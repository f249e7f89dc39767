/** The outlet of one connection: sends frames once what the station has kept is durable, as faults permit. */
import type { OcppMessageType } from '../../contract/ocpp.ts';
import type { Later } from '../../core/time/timers.ts';
import type { WireDirection } from '../../core/wire/wire-log.ts';
import { frameText, isObject } from './frames.ts';
import type { OutFrame } from './frames.ts';
import type { FrameDisturbance, FrameDisturber, Payload } from './model.ts';

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
  /** Counts and stores a frame that was sent. */
  readonly record: (facts: FrameFacts, text: string) => void;
  /** Resolves when what the station has kept so far survives its process; null: it does. A frame goes out after it. */
  readonly durable: () => Promise<void> | null;
}

/** The connection that frames leave by. */
interface OutletLine {
  /** @returns false: the connection is closing and nothing was sent */
  send(text: string): boolean;
  terminate(): void;
}

/** Sends frames: disturbs them by faults, and records each that was sent. */
export interface Outlet {
  /** null: no connection; frames that a fault has delayed are dropped */
  line: OutletLine | null;
  /**
   * @param about action of the call, and for an answer the time since its call
   * @param settled called once the frame has been sent, or never will be
   */
  send(frame: OutFrame, about: Pick<FrameFacts, 'action' | 'durationMs'>, settled?: () => void): void;
}

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A payload with every date-time moved by `skewS` seconds. */
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

/** Acts once what has been done so far is durable, in the order of the calls; at once where nothing waits. */
function inOrderAfter<Args extends readonly unknown[]>(
  durable: () => Promise<void> | null,
  act: (...args: Args) => void,
): (...args: Args) => void {
  let waiting = 0;
  let lastWait: Promise<void> = Promise.resolve();
  return (...args) => {
    const wait = durable();
    if (wait === null && waiting === 0) {
      act(...args);
      return;
    }
    waiting += 1;
    lastWait = (wait ?? lastWait).then(() => {
      waiting -= 1;
      act(...args);
    });
  };
}

export function createOutlet({ deviceIndex, later, disturber, record, durable }: OutletOptions): Outlet {
  const putNow = (
    line: OutletLine | null,
    frame: OutFrame,
    text: string,
    { action, durationMs }: Pick<FrameFacts, 'action' | 'durationMs'>,
    settled?: () => void,
  ) => {
    // a frame whose connection has ended meanwhile is dropped
    if (outlet.line === line && line?.send(text) === true)
      record({ direction: 'out', type: frame.kind, messageId: frame.id, action, durationMs }, text);
    settled?.();
  };
  const put = inOrderAfter(durable, putNow);

  const disturbed = (
    original: OutFrame,
    about: Pick<FrameFacts, 'action' | 'durationMs'>,
    settled: () => void = () => undefined,
  ) => {
    const disturbance: FrameDisturbance =
      disturber.disturb({
        deviceIndex,
        direction: 'out',
        type: original.kind === 'result_error' ? 'error' : original.kind,
        action: about.action ?? '',
        payload: payloadOf(original),
      }) ?? {};
    const { line } = outlet;
    if (disturbance.drop) {
      line?.terminate();
      settled();
      return;
    }
    if (disturbance.suppress) {
      settled();
      return;
    }
    const skewS = disturber.skewS(deviceIndex);
    const payload = disturbance.payload ?? payloadOf(original);
    const moved = withPayload(original, skewS === 0 ? payload : (skewed(payload, skewS) as Payload));
    const frame = disturbance.messageId === undefined ? moved : { ...moved, id: disturbance.messageId };
    const plain = frameText(frame);
    const text = disturbance.rewrite?.(plain) ?? plain;
    const transmit = () => {
      if (disturbance.twice) put(line, frame, text, about);
      put(line, frame, text, about, settled);
    };
    if (disturbance.delayMs !== undefined && disturbance.delayMs > 0) later(disturbance.delayMs, transmit);
    else transmit();
  };

  const outlet: Outlet = {
    line: null,
    send(frame, about, settled) {
      if (disturber.active) disturbed(frame, about, settled);
      else put(outlet.line, frame, frameText(frame), about, settled);
    },
  };
  return outlet;
}
