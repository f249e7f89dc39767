/**
 * What a part of a 2.x station works with, moved by the test: the doubles of 1.6 for device, line and clocks, and doubles
 * of the parts that every part needs. Each payload that goes out or is answered is held to the official schemas.
 */
import { silentLogger } from '../../../src/core/log/log.ts';
import { createRandom } from '../../../src/core/random.ts';
import { SimError } from '../../../src/core/errors.ts';
import { noAnswer, noDisturber } from '../../../src/ocpp/rpc/model.ts';
import type { After, Payload, QueuedMessage, TransactionQueue } from '../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../src/ocpp/rpc/schemas.ts';
import type { Action, Part, Registration, Replies, Requests, StationParts } from '../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../src/ocpp/station/stack.ts';
import {
  authRows,
  chargingRows,
  derRows,
  displayRows,
  txRows,
  commRows,
  securityRows,
} from '../../../src/ocpp/v201/variables/rows/controllers.ts';
import { monitoringRows, stationRows } from '../../../src/ocpp/v201/variables/rows/components.ts';
import type { Place, VariableFacts, VariableRow, Variables } from '../../../src/ocpp/v201/variables/model.ts';
import { rig as rig16 } from '../v16/fakes.ts';
import type { Rig as Rig16 } from '../v16/fakes.ts';

const rows: readonly VariableRow[] = [
  ...[authRows, chargingRows, commRows, derRows, displayRows, monitoringRows, securityRows, stationRows, txRows].flat(),
];

const keyOf = (component: string, variable: string, { evseId, connectorId }: Place = {}) =>
  `${component}/${variable}@${evseId ?? 0}.${connectorId ?? 0}`.toLowerCase();

/** Variables as the rows give them; a test sets any other. */
export interface FakeVariables extends Variables {
  /** also a variable that no row has */
  override(component: string, variable: string, value: string, place?: Place): void;
}

function placesOf({ tier = 'station' }: VariableRow, { evseIds }: VariableFacts): readonly Place[] {
  if (tier === 'station') return [{}];
  return evseIds.map((evseId) => (tier === 'evse' ? { evseId } : { evseId, connectorId: 1 }));
}

export function fakeVariables(facts: VariableFacts): FakeVariables {
  const values = new Map<string, string>();
  const reads = new Map<string, () => string>();
  const listeners = new Map<string, Set<(value: string, place: Place) => void>>();
  for (const row of rows)
    for (const place of placesOf(row, facts)) {
      if (row.since !== undefined && facts.version !== row.since) continue;
      const value = typeof row.initial === 'string' ? row.initial : row.initial(facts, place);
      if (value !== null) values.set(keyOf(row.component, row.variable, place), value);
    }
  const text = (component: string, variable: string, place?: Place): string => {
    const key = keyOf(component, variable, place);
    const value = reads.get(key)?.() ?? values.get(key);
    if (value === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${key}`);
    return value;
  };
  const set = (component: string, variable: string, value: string, place: Place = {}): void => {
    values.set(keyOf(component, variable, place), value);
    for (const listener of listeners.get(keyOf(component, variable)) ?? []) listener(value, place);
  };
  return {
    text,
    boolean: (...of) => text(...of) === 'true',
    integer: (...of) => Number(text(...of)),
    decimal: (...of) => Number(text(...of)),
    list: (...of) =>
      text(...of)
        .split(',')
        .filter((each) => each !== ''),
    has: (component, variable, place) =>
      values.has(keyOf(component, variable, place)) || reads.has(keyOf(component, variable, place)),
    set,
    override: set,
    onChange: (component, variable, listener) => {
      const key = keyOf(component, variable);
      const all = listeners.get(key) ?? new Set();
      listeners.set(key, all.add(listener));
      return () => all.delete(listener);
    },
    provide: (component, variable, read, place = {}) => {
      reads.set(keyOf(component, variable, place), () => read(place));
    },
  };
}

export interface FakeQueue extends TransactionQueue {
  readonly pushed: QueuedMessage[];
}

function fakeQueue(check: (action: string, payload: Payload) => void): FakeQueue {
  const pushed: QueuedMessage[] = [];
  return {
    pushed,
    get length() {
      return pushed.length;
    },
    lengthOf: (transaction) => pushed.filter((each) => each.transaction === transaction).length,
    droppedMiddles: 0,
    push: (message) => {
      check(message.action, message.payload);
      pushed.push(message);
    },
    resume: () => undefined,
    pause: () => undefined,
    settled: () => Promise.resolve(),
  };
}

export interface FakeRegistration extends Registration {
  /** The station becomes accepted, after a boot or only after a new connection. */
  accept(options?: { readonly booted?: boolean }): void;
  /** The line ends. */
  end(): void;
}

function fakeRegistration({ wall }: Rig16): FakeRegistration {
  const accepted = new Set<() => void>();
  const ended = new Set<() => void>();
  const state = { accepted: true, boots: 1, offlineSinceMs: null as number | null };
  const answer = <T>(payload: T) => Promise.resolve({ kind: 'result', payload, durationMs: 0 } as const);
  const currentTime = () => new Date(wall.nowMs()).toISOString();
  return {
    get status() {
      return state.accepted ? 'accepted' : 'none';
    },
    get isReady() {
      return state.accepted;
    },
    get boots() {
      return state.boots;
    },
    get offlineSinceMs() {
      return state.offlineSinceMs;
    },
    boot: () => answer({ status: 'Accepted', currentTime: currentTime(), interval: 300 } as const),
    heartbeat: () => answer({ currentTime: currentTime() }),
    onAccepted: (listener) => {
      accepted.add(listener);
      return () => accepted.delete(listener);
    },
    onEnded: (listener) => {
      ended.add(listener);
      return () => ended.delete(listener);
    },
    accept({ booted = false } = {}) {
      state.accepted = true;
      state.offlineSinceMs = null;
      if (booted) state.boots += 1;
      for (const listener of [...accepted]) listener();
    },
    end() {
      state.accepted = false;
      state.offlineSinceMs ??= wall.monotonicMs();
      for (const listener of [...ended]) listener();
    },
  };
}

export interface Rig extends Omit<Rig16, 'keys' | 'find'> {
  readonly parts: StationParts;
  readonly variables: FakeVariables;
  readonly queue: FakeQueue;
  readonly registration: FakeRegistration;
  /** security events that parts have raised */
  readonly raised: (readonly [type: string, techInfo: string | undefined])[];
  /** payloads of SEND, by action */
  readonly streamed: (readonly [action: string, payload: Payload])[];
  /** Calls a handler of a part as the central system does; what follows the answer runs after it. */
  ask<Name extends Action>(part: Part, action: Name, request: Requests[Name]): Promise<Replies[Name]>;
}

export interface RigOptions {
  readonly version?: Version2;
}

/** @throws Error where a payload breaks the schema of the version */
function checker(version: Version2) {
  payloadChecks.prepare(version);
  return (action: string, kind: 'request' | 'reply', payload: Payload): void => {
    const violation = payloadChecks.check(version, action, kind, payload);
    if (violation !== null)
      throw new Error(`${action} (${kind}) breaks its schema: ${violation.description} ${JSON.stringify(payload)}`);
  };
}

export function rig({ version = 'ocpp2.1' }: RigOptions = {}): Rig {
  const base = rig16();
  const { device, line, wall, timers, store, clock, connection, limits, releases, findings, find } = base;
  const check = checker(version);
  const facts: VariableFacts = {
    version,
    nameplate: device.port.nameplate,
    evseIds: device.port.connectorIds,
    ratings: device.port.ratings,
    stationRating: device.port.stationRating,
    securityProfile: 1,
  };
  const variables = fakeVariables(facts);
  const queue = fakeQueue((action, payload) => {
    check(action, 'request', payload);
  });
  const registration = fakeRegistration(base);
  const raised: [string, string | undefined][] = [];
  const streamed: [string, Payload][] = [];
  const parts: StationParts = {
    id: 'CS-1',
    version,
    device: device.port,
    clock,
    wall,
    later: timers.later,
    random: createRandom(1, 'test'),
    log: silentLogger,
    store: (name) => store.slot(name),
    connection,
    limits,
    releases,
    disturber: noDisturber,
    variables,
    calls: {
      send: async (action, request, { triggered = false, ...options } = {}) => {
        check(action, 'request', request);
        if (!registration.isReady && !triggered) return { kind: 'unsent', why: 'the station is not accepted' };
        return (await line.call(action, request, options)) as never;
      },
      stream: (action, payload) => {
        check(action, 'request', payload);
        streamed.push([action, payload]);
      },
    },
    queue,
    registration,
    security: { raise: (type, techInfo) => raised.push([type, techInfo]) },
    finding: find,
  };
  return {
    ...base,
    parts,
    variables,
    queue,
    registration,
    raised,
    streamed,
    findings,
    async ask(part, action, request) {
      check(action, 'request', request);
      const handler = part.handlers?.[action];
      if (handler === undefined) throw new Error(`the part does not answer ${action}`);
      const acts: (() => void)[] = [];
      const after: After = (act) => acts.push(act);
      const reply = await handler(request as never, after);
      if ((reply as unknown) === noAnswer) throw new Error(`${action} was not answered`);
      check(action, 'reply', reply);
      for (const act of acts) act();
      return reply;
    },
  };
}
