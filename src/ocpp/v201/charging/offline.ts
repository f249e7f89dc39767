/** How long the central system cannot be reached, for maxOfflineDuration (2.1, K01). */
import type { ChargingControl } from '../../charging/control.ts';
import type { Registration, StationParts } from '../parts.ts';
import { sentOf } from './installed.ts';

export interface OfflineWatch {
  /** ms of the central system; null: it can be reached */
  readonly sinceMs: number | null;
  /** Acts on what has changed: `control` is there. */
  begin(control: Pick<ChargingControl, 'profiles' | 'remove' | 'refresh' | 'nowMs'>): void;
  stop(): void;
}

export function createOfflineWatch(
  parts: Pick<StationParts, 'clock'> & {
    readonly registration: Pick<Registration, 'accepted' | 'onAccepted' | 'onEnded'>;
  },
): OfflineWatch {
  const { clock, registration } = parts;
  let sinceMs: number | null = registration.accepted ? null : clock.nowMs();
  let listeners: readonly (() => void)[] = [];
  return {
    get sinceMs() {
      return sinceMs;
    },
    begin(control) {
      listeners = [
        registration.onEnded(() => {
          sinceMs ??= clock.nowMs();
          control.refresh();
        }),
        registration.onAccepted(() => {
          const offlineMs = sinceMs === null ? 0 : control.nowMs - sinceMs;
          sinceMs = null;
          const over = new Set(
            control.profiles
              .filter((entry) => sentOf(entry).invalidAfterOfflineDuration === true)
              .filter(({ profile: { maxOfflineS = Infinity } }) => offlineMs >= maxOfflineS * 1000)
              .map(({ profile }) => profile.profileId),
          );
          if (control.remove(({ profileId }) => over.has(profileId)) === 0) control.refresh();
        }),
      ];
    },
    stop() {
      for (const end of listeners) end();
    },
  };
}
