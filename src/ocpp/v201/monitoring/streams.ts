/**
 * Periodic event streams of 2.1 (N11 to N15): the values of a periodic monitor in few unconfirmed messages. The station
 * opens a stream for a monitor that requires one, and closes it with the monitor. Until the central system has accepted
 * the stream, and after a refusal, the values are sent as events.
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

/** Maximum number of waiting values; the oldest are dropped beyond it. */
const capacity = 1000;
/** Maximum number of values in a message. */
const perMessage = 100;

interface StreamBuffer {
  readonly length: number;
  add(value: StreamValue): void;
  /** Empties the buffer. @returns messages of at most `perMessage` values */
  drain(id: number): readonly Message[];
}

/** The limit that a member sets; Infinity if the member is 0 or absent. */
function limitOf(value: number | undefined): number {
  return value === undefined || value === 0 ? Infinity : value;
}

/** True if the number of values makes a message due; without any limit each value makes a message due. */
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
          // s, rounded to milliseconds
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

/** A change of the parameters of a stream by the central system. */
interface Adjustment {
  readonly monitorId: number;
  readonly params: PeriodicEventStreamParams;
}

export interface Streams extends Required<Pick<Part, 'handlers' | 'stop'>> {
  /**
   * Opens the stream that a monitor requires, again if its parameters or severity have changed; closes the stream if
   * the monitor requires none.
   */
  follow(monitor: StreamedMonitor): void;
  /** Closes the stream of a monitor that has been removed. */
  end(monitorId: number): void;
  /** Adds a value of a monitor to its stream. @returns false: no stream is open */
  record(monitor: StreamedMonitor, value: StreamValue): boolean;
  onAdjusted(listener: (change: Adjustment) => void): () => void;
}

interface Stream {
  readonly id: number;
  readonly monitorId: number;
  readonly severity: number;
  params: PeriodicEventStreamParams;
  /** `waiting`: to be requested when the station is accepted; `opening`: requested, not answered yet */
  state: 'waiting' | 'opening' | 'open' | 'refused';
  readonly buffer: StreamBuffer;
  /** start of the current interval, ms on the clock of the central system */
  sinceMs: number;
  /** cancels the wait for the end of the interval; null: none */
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

const isSame = (a: PeriodicEventStreamParams, b: PeriodicEventStreamParams): boolean =>
  a.interval === b.interval && a.values === b.values;

/** Sends the values of a stream: when enough are waiting, or the interval is over. */
function createOutflow({ calls, clock, registration, variables }: StreamsParts) {
  const cancelWait = (stream: Stream): void => {
    stream.cancel?.();
    stream.cancel = null;
  };
  const flush = (stream: Stream, dueMs: number): void => {
    cancelWait(stream);
    // values are sent after the next connection
    if (!registration.isReady) return;
    stream.sinceMs = dueMs;
    for (const message of stream.buffer.drain(stream.id)) calls.stream('NotifyPeriodicEventStream', message);
  };
  const plan = (stream: Stream): void => {
    cancelWait(stream);
    const intervalMs = limitOf(stream.params.interval) * 1000;
    if (stream.buffer.length === 0 || intervalMs === Infinity) return;
    const nowMs = clock.nowMs();
    const passed = Math.max(0, Math.floor((nowMs - stream.sinceMs) / intervalMs));
    // the interval starts now if the clock has been set back
    const sinceMs = stream.sinceMs > nowMs ? nowMs : stream.sinceMs + passed * intervalMs;
    const dueMs = sinceMs + intervalMs;
    stream.cancel = clock.at(dueMs, () => {
      flush(stream, dueMs);
    });
  };
  return {
    cancelWait,
    flush,
    /** Sends or plans the next message. Call it after a change of the parameters or a reconnection. */
    review: (stream: Stream): void => {
      if (isFull(stream.buffer.length, stream.params)) flush(stream, clock.nowMs());
      else plan(stream);
    },
    add: (stream: Stream, value: StreamValue): void => {
      const isLost =
        !registration.isReady && stream.severity > variables.integer('MonitoringCtrlr', 'OfflineQueuingSeverity');
      if (isLost) return;
      stream.buffer.add(value);
      if (isFull(stream.buffer.length, stream.params)) flush(stream, value.atMs);
      else if (stream.cancel === null) plan(stream);
    },
  };
}

/** Requests to open a stream. @param isCurrent true: the stream has not been closed or replaced */
function createOpening(
  { calls, clock, registration, log, device }: StreamsParts,
  outflow: ReturnType<typeof createOutflow>,
  isCurrent: (stream: Stream) => boolean,
) {
  return async (stream: Stream): Promise<void> => {
    if (!registration.isReady) return;
    stream.state = 'opening';
    const { id, monitorId, params } = stream;
    const outcome = await calls.send('OpenPeriodicEventStream', {
      constantStreamData: { id, variableMonitoringId: monitorId, params },
    });
    if (!isCurrent(stream)) return;
    const isOpen = outcome.kind === 'result' && outcome.payload.status === 'Accepted';
    if (isOpen) {
      stream.state = 'open';
      stream.sinceMs = clock.nowMs();
      outflow.review(stream);
    } else if (outcome.kind === 'lost' || outcome.kind === 'unsent' || outcome.kind === 'timeout') {
      stream.state = 'waiting';
    } else {
      stream.state = 'refused';
      log.info(`the central system refuses the stream of monitor ${monitorId}`, device.deviceIndex);
    }
  };
}

/** Reports closed streams, and repeats a report that was lost with the connection. */
function createClosing({ calls }: StreamsParts) {
  const unreported = new Set<number>();
  const close = async (id: number): Promise<void> => {
    unreported.add(id);
    const { kind } = await calls.send('ClosePeriodicEventStream', { id });
    if (kind === 'result' || kind === 'error') unreported.delete(id);
  };
  return {
    close: (id: number) => void close(id),
    /** Call it when the station is accepted. After a boot the central system has no streams to close. */
    repeat(isBooted: boolean): void {
      const ids = [...unreported];
      unreported.clear();
      if (!isBooted) for (const id of ids) void close(id);
    },
  };
}

interface HandlerDeps {
  readonly openStreams: () => readonly Stream[];
  readonly review: (stream: Stream) => void;
  readonly adjusted: (change: Adjustment) => void;
}

/** Handlers of N12 and N14. Parameters that the request lacks keep their values. */
function streamHandlers({ clock }: StreamsParts, { openStreams, review, adjusted }: HandlerDeps): Handlers {
  return {
    GetPeriodicEventStream: () => {
      const streams = openStreams();
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
      const stream = openStreams().find((each) => each.id === id);
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
  const adjusted = createSignal<Adjustment>(log);
  const outflow = createOutflow(parts);
  const closing = createClosing(parts);
  const open = createOpening(parts, outflow, (stream) => streams.get(stream.monitorId) === stream);
  let nextId = 1;
  let boots = registration.boots;

  const end = (monitorId: number): void => {
    const stream = streams.get(monitorId);
    if (stream === undefined) return;
    streams.delete(monitorId);
    outflow.cancelWait(stream);
    if (stream.state === 'open') outflow.flush(stream, stream.sinceMs);
    // the central system may have opened a stream whose request has no answer yet
    if (['open', 'opening'].includes(stream.state)) closing.close(stream.id);
  };
  const begin = (monitor: StreamedMonitor, params: PeriodicEventStreamParams): void => {
    const stream = makeStream(nextId++, monitor, params, clock.nowMs());
    streams.set(monitor.id, stream);
    void open(stream);
  };
  const resume = (): void => {
    const isBooted = registration.boots !== boots;
    boots = registration.boots;
    closing.repeat(isBooted);
    // after a boot the central system has no streams
    for (const stream of streams.values())
      if (isBooted || stream.state === 'waiting') void open(stream);
      else if (stream.state === 'open') outflow.review(stream);
  };
  const endAccepted = registration.onAccepted(resume);
  const handlers = streamHandlers(parts, {
    openStreams: () => [...streams.values()].filter(({ state }) => state === 'open'),
    review: outflow.review,
    adjusted: (change) => adjusted.emit(change),
  });
  return {
    handlers,
    follow(monitor) {
      const { id, severity, stream: params } = monitor;
      const current = streams.get(id);
      if (params !== null && current !== undefined && isSame(current.params, params) && current.severity === severity)
        return;
      end(id);
      if (params !== null) begin(monitor, params);
    },
    end,
    record({ id }, value) {
      const stream = streams.get(id);
      if (stream?.state !== 'open') return false;
      outflow.add(stream, value);
      return true;
    },
    onAdjusted: (listener) => adjusted.on(listener),
    stop() {
      endAccepted();
      for (const stream of streams.values()) outflow.cancelWait(stream);
      streams.clear();
    },
  };
}
