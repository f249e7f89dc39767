/** Doubles of what the parts of smart charging work with: calls that are noted, a registration, a device that is told. */
import type { JsonValue } from '../../../../src/core/store.ts';
import type { StoredProfile } from '../../../../src/ocpp/charging/control.ts';
import { profileOf } from '../../../../src/ocpp/v201/charging/convert.ts';
import { noonMs } from '../../charging/arbitrary.ts';
import { profile } from './rig.ts';
import type { SentProfile } from './rig.ts';

/** Listeners that a test counts and calls. */
export function listeners<T>() {
  const all = new Set<(event: T) => void>();
  return {
    on: (listener: (event: T) => void) => {
      all.add(listener);
      return () => {
        all.delete(listener);
      };
    },
    emit: (event: T) => {
      for (const listener of all) listener(event);
    },
    get count() {
      return all.size;
    },
  };
}

export interface SentCall {
  readonly action: string;
  readonly payload: Record<string, unknown>;
  readonly triggered: boolean;
}

/** Calls are noted; each is answered as `outcome` says. */
export function fakeCalls(outcome: () => unknown = () => ({ kind: 'result', payload: {}, durationMs: 0 })) {
  const sent: SentCall[] = [];
  const send = (action: string, payload: object, { triggered = false } = {}) => {
    sent.push({ action, payload: { ...payload }, triggered });
    return Promise.resolve(outcome());
  };
  return { sent, calls: { send: send as never, stream: () => undefined } };
}

export function fakeRegistration(isAccepted = true) {
  const [accepted, ended] = [listeners<null>(), listeners<null>()];
  const state = { accepted: isAccepted, boots: 1 };
  return {
    state,
    accepted,
    ended,
    registration: {
      get isReady() {
        return state.accepted;
      },
      get boots() {
        return state.boots;
      },
      onAccepted: (listener: () => void) => accepted.on(listener),
      onEnded: (listener: () => void) => ended.on(listener),
    },
  };
}

/** A profile as a station holds it. */
export function entryOf(sent: SentProfile, evseId = 1): StoredProfile {
  const random = { next: () => 0 };
  return {
    profile: profileOf(sent, { evseId, receivedMs: noonMs, localOffsetMs: 0, random }),
    sent: sent as unknown as JsonValue,
  };
}

export const entry = (change: Parameters<typeof profile>[0], evseId = 1) => entryOf(profile(change), evseId);
