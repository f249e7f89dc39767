/** A 2.x station of which only tariffs and costs are real: a test moves the meter and the transactions. */
import { silentLogger } from '../../../../src/core/log/log.ts';
import { simTimeFromMs } from '../../../../src/core/time/clock.ts';
import type { EvseConnectorDetail } from '../../../../src/contract/kinds/evse.ts';
import type { MeterSample } from '../../../../src/ocpp/station/port.ts';
import { createSignal } from '../../../../src/ocpp/station/stack.ts';
import type { AnsweredEvent, EventExtras, Replies, Transaction } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createTariffs } from '../../../../src/ocpp/v201/tariff-and-cost/tariffs.ts';
import type { TariffsDeps } from '../../../../src/ocpp/v201/tariff-and-cost/tariffs.ts';
import { settled } from '../../v16/fakes.ts';
import { rig as stationRig } from '../rig.ts';

export type Update = readonly [evseId: number, trigger: string, extras: EventExtras | undefined];

export async function station(version: Version2 = 'ocpp2.1', more: Partial<TariffsDeps> = {}) {
  const rig = stationRig({ version });
  const meters = new Map([1, 2].map((evseId) => [evseId, { importWh: 1000, exportWh: 0, powerW: 0 }]));
  const meter = (evseId: number) => meters.get(evseId) ?? { importWh: 0, exportWh: 0, powerW: 0 };
  const sample = (evseId: number): MeterSample =>
    ({
      at: rig.device.now,
      energyImportWh: meter(evseId).importWh,
      energyExportWh: meter(evseId).exportWh,
      powerW: meter(evseId).powerW,
      voltageV: [230, 230, 230],
    }) as unknown as MeterSample;
  Object.assign(rig.device.port, {
    sample,
    sampleOf: ({ connectorId }: { readonly connectorId: number }) => sample(connectorId),
  });
  const running = new Map<string, Transaction>();
  const updates: Update[] = [];
  const spent = new Map<string, number>();
  const started = createSignal<Transaction>(silentLogger);
  const ended = createSignal<Transaction>(silentLogger);
  const answers = createSignal<AnsweredEvent>(silentLogger);
  const transactions: TariffsDeps['transactions'] = {
    get running() {
      return [...running.values()];
    },
    at: (evseId) => [...running.values()].find((each) => each.evseId === evseId) ?? null,
    byId: (id) => running.get(id) ?? null,
    update: (evseId, trigger, extras) => updates.push([evseId, trigger, extras]) > 0,
    onStarted: (listener) => started.on(listener),
    onEnded: (listener) => ended.on(listener),
    onAnswered: (listener) => answers.on(listener),
    spent: (transactionId, cost) => spent.set(transactionId, cost),
  };
  const make = async () => {
    const made = createTariffs(rig.parts, { transactions, ...more });
    await made.load?.();
    return made;
  };
  const tariffs = await make();
  return {
    rig,
    tariffs,
    make,
    updates,
    /** what the tariffs have told last, by transaction */
    spent,
    /** Begins a transaction, without its events. */
    start: (transactionId: string, patch: Partial<Transaction> = {}): Transaction => {
      const transaction: Transaction = {
        transactionId,
        evseId: 1,
        idToken: null,
        groupIdToken: null,
        remoteStartId: null,
        reservationId: null,
        sessionId: null,
        startedMs: rig.wall.nowMs(),
        meterStartWh: meter(1).importWh,
        ...patch,
      };
      running.set(transactionId, transaction);
      started.emit(transaction);
      return transaction;
    },
    patch: (transactionId: string, patch: Partial<Transaction>): Transaction => {
      const changed = { ...running.get(transactionId), ...patch } as Transaction;
      running.set(transactionId, changed);
      return changed;
    },
    end: (transactionId: string): void => {
      const transaction = running.get(transactionId);
      running.delete(transactionId);
      if (transaction !== undefined) ended.emit(transaction);
    },
    answer: (transactionId: string, reply: Replies['TransactionEvent'], evseId = 1): void => {
      answers.emit({ transactionId, evseId, reply } as AnsweredEvent);
    },
    /** The vehicle charges with a power from now on, or with 0 stops. */
    charge: (powerW: number, evseId = 1): void => {
      Object.assign(meter(evseId), { powerW });
      const phase: EvseConnectorDetail['phase'] = powerW === 0 ? 'suspended_ev' : 'energised';
      rig.device.now = simTimeFromMs(rig.wall.nowMs());
      const connector = { ...rig.device.port.connector(evseId), phase, powerW };
      rig.device.change(evseId, { phase, powerW }, powerW === 0 ? 'ev_hold' : 'ev_release');
      rig.device.tell({ event: 'limit', connectorId: evseId, phase, connector });
    },
    /** Time passes, and energy flows as `charge` has said. */
    pass: async (seconds: number): Promise<void> => {
      for (let left = seconds; left > 0; left--) {
        for (const each of meters.values()) {
          if (each.powerW > 0) each.importWh += each.powerW / 3600;
          else each.exportWh -= each.powerW / 3600;
        }
        rig.device.now = simTimeFromMs(rig.wall.nowMs() + 1000);
        await rig.pass(1);
      }
      await settled();
    },
    texts: (evseId = 1) => tariffs.texts(evseId).map(([{ content }]) => content),
  };
}
