/**
 * State of the transactions of a 2.x station, and their limits: those of 2.1 (E16), and the energy that is still
 * delivered for a refused token (MaxEnergyOnInvalidId, E05). The device applies limits of energy exactly; limits of
 * time and state of charge are checked here.
 */
import { z } from 'zod';
import { amount, instant, place, record, recordOf, serial } from '../../../core/slot-values.ts';
import type { SlotForm } from '../../../core/slot-values.ts';
import { ledgerMembers } from '../../transactions/ledger.ts';
import { idTokenIn } from '../stored.ts';
import type { Signal, Version2 } from '../../station/stack.ts';
import type { Insistence } from '../../station/insistence.ts';
import type { Ledger, LedgerRecord } from '../../transactions/ledger.ts';
import type { IdToken, ChargingStateEnum, ReasonEnum, TransactionLimit } from '../messages.ts';
import type { AnsweredEvent, Costs, MeterValues, StationParts, Transaction, Transactions } from '../parts.ts';
import type { TxPoint, Why } from './reasons.ts';
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';

export interface TransactionsDeps {
  /** samples of Started and Ended */
  readonly sample: MeterValues['sample'];
  /** members that tariffs add to the events of 2.1; absent: none */
  readonly costs?: Costs;
}

/** Token of an EVSE, as passed to `Transactions.authorized`. */
type Grant = Parameters<Transactions['authorized']>[1];

/** Token of the authorisation of an EVSE, with its group and ids. */
interface Bearer {
  readonly idToken: IdToken;
  readonly groupIdToken: IdToken | null;
  readonly remoteStartId: number | null;
  readonly reservationId: number | null;
}

/** A stop that the station requests from the device. */
export interface StopRequest extends Why {
  /** token presented for the stop */
  readonly idToken?: IdToken;
}

export interface TransactionsState {
  readonly parts: StationParts;
  readonly deps: TransactionsDeps;
  readonly ledger: TransactionLedger;
  readonly insistence: Insistence;
  readonly limits: Limits;
  readonly started: Signal<Transaction>;
  readonly ended: Signal<Transaction>;
  readonly answered: Signal<AnsweredEvent>;
  /** the last token of each EVSE, for the authorisation that the device reports */
  readonly grants: Map<number, Grant>;
  /** bearers by EVSE, while the EVSE is authorised */
  readonly bearers: Map<number, Bearer>;
  /** requests by EVSE, until the device reports the stop */
  readonly stopRequests: Map<number, StopRequest>;
  /** the points that held at each EVSE after the last transition */
  readonly seen: Map<number, ReadonlySet<TxPoint>>;
  /** instant of the loss of power, ms on the clock of the central system; null: the device has power */
  downSinceMs: number | null;
}

export const startPoints = ({ parts }: TransactionsState): readonly string[] =>
  parts.variables.list('TxCtrlr', 'TxStartPoint');
export const stopPoints = ({ parts }: TransactionsState): readonly string[] =>
  parts.variables.list('TxCtrlr', 'TxStopPoint');

// Limits of a transaction (2.1 E16).

/** Members of `transactionLimit` that a station supports. */
export const limitNames = [
  'maxCost',
  'maxEnergy',
  'maxTime',
  'maxSoC',
] as const satisfies readonly (keyof TransactionLimit)[];

/** Values that the events of a transaction have reported: each is sent once, and again after a change. */
export interface ReportedValues {
  /** time stamp of the last event, ms on the clock of the central system; absent: none, or kept by an earlier version */
  readonly atMs?: number;
  readonly connector: boolean;
  readonly idToken: boolean;
  readonly remoteStartId: boolean;
  readonly reservationId: boolean;
  readonly chargingState: ChargingStateEnum;
  readonly phases: number | null;
  readonly cableA: number | null;
}

export interface TransactionRecord extends Transaction, LedgerRecord {
  /** the transactionId */
  readonly key: string;
  /** the EVSE */
  readonly connectorId: number;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
  /** last session of the device in the transaction, running or ended; null: none yet */
  readonly lastSessionId: string | null;
  /** unrounded reading of the import register at the start, Wh */
  readonly startWh: number;
  readonly nextSeqNo: number;
  readonly told: ReportedValues;
  readonly chargingState: ChargingStateEnum;
  /** time in Charging up to `chargingSinceMs` */
  readonly chargedMs: number;
  /** null: not charging */
  readonly chargingSinceMs: number | null;
  /** reason of the end of the authorisation, before a stop point is reached; null: not ended */
  readonly why: ReasonEnum | null;
  /** null: none */
  readonly limit: TransactionLimit | null;
  /** reading of the import register up to which a refused token may charge; null: not refused */
  readonly refusedUntilWh: number | null;
}

const chargingState = z.enum(['EVConnected', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Idle']);

/** The form of a stored transaction. */
export function transactionForm(version: Version2): SlotForm<TransactionRecord> {
  const idToken = idTokenIn(version);
  return recordOf<TransactionRecord>({
    ...ledgerMembers,
    transactionId: z.string(),
    evseId: place,
    idToken: idToken.nullable(),
    groupIdToken: idToken.nullable(),
    remoteStartId: z.int().nullable(),
    reservationId: z.int().nullable(),
    sessionId: z.string().nullable(),
    lastSessionId: z.string().nullable(),
    startedMs: instant,
    meterStartWh: amount,
    startWh: amount,
    meterStopWh: amount.nullable(),
    stopReason: z.string().nullable(),
    nextSeqNo: serial,
    told: record<ReportedValues>({
      atMs: instant.optional(),
      connector: z.boolean(),
      idToken: z.boolean(),
      remoteStartId: z.boolean(),
      reservationId: z.boolean(),
      chargingState,
      phases: z.number().nullable(),
      cableA: z.number().nullable(),
    }),
    chargingState,
    chargedMs: amount,
    chargingSinceMs: instant.nullable(),
    why: z.string().nullable(),
    limit: z.record(z.string(), amount).nullable(),
    refusedUntilWh: amount.nullable(),
  });
}

type TransactionLedger = Ledger<TransactionRecord>;

export const nothingReported: ReportedValues = {
  connector: false,
  idToken: false,
  remoteStartId: false,
  reservationId: false,
  chargingState: 'Idle',
  phases: null,
  cableA: null,
};

/** Time in the state Charging up to an instant, ms. */
export function chargedMsAt({ chargedMs, chargingSinceMs }: TransactionRecord, atMs: number): number {
  return chargedMs + (chargingSinceMs === null ? 0 : Math.max(0, atMs - chargingSinceMs));
}

export function transactionEntry(record: TransactionRecord, queued: number): OcppTransactionEntry {
  return {
    transactionId: record.transactionId,
    sessionId: record.lastSessionId ?? '',
    connectorId: record.evseId,
    idToken: record.idToken?.idToken ?? '',
    startedMs: record.startedMs,
    endedMs: record.endedMs,
    meterStartWh: record.meterStartWh,
    meterStopWh: record.meterStopWh,
    stopReason: record.stopReason,
    queued,
  };
}

interface Limits {
  /** Puts the members of `limit` into force; other limits stay. @returns false: nothing has changed */
  set(key: string, limit: TransactionLimit): boolean;
  /** Limits the further energy of a transaction whose token was refused. */
  refused(key: string, energyWh: number): void;
  /** Ends the transaction if its cost, in the currency of the tariff, reaches `maxCost`. */
  spent(key: string, cost: number): void;
  /** Call it with each transition at the EVSE of a running transaction. */
  follow(record: TransactionRecord, transition: EvseConnectorTransition): void;
  /** True if the energy of a limit is used up. */
  isUsedUp(record: TransactionRecord, energyWh: number): boolean;
  /** Puts the limits of a transaction into force again after a restart. */
  resume(record: TransactionRecord): void;
  ended(key: string): void;
  stop(): void;
}

interface LimitsDeps {
  readonly ledger: TransactionLedger;
  readonly insistence: Insistence;
  /** Ends a transaction at the device. @throws SimError COMMAND_CONFLICT */
  readonly end: (record: TransactionRecord, why: Why) => void;
}

/** Interval of checks of the state of charge, on the clock of the central system. */
const socCheckMs = 1000;
/** Tolerance for the energy of a limit. */
const negligibleWh = 0.01;

const endings = {
  maxCost: { reason: 'LocalOutOfCredit', trigger: 'CostLimitReached' },
  maxEnergy: { reason: 'EnergyLimitReached', trigger: 'EnergyLimitReached' },
  maxTime: { reason: 'TimeLimitReached', trigger: 'TimeLimitReached' },
  maxSoC: { reason: 'SOCLimitReached', trigger: 'SoCLimitReached' },
} as const satisfies Record<(typeof limitNames)[number], Why>;

/** Reading of the import register at which `maxEnergy` is used up; Infinity: no such limit. */
function limitWh({ limit, startWh }: TransactionRecord): number {
  return limit?.maxEnergy === undefined ? Infinity : startWh + Math.max(0, limit.maxEnergy);
}

function merged(before: TransactionLimit | null, changes: TransactionLimit): TransactionLimit | null {
  const values = limitNames.flatMap((name) => {
    const value = changes[name] ?? before?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return values.length === 0 ? null : Object.fromEntries(values);
}

const isSame = (a: TransactionLimit | null, b: TransactionLimit | null) => limitNames.every((n) => a?.[n] === b?.[n]);

/** At most one timer per transaction. */
function createTimers({ clock }: Pick<StationParts, 'clock'>) {
  const timers = new Map<string, () => void>();
  const end = (key: string): void => {
    timers.get(key)?.();
    timers.delete(key);
  };
  return {
    at(key: string, ms: number, act: () => void): void {
      end(key);
      timers.set(key, clock.at(ms, act));
    },
    end,
    stop: () => {
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}

type LimitParts = Pick<StationParts, 'device' | 'clock'>;

/** Sets the energy limit of a transaction on the device. */
function bindEnergy({ device }: LimitParts, { insistence, ledger }: LimitsDeps, key: string): void {
  const record = ledger.get(key);
  // the device accepts a limit only in a session; `follow` sets the limit when the next session starts
  if (record?.endedMs !== null || record.sessionId === null) return;
  const untilWh = Math.min(limitWh(record), record.refusedUntilWh ?? Infinity);
  if (untilWh === Infinity) return;
  const { connectorId } = record;
  insistence.insist(`energy ${key}`, 'the energy limit of a transaction is not set', () => {
    const energyWh = Math.max(0, untilWh - device.connector(connectorId).energyWh);
    device.command({ kind: 'evse.energy_limit', connectorId, energyWh });
  });
}

/** Checks limits of time and state of charge, and ends transactions at their limits. */
function createWatch(parts: LimitParts, deps: LimitsDeps) {
  const { device, clock } = parts;
  const { ledger, insistence } = deps;
  const times = createTimers(parts);
  const socs = createTimers(parts);
  const end = (key: string, name: keyof typeof endings): void => {
    insistence.insist(`limit ${key}`, 'a transaction continues beyond its limit', () => {
      const record = ledger.get(key);
      if (record?.endedMs === null) deps.end(record, endings[name]);
    });
  };
  const watchSoc = (key: string): void => {
    const record = ledger.get(key);
    const maxPct = record?.limit?.maxSoC;
    if (record?.endedMs !== null || maxPct === undefined) return;
    if ((device.connector(record.connectorId).ev?.socPct ?? -1) >= maxPct) {
      end(key, 'maxSoC');
      return;
    }
    socs.at(key, clock.nowMs() + socCheckMs, () => {
      watchSoc(key);
    });
  };
  return {
    end,
    watch({ key, limit, startedMs }: TransactionRecord): void {
      if (limit?.maxTime !== undefined)
        times.at(key, startedMs + Math.max(0, limit.maxTime) * 1000, () => {
          end(key, 'maxTime');
        });
      watchSoc(key);
    },
    ended(key: string): void {
      times.end(key);
      socs.end(key);
    },
    stop(): void {
      times.stop();
      socs.stop();
    },
  };
}

export function createLimits(parts: LimitParts, deps: LimitsDeps): Limits {
  const { device } = parts;
  const { ledger, insistence } = deps;
  const { end, ...watch } = createWatch(parts, deps);
  const isUsedUp = (record: TransactionRecord, energyWh: number) => energyWh >= limitWh(record) - negligibleWh;
  const bind = (record: TransactionRecord): void => {
    const { key, connectorId } = record;
    bindEnergy(parts, deps, key);
    if (isUsedUp(record, device.connector(connectorId).energyWh)) end(key, 'maxEnergy');
    watch.watch(record);
  };
  return {
    set(key, changes) {
      const record = ledger.get(key);
      if (record?.endedMs !== null) return false;
      const limit = merged(record.limit, changes);
      if (isSame(record.limit, limit)) return false;
      const changed = ledger.change(key, { limit });
      if (changed !== null) bind(changed);
      return true;
    },
    refused(key, energyWh) {
      const record = ledger.get(key);
      if (record?.endedMs !== null) return;
      ledger.change(key, { refusedUntilWh: device.connector(record.connectorId).energyWh + Math.max(0, energyWh) });
      bindEnergy(parts, deps, key);
    },
    spent(key, cost) {
      const maxCost = ledger.get(key)?.limit?.maxCost;
      if (maxCost !== undefined && cost >= maxCost) end(key, 'maxCost');
    },
    follow({ key }, transition) {
      if (transition.sessionChange === 'started') bindEnergy(parts, deps, key);
      const record = ledger.get(key);
      if (transition.event === 'evse_hold' && record !== null && isUsedUp(record, transition.connector.energyWh))
        end(key, 'maxEnergy');
    },
    isUsedUp,
    resume: bind,
    ended(key) {
      for (const kind of ['energy', 'limit', 'refused']) insistence.end(`${kind} ${key}`);
      watch.ended(key);
    },
    stop() {
      watch.stop();
    },
  };
}
