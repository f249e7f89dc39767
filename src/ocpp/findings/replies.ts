/** Judges what a central system does with the answers of a station: starts, reports, settings that need a restart. */
import type { Deadline } from '../../core/findings/rule.ts';
import type { SentCall } from '../rpc/caller.ts';
import { isObject } from '../rpc/frames.ts';
import type { Payload } from '../rpc/model.ts';
import type { JudgeContext } from './context.ts';
import type { ServedCall } from './requests.ts';

/** Time between two starts that belong together, ms. */
const startGapMs = 10_000;
/** Starts after the first one. */
const maxStartsAgain = 3;
const restartMs = 3_600_000;
/** A report without a part for so long is not sent any more, ms. */
const reportMs = 60_000;
/** Reports that are sent at a time. */
const maxReports = 16;
const maxNameLength = 200;

/** The message that delivers a report, by the action that asks for it. */
const notifyActions: Readonly<Record<string, string>> = {
  GetBaseReport: 'NotifyReport',
  GetReport: 'NotifyReport',
  GetMonitoringReport: 'NotifyMonitoringReport',
  GetChargingProfiles: 'ReportChargingProfiles',
};
const deliveries: ReadonlySet<string> = new Set(Object.values(notifyActions));

const listOf = (value: unknown): readonly Payload[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The place and token of a remote start; null: without a place, where each start may be for another vehicle. */
function startOf({ action, payload }: ServedCall): string | null {
  if (action !== 'RemoteStartTransaction' && action !== 'RequestStartTransaction') return null;
  const place = payload.connectorId ?? payload.evseId;
  const token = isObject(payload.idToken) ? payload.idToken.idToken : payload.idTag;
  return place === undefined ? null : JSON.stringify([place, token]).slice(0, maxNameLength);
}

/** The name of a setting that the station has taken and that needs a restart; null: none. */
function restartedSetting({ action, payload }: ServedCall, reply: Payload): string | null {
  if (action === 'ChangeConfiguration') return reply.status === 'RebootRequired' ? String(payload.key) : null;
  if (action !== 'SetVariables') return null;
  const result = listOf(reply.setVariableResult).find(({ attributeStatus }) => attributeStatus === 'RebootRequired');
  const { variable } = result ?? {};
  return isObject(variable) ? String(variable.name) : null;
}

/** True if the message shows a transaction, at whose end a central system may restart the station. */
const isOfTransaction = (action: string, { transactionId }: Payload) =>
  action === 'StartTransaction' || action === 'TransactionEvent' || transactionId !== undefined;

const isDowngrade = (info: unknown) => isObject(info) && info.reasonCode === 'NoSecurityDowngrade';

/** True if a call lowers the security profile, false if it sets one that is not lower, null: it sets none. */
function lowers({ action, payload }: ServedCall, reply: Payload, profile: number): boolean | null {
  if (action === 'ChangeConfiguration') {
    const { key, value } = payload;
    return key === 'SecurityProfile' && /^[0-3]$/.test(String(value)) ? Number(value) < profile : null;
  }
  if (action === 'SetNetworkProfile')
    return isDowngrade(reply.statusInfo) || (reply.status === 'Accepted' ? false : null);
  return listOf(reply.setVariableResult).some(({ attributeStatusInfo }) => isDowngrade(attributeStatusInfo)) || null;
}

export class ReplyJudge {
  readonly #at: JudgeContext;
  #profile = 0;
  #start = { key: '', isAccepted: false, again: 0, atMs: 0 };
  #restart: Deadline | null = null;
  /** reports that are being sent, with the time of their last part, monotonic ms */
  readonly #reports = new Map<string, number>();

  constructor(at: JudgeContext) {
    this.#at = at;
  }

  /** @param profile security profile of the connection */
  opened(profile: number): void {
    this.#profile = profile;
  }

  closed(): void {
    this.#giveUpRestart();
    this.disturbed();
  }

  /** A fault acts on frames: it may have taken any of those that are waited for. */
  disturbed(): void {
    this.#restart?.drop();
    this.#reports.clear();
    this.turned();
  }

  /** A transaction has begun or ended: a start that comes now is another one. */
  turned(): void {
    this.#start = { ...this.#start, key: '' };
  }

  /** The station has answered a call. */
  replied(call: ServedCall, reply: Payload): void {
    if (call.action === 'Reset') this.#restart?.met();
    this.#started(call, reply);
    this.#reported(call, reply);
    const name = restartedSetting(call, reply);
    if (name !== null) this.#awaitRestart(name.slice(0, maxNameLength), call);
    const isLower = lowers(call, reply, this.#profile);
    const { action, messageId } = call;
    const text = `the security profile in force is ${this.#profile}, and a lower one is asked for`;
    if (isLower === false) this.#at.kept('security_downgrade');
    if (isLower === true) this.#at.broken({ rule: 'security_downgrade', text, action, messageId });
  }

  /** The station sends a message. */
  sent({ action, payload }: SentCall): void {
    if (isOfTransaction(action, payload)) this.#giveUpRestart();
    if (!deliveries.has(action)) return;
    const key = `${action} ${String(payload.requestId)}`;
    if (payload.tbc !== true) this.#reports.delete(key);
    else if (this.#reports.has(key)) this.#reports.set(key, this.#at.wall.monotonicMs());
  }

  #started(call: ServedCall, { status }: Payload): void {
    const key = startOf(call);
    if (key === null) return;
    const former = this.#start;
    const atMs = this.#at.wall.monotonicMs();
    const isAgain = former.isAccepted && former.key === key && atMs - former.atMs < startGapMs;
    const again = isAgain ? former.again + 1 : 0;
    // a station refuses the next ones while the first one waits for its vehicle
    this.#start = { key, isAccepted: isAgain || status === 'Accepted', again, atMs };
    const { action, messageId } = call;
    const text = `an accepted start is sent ${again} times more, each within 10 s of the last one`;
    if (again < maxStartsAgain) this.#at.kept('remote_start_repeated');
    else this.#at.broken({ rule: 'remote_start_repeated', text, action, messageId, facts: { again } });
  }

  #reported({ action, payload, messageId }: ServedCall, { status }: Payload): void {
    const delivery = Object.hasOwn(notifyActions, action) ? notifyActions[action] : undefined;
    if (delivery === undefined) return;
    const key = `${delivery} ${String(payload.requestId)}`;
    const nowMs = this.#at.wall.monotonicMs();
    for (const [each, atMs] of this.#reports) if (nowMs - atMs >= reportMs) this.#reports.delete(each);
    const rule = 'request_id_reused';
    const text = `the report ${String(payload.requestId)} is still being sent by ${delivery}`;
    if (this.#reports.has(key)) this.#at.broken({ rule, text, action, messageId });
    else if ([...this.#reports.keys()].some((each) => each.startsWith(delivery))) this.#at.kept(rule);
    if (status === 'Accepted' && this.#reports.size < maxReports) this.#reports.set(key, nowMs);
  }

  #giveUpRestart(): void {
    if (this.#restart?.isPending === true) this.#at.undecided('reboot_required_ignored');
    this.#restart?.drop();
  }

  #awaitRestart(name: string, { action, messageId }: ServedCall): void {
    const { findings, rules, peer, deviceIndex, station } = this.#at;
    if (peer === null || this.#restart?.isPending === true) return;
    this.#restart = findings.waitFor({
      rule: rules.reboot_required_ignored,
      peer,
      deviceIndex,
      waitMs: restartMs,
      presence: 'connected',
      expired: () => ({
        text: `${name} needs a restart, and no Reset came within ${restartMs / 60_000} min`,
        facts: { station, action, message_id: messageId },
      }),
    });
  }
}
