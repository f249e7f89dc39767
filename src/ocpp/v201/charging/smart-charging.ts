/**
 * Smart charging of 2.x (block K), and its use by block Q. The profiles act through `charging/control.ts`, which
 * sends the device one limit for each EVSE and one for the station.
 */
import type { OcppFunctions } from '../../../contract/ocpp.ts';
import type { JsonValue } from '../../../core/store.ts';
import { createChargingControl } from '../../charging/control.ts';
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import { createInstalledProfiles } from '../../charging/installed.ts';
import { followsConditions } from '../../charging/limits.ts';
import type { ChargingProfile, RunningTransaction } from '../../charging/model.ts';
import { createProfileView } from '../../charging/profile-view.ts';
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import { createSignal } from '../../station/stack.ts';
import type {
  Handler,
  Handlers,
  Part,
  Registration,
  SmartCharging,
  StationParts,
  Transaction,
  Transactions,
} from '../parts.ts';
import { createConditions } from '../v2x/conditions.ts';
import type { V2xConditions } from '../v2x/conditions.ts';
import { localOffsetMs } from '../variables/handlers.ts';
import { isInLocalTime, profileOf, sentOf } from './convert.ts';
import type { Received } from './convert.ts';
import {
  createDynamicSchedules,
  createPriorityCharging,
  clearChargingProfile,
  getChargingProfiles,
  getCompositeSchedule,
  refusal,
  setChargingProfile,
} from './handlers.ts';
import { createExternalLimits, createOfflineWatch, createNotices } from './external.ts';
import type { ExternalLimits } from './external.ts';
import type { Installed } from './handlers.ts';
import { duplicateIssue, externalProfileId, maxProfiles, modesOf, profileIssue, startIssue, unable } from './rules.ts';
import type { EvseFacts, Issue, RuleFacts, SentProfile } from './rules.ts';

interface InstalledOptions {
  readonly control: ChargingControl;
  readonly maxProfiles: number;
  readonly random: Received['random'];
  readonly localOffsetMs: () => number;
}

interface StationProfiles extends Installed {
  /** Installs the profile that waits for a transaction, when the transaction begins. */
  started(transaction: Pick<Transaction, 'evseId' | 'transactionId'>): void;
  /** Converts the profiles in local time again, after a change of the offset. */
  localTimeChanged(): void;
}

export function createInstalled({ control, maxProfiles, random, localOffsetMs }: InstalledOptions): StationProfiles {
  const entryOf = (evseId: number, sent: SentProfile, receivedMs = control.nowMs): StoredProfile => ({
    profile: profileOf(sent, { evseId, receivedMs, random, localOffsetMs: localOffsetMs() }),
    sent: sent as unknown as JsonValue,
  });
  // K01.FR.05
  const replaces = (profile: ChargingProfile, other: ChargingProfile) => profile.profileId === other.profileId;
  const installed = createInstalledProfiles<SentProfile, Issue>({
    control,
    replaces,
    entryOf,
    refusal: (profile, others) =>
      others.length < maxProfiles
        ? duplicateIssue(profile, others)
        : unable('OutOfStorage', `there are ${maxProfiles} profiles, the maximum of Entries[ChargingProfiles]`),
  });
  return Object.assign(installed, {
    started: ({ evseId, transactionId }: Pick<Transaction, 'evseId' | 'transactionId'>) => {
      installed.begin(evseId, (entry) => entryOf(evseId, { ...sentOf(entry), transactionId }));
    },
    localTimeChanged: () => {
      for (const { profile, sent } of control.profiles.filter((each) => isInLocalTime(sentOf(each))))
        control.install(entryOf(profile.connectorId, sentOf({ profile, sent }), profile.receivedMs), (other) =>
          replaces(profile, other),
        );
    },
  });
}

interface ViewDeps {
  readonly control: ChargingControl;
  readonly installed: Pick<Installed, 'all'>;
  readonly external: Pick<ExternalLimits, 'profiles' | 'reported'>;
  readonly evseIds: readonly number[];
}

/** Charging profiles and composite schedules of a station of 2.x for REST. */
export function createView({ control, installed, external, evseIds }: ViewDeps) {
  return createProfileView({
    control,
    installed,
    connectorIds: evseIds,
    place: 'EVSE',
    transactionIdOf: ({ transactionId }) => transactionId,
    external,
    externalEntries: () =>
      external.reported().map(({ evseId, profile }) => ({
        connectorId: evseId,
        profileId: profile.id,
        stackLevel: profile.stackLevel,
        purpose: profile.chargingProfilePurpose,
        kind: profile.chargingProfileKind,
        transactionId: null,
        effective: true,
        profile,
      })),
  });
}

// Facts of a place, against which profiles are checked.

type FactParts = Pick<StationParts, 'device' | 'variables' | 'version'>;

/** Facts of an EVSE, of all EVSEs (0), or of the grid connection (`ofStation`). */
function evsesOf({ device }: FactParts, conditions: V2xConditions, evseId: number, ofStation: boolean) {
  if (ofStation) return [{ ...device.stationRating, modes: modesOf(false) }] satisfies EvseFacts[];
  return device.ratings
    .filter(({ connectorId }) => evseId === 0 || connectorId === evseId)
    .map(({ connectorId, type, phases }) => ({ type, phases, modes: modesOf(conditions.enabled(connectorId)) }));
}

export function ruleFacts(
  parts: FactParts,
  conditions: V2xConditions,
  evseId: number,
  { chargingProfilePurpose: purpose }: Pick<SentProfile, 'chargingProfilePurpose'>,
): RuleFacts {
  const { variables, version } = parts;
  const ofStation = purpose === 'ChargingStationMaxProfile' || purpose === 'LocalGeneration';
  return {
    version,
    maxStackLevel: variables.integer('SmartChargingCtrlr', 'ProfileStackLevel'),
    maxPeriods: variables.integer('SmartChargingCtrlr', 'PeriodsPerSchedule'),
    rateUnits: variables.list('SmartChargingCtrlr', 'RateUnit'),
    maxExternalId: externalProfileId,
    evses: evsesOf(parts, conditions, evseId, ofStation),
  };
}

type SmartChargingParts = Pick<
  StationParts,
  'device' | 'clock' | 'variables' | 'store' | 'log' | 'finding' | 'version' | 'calls' | 'random' | 'limits'
> & {
  readonly registration: Pick<Registration, 'isReady' | 'boots' | 'onAccepted' | 'onEnded'>;
};

interface SmartChargingDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'byId' | 'update' | 'onStarted' | 'onEnded'>;
}

/** Smart charging for block Q and the negotiation with vehicles. */
export interface ChargingOfVehicles {
  readonly conditions: V2xConditions;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs' | 'refresh'>;
  /** Sets the test for transactions that wait for the needs of their vehicle: a TxProfile is refused (K15.FR.17). */
  expectNeeds(awaits: (transaction: Transaction) => boolean): void;
  /** Calls the listener with each TxProfile of SetChargingProfile, after the answer. */
  onTxProfile(listener: (set: { readonly evseId: number; readonly profile: SentProfile }) => void): () => void;
}

type SmartChargingPart = Part &
  Required<Pick<Part, 'handlers' | 'load' | 'stop'>> &
  SmartCharging &
  Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> & {
    readonly vehicles: ChargingOfVehicles;
    /** Evaluates the profiles again, after the clock was set. */
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

/** Creates the parts of smart charging, which depend on each other. */
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
    // profiles are stored as they were sent, in the form of their version
    store: parts.store(`profiles-${parts.version}`),
    log: parts.log,
    limits: parts.limits,
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
    notices.reportChanges();
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
    const followsNow = device.connectorIds.some((id) => followsConditions(state, id, nowMs));
    // schedules that begin to follow conditions were evaluated without them
    const begins = followsNow && !follows;
    follows = followsNow;
    if (begins) control.refresh();
    priority.check();
    dynamic.plan();
    notices.reportChanges();
  };
  return { conditions, offline, control, priority, external, notices, installed, facts, dynamic };
}

type InnerParts = ReturnType<typeof createParts>;

/** Follows events outside of the calls of profiles. @returns function that unsubscribes */
function listen(
  { variables, transactions }: SmartChargingParts & SmartChargingDeps,
  { control, conditions, installed, notices, priority }: InnerParts,
): () => void {
  const listeners = [
    transactions.onStarted((transaction) => {
      installed.started(transaction);
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

/** The exchange with block Q. */
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

/**
 * Installs the TxProfile of RequestStartTransaction for the transaction that runs, or begins next, at the EVSE.
 * @returns reason code of a refusal; null: installed
 */
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

  const handlerDeps = { parts, control, installed, external, transactions, facts, ...ofVehicles };
  const handlers: Handlers = {
    SetChargingProfile: setChargingProfile(handlerDeps),
    ClearChargingProfile: clearChargingProfile(handlerDeps),
    GetChargingProfiles: getChargingProfiles({ parts, installed, external }),
    GetCompositeSchedule: getCompositeSchedule(handlerDeps),
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
      external.sendChanges();
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
