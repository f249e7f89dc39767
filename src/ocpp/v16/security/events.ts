/** SecurityEventNotification and the security log (white paper 1.6, use cases A04 and N01). */
import type { JsonValue } from '../../../core/store.ts';
import { stamp } from '../parts.ts';
import type { Part, SecurityEvents, StationParts } from '../parts.ts';
import { createSaver } from '../../station/saver.ts';
import { createOutbox } from '../upkeep/outbox.ts';
import type { Outbox, Report } from '../upkeep/outbox.ts';
import { isCritical, isReported } from './event-table.ts';

/** A line of the security log. */
export interface SecurityLogEntry {
  /** time of the central system, ms since the epoch */
  readonly atMs: number;
  readonly type: string;
  readonly techInfo: string | null;
}

export interface SecurityLog extends SecurityEvents, Part {
  /** oldest first */
  readonly entries: readonly SecurityLogEntry[];
  /** events that the central system has not confirmed */
  readonly waiting: number;
}

const action = 'SecurityEventNotification';
type EventReport = Report<typeof action>;

/** Lines kept; beyond it the oldest go. */
export const securityLogCapacity = 1000;
const queueCapacity = 500;
/** CiString255 of techInfo */
const techInfoLength = 255;
const repeatMs = 60_000;
/** A change of one is an event; its value is never in it. */
const securityKeys = ['AuthorizationKey', 'CpoName', 'SecurityProfile'] as const;

/** @param parts all of a station but the security events themselves */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): SecurityLog {
  const { clock, log, store, device, keys } = parts;
  const logSlot = store('security-log');
  const queueSlot = store('security-events');
  let entries: readonly SecurityLogEntry[] = [];

  const logSaver = createSaver(logSlot, () => entries.map((entry) => ({ ...entry })), log);
  const queueSaver = createSaver(queueSlot, () => outbox.waiting.map(({ request }) => ({ ...request })), log);
  const outbox: Outbox<typeof action> = createOutbox<typeof action>({
    parts,
    capacity: queueCapacity,
    repeatMs,
    spare: ({ request }) => !isCritical(request.type),
    changed: () => {
      queueSaver.save();
    },
  });

  const raise = (type: string, techInfo?: string) => {
    const info = techInfo === undefined || techInfo === '' ? null : techInfo.slice(0, techInfoLength);
    const atMs = clock.nowMs();
    entries = [...entries, { atMs, type, techInfo: info }].slice(-securityLogCapacity);
    logSaver.save();
    log.info(`security event ${type}${info === null ? '' : `: ${info}`}`, device.deviceIndex);
    if (!isReported(type)) return;
    outbox.push({ action, request: { type, timestamp: stamp(atMs), ...(info !== null && { techInfo: info }) } });
  };
  const ends = securityKeys.map((key) =>
    keys.onChange(key, () => {
      raise('ReconfigurationOfSecurityParameters', `${key} changed`);
    }),
  );

  return {
    get entries() {
      return entries;
    },
    get waiting() {
      return outbox.waiting.length;
    },
    raise,
    async load() {
      const [lines, queued] = await Promise.all([logSlot.read(), queueSlot.read()]);
      entries = [...lines.flatMap(entryOf), ...entries].slice(-securityLogCapacity);
      outbox.restore(queued.flatMap(reportOf));
      raise('StartupOfTheDevice');
    },
    stop() {
      for (const end of ends) end();
      outbox.stop();
    },
  };
}

const isObject = (value: JsonValue): value is { readonly [name: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function entryOf(value: JsonValue): readonly SecurityLogEntry[] {
  if (!isObject(value)) return [];
  const { atMs, type, techInfo } = value;
  return typeof atMs === 'number' && typeof type === 'string'
    ? [{ atMs, type, techInfo: typeof techInfo === 'string' ? techInfo : null }]
    : [];
}

function reportOf(value: JsonValue): readonly EventReport[] {
  if (!isObject(value)) return [];
  const { type, timestamp, techInfo } = value;
  return typeof type === 'string' && typeof timestamp === 'string'
    ? [{ action, request: { type, timestamp, ...(typeof techInfo === 'string' && { techInfo }) } }]
    : [];
}
