/**
 * The configuration of one station: values by key over a restart, GetConfiguration (5.8) and ChangeConfiguration (5.3).
 */
import { z } from 'zod';
import type { OcppConfiguration, OcppKeyEntry } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log/log.ts';
import { formOf, Misfit, readEach } from '../../../core/slot-values.ts';
import type { SlotForm } from '../../../core/slot-values.ts';
import type { Slot } from '../../../core/store.ts';
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import type { Keys, Replies, Requests, Connection, Handler, Part, StationParts } from '../parts.ts';
import { keyTable, members, normalValue } from './table.ts';
import type { KeyFacts, KeyRow } from './table.ts';

/** False refuses a value although it is of the right kind, for example a lower security profile. */
type KeyCheck = (value: string) => boolean;

/** A value that belongs to the station and to no version; the station keeps it over a restart. */
interface StationValue {
  readonly read: () => string;
  readonly write: (value: string) => void;
}

interface KeySetOptions {
  readonly facts: KeyFacts;
  /** keys whose values belong to the station; absent: none do */
  readonly ofStation?: Readonly<Record<string, StationValue>>;
  readonly slot: Slot;
  readonly log: Pick<Logger, 'warning'>;
  /** called if the store has refused a value, which is in force but lost at a restart */
  readonly failed: (error: unknown) => void;
  /** by key; false refuses a change by the central system */
  readonly checks?: Readonly<Record<string, KeyCheck>>;
}

export interface KeySet extends Keys {
  /** Restores changed values; listeners are not called. */
  load(): Promise<void>;
  /** @throws CallError OccurenceConstraintViolation for more keys than GetConfigurationMaxKeys */
  get(request: Requests['GetConfiguration']): Replies['GetConfiguration'];
  change(request: Requests['ChangeConfiguration']): Replies['ChangeConfiguration'];
  /** @throws SimError UNKNOWN_RESOURCE */
  view(key?: string): OcppConfiguration;
  /** A change by a user, also of read-only keys; no `checks`. @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setLocal(key: string, value: string): void;
  /** Puts the values in force that waited for a restart. */
  restarted(): void;
}

interface Entry {
  readonly row: KeyRow;
  /** true: its value belongs to the station, which keeps it */
  readonly isOfStation: boolean;
  /** value in force */
  value: string;
  /** value after the next restart; null: unchanged */
  next: string | null;
}

type Listener = (value: string) => void;

/** Lower-case name: names of keys are compared without case (CiString50Type). */
const folded = (name: string): string => foldedNames.get(name) ?? name.toLowerCase();

/** Lower-case names by the names of the standard, computed once: every message looks up some of them. */
const foldedNames: ReadonlyMap<string, string> = new Map(keyTable.map(({ name }) => [name, name.toLowerCase()]));

function stationEntry(row: KeyRow, { read, write }: StationValue): Entry {
  return {
    row,
    isOfStation: true,
    get value() {
      return read();
    },
    set value(value) {
      write(value);
    },
    next: null,
  };
}

function entriesOf({ facts, ofStation = {} }: Pick<KeySetOptions, 'facts' | 'ofStation'>): Map<string, Entry> {
  return new Map(
    keyTable.map((row) => {
      const stationValue = ofStation[row.name];
      if (stationValue !== undefined) return [folded(row.name), stationEntry(row, stationValue)];
      const value = typeof row.initial === 'string' ? row.initial : row.initial(facts);
      return [folded(row.name), { row, isOfStation: false, value, next: null }];
    }),
  );
}

function entryView({ row, value, next }: Entry): OcppKeyEntry {
  return {
    key: row.name,
    value: row.access === 'W' ? null : (next ?? value),
    readonly: row.access === 'R',
    rebootRequired: row.reboot,
  };
}

function keyValue(entry: Entry): NonNullable<Replies['GetConfiguration']['configurationKey']>[number] {
  const { key, value, readonly } = entryView(entry);
  return { key, readonly, ...(value !== null && { value }) };
}

interface Values {
  readonly entries: readonly Entry[];
  find(name: string): Entry | undefined;
  /** @throws SimError UNKNOWN_RESOURCE */
  entry(name: string): Entry;
  /** The value as stored; null: its row does not allow it. */
  accepted(row: KeyRow, value: string): string | null;
  /** Puts a value in force at once, or at the next restart if its row requires that. */
  store(entry: Entry, value: string): void;
  set(entry: Entry, value: string): void;
  onChange(entry: Entry, listener: Listener): () => void;
  load(): Promise<void>;
  restarted(): void;
}

/** Saves changed values only, so that other keys have the defaults of a later process. */
function createSave(slot: Slot, failed: (error: unknown) => void): (entry: Entry) => void {
  const changed = new Set<Entry>();
  return (entry) => {
    if (entry.isOfStation) return;
    changed.add(entry);
    const values = [...changed].map(({ row, value, next }) => [row.name, next ?? value]);
    slot.replace(values).catch(failed);
  };
}

type SavedKey = readonly [name: string, value: string];

const pairForm = formOf<SavedKey>(z.tuple([z.string(), z.string()]));

function createValues({ slot, failed, log, ...initial }: KeySetOptions): Values {
  const entries = entriesOf(initial);
  const listeners = new Map<string, Set<Listener>>();
  const save = createSave(slot, failed);
  const find = (name: string): Entry | undefined => entries.get(folded(name));
  const set = (entry: Entry, value: string): void => {
    entry.next = null;
    const before = entry.value;
    entry.value = value;
    save(entry);
    if (before === value) return;
    for (const listener of [...(listeners.get(entry.row.name) ?? [])]) listener(value);
  };
  const accepted = (row: KeyRow, value: string): string | null => {
    const normal = normalValue(row.kind, value);
    const max = Number(find(`${row.name}MaxLength`)?.value ?? Infinity);
    return normal !== null && row.kind.type === 'list' && members(normal).length > max ? null : normal;
  };
  const savedForm: SlotForm<SavedKey> = (json) => {
    const saved = pairForm(json);
    if (saved instanceof Misfit) return saved;
    const row = find(saved[0])?.row;
    return row !== undefined && accepted(row, saved[1]) === null ? new Misfit(`is no value of ${row.name}`) : saved;
  };
  return {
    entries: [...entries.values()],
    find,
    entry: (name) => {
      const entry = find(name);
      if (entry === undefined)
        throw new SimError('UNKNOWN_RESOURCE', `there is no configuration key ${name.slice(0, 50)}`);
      return entry;
    },
    accepted,
    set,
    store: (entry, value) => {
      if (!entry.row.reboot) {
        set(entry, value);
        return;
      }
      entry.next = value;
      save(entry);
    },
    onChange: ({ row }, listener) => {
      const keyListeners = listeners.get(row.name) ?? new Set();
      listeners.set(row.name, keyListeners.add(listener));
      return () => keyListeners.delete(listener);
    },
    load: async () => {
      for (const [name, value] of await readEach(slot, savedForm, log)) {
        const entry = find(name);
        if (entry === undefined || entry.isOfStation) continue;
        entry.value = value;
        save(entry);
      }
    },
    restarted: () => {
      for (const entry of entries.values()) if (entry.next !== null) set(entry, entry.next);
    },
  };
}

export function createKeys(options: KeySetOptions): KeySet {
  const { checks = {} } = options;
  const values = createValues(options);
  return {
    boolean: (key) => values.entry(key).value === 'true',
    integer: (key) => Number(values.entry(key).value),
    text: (key) => values.entry(key).value,
    list: (key) => members(values.entry(key).value),
    set: (key, value) => {
      values.set(values.entry(key), value);
    },
    onChange: (key, listener) => values.onChange(values.entry(key), listener),
    load: () => values.load(),
    restarted: () => {
      values.restarted();
    },
    get: ({ key }) => {
      if (key === undefined || key.length === 0) return { configurationKey: values.entries.map(keyValue) };
      const max = Number(values.entry('GetConfigurationMaxKeys').value);
      if (key.length > max)
        throw new CallError(errorCode('ocpp1.6', 'occurrence'), `at most ${max} keys, see GetConfigurationMaxKeys`);
      const entries = new Set(key.flatMap((name) => values.find(name) ?? []));
      const unknown = key.filter((name) => values.find(name) === undefined);
      return {
        ...(entries.size > 0 && { configurationKey: [...entries].map(keyValue) }),
        ...(unknown.length > 0 && { unknownKey: unknown }),
      };
    },
    change: ({ key, value }) => {
      const entry = values.find(key);
      if (entry === undefined) return { status: 'NotSupported' };
      const { row } = entry;
      const acceptedValue = row.access === 'R' ? null : values.accepted(row, value);
      if (acceptedValue === null || checks[row.name]?.(acceptedValue) === false) return { status: 'Rejected' };
      values.store(entry, acceptedValue);
      return { status: row.reboot ? 'RebootRequired' : 'Accepted' };
    },
    view: (key) => ({
      kind: 'keys',
      keys: key === undefined ? values.entries.map(entryView) : [entryView(values.entry(key))],
    }),
    setLocal: (key, value) => {
      const entry = values.entry(key);
      const acceptedValue = values.accepted(entry.row, value);
      if (acceptedValue === null)
        throw new SimError(
          'COMMAND_BAD_VALUE',
          `${entry.row.name} does not accept this value (${entry.row.kind.type})`,
        );
      values.store(entry, acceptedValue);
    },
  };
}

// Effects of keys on the device and the connection; all others are read by their parts (column `effect` of the table).

interface EffectOptions extends Pick<StationParts, 'device' | 'connection' | 'keys' | 'releases'> {
  /** true: plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
}

interface KeyEffects {
  /** Puts the values in force at the start. */
  apply(): void;
  stop(): void;
}

/** The keys of the credentials, which belong to the station: the next connection needs them before a version is chosen. */
export function credentialKeys(connection: Connection): NonNullable<KeySetOptions['ofStation']> {
  return {
    AuthorizationKey: {
      read: () => connection.password?.toString('hex') ?? '',
      write: (hex) => {
        if (hex !== '') connection.setPassword(Buffer.from(hex, 'hex'));
      },
    },
    SecurityProfile: {
      read: () => String(connection.securityProfile),
      write: (value) => {
        const profile = Number(value);
        if ((profile === 1 || profile === 2 || profile === 3) && profile !== connection.securityProfile)
          connection.setSecurityProfile(profile);
      },
    },
  };
}

/** Keys whose change closes the connection after the answer. */
const reconnectingKeys: readonly string[] = ['AuthorizationKey', 'SecurityProfile'];

/**
 * White paper, A05: a profile may only be raised, and only to a profile that the station is ready for.
 * @param ready true: the station has the password or certificates that a profile needs
 */
export function profileCheck(connection: Pick<Connection, 'securityProfile'>, ready: (profile: 1 | 2 | 3) => boolean) {
  const check: KeyCheck = (value) => {
    const profile = Number(value) as 1 | 2 | 3;
    return profile > connection.securityProfile && ready(profile);
  };
  return check;
}

function behaviourOf(keys: Keys, autoAuthorize: boolean) {
  const timeoutS = keys.integer('ConnectionTimeOut');
  return {
    kind: 'evse.behaviour',
    connectionTimeoutS: timeoutS,
    authorizationTimeoutS: timeoutS,
    endOnEvDisconnect: keys.boolean('StopTransactionOnEVSideDisconnect'),
    unlockOnEvDisconnect: keys.boolean('UnlockConnectorOnEVSideDisconnect'),
    autoAuthorize,
  } as const;
}

/** Key of the attempts to set the behaviour. */
const behaviourAct = 'behaviour';

const behaviourKeys = [
  'ConnectionTimeOut',
  'StopTransactionOnEVSideDisconnect',
  'UnlockConnectorOnEVSideDisconnect',
] as const;

export function createKeyEffects({ device, connection, keys, releases, autoAuthorize }: EffectOptions): KeyEffects {
  // also in place of the behaviour that another version has set
  const behave = (): void => {
    releases.insist(behaviourAct, 'configuration keys have no effect at the device', () => {
      device.command(behaviourOf(keys, autoAuthorize));
    });
  };
  const ends = [
    ...behaviourKeys.map((key) => keys.onChange(key, behave)),
    keys.onChange('WebSocketPingInterval', (value) => {
      connection.setPingInterval(Number(value));
    }),
  ];
  return {
    apply: () => {
      behave();
      connection.setPingInterval(keys.integer('WebSocketPingInterval'));
    },
    stop: () => {
      releases.end(behaviourAct);
      for (const end of ends) end();
    },
  };
}

const reconnects = (key: string): boolean => reconnectingKeys.some((name) => name.toLowerCase() === key.toLowerCase());

interface ConfigurationPart extends Part {
  readonly handlers: {
    readonly GetConfiguration: Handler<'GetConfiguration'>;
    readonly ChangeConfiguration: Handler<'ChangeConfiguration'>;
  };
  /** A local change. @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setLocal(key: string, value: string): void;
}

interface ConfigurationNeeds {
  readonly connection: Pick<Connection, 'reconnect'>;
  readonly finding: StationParts['finding'];
}

export function createConfiguration(
  keys: KeySet,
  effects: KeyEffects,
  { connection, finding }: ConfigurationNeeds,
): ConfigurationPart {
  const reconnect = (key: string): void => {
    connection.reconnect(`${key} was changed`);
  };
  return {
    handlers: {
      GetConfiguration: (request) => {
        const max = keys.integer('GetConfigurationMaxKeys');
        const count = request.key?.length ?? 0;
        const text = `${count} keys, GetConfigurationMaxKeys is ${max}`;
        if (count > max) finding('OCPP 1.6 9.1', text, 'GetConfiguration', 'config_limits');
        return keys.get(request);
      },
      ChangeConfiguration: (request, after) => {
        const reply = keys.change(request);
        if (reply.status === 'Accepted' && reconnects(request.key))
          after(() => {
            reconnect(request.key);
          });
        return reply;
      },
    },
    setLocal: (key, value) => {
      keys.setLocal(key, value);
      if (reconnects(key)) reconnect(key);
    },
    stop: () => {
      effects.stop();
    },
  };
}
