/** Judges what a central system asks of a station: which rules a call could have broken, and how often it comes. */
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import { isObject } from '../rpc/frames.ts';
import type { Payload } from '../rpc/model.ts';
import type { JudgeContext } from './context.ts';

const profileRules: readonly OcppRule[] = ['profile_rule', 'profile_limits'];

/** Rules that a call can break, as the station finds when it carries it out. */
const rulesByAction: Readonly<Record<string, readonly OcppRule[]>> = {
  SetChargingProfile: [...profileRules, 'profile_clash'],
  GetConfiguration: ['config_limits'],
  GetVariables: ['config_limits'],
  SetVariables: ['config_limits', 'request_rule'],
  SetVariableMonitoring: ['config_limits'],
  ClearVariableMonitoring: ['config_limits'],
  SetMonitoringLevel: ['request_rule'],
  CustomerInformation: ['request_rule'],
  GetChargingProfiles: ['request_rule'],
  TriggerMessage: ['request_rule'],
  SendLocalList: ['local_list'],
  ReserveNow: ['reservation'],
  SetDERControl: ['der_rule'],
};

const startActions: readonly string[] = ['RemoteStartTransaction', 'RequestStartTransaction'];
const remoteActions: readonly string[] = [...startActions, 'RemoteStopTransaction', 'RequestStopTransaction'];

/** Rules about limits that a central system can know only from settings: keys of 1.6, and components of 2.x. */
const settingsOfRules: Partial<Readonly<Record<OcppRule, readonly string[]>>> = {
  profile_limits: [
    'ChargeProfileMaxStackLevel',
    'ChargingScheduleMaxPeriods',
    'ChargingScheduleAllowedChargingRateUnit',
    'MaxChargingProfilesInstalled',
    'SmartChargingCtrlr',
  ],
  config_limits: ['GetConfigurationMaxKeys', 'DeviceDataCtrlr', 'MonitoringCtrlr'],
  local_list: ['SendLocalListMaxLength', 'LocalAuthListMaxLength', 'LocalAuthListCtrlr'],
};

const componentsOf = (data: unknown): readonly string[] =>
  Array.isArray(data)
    ? data.filter(isObject).map(({ component }) => (isObject(component) ? String(component.name) : ''))
    : [];

/** Names of the settings that a call reads; null: all. */
function settingsRead({ action, payload }: ServedCall): readonly string[] | null {
  switch (action) {
    case 'GetConfiguration':
      return Array.isArray(payload.key) && payload.key.length > 0 ? payload.key.map(String) : null;
    case 'GetVariables':
      return componentsOf(payload.getVariableData);
    case 'GetReport':
      return payload.componentVariable === undefined ? null : componentsOf(payload.componentVariable);
    case 'GetBaseReport':
      return payload.reportBase === 'SummaryInventory' ? [] : null;
    default:
      return [];
  }
}

/** Time around the begin and the end of a transaction in which both sides may see it differently, ms. */
const turnMs = 10_000;

/** Time after the opening of a connection in which both sides tell what they have missed, ms. */
const settlingMs = 60_000;

const churnMs = 600_000;
const maxProfiles = 60;
const floodGapMs = 5000;
const maxTriggers = 20;
const maxResets = 3;

const purposeOf = (payload: Payload): unknown => {
  const profile = payload.csChargingProfiles ?? payload.chargingProfile;
  return isObject(profile) ? profile.chargingProfilePurpose : undefined;
};

/** Times of an event that is counted within a while. */
class Recent {
  readonly #withinMs: number;
  readonly #max: number;
  #times: number[] = [];

  /** @param max times that are kept, so that a flood takes no memory */
  constructor(withinMs: number, max: number) {
    this.#withinMs = withinMs;
    this.#max = max;
  }

  /** @returns events within the while, this one among them, as far as they are kept */
  add(nowMs: number): number {
    this.#times = [...this.#times.filter((ms) => nowMs - ms < this.#withinMs), nowMs].slice(-this.#max);
    return this.#times.length;
  }
}

/** A call that the station has carried out or refused. */
export interface ServedCall {
  readonly action: string;
  readonly payload: Payload;
  readonly messageId: string;
}

interface RequestFacts {
  /** false: times of the central system belong to the simulated clock */
  readonly isWallTime: boolean;
  /** messages about transactions wait, so that the central system does not know all */
  readonly hasBacklog: () => boolean;
}

export class RequestJudge {
  readonly #at: JudgeContext;
  readonly #isWallTime: boolean;
  readonly #hasBacklog: () => boolean;
  readonly #profiles = new Recent(churnMs, maxProfiles);
  readonly #resets = new Recent(churnMs, maxResets);
  #trigger = { what: '', count: 0, lastMs: 0 };
  #turnedMs = -Infinity;
  #openedMs = -Infinity;
  /** rules whose settings the central system has read */
  readonly #isInformed = new Set<string>();

  constructor(at: JudgeContext, { isWallTime, hasBacklog }: RequestFacts) {
    this.#at = at;
    this.#isWallTime = isWallTime;
    this.#hasBacklog = hasBacklog;
  }

  opened(): void {
    this.#openedMs = this.#at.wall.monotonicMs();
  }

  /** A message about the begin or end of a transaction was sent or answered, or such a call has come. */
  turned(): void {
    this.#turnedMs = this.#at.wall.monotonicMs();
  }

  /** True if the central system cannot be expected to know better. */
  isExcused(rule: OcppRule): boolean {
    if (rule in settingsOfRules) return !this.#isInformed.has(rule);
    // it may count by the clock of its machine
    if (rule === 'reservation') return !this.#isWallTime;
    return rule === 'tx_profile_without_tx' && this.#isTurning();
  }

  /** True if both sides may know different transactions. */
  #isTurning(): boolean {
    const nowMs = this.#at.wall.monotonicMs();
    return this.#hasBacklog() || nowMs - this.#turnedMs < turnMs || nowMs - this.#openedMs < settlingMs;
  }

  /** A call of the registered station has been handled. */
  served(call: ServedCall): void {
    const { action, payload } = call;
    for (const rule of rulesByAction[action] ?? []) this.#kept(rule);
    const purpose = purposeOf(payload);
    if (startActions.includes(action) && purpose !== undefined) for (const rule of profileRules) this.#kept(rule);
    if (purpose === 'TxProfile' && action === 'SetChargingProfile') this.#kept('tx_profile_without_tx');
    if (action === 'SetChargingProfile') this.#profileSet(call, purpose);
    if (action === 'TriggerMessage' || action === 'ExtendedTriggerMessage') this.#triggered(call);
    if (action === 'Reset') this.#reset(call);
    this.#noteRead(call);
    if (remoteActions.includes(action)) this.turned();
  }

  #noteRead(call: ServedCall): void {
    const names = settingsRead(call);
    for (const [rule, settings] of Object.entries(settingsOfRules))
      if (names === null || settings.some((name) => names.includes(name))) this.#isInformed.add(rule);
  }

  #kept(rule: OcppRule): void {
    if (this.isExcused(rule)) this.#at.undecided(rule);
    else this.#at.kept(rule);
  }

  #profileSet({ action, messageId }: ServedCall, purpose: unknown): void {
    if (purpose === 'TxProfile') return;
    const count = this.#profiles.add(this.#at.wall.monotonicMs());
    const churn = `${count} profiles that last within ${churnMs / 60_000} min`;
    if (count < maxProfiles) this.#at.kept('profile_churn');
    else this.#at.broken({ rule: 'profile_churn', text: churn, action, messageId });
  }

  #triggered({ action, payload, messageId }: ServedCall): void {
    const what = JSON.stringify([
      payload.requestedMessage,
      payload.customTrigger,
      payload.connectorId,
      payload.evse,
    ]).slice(0, 200);
    const nowMs = this.#at.wall.monotonicMs();
    const isNext = what === this.#trigger.what && nowMs - this.#trigger.lastMs < floodGapMs;
    const count = isNext ? this.#trigger.count + 1 : 1;
    this.#trigger = { what, count, lastMs: nowMs };
    const text = `${String(payload.requestedMessage)} is triggered ${count} times in a row, each within 5 s`;
    if (count < maxTriggers) this.#at.kept('trigger_flood');
    else this.#at.broken({ rule: 'trigger_flood', text, action, messageId });
  }

  #reset({ action, messageId }: ServedCall): void {
    const count = this.#resets.add(this.#at.wall.monotonicMs());
    const text = `${count} resets within ${churnMs / 60_000} min`;
    if (count < maxResets) this.#at.kept('reset_loop');
    else this.#at.broken({ rule: 'reset_loop', text, action, messageId });
  }
}
