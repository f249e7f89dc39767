/** Calls of the central system about tariffs (2.1, I07 and I09 to I11). */
import { errorCode } from '../../rpc/errors.ts';
import { CallError } from '../../rpc/model.ts';
import { tokenKey } from '../auth/token.ts';
import type { ClearTariffsResult, Tariff, TariffAssignment } from '../messages.ts';
import type { Handlers, Replies, Requests, StationParts, Transactions } from '../parts.ts';
import type { DriverTariffs } from './drivers.ts';
import type { InstalledTariffs } from './installed.ts';
import type { CostMetering } from './metering.ts';
import { tariffIssue } from './rules.ts';
import type { TariffIssue } from './rules.ts';

export interface TariffWork {
  readonly parts: StationParts;
  readonly transactions: Pick<Transactions, 'running' | 'byId' | 'update'>;
  readonly installed: InstalledTariffs;
  readonly drivers: DriverTariffs;
  readonly metering: CostMetering;
  /** Prices a running transaction by another tariff. */
  readonly change: (transactionId: string, tariff: Tariff) => void;
}

/** @throws CallError while the station calculates with no tariff */
export function expectEnabled({ version, variables }: StationParts, what: 'Tariff' | 'Cost'): void {
  if (variables.boolean('TariffCostCtrlr', `Enabled[${what}]`)) return;
  throw new CallError(errorCode(version, 'unsupportedAction'), `TariffCostCtrlr.Enabled[${what}] is false`);
}

/** Null: the station can calculate with it. */
export function issueOf({ variables }: StationParts, tariff: Tariff): TariffIssue | null {
  return tariffIssue(tariff, {
    maxElements: variables.integer('TariffCostCtrlr', 'MaxElements[Tariff]'),
    conditionsSupported: variables.boolean('TariffCostCtrlr', 'ConditionsSupported[Tariff]'),
  });
}

const unknownEvse = { reasonCode: 'UnknownEvse', additionalInfo: 'there is no such EVSE' };

function setDefault(work: TariffWork, { evseId, tariff }: Requests['SetDefaultTariff']): Replies['SetDefaultTariff'] {
  const { parts, installed, drivers, metering } = work;
  expectEnabled(parts, 'Tariff');
  const { connectorIds } = parts.device;
  if (evseId !== 0 && !connectorIds.includes(evseId)) return { status: 'Rejected', statusInfo: unknownEvse };
  const known = [...installed.all, ...drivers.all, ...metering.running];
  if (known.some((each) => each.tariff?.tariffId === tariff.tariffId)) return { status: 'DuplicateTariffId' };
  const issue = issueOf(parts, tariff);
  if (issue !== null) return issue;
  if (installed.install(evseId === 0 ? connectorIds : [evseId], tariff)) return { status: 'Accepted' };
  return { status: 'Rejected', statusInfo: { reasonCode: 'OutOfStorage', additionalInfo: 'too many tariffs' } };
}

const sorted = (evseIds: readonly number[]) => [...new Set(evseIds)].sort((a, b) => a - b);

/** @param evseId 0: all */
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

function get(work: TariffWork, { evseId }: Requests['GetTariffs']): Replies['GetTariffs'] {
  expectEnabled(work.parts, 'Tariff');
  if (evseId !== 0 && !work.parts.device.connectorIds.includes(evseId))
    return { status: 'Rejected', statusInfo: unknownEvse };
  const tariffAssignments = assignments(work, evseId);
  return tariffAssignments.length === 0 ? { status: 'NoTariff' } : { status: 'Accepted', tariffAssignments };
}

function clear({ parts, installed }: TariffWork, request: Requests['ClearTariffs']): Replies['ClearTariffs'] {
  expectEnabled(parts, 'Tariff');
  const { evseId, tariffIds } = request;
  if (evseId !== undefined && evseId !== 0 && !parts.device.connectorIds.includes(evseId))
    return { clearTariffsResult: [{ status: 'Rejected', statusInfo: unknownEvse }] };
  const everywhere = evseId === undefined || evseId === 0;
  const removed = installed.remove(
    (each) => (everywhere || each.evseId === evseId) && tariffIds?.includes(each.tariff.tariffId) !== false,
  );
  const found = [...new Set(removed.map(({ tariff }) => tariff.tariffId))];
  if (found.length === 0) return { clearTariffsResult: [{ status: 'NoTariff' }] };
  const clearTariffsResult = [...new Set(tariffIds ?? found)].map(
    (tariffId): ClearTariffsResult => ({ tariffId, status: found.includes(tariffId) ? 'Accepted' : 'NoTariff' }),
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
  const now = metering.get(transactionId);
  if (now !== null && now.tariff.currency !== tariff.currency) return { status: 'NoCurrencyChange' } as const;
  work.change(transactionId, tariff);
  return { status: 'Accepted' } as const;
}

export function tariffHandlers(work: TariffWork): Handlers {
  return {
    SetDefaultTariff: (request) => setDefault(work, request),
    GetTariffs: (request) => get(work, request),
    ClearTariffs: (request) => clear(work, request),
    ChangeTransactionTariff(request, after) {
      const reply = changeTariff(work, request);
      const evseId = work.transactions.byId(request.transactionId)?.evseId;
      if (reply.status === 'Accepted' && evseId !== undefined)
        after(() => void work.transactions.update(evseId, 'TariffChanged'));
      return reply;
    },
  };
}
