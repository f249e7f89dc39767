/**
 * Smart charging of 1.6: SetChargingProfile, ClearChargingProfile, GetCompositeSchedule, and the TxProfile of a remote
 * start. The profiles act through `charging/control.ts`.
 */
import { createChargingControl } from '../../charging/control.ts';
import type { RunningTransaction } from '../../charging/model.ts';
import type { OcppFunctions } from '../../../contract/ocpp.ts';
import type { Part, Registration, SmartCharging, StationParts, Transaction, Transactions } from '../parts.ts';
import { clearChargingProfile, getCompositeSchedule, setChargingProfile } from './handlers.ts';
import { createInstalled } from './installed.ts';
import { brokenRule } from './rules.ts';
import { createView } from './view.ts';

export type SmartChargingParts = Pick<StationParts, 'device' | 'clock' | 'keys' | 'store' | 'log' | 'finding'> & {
  readonly registration: Pick<Registration, 'onAccepted'>;
};

export interface SmartChargingDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'onStarted' | 'onIdentified' | 'onEnded'>;
}

export type SmartChargingPart = Part &
  Required<Pick<Part, 'handlers' | 'load' | 'stop'>> &
  SmartCharging &
  Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> & {
    /** Evaluates anew: the clock has been set. */
    readonly refresh: () => void;
  };

const running = ({ connectorId, transactionId, startedMs }: Transaction): RunningTransaction => ({
  connectorId,
  transactionId: transactionId === null ? null : String(transactionId),
  startedMs: Math.floor(startedMs),
});

export function createSmartCharging(parts: SmartChargingParts, { transactions }: SmartChargingDeps): SmartChargingPart {
  const { device, keys } = parts;
  const control = createChargingControl({
    device,
    clock: parts.clock,
    store: parts.store('profiles'),
    log: parts.log,
    precedence: 'connector_first',
    transactions: () => transactions.running.map(running),
  });
  const installed = createInstalled(control, () => keys.integer('MaxChargingProfilesInstalled'));
  const rig = { parts, control, installed, transactions };

  const listeners = [
    transactions.onStarted(({ connectorId }) => {
      installed.begin(connectorId);
    }),
    transactions.onIdentified(control.refresh),
    transactions.onEnded(({ connectorId }) => {
      installed.end(connectorId);
    }),
    parts.registration.onAccepted(control.refresh),
  ];

  return {
    handlers: {
      SetChargingProfile: setChargingProfile(rig),
      ClearChargingProfile: clearChargingProfile(rig),
      GetCompositeSchedule: getCompositeSchedule(rig),
    },
    ...createView(control, () => installed.waiting, device.connectorIds),
    install(connectorId, sent) {
      const rule =
        brokenRule(sent, keys) ?? installed.put(connectorId, sent, { awaited: transactions.at(connectorId) === null });
      if (rule !== null) parts.finding(rule.clause, rule.text, 'RemoteStartTransaction');
      return rule === null;
    },
    forget: installed.forget,
    refresh: control.refresh,
    load: control.load,
    stop() {
      for (const end of listeners) end();
      control.stop();
    },
  };
}
