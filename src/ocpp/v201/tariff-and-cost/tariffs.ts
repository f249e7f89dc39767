/**
 * Tariffs and costs (block I): the displays show those of the central system, and a station of 2.1
 * calculates the cost of a transaction for which it has a tariff.
 */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import { sameToken } from '../authorization/tokens.ts';
import type { CustomerRecords } from '../diagnostics.ts';
import type { CostDetails, IdToken } from '../messages.ts';
import type {
  AnsweredEvent,
  Costs,
  EventExtras,
  Handler,
  Handlers,
  Part,
  Replies,
  StationParts,
  Transaction,
  Transactions,
} from '../parts.ts';
import {
  createDriverTariffs,
  createInstalledTariffs,
  driverRecords,
  expectEnabled,
  issueOf,
  tariffHandlers,
} from './handlers.ts';
import type { DriverTariff, DriverTariffs, InstalledTariffs } from './handlers.ts';
import { createCostMetering, createPacer } from './metering.ts';
import type { Choice, CostMetering, PricedTransaction } from './metering.ts';
import { costDetails, totalCost } from './rules.ts';
import { createScreen } from './screen.ts';
import type { Screen } from './screen.ts';

export interface TariffsDeps {
  readonly transactions: Pick<
    Transactions,
    'running' | 'byId' | 'at' | 'update' | 'onStarted' | 'onEnded' | 'onAnswered'
  > & {
    /** Reports the cost of a running transaction so far, with taxes: its maximum may be reached (E16). */
    spent(transactionId: string, cost: number): void;
  };
  /** True if list or cache has a token: its tariff is kept for a start without Authorize. Default: no. */
  readonly isCached?: (idToken: IdToken) => boolean;
  /** How long a reservation has lasted, s; null: unknown. Default: unknown. */
  readonly reservedS?: (reservationId: number) => number | null;
}

export interface Tariffs extends Part, Costs, Pick<Screen, 'texts' | 'languages'> {
  /** for CustomerInformation */
  readonly records: CustomerRecords;
  /** The cost of a running transaction by its tariff now; null: no tariff prices it. */
  costOf(transaction: Pick<Transaction, 'transactionId'>): CostDetails | null;
  /**
   * Call it with each answer to Authorize.
   * @param evseId at which the token was presented; 0: unknown
   * @returns false: the token may not charge, since its tariff cannot be used (HandleFailedTariff)
   */
  authorized(evseId: number, idToken: IdToken, reply: Replies['Authorize']): boolean;
}

interface TariffsState {
  readonly parts: StationParts;
  readonly deps: TariffsDeps;
  readonly installed: InstalledTariffs;
  readonly drivers: DriverTariffs;
  readonly metering: CostMetering;
  readonly screen: Screen;
  /** tariff reported by an event, by transaction */
  readonly reportedTariffs: Map<string, string>;
}

const isLocal = ({ parts: { version, variables } }: Pick<TariffsState, 'parts'>) =>
  version === 'ocpp2.1' &&
  variables.boolean('TariffCostCtrlr', 'Enabled[Tariff]') &&
  variables.boolean('TariffCostCtrlr', 'Enabled[Cost]');

const grossOf = ({ cost, tariff }: PricedTransaction) => totalCost(cost, tariff).total.inclTax ?? 0;

/**
 * Assigns a tariff to a transaction when it begins, or later when its driver gets a tariff. A default tariff that is
 * installed while the transaction runs does not apply to it.
 */
function assignTariff(state: TariffsState, transaction: Transaction, begins: boolean): PricedTransaction | null {
  const { metering, deps, drivers, installed } = state;
  const { transactionId, reservationId, evseId, idToken } = transaction;
  const before = metering.get(transactionId);
  if (before?.kind === 'DriverTariff') return before;
  const driver = idToken === null ? null : drivers.find(idToken);
  if (driver?.tariff === null) {
    // the central system calculates the cost, even if the EVSE has a tariff
    metering.end(transactionId);
    return null;
  }
  const ofDriver: Choice | null = driver === null ? null : { tariff: driver.tariff, kind: 'DriverTariff' };
  if (before !== null && ofDriver === null) return before;
  if (before !== null && ofDriver !== null && before.cost.energyWh !== 0)
    return metering.change(transactionId, ofDriver);
  const ofEvse = begins ? installed.at(evseId) : null;
  const choice = ofDriver ?? (ofEvse === null ? null : ({ tariff: ofEvse, kind: 'DefaultTariff' } as const));
  if (choice === null) return null;
  return metering.begin(transaction, choice, reservationId === null ? null : (deps.reservedS?.(reservationId) ?? 0));
}

function extras(
  state: TariffsState,
  transaction: Transaction,
  eventType: 'Started' | 'Updated' | 'Ended',
  transition?: EvseConnectorTransition,
): Pick<EventExtras, 'costDetails' | 'tariffId'> {
  const { transactionId } = transaction;
  if (!isLocal(state) || assignTariff(state, transaction, eventType === 'Started') === null) return {};
  const step = state.metering.step(transactionId, transition);
  if (step === null) return {};
  const { tariffId } = step.tariff;
  const isNew = state.reportedTariffs.get(transactionId) !== tariffId;
  state.reportedTariffs.set(transactionId, tariffId);
  const withPeriods = eventType === 'Ended';
  const reportsRunningCost = state.parts.variables.boolean('TariffCostCtrlr', 'Enabled[RunningCost]');
  const hasDetails = withPeriods || (eventType === 'Started' && reportsRunningCost);
  return {
    ...(isNew && { tariffId }),
    ...(hasDetails && { costDetails: costDetails(step.cost, step.tariff, { withPeriods }) }),
  };
}

/** Stores the tariff of a driver, or applies HandleFailedTariff. @returns false: the token may not charge */
function storeDriverTariff(
  { parts, drivers }: TariffsState,
  idToken: IdToken,
  { tariff }: Replies['Authorize'],
): boolean {
  const { version, variables, log, device, finding } = parts;
  if (version !== 'ocpp2.1') return true;
  if (tariff === undefined) {
    drivers.remove(idToken);
    return true;
  }
  const enabled = variables.boolean('TariffCostCtrlr', 'Enabled[Tariff]');
  const issue = enabled ? issueOf(parts, tariff) : { status: 'tariffs are disabled' };
  if (variables.text('TariffCostCtrlr', 'Problem') !== String(issue !== null))
    variables.set('TariffCostCtrlr', 'Problem', String(issue !== null));
  if (tariff.validFrom !== undefined)
    finding('OCPP 2.1 I08.FR.09', 'a tariff of a driver has validFrom, which is ignored', 'Authorize', 'request_rule');
  if (issue === null) {
    drivers.put({ idToken, tariff });
    return true;
  }
  log.warning(`the tariff of a driver cannot be used: ${issue.status}`, device.deviceIndex);
  const strategy = variables.text('TariffCostCtrlr', 'HandleFailedTariff[Tariff]');
  const withoutTariff: DriverTariff = { idToken, tariff: null };
  if (strategy === 'CentralCost') drivers.put(withoutTariff);
  else drivers.remove(idToken);
  return strategy !== 'Deauthorize';
}

/** Reports the cost from the central system, else the cost by the tariff. */
function reportSpent({ metering, screen, deps }: TariffsState, transactionId: string): void {
  const local = metering.get(transactionId);
  const cost = screen.totalCost(transactionId) ?? (local === null ? null : grossOf(local));
  if (cost !== null) deps.transactions.spent(transactionId, cost);
}

function answered(state: TariffsState, { evseId, transactionId, reply }: AnsweredEvent): void {
  state.screen.answered(evseId, transactionId, reply);
  if (state.deps.transactions.byId(transactionId) !== null) reportSpent(state, transactionId);
}

function ended(state: TariffsState, { transactionId, evseId, idToken }: Transaction): void {
  const { metering, screen, drivers, deps } = state;
  const last = metering.end(transactionId);
  screen.ended(evseId, transactionId, last === null ? null : grossOf(last));
  state.reportedTariffs.delete(transactionId);
  if (idToken === null || deps.isCached?.(idToken) === true) return;
  const isUsedByOthers = deps.transactions.running.some(
    (each) => each.transactionId !== transactionId && sameToken(each.idToken, idToken),
  );
  if (!isUsedByOthers) drivers.remove(idToken);
}

const costUpdated =
  (state: TariffsState): Handler<'CostUpdated'> =>
  ({ transactionId, totalCost: cost }) => {
    const { version } = state.parts;
    expectEnabled(state.parts, 'Cost');
    // the answer has no status, so that an unknown transaction can only be refused by an error
    if (!state.screen.cost(transactionId, cost))
      throw new CallError(errorCode(version, 'value'), 'the transaction is unknown');
    reportSpent(state, transactionId);
    return {};
  };

function createState(parts: StationParts, deps: TariffsDeps): TariffsState {
  const { store, log, clock } = parts;
  const installed = createInstalledTariffs(store('tariffs'), () => clock.nowMs(), log);
  const drivers = createDriverTariffs(store('driver-tariffs'), log);
  const metering = createCostMetering(parts);
  const at = (evseId: number) => metering.running.find((each) => each.evseId === evseId) ?? null;
  const screen = createScreen(parts, {
    localCost: (evseId) => {
      const transaction = at(evseId);
      return transaction === null ? null : grossOf(transaction);
    },
    tariffAt: (evseId) => at(evseId)?.tariff ?? installed.at(evseId),
    transactionAt: (evseId) => deps.transactions.at(evseId)?.transactionId ?? null,
  });
  return { parts, deps, installed, drivers, metering, screen, reportedTariffs: new Map() };
}

async function load({ installed, drivers, metering, reportedTariffs }: TariffsState): Promise<void> {
  await Promise.all([installed.load(), drivers.load(), metering.load()]);
  for (const { transactionId, tariff } of metering.running) reportedTariffs.set(transactionId, tariff.tariffId);
}

function handlersOf(state: TariffsState, wake: () => void): Handlers {
  const { deps, metering } = state;
  const { transactions } = deps;
  return {
    CostUpdated: costUpdated(state),
    ...tariffHandlers({
      ...state,
      transactions,
      change(transactionId, tariff) {
        const choice: Choice = { tariff, kind: 'DriverTariff' };
        const transaction = transactions.byId(transactionId);
        if (metering.change(transactionId, choice) === null && transaction !== null)
          metering.begin(transaction, choice, null);
        wake();
      },
    }),
  };
}

function listen(state: TariffsState, wake: () => void): (() => void)[] {
  const { transactions } = state.deps;
  return [
    transactions.onStarted((transaction) => {
      state.screen.started(transaction.evseId, transaction.transactionId);
      if (isLocal(state)) assignTariff(state, transaction, true);
      wake();
    }),
    transactions.onEnded((transaction) => {
      ended(state, transaction);
    }),
    transactions.onAnswered((event) => {
      answered(state, event);
    }),
  ];
}

/** Load it before the transactions: their restored ends report costs. */
export function createTariffs(parts: StationParts, deps: TariffsDeps): Tariffs {
  const state = createState(parts, deps);
  const { metering, screen } = state;
  const pacer = createPacer(parts, {
    metering,
    transactions: deps.transactions,
    isLocal: () => isLocal(state),
    onReading: (transactionId) => {
      reportSpent(state, transactionId);
    },
  });
  const wake = () => {
    pacer.wake();
  };
  const ends: (() => void)[] = [];
  return {
    texts: (evseId) => screen.texts(evseId),
    languages: (evseId) => screen.languages(evseId),
    records: driverRecords(state.drivers),
    extras(transaction, eventType, transition) {
      const members = extras(state, transaction, eventType, transition);
      wake();
      return members;
    },
    costOf({ transactionId }) {
      const step = isLocal(state) ? metering.step(transactionId) : null;
      return step === null ? null : costDetails(step.cost, step.tariff, { withPeriods: true });
    },
    authorized(evseId, idToken, reply) {
      if (evseId !== 0 && reply.idTokenInfo.status === 'Accepted') screen.identified(evseId, reply.idTokenInfo);
      return reply.idTokenInfo.status !== 'Accepted' || storeDriverTariff(state, idToken, reply);
    },
    handlers: handlersOf(state, wake),
    async load() {
      await load(state);
      ends.push(...listen(state, wake));
      pacer.start();
    },
    stop() {
      for (const end of ends.splice(0)) end();
      pacer.stop();
      screen.stop();
    },
  };
}
