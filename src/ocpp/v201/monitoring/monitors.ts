/** The monitors of a station, the monitoring base and the monitoring level (N03 to N06). They survive a restart. */
import type { JsonValue } from '../../../core/store.ts';
import { createSaver } from '../../station/saver.ts';
import type { MonitoringBaseEnum } from '../messages.ts';
import type { Part, StationParts } from '../parts.ts';
import type { VariableStore } from '../variables/model.ts';
import { factoryMonitors, firstCustomId } from './factory.ts';
import { isSame } from './model.ts';
import type { Monitor } from './model.ts';
import { restoredHead, restoredMonitor, savedMonitor } from './saved.ts';

/** of the central system */
export const maxCustomMonitors = 200;

export interface Monitors extends Required<Pick<Part, 'load'>> {
  /** those that act, in the order in which they are looked at */
  readonly all: readonly Monitor[];
  readonly customCount: number;
  /** events of monitors with a greater severity number are not told */
  readonly level: number;
  byId(id: number): Monitor | undefined;
  /** Adds a monitor of the central system under a new id, or puts it in place of the one with its id. */
  put(monitor: Omit<Monitor, 'id' | 'kind'> & { readonly id?: number }): Monitor;
  /** Not for a hard-wired one. One that was set by the factory comes back with the base. */
  remove(id: number): void;
  setBase(base: MonitoringBaseEnum): void;
  setLevel(level: number): void;
  /** Ids of thresholds whose event is out; kept for the time after a restart (N07.FR.14). */
  readonly exceeded: ReadonlySet<number>;
  setExceeded(id: number, exceeded: boolean): void;
}

interface State {
  readonly base: MonitoringBaseEnum;
  readonly level: number;
  readonly nextId: number;
  readonly custom: ReadonlyMap<number, Monitor>;
  /** monitors of the factory that do not act: cleared, disabled, or replaced by one of the central system */
  readonly off: ReadonlySet<number>;
}

const initial: State = {
  base: 'FactoryDefault',
  level: 9,
  nextId: firstCustomId,
  custom: new Map(),
  off: new Set(),
};

/** One in place of a monitor of the factory keeps its id (N04.FR.15). */
function withMonitor(state: State, monitor: Monitor): State {
  const { custom, off, nextId } = state;
  return {
    ...state,
    custom: new Map(custom).set(monitor.id, monitor),
    off: monitor.id < firstCustomId ? new Set([...off, monitor.id]) : off,
    nextId: Math.max(nextId, monitor.id + 1),
  };
}

function withoutMonitor(state: State, id: number): State {
  const custom = new Map(state.custom);
  custom.delete(id);
  return { ...state, custom, off: id < firstCustomId ? new Set([...state.off, id]) : state.off };
}

/** N03.FR.03 to FR.05. With `All` what the central system has put in place of a monitor of the factory stays there. */
function onBase(state: State, base: MonitoringBaseEnum, preconfigured: readonly number[]): State {
  const custom = base === 'All' ? state.custom : new Map<number, Monitor>();
  const off = base === 'HardWiredOnly' ? preconfigured : [...custom.keys()].filter((id) => id < firstCustomId);
  return { ...state, base, custom, off: new Set(off) };
}

function saved({ base, level, nextId, off, custom }: State, exceeded: ReadonlySet<number>): readonly JsonValue[] {
  return [{ base, level, nextId, off: [...off], exceeded: [...exceeded] }, ...[...custom.values()].map(savedMonitor)];
}

/** Null: nothing was kept. */
function restored(
  [first, ...rest]: readonly JsonValue[],
  variables: VariableStore,
  preconfigured: readonly number[],
): { readonly state: State; readonly exceeded: readonly number[] } | null {
  const head = restoredHead(first);
  if (head === null) return null;
  const monitors = rest.flatMap((value) => restoredMonitor(value, variables) ?? []).slice(0, maxCustomMonitors);
  const { base, level, exceeded } = head;
  const off = new Set(head.off.filter((id) => preconfigured.includes(id)));
  const nextId = Math.max(head.nextId, firstCustomId);
  return { state: monitors.reduce(withMonitor, { base, level, nextId, custom: new Map(), off }), exceeded };
}

export function createMonitors(
  { device, store, log }: Pick<StationParts, 'device' | 'store' | 'log'>,
  { variables }: { readonly variables: VariableStore },
): Monitors {
  const slot = store('monitors');
  const factory = factoryMonitors(variables, device);
  const preconfigured = factory.filter(({ kind }) => kind === 'PreconfiguredMonitor').map(({ id }) => id);
  const exceeded = new Set<number>();
  let state = initial;
  let all: readonly Monitor[] = factory;

  const saver = createSaver(slot, () => saved(state, exceeded), log);
  const adopt = (next: State): void => {
    state = next;
    all = [...state.custom.values(), ...factory.filter(({ id }) => !state.off.has(id))];
    const ids = new Set(all.map(({ id }) => id));
    for (const id of exceeded) if (!ids.has(id)) exceeded.delete(id);
    variables.set('MonitoringCtrlr', 'ActiveMonitoringBase', state.base);
    variables.set('MonitoringCtrlr', 'ActiveMonitoringLevel', String(state.level));
  };
  const change = (next: State): void => {
    adopt(next);
    saver.save();
  };

  return {
    get all() {
      return all;
    },
    get customCount() {
      return state.custom.size;
    },
    get level() {
      return state.level;
    },
    exceeded,
    byId: (id) => all.find((each) => each.id === id),
    put(given) {
      const monitor: Monitor = { ...given, id: given.id ?? state.nextId, kind: 'CustomMonitor' };
      if (all.find(({ id }) => id === monitor.id)?.type !== monitor.type) exceeded.delete(monitor.id);
      change(withMonitor(state, monitor));
      return monitor;
    },
    remove: (id) => change(withoutMonitor(state, id)),
    setBase: (base) => change(onBase(state, base, preconfigured)),
    setLevel: (level) => change({ ...state, level }),
    setExceeded(id, isExceeded) {
      if (exceeded.has(id) === isExceeded) return;
      if (isExceeded) exceeded.add(id);
      else exceeded.delete(id);
      saver.save();
    },
    async load() {
      const kept = restored(await slot.read(), variables, preconfigured);
      for (const id of kept?.exceeded ?? []) exceeded.add(id);
      adopt(kept?.state ?? state);
    },
  };
}

/** A monitor of the same variable, type and severity under another id (N04.FR.10). */
export function duplicateOf(
  monitors: Pick<Monitors, 'all'>,
  given: Pick<Monitor, 'found' | 'type' | 'severity'> & { readonly id?: number },
): Monitor | undefined {
  return monitors.all.find(
    ({ id, type, severity, found }) =>
      id !== given.id && type === given.type && severity === given.severity && isSame(found, given.found),
  );
}
