/** The cost of the running transactions, advanced with each reading of the meter (I12). */
import { z } from 'zod';
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import { amount, instant, place, readEach, record, recordOf, simInstant } from '../../../core/slot-values.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { MeterSample } from '../../station/port.ts';
import { createSaver } from '../../station/stack.ts';
import type { Tariff, TariffKindEnum } from '../messages.ts';
import type { StationParts, Transaction, Transactions } from '../parts.ts';
import { localOffsetMs } from '../variables/handlers.ts';
import { storedTariff } from '../stored.ts';
import { advanceCost, costState, startCost, withTariff } from './cost.ts';
import type { CostFacts, CostState } from './cost.ts';
import { costDetails } from './rules.ts';

/** A transaction that a tariff prices. */
export interface PricedTransaction {
  readonly transactionId: string;
  readonly evseId: number;
  readonly tariff: Tariff;
  readonly kind: TariffKindEnum;
  readonly cost: CostState;
  readonly facts: CostFacts;
  /** the last reading: ms since the epoch, simulated instant in µs, registers, and true if energy flows since */
  readonly last: {
    readonly ms: number;
    readonly sim: number;
    readonly importWh: number;
    readonly exportWh: number;
    readonly charging: boolean;
  };
}

const pricedForm = recordOf<PricedTransaction>({
  transactionId: z.string(),
  evseId: place,
  tariff: storedTariff,
  kind: z.string(),
  cost: costState,
  facts: record<CostFacts>({
    evseKind: z.enum(['AC', 'DC']),
    localOffsetMs: amount,
    paymentBrand: z.string().nullable(),
    paymentRecognition: z.string().nullable(),
  }),
  last: record<PricedTransaction['last']>({
    ms: instant,
    sim: simInstant,
    importWh: amount,
    exportWh: amount,
    charging: z.boolean(),
  }),
});

/** The tariff chosen for a transaction. */
export interface Choice {
  readonly tariff: Tariff;
  readonly kind: TariffKindEnum;
}

export interface CostMetering {
  readonly running: readonly PricedTransaction[];
  get(transactionId: string): PricedTransaction | null;
  /**
   * Prices a transaction. If no energy was used yet, prices from the start, fixed fees included; otherwise from now,
   * without them.
   * @param reservationS duration of the reservation that the transaction uses; null: none
   */
  begin(transaction: Transaction, choice: Choice, reservationS: number | null): PricedTransaction;
  /** Prices further use by another tariff. @returns null: no tariff prices the transaction */
  change(transactionId: string, choice: Choice): PricedTransaction | null;
  /**
   * Reads the meter.
   * @param transition reads the meter as of this transition; absent: now
   * @returns null: no tariff prices the transaction
   */
  step(transactionId: string, transition?: EvseConnectorTransition): PricedTransaction | null;
  /** Ends the pricing of a transaction. @returns its last state; null: no tariff prices it */
  end(transactionId: string): PricedTransaction | null;
  load(): Promise<void>;
}

function factsOf(parts: StationParts, { evseId, idToken }: Transaction): CostFacts {
  const tokenAttribute = (type: string) =>
    idToken?.additionalInfo?.find((each) => each.type === type)?.additionalIdToken ?? null;
  return {
    evseKind: parts.device.connector(evseId).type === 'dc' ? 'DC' : 'AC',
    localOffsetMs: localOffsetMs(parts.variables),
    paymentBrand: tokenAttribute('PaymentBrand'),
    paymentRecognition: tokenAttribute('PaymentRecognition'),
  };
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Power and current are means over simulated time, since the clock of the costs may run at another rate. */
function advanced(priced: PricedTransaction, sample: MeterSample, ms: number, charging: boolean): PricedTransaction {
  const { last, cost, tariff, facts } = priced;
  const toMs = Math.max(ms, last.ms);
  // a register falls only when the device is recreated: no energy
  const energyWh =
    Math.max(0, sample.energyImportWh - last.importWh) - Math.max(0, sample.energyExportWh - last.exportWh);
  const simS = (sample.at - last.sim) / 1e6;
  const powerW = simS > 0 ? (energyWh * 3600) / simS : sample.powerW;
  const voltageV = mean(sample.voltageV.filter((each) => each > 0));
  const currentA = voltageV > 0 ? powerW / voltageV : 0;
  const step = { fromMs: last.ms, toMs, energyWh, powerW, currentA, charging: last.charging };
  return {
    ...priced,
    cost: advanceCost(cost, tariff, facts, step),
    last: { ms: toMs, sim: sample.at, importWh: sample.energyImportWh, exportWh: sample.energyExportWh, charging },
  };
}

/** Starts pricing and takes the first reading. */
function beginPricing(
  parts: StationParts,
  transaction: Transaction,
  choice: Choice,
  reservationS: number | null,
  charging: boolean,
): PricedTransaction {
  const { clock, device } = parts;
  const { transactionId, evseId, startedMs, meterStartWh } = transaction;
  const sample = device.sample(evseId);
  const { energyImportWh: importWh, energyExportWh: exportWh } = sample;
  const nowMs = clock.ofSim(sample.at);
  const fees = importWh <= meterStartWh;
  const fromMs = fees ? Math.min(startedMs, nowMs) : nowMs;
  const facts = factsOf(parts, transaction);
  const cost = startCost(choice.tariff, facts, fromMs, { reservationS, fees });
  const last = { ms: fromMs, sim: sample.at, importWh, exportWh, charging: false };
  return advanced({ transactionId, evseId, ...choice, facts, cost, last }, sample, nowMs, charging);
}

export function createCostMetering(parts: StationParts): CostMetering {
  const { clock, device, store, log } = parts;
  const running = new Map<string, PricedTransaction>();
  const saver = createSaver(store('costs'), () => [...running.values()] as unknown as readonly JsonValue[], log);
  const put = (priced: PricedTransaction) => {
    running.set(priced.transactionId, priced);
    saver.save();
    return priced;
  };
  const isCharging = (evseId: number) => device.connector(evseId).phase === 'energised';

  function step(transactionId: string, transition?: EvseConnectorTransition): PricedTransaction | null {
    const priced = running.get(transactionId);
    if (priced === undefined) return null;
    const { evseId } = priced;
    const sample = transition === undefined ? device.sample(evseId) : device.sampleOf(transition);
    const charging = transition === undefined ? isCharging(evseId) : transition.phase === 'energised';
    return put(advanced(priced, sample, clock.ofSim(sample.at), charging));
  }

  return {
    get running() {
      return [...running.values()];
    },
    get: (transactionId) => running.get(transactionId) ?? null,
    begin: (transaction, choice, reservationS) =>
      put(beginPricing(parts, transaction, choice, reservationS, isCharging(transaction.evseId))),
    step,
    change(transactionId, choice) {
      const priced = step(transactionId);
      if (priced === null) return null;
      return put({ ...priced, ...choice, cost: withTariff(priced.cost, choice.tariff, priced.last.ms) });
    },
    end(transactionId) {
      const priced = running.get(transactionId) ?? null;
      if (running.delete(transactionId)) saver.save();
      return priced;
    },
    async load() {
      for (const priced of await readEach(store('costs'), pricedForm, log)) running.set(priced.transactionId, priced);
    },
  };
}

// Reads the meter of priced transactions often enough for their conditions, and reports running costs (I12.FR.02).

interface PacerDeps {
  readonly metering: CostMetering;
  readonly transactions: Pick<Transactions, 'update' | 'byId'>;
  /** True if the station calculates costs at present. */
  readonly isLocal: () => boolean;
  /** Called when a round has read the meter of a transaction. */
  readonly onReading: (transactionId: string) => void;
}

interface Pacer {
  start(): void;
  /** Call it when a transaction may be priced. */
  wake(): void;
  stop(): void;
}

export function createPacer(parts: StationParts, { metering, transactions, isLocal, onReading }: PacerDeps): Pacer {
  const { device, variables, later, wall } = parts;
  /** monotonic ms of the next running cost, by transaction */
  const due = new Map<string, number>();
  let cancel: (() => void) | null = null;
  let endListening: (() => void) | null = null;
  let started = false;
  const intervalMs = (of: 'Tariff' | 'Cost') => variables.integer('TariffCostCtrlr', `Interval[${of}]`) * 1000;
  const reportsRunningCost = () => variables.boolean('TariffCostCtrlr', 'Enabled[RunningCost]');

  function reportCost(transactionId: string): void {
    const priced = metering.get(transactionId);
    const atMs = due.get(transactionId) ?? wall.monotonicMs() + intervalMs('Cost');
    due.set(transactionId, atMs);
    if (priced === null || atMs > wall.monotonicMs()) return;
    due.set(transactionId, wall.monotonicMs() + intervalMs('Cost'));
    transactions.update(priced.evseId, 'RunningCost', {
      costDetails: costDetails(priced.cost, priced.tariff, { withPeriods: false }),
    });
  }

  function round(): void {
    cancel = null;
    for (const { transactionId } of metering.running) {
      if (transactions.byId(transactionId) === null) metering.end(transactionId);
      if (!isLocal()) continue;
      metering.step(transactionId);
      onReading(transactionId);
      if (reportsRunningCost()) reportCost(transactionId);
    }
    for (const transactionId of due.keys()) if (metering.get(transactionId) === null) due.delete(transactionId);
    wake();
  }

  function wake(): void {
    if (!started || cancel !== null || metering.running.length === 0) return;
    const waits = [intervalMs('Tariff'), ...(reportsRunningCost() ? [intervalMs('Cost')] : [])];
    if (reportsRunningCost())
      for (const { transactionId } of metering.running)
        if (!due.has(transactionId)) due.set(transactionId, wall.monotonicMs() + intervalMs('Cost'));
    cancel = later(Math.min(...waits), round);
  }

  return {
    start() {
      if (parts.version !== 'ocpp2.1') return;
      started = true;
      endListening = device.onTransition((transition) => {
        if (transition.connectorId === 0 || !('phase' in transition)) return;
        const pricedHere = metering.running.find(({ evseId }) => evseId === transition.connectorId);
        if (pricedHere !== undefined && isLocal()) metering.step(pricedHere.transactionId, transition);
      });
      wake();
    },
    wake,
    stop() {
      started = false;
      endListening?.();
      cancel?.();
      cancel = null;
    },
  };
}
