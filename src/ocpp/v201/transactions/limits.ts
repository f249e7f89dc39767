/**
 * Bounds of a running transaction: the limits of 2.1 (E16), and the energy that a refused token may still take
 * (MaxEnergyOnInvalidId, E05). The device stops the energy exactly; time and state of charge are watched here.
 */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { Insistence } from '../../transactions/ledger.ts';
import type { TransactionLimit } from '../messages.ts';
import type { StationParts } from '../parts.ts';
import { limitNames } from './record.ts';
import type { Why } from './reasons.ts';
import type { TransactionLedger, TransactionRecord } from './record.ts';

export interface Limits {
  /** The members that are there replace those in force. @returns false: nothing has changed */
  set(key: string, limit: TransactionLimit): boolean;
  /** The central system has not accepted the token, and the transaction goes on with `energyWh` more. */
  refused(key: string, energyWh: number): void;
  /** The cost so far, in the currency of the tariff. */
  spent(key: string, cost: number): void;
  /** A transition at the EVSE of a running transaction. */
  follow(record: TransactionRecord, t: EvseConnectorTransition): void;
  /** True if the energy of a limit is used up. */
  isUsedUp(record: TransactionRecord, energyWh: number): boolean;
  ended(key: string): void;
  stop(): void;
}

interface LimitsDeps {
  readonly ledger: TransactionLedger;
  readonly insistence: Insistence;
  /** Ends a transaction at the device. @throws SimError COMMAND_CONFLICT */
  readonly end: (record: TransactionRecord, why: Why) => void;
}

/** Between two looks at the state of charge, on the clock of the central system. */
const socLookMs = 1000;
/** Less than this is not seen by a meter. */
const negligibleWh = 0.01;

const reached = {
  maxCost: { reason: 'LocalOutOfCredit', trigger: 'CostLimitReached' },
  maxEnergy: { reason: 'EnergyLimitReached', trigger: 'EnergyLimitReached' },
  maxTime: { reason: 'TimeLimitReached', trigger: 'TimeLimitReached' },
  maxSoC: { reason: 'SOCLimitReached', trigger: 'SoCLimitReached' },
} as const satisfies Record<(typeof limitNames)[number], Why>;

/** Reading of the import register at which `maxEnergy` is used up; Infinity: there is no such limit. */
function limitWh({ limit, startWh }: TransactionRecord): number {
  return limit?.maxEnergy === undefined ? Infinity : startWh + Math.max(0, limit.maxEnergy);
}

function merged(before: TransactionLimit | null, given: TransactionLimit): TransactionLimit | null {
  const values = limitNames.flatMap((name) => {
    const value = given[name] ?? before?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return values.length === 0 ? null : Object.fromEntries(values);
}

const isSame = (a: TransactionLimit | null, b: TransactionLimit | null) => limitNames.every((n) => a?.[n] === b?.[n]);

/** One timer of each transaction. */
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

/** Gives the device the energy that a transaction may still take. */
function bindEnergy({ device }: LimitParts, { insistence, ledger }: LimitsDeps, key: string): void {
  const record = ledger.get(key);
  // without a session the device takes no limit; it gets it with the next one
  if (record?.endedMs !== null || record.sessionId === null) return;
  const untilWh = Math.min(limitWh(record), record.refusedUntilWh ?? Infinity);
  if (untilWh === Infinity) return;
  const { connectorId } = record;
  insistence.insist(`energy ${key}`, 'the energy of a limited transaction flows on', () => {
    const energyWh = Math.max(0, untilWh - device.connector(connectorId).energyWh);
    device.command({ kind: 'evse.energy_limit', connectorId, energyWh });
  });
}

/** Looks whether limits are reached. */
function createWatch(parts: LimitParts, deps: LimitsDeps) {
  const { device, clock } = parts;
  const { ledger, insistence } = deps;
  const times = createTimers(parts);
  const socs = createTimers(parts);
  const end = (key: string, name: keyof typeof reached): void => {
    insistence.insist(`limit ${key}`, 'a transaction goes on beyond its limit', () => {
      const record = ledger.get(key);
      if (record?.endedMs === null) deps.end(record, reached[name]);
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
    socs.at(key, clock.nowMs() + socLookMs, () => {
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
    set(key, given) {
      const record = ledger.get(key);
      if (record?.endedMs !== null) return false;
      const limit = merged(record.limit, given);
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
    follow({ key }, t) {
      if (t.sessionChange === 'started') bindEnergy(parts, deps, key);
      const record = ledger.get(key);
      if (t.event === 'evse_hold' && record !== null && isUsedUp(record, t.connector.energyWh)) end(key, 'maxEnergy');
    },
    isUsedUp,
    ended(key) {
      for (const kind of ['energy', 'limit', 'refused']) insistence.end(`${kind} ${key}`);
      watch.ended(key);
    },
    stop() {
      watch.stop();
    },
  };
}
