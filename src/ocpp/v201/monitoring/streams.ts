/**
 * Periodic event streams of 2.1 (N11 to N15): the values of a periodic monitor in few unconfirmed messages. The station opens
 * a stream for a monitor that asks for one, and closes it with the monitor. While the central system has not opened it, or
 * has refused it, the values go out as events.
 */
import { createSignal } from '../../station/stack.ts';
import type { PeriodicEventStreamParams, Sends } from '../messages.ts';
import { stamp } from '../parts.ts';
import type { Handlers, Part, StationParts } from '../parts.ts';

// Values of one periodic event stream that wait for their message (N15).

type Message = Sends['NotifyPeriodicEventStream'];

interface StreamValue {
  /** time of the central system, ms since the epoch */
  readonly atMs: number;
  readonly value: string;
}

/** values that wait at most; beyond it the oldest are lost */
const capacity = 1000;
const perMessage = 100;

interface StreamBuffer {
  readonly length: number;
  add(value: StreamValue): void;
  /** Takes everything out, in messages that are not too long. */
  drain(id: number): readonly Message[];
}

/** Zero, as an absent member, sets no limit. */
function limitOf(value: number | undefined): number {
  return value === undefined || value === 0 ? Infinity : value;
}

/** True if the number of values alone makes a message due; without any limit each value is one. */
function isFull(length: number, { values, interval }: PeriodicEventStreamParams): boolean {
  const isUnlimited = limitOf(values) === Infinity && limitOf(interval) === Infinity;
  return length >= (isUnlimited ? 1 : Math.min(limitOf(values), capacity));
}

function createStreamBuffer(): StreamBuffer {
  let waiting: readonly StreamValue[] = [];
  return {
    get length() {
      return waiting.length;
    },
    add(value) {
      waiting = [...waiting, value].slice(-capacity);
    },
    drain(id) {
      const values = waiting;
      waiting = [];
      const messages: Message[] = [];
      for (let from = 0; from < values.length; from += perMessage) {
        const part = values.slice(from, from + perMessage);
        const baseMs = part[0]?.atMs ?? 0;
        messages.push({
          id,
          pending: values.length - from - part.length,
          basetime: stamp(baseMs),
          // to the millisecond, in s
          data: part.map(({ atMs, value }) => ({ t: Math.round(atMs - baseMs) / 1000, v: value.slice(0, 2500) })),
        });
      }
      return messages;
    },
  };
}

interface StreamedMonitor {
  readonly id: number;
  readonly severity: number;
  readonly stream: PeriodicEventStreamParams | null;
}

/** The central system has changed the parameters of a stream. */
interface Adjusted {
  readonly monitorId: number;
  readonly params: PeriodicEventStreamParams;
}

export interface Streams extends Required<Pick<Part, 'handlers' | 'stop'>> {
  /** Opens the stream that a monitor asks for, anew where its parameters are others; closes the one that it does not want any more. */
  follow(monitor: StreamedMonitor): void;
  /** The monitor does not exist any more. */
  end(monitorId: number): void;
  /** Takes a value of a monitor into its stream. @returns false: none is open */
  record(monitor: StreamedMonitor, value: StreamValue): boolean;
  onAdjusted(listener: (change: Adjusted) => void): () => void;
}

interface Stream {
  readonly id: number;
  readonly monitorId: number;
  readonly severity: number;
  params: PeriodicEventStreamParams;
  /** `opening`: the central system has not answered; `waiting`: it is asked once the station is accepted */
  state: 'waiting' | 'opening' | 'open' | 'refused';
  readonly buffer: StreamBuffer;
  /** instant from which the interval counts */
  sinceMs: number;
  cancel: (() => void) | null;
}

type StreamsParts = Pick<StationParts, 'calls' | 'clock' | 'registration' | 'variables' | 'log' | 'device'>;

function makeStream(
  id: number,
  { id: monitorId, severity }: StreamedMonitor,
  params: PeriodicEventStreamParams,
  sinceMs: number,
): Stream {
  return { id, monitorId, severity, params, state: 'waiting', buffer: createStreamBuffer(), sinceMs, cancel: null };
}

const same = (a: PeriodicEventStreamParams, b: PeriodicEventStreamParams): boolean =>
  a.interval === b.interval && a.values === b.values;

/** Sends the values of a stream: when enough wait, or the interval is over. */
function createOutflow({ calls, clock, registration, variables }: StreamsParts) {
  const settle = (stream: Stream): void => {
    stream.cancel?.();
    stream.cancel = null;
  };
  const flush = (stream: Stream, dueMs: number): void => {
    settle(stream);
    // waiting values go out with the next connection
    if (!registration.accepted) return;
    stream.sinceMs = dueMs;
    for (const message of stream.buffer.drain(stream.id)) calls.stream('NotifyPeriodicEventStream', message);
  };
  const plan = (stream: Stream): void => {
    settle(stream);
    const intervalMs = limitOf(stream.params.interval) * 1000;
    if (stream.buffer.length === 0 || intervalMs === Infinity) return;
    const nowMs = clock.nowMs();
    const passed = Math.max(0, Math.floor((nowMs - stream.sinceMs) / intervalMs));
    // counted from now where the clock has been set back
    const sinceMs = stream.sinceMs > nowMs ? nowMs : stream.sinceMs + passed * intervalMs;
    const dueMs = sinceMs + intervalMs;
    stream.cancel = clock.at(dueMs, () => {
      flush(stream, dueMs);
    });
  };
  return {
    settle,
    flush,
    /** The parameters are others, or the line is back. */
    review: (stream: Stream): void => {
      if (isFull(stream.buffer.length, stream.params)) flush(stream, clock.nowMs());
      else plan(stream);
    },
    take: (stream: Stream, value: StreamValue): void => {
      const isLost =
        !registration.accepted && stream.severity > variables.integer('MonitoringCtrlr', 'OfflineQueuingSeverity');
      if (isLost) return;
      stream.buffer.add(value);
      if (isFull(stream.buffer.length, stream.params)) flush(stream, value.atMs);
      else if (stream.cancel === null) plan(stream);
    },
  };
}

/** Asks the central system to open a stream. */
function createOpening(
  { calls, clock, registration, log, device }: StreamsParts,
  outflow: ReturnType<typeof createOutflow>,
  isThere: (stream: Stream) => boolean,
) {
  return async (stream: Stream): Promise<void> => {
    if (!registration.accepted) return;
    stream.state = 'opening';
    const { id, monitorId, params } = stream;
    const outcome = await calls.send('OpenPeriodicEventStream', {
      constantStreamData: { id, variableMonitoringId: monitorId, params },
    });
    if (!isThere(stream)) return;
    const isOpen = outcome.kind === 'result' && outcome.payload.status === 'Accepted';
    if (isOpen) {
      stream.state = 'open';
      stream.sinceMs = clock.nowMs();
      outflow.review(stream);
    } else if (outcome.kind === 'lost' || outcome.kind === 'unsent' || outcome.kind === 'timeout') {
      stream.state = 'waiting';
    } else {
      stream.state = 'refused';
      log.info(`the central system does not take the stream of monitor ${monitorId}`, device.deviceIndex);
    }
  };
}

/** Notifies the central system that a stream has ended, also over a lost connection. */
function createClosing({ calls }: StreamsParts) {
  const unreported = new Set<number>();
  const close = async (id: number): Promise<void> => {
    unreported.add(id);
    const { kind } = await calls.send('ClosePeriodicEventStream', { id });
    if (kind === 'result' || kind === 'error') unreported.delete(id);
  };
  return {
    close: (id: number) => void close(id),
    accepted(booted: boolean): void {
      const ids = [...unreported];
      unreported.clear();
      if (!booted) for (const id of ids) void close(id);
    },
  };
}

interface HandlerDeps {
  readonly open: () => readonly Stream[];
  readonly review: (stream: Stream) => void;
  readonly adjusted: (change: Adjusted) => void;
}

/** N12 and N14. A member of the parameters that is not given stays as it is. */
function streamHandlers({ clock }: StreamsParts, { open, review, adjusted }: HandlerDeps): Handlers {
  return {
    GetPeriodicEventStream: () => {
      const streams = open();
      if (streams.length === 0) return {};
      return {
        constantStreamData: streams.map(({ id, monitorId, params }) => ({
          id,
          variableMonitoringId: monitorId,
          params,
        })),
      };
    },
    AdjustPeriodicEventStream: ({ id, params }) => {
      const stream = open().find((each) => each.id === id);
      if (stream === undefined)
        return {
          status: 'Rejected',
          statusInfo: { reasonCode: 'NotFound', additionalInfo: `no stream ${id} is open` },
        };
      const { interval = stream.params.interval, values = stream.params.values } = params;
      stream.params = { ...(interval !== undefined && { interval }), ...(values !== undefined && { values }) };
      stream.sinceMs = clock.nowMs();
      review(stream);
      adjusted({ monitorId: stream.monitorId, params: stream.params });
      return { status: 'Accepted' };
    },
  };
}

export function createStreams(parts: StreamsParts): Streams {
  const { registration, clock, log } = parts;
  const streams = new Map<number, Stream>();
  const adjusted = createSignal<Adjusted>(log);
  const outflow = createOutflow(parts);
  const closing = createClosing(parts);
  const open = createOpening(parts, outflow, (stream) => streams.get(stream.monitorId) === stream);
  let nextId = 1;
  let boots = registration.boots;

  const end = (monitorId: number): void => {
    const stream = streams.get(monitorId);
    if (stream === undefined) return;
    streams.delete(monitorId);
    outflow.settle(stream);
    if (stream.state === 'open') outflow.flush(stream, stream.sinceMs);
    // also while the answer is on its way: the central system may have opened it
    if (['open', 'opening'].includes(stream.state)) closing.close(stream.id);
  };
  const begin = (monitor: StreamedMonitor, params: PeriodicEventStreamParams): void => {
    const stream = makeStream(nextId++, monitor, params, clock.nowMs());
    streams.set(monitor.id, stream);
    void open(stream);
  };
  const accepted = (): void => {
    const booted = registration.boots !== boots;
    boots = registration.boots;
    closing.accepted(booted);
    // after a boot the central system knows no stream
    for (const stream of streams.values())
      if (booted || stream.state === 'waiting') void open(stream);
      else if (stream.state === 'open') outflow.review(stream);
  };
  const endAccepted = registration.onAccepted(accepted);
  const handlers = streamHandlers(parts, {
    open: () => [...streams.values()].filter(({ state }) => state === 'open'),
    review: outflow.review,
    adjusted: (change) => adjusted.emit(change),
  });
  return {
    handlers,
    follow(monitor) {
      const { id, severity, stream: params } = monitor;
      const open = streams.get(id);
      if (params !== null && open !== undefined && same(open.params, params) && open.severity === severity) return;
      end(id);
      if (params !== null) begin(monitor, params);
    },
    end,
    record({ id }, value) {
      const stream = streams.get(id);
      if (stream?.state !== 'open') return false;
      outflow.take(stream, value);
      return true;
    },
    onAdjusted: (listener) => adjusted.on(listener),
    stop() {
      endAccepted();
      for (const stream of streams.values()) outflow.settle(stream);
      streams.clear();
    },
  };
}
