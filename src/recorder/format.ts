/** A recording as lines of JSON: a header, then one line per message. `replay/recording.ts` reads it. */
import { isUtf8 } from 'node:buffer';
import type { RecorderState } from '../contract/recorder.ts';
import type { DeviceEndpoint } from '../core/adapter.ts';
import type { SimTime } from '../core/time/clock.ts';
import { microsPerSecond } from '../core/time/clock.ts';
import type { Recorded } from './entries.ts';

/** Version of the format: increases with each change that an older reader would misunderstand. */
export const recordingFormat = 1;

/** The process in the header of a recording. */
interface RecordedProcess {
  readonly version: string;
  readonly buildId: string;
  /** wall time, ms since the epoch */
  readonly startedAtMs: number;
  readonly clock: { readonly mode: string; readonly rate: number; readonly timezone: string };
  readonly devices: readonly {
    readonly index: number;
    readonly name: string;
    readonly type: string;
    readonly kind: string;
    /** address by protocol */
    readonly endpoints: readonly DeviceEndpoint[];
  }[];
}

export interface RecordingHeader
  extends Pick<RecorderState, 'limitMb' | 'protocols' | 'since' | 'entries' | 'dropped'> {
  readonly process: RecordedProcess;
}

type DateMsOf = (sim: SimTime) => number;

const iso = (ms: number) => new Date(ms).toISOString();

function endpointJson(endpoint: DeviceEndpoint): Readonly<Record<string, unknown>> {
  if (endpoint.protocol === 'dnp3') return { ...endpoint };
  const { unitId, ...rest } = endpoint;
  return { ...rest, unit_id: unitId };
}

function headerJson({ process, since, ...head }: RecordingHeader, dateMs: DateMsOf): string {
  const { version, buildId, startedAtMs, clock, devices } = process;
  return JSON.stringify({
    recording: 'derbench',
    format: recordingFormat,
    version,
    build_id: buildId,
    started_at: iso(startedAtMs),
    since: since === null ? null : iso(since.wallMs),
    sim_start: since === null ? null : iso(dateMs(since.sim)),
    clock,
    protocols: head.protocols,
    limit_mb: head.limitMb,
    entries: head.entries,
    dropped: head.dropped,
    devices: devices.map(({ endpoints, ...device }) => ({ ...device, endpoints: endpoints.map(endpointJson) })),
  });
}

/** UTF-8 if the protocol and the octets permit it, otherwise base64. */
function rawJson(raw: Buffer, isText: boolean): { readonly encoding: 'utf8' | 'base64'; readonly raw: string } {
  return isText && isUtf8(raw)
    ? { encoding: 'utf8', raw: raw.toString('utf8') }
    : { encoding: 'base64', raw: raw.toString('base64') };
}

function entryJson({ id, channel, entry }: Recorded, start: SimTime, dateMs: DateMsOf): string {
  const { truncated, summary, ...details } = channel.report(entry);
  return JSON.stringify({
    id,
    wall_ms: entry.wallMs,
    wall_time: iso(entry.wallMs),
    sim_time: iso(dateMs(entry.sim)),
    sim_s: (entry.sim - start) / microsPerSecond,
    protocol: channel.protocol,
    key: channel.key,
    message_id: entry.id,
    direction: entry.direction,
    peer: entry.peer,
    device_index: entry.deviceIndex,
    kind: entry.kind,
    summary: typeof summary === 'string' ? summary : entry.summary,
    cut: truncated === true || entry.rawLength > entry.raw.length,
    ...rawJson(entry.raw, channel.isText),
    details,
  });
}

/** The lines of a recording, each with its line end. */
export function* recordingLines(
  header: RecordingHeader,
  entries: Iterable<Recorded>,
  dateMs: DateMsOf,
): Generator<string> {
  const start = header.since?.sim ?? (0 as SimTime);
  yield `${headerJson(header, dateMs)}\n`;
  for (const entry of entries) yield `${entryJson(entry, start, dateMs)}\n`;
}
