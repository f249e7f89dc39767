/** SecurityEventNotification and the security log (A04 and N01). */
import type { ConnectFailure } from '../../rpc/failures.ts';
import { createEventLog } from '../../security/event-log.ts';
import type { EventLog } from '../../security/event-log.ts';
import { failureEvent } from '../../security/failures.ts';
import type { Part, SecurityEvents, StationParts } from '../parts.ts';
import { failureEvents, isCritical, isReported } from './event-table.ts';

export interface SecurityLog extends SecurityEvents, Part, Pick<EventLog, 'entries' | 'waiting'> {
  /** An attempt to connect has failed. */
  failed(failure: ConnectFailure): void;
}

/** A change of one is an event; its value is never in it. */
const securityVariables = [
  ['SecurityCtrlr', 'BasicAuthPassword'],
  ['SecurityCtrlr', 'OrganizationName'],
  ['SecurityCtrlr', 'AllowCSMSTLSWildcards'],
  ['SecurityCtrlr', 'AdditionalRootCertificateCheck'],
] as const;

/** @param parts all of a station but the security events themselves */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): SecurityLog {
  const { variables, calls } = parts;
  const log = createEventLog(parts, { isCritical, isReported }, (report) =>
    calls.send('SecurityEventNotification', report),
  );
  const ends = securityVariables.map(([component, variable]) =>
    variables.onChange(component, variable, () => {
      log.raise('ReconfigurationOfSecurityParameters', `${component}.${variable} changed`);
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
    failed: (failure) => {
      const type = failureEvent(failure, failureEvents);
      if (type !== null) log.raise(type, failure.text);
    },
    load: () => log.load(),
    stop: () => {
      for (const end of ends) end();
      log.stop();
    },
  };
}
