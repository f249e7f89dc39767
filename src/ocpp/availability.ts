/** Operative states that the central system sets (1.6 5.2, 2.x G03 and G04), kept over restarts. */
import { z } from 'zod';
import type { EvseTransition } from '../contract/kinds/evse-transitions.ts';
import { errorText } from '../core/errors.ts';
import { formOf, place, readHeaded } from '../core/slot-values.ts';
import type { Slot } from '../core/store.ts';
import type { StackOptions } from './station/stack.ts';

type AvailabilityStatus = 'Accepted' | 'Scheduled' | 'Rejected';

export interface OperativeStates {
  /** true: the whole station is set inoperative */
  readonly stationInoperative: boolean;
  readonly operative: (connectorId: number) => boolean;
  /** By the central system. @param connectorId 0: the station @returns Scheduled: a session there must end first */
  readonly change: (connectorId: number, operative: boolean) => AvailabilityStatus;
  /** Calls back after a change that the central system has made. */
  readonly onChange: (listener: () => void) => void;
  readonly load: () => Promise<void>;
  readonly stop: () => void;
}

interface States {
  station: boolean;
  /** set inoperative */
  connectors: ReadonlySet<number>;
}

type Options = Pick<StackOptions, 'device' | 'log'> & { readonly slot: Slot };

/** Carries out the states at the device, whole or not at all. @throws SimError */
function apply({ device }: Options, states: States): void {
  const before = new Map(device.connectorIds.map((id) => [id, device.connector(id).operative]));
  const done: number[] = [];
  try {
    for (const connectorId of device.connectorIds) {
      const operative = !states.station && !states.connectors.has(connectorId);
      if (before.get(connectorId) === operative) continue;
      device.command({ kind: 'evse.availability', connectorId, operative });
      done.push(connectorId);
    }
  } catch (error) {
    for (const connectorId of done)
      device.command({ kind: 'evse.availability', connectorId, operative: before.get(connectorId) ?? true });
    throw error;
  }
}

/** The states after a request; null: it is refused. */
function requested(states: States, ids: readonly number[], connectorId: number, operative: boolean): States | null {
  if (connectorId === 0) return { station: !operative, connectors: new Set(operative ? [] : ids) };
  // a connector of a station that is out of operation as a whole stays so
  if (!ids.includes(connectorId) || (operative && states.station)) return null;
  const others = [...states.connectors].filter((id) => id !== connectorId);
  return { station: states.station, connectors: new Set(operative ? others : [...others, connectorId]) };
}

function createStateStore(options: Options) {
  const { slot, log, device } = options;
  let states: States = { station: false, connectors: new Set() };
  return {
    get states(): States {
      return states;
    },
    set(next: States): void {
      states = next;
      slot.replace([next.station, ...next.connectors]).catch((error: unknown) => {
        log.error(`availability is not kept: ${errorText(error)}`, device.deviceIndex);
      });
    },
    async load(): Promise<void> {
      const stored = await readHeaded(slot, [formOf<boolean>(z.boolean()), formOf<number>(place)], log);
      if (stored === null) return;
      const { head: station, rest: ids } = stored;
      states = { station, connectors: new Set(ids.filter((id) => device.connectorIds.includes(id))) };
    },
  };
}

export function createOperativeStates(options: Options): OperativeStates {
  const { device, log } = options;
  const stateStore = createStateStore(options);
  const listeners = new Set<() => void>();
  const restore = (): void => {
    const { station, connectors } = stateStore.states;
    if (!station && connectors.size === 0) return;
    try {
      apply(options, stateStore.states);
    } catch (error) {
      log.warning(`availability is not restored: ${errorText(error)}`, device.deviceIndex);
    }
  };
  /** Connectors that another version, or a person, has set inoperative before stay so. */
  const adopt = (): void => {
    const { station, connectors } = stateStore.states;
    const inoperative = device.connectorIds.filter((id) => !device.connector(id).operative);
    const added = inoperative.filter((id) => !station && !connectors.has(id));
    if (added.length > 0) stateStore.set({ station, connectors: new Set([...connectors, ...added]) });
  };
  const followDevice = (transition: EvseTransition): void => {
    if (transition.event === 'restart') restore();
    // a person at the station decides after the central system
    if (transition.event !== 'availability' || transition.by.source === 'ocpp') return;
    const { connectorId } = transition;
    const { operative } = transition.connector;
    const { station, connectors } = stateStore.states;
    const others = [...connectors].filter((id) => id !== connectorId);
    stateStore.set({
      station: station && !operative,
      connectors: new Set(operative ? others : [...others, connectorId]),
    });
  };
  const end = device.onTransition(followDevice);
  const busy = (connectorId: number): boolean =>
    device.detail.connectors.some(
      ({ connectorId: id, session }) =>
        (connectorId === 0 || id === connectorId) && session !== null && session.state !== 'ended',
    );
  const change = (connectorId: number, operative: boolean): AvailabilityStatus => {
    const next = requested(stateStore.states, device.connectorIds, connectorId, operative);
    if (next === null) return 'Rejected';
    try {
      apply(options, next);
    } catch (error) {
      log.warning(`ChangeAvailability is rejected: ${errorText(error)}`, device.deviceIndex);
      return 'Rejected';
    }
    stateStore.set(next);
    for (const listener of listeners) listener();
    return !operative && busy(connectorId) ? 'Scheduled' : 'Accepted';
  };
  return {
    change,
    get stationInoperative() {
      return stateStore.states.station;
    },
    operative: (connectorId) => !stateStore.states.station && !stateStore.states.connectors.has(connectorId),
    onChange: (listener) => {
      listeners.add(listener);
    },
    load: async () => {
      await stateStore.load();
      adopt();
      restore();
    },
    stop: end,
  };
}
