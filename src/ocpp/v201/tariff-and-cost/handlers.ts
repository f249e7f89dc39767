/** Calls of the central system about tariffs (2.1, I07 and I09 to I11). */
import type { Logger } from '../../../core/log/log.ts';
import { instant, place, readEach, recordOf } from '../../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import { createSaver, instantOf } from '../../station/stack.ts';
import { tokenKey } from '../authorization/tokens.ts';
import type { CustomerRecords } from '../diagnostics.ts';
import type { ClearTariffsResult, IdToken, Tariff, TariffAssignment } from '../messages.ts';
import type { Handlers, Replies, Requests, StationParts, Transactions } from '../parts.ts';
import type { CostMetering } from './metering.ts';
import { idTokenIn, storedTariff } from '../stored.ts';
import { tariffIssue } from './rules.ts';
import type { TariffIssue } from './rules.ts';

// Default tariffs of the EVSEs (I07, I10), kept over a restart.

/** Maximum number of default tariffs of a station, counted once per EVSE. */
const maxInstalled = 200;

interface InstalledTariff {
  readonly evseId: number;
  readonly tariff: Tariff;
  /** ms since the epoch; not before the tariff was installed */
  readonly validFromMs: number;
}

const installedForm = recordOf<InstalledTariff>({ evseId: place, tariff: storedTariff, validFromMs: instant });

export interface InstalledTariffs {
  /** in the order of installation, without replaced tariffs */
  readonly all: readonly InstalledTariff[];
  /** The tariff in force at an EVSE; null: none. */
  at(evseId: number): Tariff | null;
  /** @returns false: the station has too many tariffs */
  install(evseIds: readonly number[], tariff: Tariff): boolean;
  /** Removes and returns the tariffs for which `fits` is true. */
  remove(fits: (installed: InstalledTariff) => boolean): readonly InstalledTariff[];
  load(): Promise<void>;
}

/** The default tariff of an EVSE at an instant: the latest validity decides, then the last installation. */
function inForce(all: readonly InstalledTariff[], evseId: number, nowMs: number): InstalledTariff | null {
  return all
    .filter((each) => each.evseId === evseId && each.validFromMs <= nowMs)
    .reduce<InstalledTariff | null>(
      (latest, each) => (latest === null || each.validFromMs >= latest.validFromMs ? each : latest),
      null,
    );
}

export function createInstalledTariffs(
  slot: Slot,
  nowMs: () => number,
  log: Pick<Logger, 'error' | 'warning'>,
): InstalledTariffs {
  let installed: readonly InstalledTariff[] = [];
  const saver = createSaver(slot, () => installed as unknown as readonly JsonValue[], log);
  /** Tariffs that are in force or will be: a later one replaces those that were valid before it. */
  const current = () => {
    const instantMs = nowMs();
    return installed.filter(
      (each) => each.validFromMs > instantMs || inForce(installed, each.evseId, instantMs) === each,
    );
  };
  return {
    get all() {
      return current();
    },
    at: (evseId) => inForce(installed, evseId, nowMs())?.tariff ?? null,
    install(evseIds, tariff) {
      const instantMs = nowMs();
      const validFromMs = Math.max(instantMs, tariff.validFrom === undefined ? instantMs : instantOf(tariff.validFrom));
      const stays = (old: InstalledTariff) => !(evseIds.includes(old.evseId) && old.validFromMs === validFromMs);
      const next = [...current().filter(stays), ...evseIds.map((evseId) => ({ evseId, tariff, validFromMs }))];
      if (next.length > maxInstalled) return false;
      installed = next;
      saver.save();
      return true;
    },
    remove(fits) {
      const all = current();
      const removed = all.filter(fits);
      installed = all.filter((each) => !removed.includes(each));
      saver.save();
      return removed;
    },
    async load() {
      installed = await readEach(slot, installedForm, log);
    },
  };
}

// Tariffs of drivers from answers to Authorize (I08), kept over a restart.

/** Maximum number of tariffs of drivers; the oldest is dropped beyond it. */
const maxDrivers = 200;

export interface DriverTariff {
  readonly idToken: IdToken;
  /** null: the central system calculates the cost (HandleFailedTariff) */
  readonly tariff: Tariff | null;
}

const driverForm = recordOf<DriverTariff>({ idToken: idTokenIn('ocpp2.1'), tariff: storedTariff.nullable() });

export interface DriverTariffs {
  readonly all: readonly DriverTariff[];
  /** null: the central system has given no tariff for the token */
  find(idToken: IdToken): DriverTariff | null;
  put(driver: DriverTariff): void;
  remove(idToken: IdToken): void;
  load(): Promise<void>;
}

export function createDriverTariffs(slot: Slot, log: Pick<Logger, 'error' | 'warning'>): DriverTariffs {
  const drivers = new Map<string, DriverTariff>();
  const saver = createSaver(slot, () => [...drivers.values()] as unknown as readonly JsonValue[], log);
  return {
    get all() {
      return [...drivers.values()];
    },
    find: (idToken) => drivers.get(tokenKey(idToken)) ?? null,
    put(driver) {
      const key = tokenKey(driver.idToken);
      drivers.delete(key);
      drivers.set(key, driver);
      const [oldest] = drivers.keys();
      if (drivers.size > maxDrivers && oldest !== undefined) drivers.delete(oldest);
      saver.save();
    },
    remove(idToken) {
      if (drivers.delete(tokenKey(idToken))) saver.save();
    },
    async load() {
      for (const driver of await readEach(slot, driverForm, log)) drivers.set(tokenKey(driver.idToken), driver);
    },
  };
}

/** Tariffs of drivers for CustomerInformation; a running transaction keeps its tariff. */
export function driverRecords(drivers: Pick<DriverTariffs, 'all' | 'remove'>): CustomerRecords {
  return {
    about: (isCustomer) =>
      drivers.all
        .filter(({ idToken }) => isCustomer(idToken))
        .map(({ tariff }) => `tariff of the driver: ${tariff?.tariffId ?? 'none, the central system calculates'}`),
    clear(isCustomer) {
      const ofCustomer = drivers.all.filter(({ idToken }) => isCustomer(idToken));
      for (const { idToken } of ofCustomer) drivers.remove(idToken);
      return ofCustomer.length === 0 ? [] : [`tariff of the driver: ${ofCustomer.length} removed`];
    },
  };
}

interface TariffWork {
  readonly parts: StationParts;
  readonly transactions: Pick<Transactions, 'running' | 'byId' | 'update'>;
  readonly installed: InstalledTariffs;
  readonly drivers: DriverTariffs;
  readonly metering: CostMetering;
  /** Prices a running transaction by another tariff. */
  readonly change: (transactionId: string, tariff: Tariff) => void;
}

/** @throws CallError if TariffCostCtrlr.Enabled[`instance`] is false */
export function expectEnabled({ version, variables }: StationParts, instance: 'Tariff' | 'Cost'): void {
  if (variables.boolean('TariffCostCtrlr', `Enabled[${instance}]`)) return;
  throw new CallError(errorCode(version, 'unsupportedAction'), `TariffCostCtrlr.Enabled[${instance}] is false`);
}

/** null: the station can calculate with the tariff */
export function issueOf({ variables }: StationParts, tariff: Tariff): TariffIssue | null {
  return tariffIssue(tariff, {
    maxElements: variables.integer('TariffCostCtrlr', 'MaxElements[Tariff]'),
    conditionsSupported: variables.boolean('TariffCostCtrlr', 'ConditionsSupported[Tariff]'),
  });
}

const unknownEvse = { reasonCode: 'UnknownEvse', additionalInfo: 'there is no such EVSE' };

function setDefaultTariff(
  work: TariffWork,
  { evseId, tariff }: Requests['SetDefaultTariff'],
): Replies['SetDefaultTariff'] {
  const { parts, installed, drivers, metering } = work;
  expectEnabled(parts, 'Tariff');
  const { connectorIds } = parts.device;
  if (evseId !== 0 && !connectorIds.includes(evseId)) return { status: 'Rejected', statusInfo: unknownEvse };
  const tariffs = [...installed.all, ...drivers.all, ...metering.running];
  if (tariffs.some((each) => each.tariff?.tariffId === tariff.tariffId)) return { status: 'DuplicateTariffId' };
  const issue = issueOf(parts, tariff);
  if (issue !== null) return issue;
  if (installed.install(evseId === 0 ? connectorIds : [evseId], tariff)) return { status: 'Accepted' };
  return { status: 'Rejected', statusInfo: { reasonCode: 'OutOfStorage', additionalInfo: 'too many tariffs' } };
}

const sorted = (evseIds: readonly number[]) => [...new Set(evseIds)].sort((a, b) => a - b);

/** @param evseId 0: all EVSEs */
function assignments({ transactions, installed, drivers, metering }: TariffWork, evseId: number) {
  const here = (each: { readonly evseId: number }) => evseId === 0 || each.evseId === evseId;
  const defaults = [...installed.all, ...metering.running.filter(({ kind }) => kind === 'DefaultTariff')].filter(here);
  const defaultIds = [...new Set(defaults.map(({ tariff }) => tariff.tariffId))];
  const ofDefaults = defaultIds.map((tariffId): TariffAssignment => {
    const same = defaults.filter(({ tariff }) => tariff.tariffId === tariffId);
    const validFrom = same[0]?.tariff.validFrom;
    const evseIds = sorted(same.map((each) => each.evseId));
    return { tariffId, tariffKind: 'DefaultTariff', evseIds, ...(validFrom !== undefined && { validFrom }) };
  });
  const running = metering.running.filter(({ kind }) => kind === 'DriverTariff');
  const tokenOf = (transactionId: string) => transactions.byId(transactionId)?.idToken ?? null;
  const used = running.filter(here);
  const waiting = evseId === 0 ? drivers.all : [];
  const driverIds = [
    ...used.map(({ tariff }) => tariff.tariffId),
    ...waiting.flatMap(({ tariff }) => (tariff === null ? [] : [tariff.tariffId])),
  ];
  const ofDrivers = [...new Set(driverIds)].map((tariffId): TariffAssignment => {
    const at = used.filter(({ tariff }) => tariff.tariffId === tariffId);
    const tokens = [
      ...at.map(({ transactionId }) => tokenOf(transactionId)),
      ...waiting.filter(({ tariff }) => tariff?.tariffId === tariffId).map(({ idToken }) => idToken),
    ].filter((token) => token !== null);
    const idTokens = [...new Map(tokens.map((token) => [tokenKey(token), token.idToken])).values()];
    return {
      tariffId,
      tariffKind: 'DriverTariff',
      ...(at.length > 0 && { evseIds: sorted(at.map((each) => each.evseId)) }),
      ...(idTokens.length > 0 && { idTokens }),
    };
  });
  return [...ofDefaults, ...ofDrivers];
}

function getTariffs(work: TariffWork, { evseId }: Requests['GetTariffs']): Replies['GetTariffs'] {
  expectEnabled(work.parts, 'Tariff');
  if (evseId !== 0 && !work.parts.device.connectorIds.includes(evseId))
    return { status: 'Rejected', statusInfo: unknownEvse };
  const tariffAssignments = assignments(work, evseId);
  return tariffAssignments.length === 0 ? { status: 'NoTariff' } : { status: 'Accepted', tariffAssignments };
}

function clearTariffs({ parts, installed }: TariffWork, request: Requests['ClearTariffs']): Replies['ClearTariffs'] {
  expectEnabled(parts, 'Tariff');
  const { evseId, tariffIds } = request;
  if (evseId !== undefined && evseId !== 0 && !parts.device.connectorIds.includes(evseId))
    return { clearTariffsResult: [{ status: 'Rejected', statusInfo: unknownEvse }] };
  const everywhere = evseId === undefined || evseId === 0;
  const removed = installed.remove(
    (each) => (everywhere || each.evseId === evseId) && tariffIds?.includes(each.tariff.tariffId) !== false,
  );
  const removedIds = [...new Set(removed.map(({ tariff }) => tariff.tariffId))];
  if (removedIds.length === 0) return { clearTariffsResult: [{ status: 'NoTariff' }] };
  const clearTariffsResult = [...new Set(tariffIds ?? removedIds)].map(
    (tariffId): ClearTariffsResult => ({ tariffId, status: removedIds.includes(tariffId) ? 'Accepted' : 'NoTariff' }),
  );
  return { clearTariffsResult };
}

function changeTariff(work: TariffWork, request: Requests['ChangeTransactionTariff']) {
  const { parts, transactions, metering } = work;
  const { transactionId, tariff } = request;
  expectEnabled(parts, 'Tariff');
  expectEnabled(parts, 'Cost');
  if (transactions.byId(transactionId) === null) return { status: 'TxNotFound' } as const;
  const issue = issueOf(parts, tariff);
  if (issue !== null) return issue;
  const priced = metering.get(transactionId);
  if (priced !== null && priced.tariff.currency !== tariff.currency) return { status: 'NoCurrencyChange' } as const;
  work.change(transactionId, tariff);
  return { status: 'Accepted' } as const;
}

export function tariffHandlers(work: TariffWork): Handlers {
  return {
    SetDefaultTariff: (request) => setDefaultTariff(work, request),
    GetTariffs: (request) => getTariffs(work, request),
    ClearTariffs: (request) => clearTariffs(work, request),
    ChangeTransactionTariff(request, after) {
      const reply = changeTariff(work, request);
      const evseId = work.transactions.byId(request.transactionId)?.evseId;
      if (reply.status === 'Accepted' && evseId !== undefined)
        after(() => void work.transactions.update(evseId, 'TariffChanged'));
      return reply;
    },
  };
}
