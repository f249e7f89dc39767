/** State of a charging station that a restart keeps: connectors with their vehicles, sessions, generated vehicles. */
import { SimError } from '../../../core/errors.ts';
import {
  fromExactJson,
  keptArray,
  keptList,
  keptParts,
  keptRecord,
  keptThen,
  toExactJson,
} from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { createRandom } from '../../../core/random.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { Connector } from './connector.ts';
import type { SessionLog, SessionRecord } from './sessions.ts';
import type { Generator, Line, Station } from './station.ts';
import { vehicleOf } from './vehicle.ts';
import type { Vehicle, VehicleValues } from './vehicle.ts';

/** Exact JSON of the members of `thing` beside those that are named. */
function jsonWithout<T extends object>(thing: T, names: readonly (keyof T)[]): JsonValue {
  const json: Record<string, JsonValue> = {};
  for (const name of Object.keys(thing) as (keyof T & string)[])
    if (!names.includes(name)) json[name] = toExactJson(thing[name]);
  return json;
}

/** Exact JSON of things that never change, made once for each. */
function createJsonCache<T extends object>(jsonOf: (thing: T) => JsonValue): (thing: T) => JsonValue {
  const cache = new WeakMap<T, JsonValue>();
  return (thing) => {
    const cachedJson = cache.get(thing);
    if (cachedJson !== undefined) return cachedJson;
    const json = jsonOf(thing);
    cache.set(thing, json);
    return json;
  };
}

/** @throws SimError INTERNAL for a value that `save` never makes */
function recordOf(saved: JsonValue): object {
  if (typeof saved === 'object' && saved !== null) return saved;
  throw new SimError('INTERNAL', 'a kept record is not an object');
}

/** Exact JSON of a session. */
type SessionJson = (record: SessionRecord) => JsonValue;

/** An ended session never changes. */
function createSessionJson(): SessionJson {
  const endedJson = createJsonCache<SessionRecord>(toExactJson);
  return (record) => (record.endedAtS === null ? toExactJson(record) : endedJson(record));
}

interface KeptLog {
  readonly count: number;
  readonly records: readonly JsonValue[];
}

function keptLog(log: SessionLog, sessionJson: SessionJson): Kept {
  return {
    save: () => ({ count: log.count, records: log.records.map(sessionJson) }),
    restore(saved) {
      const { count, records } = recordOf(saved) as KeptLog;
      log.count = count;
      log.records.length = 0;
      for (const record of records) log.records.push(fromExactJson(record) as SessionRecord);
    },
  };
}

/** The sessions of a station whose parameters have changed: an open one ends with the process, as its vehicle leaves. */
export function keptEndedSessions(log: SessionLog): Kept {
  const kept = keptLog(log, createSessionJson());
  return keptThen(kept, () => {
    const ended = log.records.filter(({ endedAtS }) => endedAtS !== null);
    log.records.splice(0, log.records.length, ...ended);
  });
}

/** Exact JSON of a vehicle, of which only the state of charge changes. */
function createVehicleJson(): (vehicle: Vehicle) => JsonValue {
  const constantJson = createJsonCache<Vehicle>((vehicle) => jsonWithout(vehicle, ['soc', 'table']));
  return (vehicle) => ({ ...(constantJson(vehicle) as object), soc: toExactJson(vehicle.soc) });
}

/** Members of a connector that are kept by themselves, or are not state. */
const otherMembers = ['p', 'defaultEv', 'vehicle', 'session'] as const;
type ConnectorValues = Omit<Connector, (typeof otherMembers)[number]>;

/** Exact JSON of the other members; objects among them are replaced as a whole and never change. */
function createMembersJson(c: Connector): () => Record<string, JsonValue> {
  const isOther = (name: string) => otherMembers.some((other) => other === name);
  const names = Object.keys(c).filter((name) => !isOther(name)) as (keyof ConnectorValues)[];
  const objectJson = createJsonCache<object>(toExactJson);
  return () => {
    const json: Record<string, JsonValue> = {};
    for (const name of names) {
      const value = c[name];
      json[name] = typeof value === 'object' && value !== null ? objectJson(value) : toExactJson(value);
    }
    return json;
  };
}

interface KeptConnector {
  readonly vehicle: JsonValue;
  readonly session: JsonValue;
  readonly members: Readonly<Record<string, JsonValue>>;
}

/** @param log restored before the connector; it has the session of the connector unless newer ones have replaced it */
function keptConnector(
  c: Connector,
  log: SessionLog,
  sessionJson: SessionJson,
  vehicleJson: (vehicle: Vehicle) => JsonValue,
): Kept {
  const sessionOf = (json: JsonValue): SessionRecord | null => {
    if (json === null) return null;
    const record = fromExactJson(json) as SessionRecord;
    return log.records.find(({ transactionId }) => transactionId === record.transactionId) ?? record;
  };
  const membersJson = createMembersJson(c);
  return {
    save() {
      const { vehicle, session } = c;
      return {
        vehicle: vehicle && vehicleJson(vehicle),
        session: session && sessionJson(session),
        members: membersJson(),
      };
    },
    restore(saved) {
      const { vehicle, session, members } = recordOf(saved) as KeptConnector;
      Object.assign(c, fromExactJson(members));
      c.vehicle = vehicle === null ? null : vehicleOf(fromExactJson(vehicle) as VehicleValues);
      c.session = sessionOf(session);
    },
  };
}

interface KeptLine {
  readonly members: JsonValue;
  readonly random: JsonValue;
}

interface KeptGenerator {
  readonly members: JsonValue;
  readonly lines: readonly KeptLine[];
}

function generatorJson(generator: Generator): JsonValue {
  return {
    members: jsonWithout(generator, ['lines']),
    lines: generator.lines.map((line) => ({
      members: jsonWithout(line, ['c', 'random']),
      random: line.random.kept().save(),
    })),
  };
}

function restoredLine(c: Connector, { members, random: position }: KeptLine): Line {
  // the kept position replaces the seed
  const random = createRandom(0, 'sessions', c.p.connectorId);
  random.kept().restore(position);
  return { c, random, ...(fromExactJson(members) as Omit<Line, 'c' | 'random'>) };
}

function restoredGenerator(connectors: readonly Connector[], { members, lines }: KeptGenerator): Generator {
  return {
    ...(fromExactJson(members) as Omit<Generator, 'lines'>),
    lines: connectors.flatMap((c, i) => {
      const line = lines[i];
      return line === undefined ? [] : [restoredLine(c, line)];
    }),
  };
}

function keptGenerator(station: Station): Kept {
  return {
    save: () => station.generator && generatorJson(station.generator),
    restore(saved) {
      station.generator =
        saved === null ? null : restoredGenerator(station.connectors, recordOf(saved) as KeptGenerator);
    },
  };
}

/** State between two sub-steps; listeners and surroundings are not part of it. */
export function keptStation(station: Station): Kept {
  const { log, connectors, random, phaseLnV } = station;
  const [sessionJson, vehicleJson] = [createSessionJson(), createVehicleJson()];
  return keptParts({
    random: random.kept(),
    log: keptLog(log, sessionJson),
    // after the log, which has the sessions of the connectors
    connectors: keptList(connectors.map((c) => keptConnector(c, log, sessionJson, vehicleJson))),
    generator: keptGenerator(station),
    phaseLnV: keptArray(phaseLnV),
    members: keptRecord(
      () => {
        const { nowS, varPerW, varSign, limitVar, profile, central, behaviour, reportedLimit } = station;
        return { nowS, varPerW, varSign, limitVar, profile, central, behaviour, reportedLimit };
      },
      (values) => {
        Object.assign(station, values);
      },
    ),
  });
}
