/** SecurityEventNotification and the security log (white paper 1.6, use cases A04 and N01). */
import { createEventLog } from '../../security/event-log.ts';
import type { EventLog } from '../../security/event-log.ts';
import type { Part, SecurityEvents, StationParts } from '../parts.ts';
import { isCritical, isReported } from './event-table.ts';

export { securityLogCapacity } from '../../security/event-log.ts';
export type { SecurityLogEntry } from '../../security/event-log.ts';

export interface SecurityLog extends SecurityEvents, Part, Pick<EventLog, 'entries' | 'waiting'> {}

/** A change of one is an event; its value is never in it. */
const securityKeys = ['AuthorizationKey', 'CpoName', 'SecurityProfile'] as const;

/** @param parts all of a station but the security events themselves */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): SecurityLog {
  const { keys, calls } = parts;
  const log = createEventLog(parts, { isCritical, isReported }, (report) =>
    calls.send('SecurityEventNotification', report),
  );
  const ends = securityKeys.map((key) =>
    keys.onChange(key, () => {
      log.raise('ReconfigurationOfSecurityParameters', `${key} changed`);
    }),
  );
  return {
    get entries() {
      return log.entries;
    },
    get waiting() {
      return log.waiting;
    },
    raise: (type, techInfo) => {
      log.raise(type, techInfo);
    },
    load: () => log.load(),
    stop() {
      for (const end of ends) end();
      log.stop();
    },
  };
}
