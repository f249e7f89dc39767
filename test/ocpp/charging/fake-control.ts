/** A control of charging profiles that keeps them and does nothing with them. */
import type { ChargingControl, StoredProfile } from '../../../src/ocpp/charging/control.ts';
import type { ChargingState } from '../../../src/ocpp/charging/model.ts';
import { noonMs } from './arbitrary.ts';
import { stateOf } from './profiles.ts';

export interface FakeControl extends ChargingControl {
  nowMs: number;
  state: ChargingState;
  profiles: readonly StoredProfile[];
  /** evaluations without a change of the profiles */
  refreshes: number;
}

export function fakeControl(): FakeControl {
  const control: FakeControl = {
    profiles: [],
    state: stateOf([]),
    nowMs: noonMs,
    refreshes: 0,
    install(entry, replaces) {
      control.profiles = [...control.profiles.filter(({ profile }) => !replaces(profile)), entry];
    },
    remove(which) {
      const before = control.profiles.length;
      control.profiles = control.profiles.filter(({ profile }) => !which(profile));
      return before - control.profiles.length;
    },
    refresh: () => {
      control.refreshes += 1;
    },
    composite: () => null,
    load: () => Promise.resolve(),
    stop: () => undefined,
  };
  return control;
}
