/** The state of the SunSpec client as members of replies. */
import type {
  ClientStatus,
  ClientTarget,
  Discovery,
  FoundModel,
  ModelReading,
  PointReading,
  PollStatus,
  RawWriteOutcome,
  WriteOutcome,
  WriteRequest,
} from '../../contract/sunspec-client.ts';
import { isoOrNull } from '../common/schemas.ts';
import type { ClientModelReply, ClientPointReply } from './model-schemas.ts';
import type { ClientPollReply, ClientStatusReply } from './schemas.ts';

const iso = (ms: number) => new Date(ms).toISOString();

function targetReply(target: ClientTarget): ClientStatusReply['target'] {
  const { transport, unitId, timeoutMs, baseAddress } = target;
  const line = transport === 'rtu' ? target.serial : null;
  return {
    transport,
    host: transport === 'rtu' ? null : target.host,
    port: transport === 'rtu' ? null : target.port,
    serial: line && { path: line.path, baud: line.baud, parity: line.parity, stop_bits: line.stopBits },
    unit_id: unitId,
    timeout_s: timeoutMs / 1000,
    base_address: baseAddress,
    transaction_id: transport === 'rtu' ? null : target.transactionIds,
  };
}

function placeReply({ id, index, name, label, address, length }: FoundModel) {
  return { id, index, name, label, address, length };
}

export function chainReply(discovery: Discovery | null) {
  return {
    base_address: discovery?.baseAddress ?? null,
    chain_end: discovery?.end ?? null,
    notes: [...(discovery?.notes ?? [])],
    models: (discovery?.models ?? []).map(placeReply),
  };
}

export function pollReply(poll: PollStatus): ClientPollReply {
  return {
    enabled: poll.enabled,
    interval_s: poll.intervalMs / 1000,
    models: poll.models && [...poll.models],
    polled: poll.polled.map(({ id, index, readAtMs, error }) => ({ id, index, read_at: isoOrNull(readAtMs), error })),
    rounds: poll.rounds,
    failed_rounds: poll.failedRounds,
    late_rounds: poll.lateRounds,
    last_poll: isoOrNull(poll.lastMs),
    last_duration_s: poll.lastDurationMs === null ? null : Math.round(poll.lastDurationMs) / 1000,
    retry_in_s: poll.retryInMs === null ? null : Math.round(poll.retryInMs) / 1000,
  };
}

export function clientStatusReply(status: ClientStatus): ClientStatusReply {
  const { identity, sample, target } = status;
  return {
    enabled: target !== null,
    state: status.state,
    target: target && targetReply(target),
    endpoint: status.endpoint,
    identity: identity && {
      manufacturer: identity.manufacturer,
      model: identity.model,
      version: identity.version,
      serial_number: identity.serialNumber,
    },
    ...chainReply(status.discovery),
    poll: pollReply(status.poll),
    counters: { ...status.counters },
    last_error: status.lastError,
    last_error_at: isoOrNull(status.lastErrorMs),
    last_poll: isoOrNull(status.poll.lastMs),
    summary: sample && { ...sample.metrics, timestamp: iso(sample.atMs) },
  };
}

function pointReply(point: PointReading): ClientPointReply {
  return {
    name: point.name,
    label: point.label,
    type: point.type,
    address: point.address,
    size: point.size,
    raw: point.raw && [...point.raw],
    value: point.value,
    scale_factor: point.scaleFactor,
    unit: point.unit,
    ...(point.symbol !== undefined && { symbol: point.symbol }),
    ...(point.bits && { bits: [...point.bits] }),
    implemented: point.implemented,
    access: point.access,
    ...(point.note !== undefined && { note: point.note }),
  };
}

/** @param names points to show; undefined: all */
export function modelReply(reading: ModelReading, names?: ReadonlySet<string>): ClientModelReply {
  const shown = (points: readonly PointReading[]) =>
    points.filter(({ name }) => names?.has(name) ?? true).map(pointReply);
  const groups = reading.groups.map(({ path, points }) => ({ name: path, points: shown(points) }));
  return {
    ...placeReply(reading),
    points: shown(reading.points),
    groups: names ? groups.filter(({ points }) => points.length > 0) : groups,
    registers: reading.registers && [...reading.registers],
    expected_length: reading.expectedLength,
    notes: [...reading.notes],
    read_at: iso(reading.readAtMs),
  };
}

function requestsReply(requests: readonly WriteRequest[]) {
  return requests.map(({ functionCode, address, count }) => ({ function: functionCode, address, count }));
}

export function writtenReply({ model, match, points, requests }: WriteOutcome) {
  return {
    model: placeReply(model),
    match,
    points: points.map((point) => ({
      name: point.name,
      written: point.written,
      raw_written: [...point.rawWritten],
      match: point.match,
      read_back: pointReply(point.readBack),
    })),
    requests: requestsReply(requests),
  };
}

export function rawWrittenReply({ address, match, registers, readBack, requests }: RawWriteOutcome) {
  return {
    address,
    match,
    registers: [...registers],
    read_back: readBack && [...readBack],
    requests: requestsReply(requests),
  };
}
