/**
 * Smart charging of 2.x (block K), and what block Q needs of it. The profiles act through `charging/control.ts`, which
 * sends the device one limit for each EVSE and one for the station.
 */
import { CallError } from '../../rpc/model.ts';
import { errorCode } from '../../rpc/errors.ts';
import { createChargingControl } from '../../charging/control.ts';
import type { ChargingControl } from '../../charging/control.ts';
import { followsConditions } from '../../charging/limits.ts';
import type { RunningTransaction } from '../../charging/model.ts';
import { createSignal } from '../../station/signal.ts';
import type { OcppFunctions } from '../../../contract/ocpp.ts';
import type { Handler, Handlers, Part, Registration, SmartCharging, StationParts } from '../parts.ts';
import type { Transaction, Transactions } from '../parts.ts';
import { localOffsetMs } from '../variables/local-time.ts';
import { createConditions } from '../v2x/conditions.ts';
import type { V2xConditions } from '../v2x/conditions.ts';
import { maxProfiles } from './bounds.ts';
import { createDynamicSchedules } from './dynamic.ts';
import { createExternalLimits } from './external.ts';
import { ruleFacts } from './facts.ts';
import { clearChargingProfile, getCompositeSchedule, setChargingProfile } from './handlers.ts';
import { createInstalled } from './installed.ts';
import { createNotices } from './notices.ts';
import { createOfflineWatch } from './offline.ts';
import { createPriorityCharging } from './priority.ts';
import { refusal } from './refusal.ts';
import { getChargingProfiles } from './reports.ts';
import type { SentProfile } from './rules/issue.ts';
import { startIssue } from './rules/place.ts';
import { profileIssue } from './rules/profile.ts';
import { createView } from './view.ts';

export type SmartChargingParts = Pick<
  StationParts,
  'device' | 'clock' | 'variables' | 'store' | 'log' | 'finding' | 'version' | 'calls' | 'random'
> & {
  readonly registration: Pick<Registration, 'accepted' | 'boots' | 'onAccepted' | 'onEnded'>;
};

export interface SmartChargingDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'byId' | 'update' | 'onStarted' | 'onEnded'>;
}

/** What block Q and the negotiation with vehicles work with. */
export interface ChargingOfVehicles {
  readonly conditions: V2xConditions;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs' | 'refresh'>;
  /** Says which transactions wait for the needs of their vehicle: a TxProfile before them is refused (K15.FR.17). */
  expectNeeds(awaits: (transaction: Transaction) => boolean): void;
  /** A TxProfile of SetChargingProfile acts; after its answer. */
  onTxProfile(listener: (set: { readonly evseId: number; readonly profile: SentProfile }) => void): () => void;
}

export type SmartChargingPart = Part &
  Required<Pick<Part, 'handlers' | 'load' | 'stop'>> &
  SmartCharging &
  Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> & {
    readonly vehicles: ChargingOfVehicles;
    /** Evaluates anew: the clock has been set. */
    readonly refresh: () => void;
  };

/** K01.FR.29: without smart charging its calls are not supported. */
function whereEnabled(
  handlers: Handlers,
  { variables, version }: Pick<StationParts, 'variables' | 'version'>,
): Handlers {
  const guarded = Object.entries(handlers).map(([action, handler]) => {
    const answer = handler as Handler<'SetChargingProfile'>;
    const guard: Handler<'SetChargingProfile'> = (request, after) => {
      if (variables.boolean('SmartChargingCtrlr', 'Enabled')) return answer(request, after);
      throw new CallError(errorCode(version, 'unsupportedAction'), 'SmartChargingCtrlr.Enabled is false');
    };
    return [action, guard];
  });
  return Object.fromEntries(guarded) as Handlers;
}

/** The parts that depend on each other, from the control of the profiles outwards. */
function createParts(parts: SmartChargingParts, { transactions }: SmartChargingDeps) {
  const { device, variables } = parts;
  const conditions = createConditions(parts);
  const offline = createOfflineWatch(parts);
  let follows = false;
  const running = ({ evseId, transactionId, startedMs }: Transaction): RunningTransaction => ({
    connectorId: evseId,
    transactionId,
    startedMs: Math.floor(startedMs),
    priority: priority.has(transactionId),
  });
  const control = createChargingControl({
    device,
    clock: parts.clock,
    // profiles are kept as they were sent, in the words of their version
    store: parts.store(`profiles-${parts.version}`),
    log: parts.log,
    precedence: 'stack_level',
    transactions: () => transactions.running.map(running),
    conditions: () => conditions.at(follows),
    offlineSinceMs: () => offline.sinceMs,
    enabled: () => variables.boolean('SmartChargingCtrlr', 'Enabled'),
    evaluated: () => {
      afterEvaluation();
    },
  });
  const priority = createPriorityCharging({ parts, control, transactions });
  const external = createExternalLimits(parts, () => {
    notices.look();
  });
  const notices = createNotices({ parts, control, external, transactions });
  const installed = createInstalled({
    control,
    maxProfiles,
    random: parts.random,
    localOffsetMs: () => localOffsetMs(variables),
  });
  const facts = (evseId: number, profile: Pick<SentProfile, 'chargingProfilePurpose'>) =>
    ruleFacts(parts, conditions, evseId, profile);
  const received = () => ({ random: parts.random, localOffsetMs: localOffsetMs(variables) });
  const dynamic = createDynamicSchedules({ parts, control, facts, received });
  const afterEvaluation = (): void => {
    const { state, nowMs } = control;
    const now = device.connectorIds.some((id) => followsConditions(state, id, nowMs));
    // what has begun to follow conditions was evaluated without them
    const begins = now && !follows;
    follows = now;
    if (begins) control.refresh();
    priority.check();
    dynamic.plan();
    notices.look();
  };
  return { conditions, offline, control, priority, external, notices, installed, facts, dynamic };
}

type InnerParts = ReturnType<typeof createParts>;

/** What profiles follow from outside of their calls. @returns ends it */
function listen(
  { variables, transactions }: SmartChargingParts & SmartChargingDeps,
  { control, conditions, installed, notices, priority }: InnerParts,
): () => void {
  const listeners = [
    transactions.onStarted((transaction) => {
      installed.begin(transaction);
    }),
    transactions.onEnded(({ evseId, transactionId }) => {
      priority.forget(transactionId);
      notices.forget(transactionId);
      conditions.forget(evseId);
      installed.end(evseId);
    }),
    variables.onChange('SmartChargingCtrlr', 'Enabled', control.refresh),
    variables.onChange('V2XChargingCtrlr', 'Enabled', control.refresh),
    variables.onChange('ClockCtrlr', 'TimeOffset', () => {
      installed.localTimeChanged();
    }),
  ];
  return () => {
    for (const end of listeners) end();
  };
}

/** What is told to block Q, and asked of it. */
function createVehicles({ conditions, control }: InnerParts, log: SmartChargingParts['log']) {
  const txProfiles = createSignal<{ readonly evseId: number; readonly profile: SentProfile }>(log);
  let awaitsNeeds: (transaction: Transaction) => boolean = () => false;
  const vehicles: ChargingOfVehicles = {
    conditions,
    control,
    expectNeeds(awaits) {
      awaitsNeeds = awaits;
    },
    onTxProfile: (listener) => txProfiles.on(listener),
  };
  return {
    vehicles,
    awaitsNeeds: (transaction: Transaction) => awaitsNeeds(transaction),
    txProfileSet: (evseId: number, profile: SentProfile) => {
      txProfiles.emit({ evseId, profile });
    },
  };
}

/** The TxProfile of RequestStartTransaction, for the transaction that runs or the one that begins at the EVSE. */
function installForStart(
  parts: SmartChargingParts,
  { installed, facts }: InnerParts,
  transaction: Transaction | null,
  evseId: number,
  profile: SentProfile,
): string | null {
  if (!parts.variables.boolean('SmartChargingCtrlr', 'Enabled')) return 'NotEnabled';
  const { transactionId } = transaction ?? {};
  const issue =
    startIssue(profile) ??
    profileIssue(profile, facts(evseId, profile)) ??
    (transactionId === undefined
      ? installed.put(evseId, profile, { awaited: true })
      : installed.put(evseId, { ...profile, transactionId }));
  if (issue === null) return null;
  return refusal(parts, 'RequestStartTransaction', issue, `profile ${profile.id}`).statusInfo.reasonCode;
}

export function createSmartCharging(parts: SmartChargingParts, deps: SmartChargingDeps): SmartChargingPart {
  const { transactions } = deps;
  const inner = createParts(parts, deps);
  const { control, external, installed, facts, dynamic, priority, offline } = inner;
  const { vehicles, ...ofVehicles } = createVehicles(inner, parts.log);
  const endListening = listen({ ...parts, ...deps }, inner);
  parts.variables.provide('SmartChargingCtrlr', 'Entries[ChargingProfiles]', () => String(installed.all.length));
  offline.begin(control);

  const rig = { parts, control, installed, external, transactions, facts, ...ofVehicles };
  const handlers: Handlers = {
    SetChargingProfile: setChargingProfile(rig),
    ClearChargingProfile: clearChargingProfile(rig),
    GetChargingProfiles: getChargingProfiles({ parts, installed, external }),
    GetCompositeSchedule: getCompositeSchedule(rig),
    ...dynamic.handlers,
    ...priority.handlers,
  };

  return {
    handlers: whereEnabled(handlers, parts),
    ...createView({ control, installed, external, evseIds: parts.device.connectorIds }),
    vehicles,
    install: (evseId, profile) => installForStart(parts, inner, transactions.at(evseId), evseId, profile),
    forget(evseId, profileId) {
      installed.forget(evseId);
      if (profileId !== undefined)
        installed.remove(
          (each) => each.profileId === profileId && each.purpose === 'tx' && each.connectorId === evseId,
        );
    },
    refresh: control.refresh,
    async load() {
      await control.load();
      external.tell();
    },
    stop() {
      endListening();
      offline.stop();
      external.stop();
      dynamic.stop();
      control.stop();
    },
  };
}
