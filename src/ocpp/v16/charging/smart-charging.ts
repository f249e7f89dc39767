/**
 * Smart charging of 1.6: SetChargingProfile, ClearChargingProfile, GetCompositeSchedule, and the TxProfile of a remote
 * start. The profiles act through `charging/control.ts`.
 */
import type { OcppFunctions } from '../../../contract/ocpp.ts';
import { createChargingControl } from '../../charging/control.ts';
import type { ChargingControl } from '../../charging/control.ts';
import { createInstalledProfiles, createProfileView } from '../../charging/installed.ts';
import type { InstalledProfiles } from '../../charging/installed.ts';
import { deciding } from '../../charging/limits.ts';
import type { ChargingProfile, RateUnit, RunningTransaction } from '../../charging/model.ts';
import type {
  Handler,
  Part,
  Registration,
  Requests,
  SmartCharging,
  StationParts,
  Transaction,
  Transactions,
} from '../parts.ts';
import { profileOf, purposes, replyOf } from './convert.ts';
import { allowedUnits, brokenPlace, brokenRule } from './rules.ts';
import type { BrokenRule, SentProfile } from './rules.ts';

type Installed = InstalledProfiles<SentProfile, BrokenRule>;

/** A profile replaces those with its id, and those with its purpose and stackLevel at the same connector (5.16.3). */
function replaces(profile: ChargingProfile, other: ChargingProfile): boolean {
  if (profile.profileId === other.profileId) return true;
  const { connectorId, purpose, stackLevel } = profile;
  return other.connectorId === connectorId && other.purpose === purpose && other.stackLevel === stackLevel;
}

export function createInstalled(control: ChargingControl, max: () => number): Installed {
  return createInstalledProfiles({
    control,
    replaces,
    entryOf: (connectorId, sent) => ({ profile: profileOf(connectorId, sent, control.nowMs), sent }),
    refusal: ({ profileId }, others) => {
      if (others.length < max()) return null;
      const text = `profile ${profileId}: MaxChargingProfilesInstalled ${max()} is reached`;
      return { clause: 'OCPP 1.6 9.4', text };
    },
  });
}

// Answers to the calls of smart charging.

interface Deps {
  readonly parts: Pick<StationParts, 'device' | 'keys' | 'finding'>;
  readonly control: ChargingControl;
  readonly installed: Installed;
  readonly transactions: Pick<Transactions, 'at'>;
}

function setChargingProfile({ parts, installed, transactions }: Deps): Handler<'SetChargingProfile'> {
  const { device, keys, finding } = parts;
  return ({ connectorId, csChargingProfiles: sent }) => {
    const place = { connectorIds: device.connectorIds, transaction: transactions.at(connectorId) };
    const rule = brokenPlace(connectorId, sent, place) ?? brokenRule(sent, keys) ?? installed.put(connectorId, sent);
    if (rule !== null) {
      finding(rule.clause, rule.text, 'SetChargingProfile');
      return { status: 'Rejected' };
    }
    if (sent.transactionId !== undefined && sent.chargingProfilePurpose !== 'TxProfile') {
      const text = `profile ${sent.chargingProfileId}: transactionId is only valid in a TxProfile, and is ignored`;
      finding('OCPP 1.6 7.8', text, 'SetChargingProfile');
    }
    return { status: 'Accepted' };
  };
}

/** An id names its profile alone; without one all given members must match (5.5). */
function matches(filter: Requests['ClearChargingProfile']): (profile: ChargingProfile) => boolean {
  const { id, connectorId, stackLevel, chargingProfilePurpose } = filter;
  if (id !== undefined) return ({ profileId }) => profileId === id;
  const purpose = chargingProfilePurpose && purposes[chargingProfilePurpose];
  return (profile) =>
    (connectorId === undefined || profile.connectorId === connectorId) &&
    (stackLevel === undefined || profile.stackLevel === stackLevel) &&
    (purpose === undefined || profile.purpose === purpose);
}

function clearChargingProfile({ installed }: Deps): Handler<'ClearChargingProfile'> {
  return (request) => ({ status: installed.remove(matches(request)) > 0 ? 'Accepted' : 'Unknown' });
}

/** The unit of an answer when none is asked for: that of a profile in force, so that it reads back as it was set. */
function defaultUnit(connectorId: number, allowed: readonly RateUnit[], { state, nowMs }: ChargingControl): RateUnit {
  const units = [connectorId, 0].flatMap((id) => deciding(state, id, nowMs)).map(({ schedule }) => schedule.unit);
  return units.find((unit) => allowed.includes(unit)) ?? allowed[0] ?? 'W';
}

function getCompositeSchedule({ parts, control }: Deps): Handler<'GetCompositeSchedule'> {
  const { device, keys, finding } = parts;
  return ({ connectorId, duration, chargingRateUnit }) => {
    if (duration <= 0) {
      finding('OCPP 1.6 5.7', `the duration ${duration} must be greater than 0`, 'GetCompositeSchedule');
      return { status: 'Rejected' };
    }
    const allowed = allowedUnits(keys);
    const unit = chargingRateUnit ?? defaultUnit(connectorId, allowed, control);
    if (!allowed.includes(unit)) return { status: 'Rejected' };
    const maxPeriods = keys.integer('ChargingScheduleMaxPeriods');
    const schedule = control.composite({ connectorId, durationS: duration, unit, maxPeriods });
    if (schedule === null) return { status: 'Rejected' };
    const rating = device.ratings.find((each) => each.connectorId === connectorId) ?? device.stationRating;
    return replyOf(connectorId, schedule, rating);
  };
}

type SmartChargingParts = Pick<StationParts, 'device' | 'clock' | 'keys' | 'store' | 'log' | 'finding'> & {
  readonly registration: Pick<Registration, 'onAccepted'>;
};

interface SmartChargingDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'onStarted' | 'onIdentified' | 'onEnded'>;
}

type SmartChargingPart = Part &
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
    ...createProfileView({
      control,
      installed,
      connectorIds: device.connectorIds,
      place: 'connector',
      transactionIdOf: ({ purpose, connectorId }) => {
        const transaction = control.state.transactions.find((each) => each.connectorId === connectorId);
        return purpose === 'tx' ? (transaction?.transactionId ?? null) : null;
      },
    }),
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
