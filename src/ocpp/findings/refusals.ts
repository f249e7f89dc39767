/** Judges whether a central system goes on asking for settings that the station has refused, or for what has ended. */
import { createHash } from 'node:crypto';
import { isObject } from '../rpc/frames.ts';
import type { Payload } from '../rpc/model.ts';
import type { JudgeContext } from './context.ts';
import type { ServedCall } from './requests.ts';

/** Settings of a connection whose refusals are counted. */
const maxNames = 64;
const maxNameLength = 200;
/** Time between two refusals that belong together, ms. */
const memoryMs = 600_000;
/** Transactions whose end is known. */
const maxEnded = 20;
/** The first refusal and three more. */
const maxRefusals = 4;
/** Time in which a stop may cross the end of its transaction, ms. */
const crossingMs = 60_000;

const refusedStatus = /^(?:Unknown\w*|Rejected|NotSupported\w*)$/;

interface RefusedSetting {
  readonly name: string;
  /** with the value that was refused: another value counts anew */
  readonly key: string;
}

const listOf = (value: unknown): readonly Payload[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The name of a component or variable, with its instance if it has one. */
function nameOf(value: unknown): string {
  const { name, instance } = isObject(value) ? value : {};
  return typeof instance === 'string' ? `${String(name)}[${instance}]` : String(name);
}

/** The text of an id: a number in 1.6, a text in 2.x; null: none. */
const idOf = (value: unknown) => (typeof value === 'number' || typeof value === 'string' ? String(value) : null);

/** Refused variables of GetVariables and SetVariables. */
function refusedVariables(asked: readonly Payload[], results: readonly Payload[]): readonly RefusedSetting[] {
  return results.flatMap(({ attributeStatus, component, variable }, i) => {
    if (!refusedStatus.test(String(attributeStatus))) return [];
    const name = `${nameOf(component)}.${nameOf(variable)}`;
    return [{ name, key: JSON.stringify([name, asked[i]?.attributeValue ?? null]) }];
  });
}

/** Settings that the answer to a call refuses. */
function refusedSettings({ action, payload }: ServedCall, reply: Payload): readonly RefusedSetting[] {
  switch (action) {
    case 'GetConfiguration': {
      const names = Array.isArray(reply.unknownKey) ? reply.unknownKey.map(String) : [];
      return names.map((name) => ({ name, key: name }));
    }
    case 'ChangeConfiguration': {
      const name = String(payload.key);
      return refusedStatus.test(String(reply.status)) ? [{ name, key: JSON.stringify([name, payload.value]) }] : [];
    }
    case 'GetVariables':
      return refusedVariables(listOf(payload.getVariableData), listOf(reply.getVariableResult));
    case 'SetVariables':
      return refusedVariables(listOf(payload.setVariableData), listOf(reply.setVariableResult));
    default:
      return [];
  }
}

const settingActions: readonly string[] = ['GetConfiguration', 'ChangeConfiguration', 'GetVariables', 'SetVariables'];
const stopActions: readonly string[] = ['RemoteStopTransaction', 'RequestStopTransaction'];

/** Drops the oldest entries of a map above a size. */
function bound(map: Map<string, unknown>, max: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}

export class RefusalJudge {
  readonly #at: JudgeContext;
  /** refusals by the digest of setting and value, on the present connection */
  readonly #refusals = new Map<string, { readonly count: number; readonly atMs: number }>();
  /** times at which the central system has taken the end of a transaction, monotonic ms */
  readonly #ended = new Map<string, number>();

  constructor(at: JudgeContext) {
    this.#at = at;
  }

  closed(): void {
    this.#refusals.clear();
  }

  /** The station has answered a call. */
  replied(call: ServedCall, reply: Payload): void {
    const { action, messageId } = call;
    if (!settingActions.includes(action)) return;
    const repeated = refusedSettings(call, reply).filter(({ key }) => this.#count(key) >= maxRefusals);
    const [first] = repeated;
    if (first === undefined) this.#at.kept('config_unknown');
    else {
      const text = `${first.name.slice(0, maxNameLength)} is refused for the ${maxRefusals}. time or more`;
      this.#at.broken({ rule: 'config_unknown', text, action, messageId });
    }
  }

  /** The central system has answered a message of a transaction. */
  answered(action: string, { transactionId, transactionInfo, eventType }: Payload, reply: Payload): void {
    if (action === 'StartTransaction') this.#ended.delete(idOf(reply.transactionId) ?? '');
    const ended = isObject(transactionInfo) && eventType === 'Ended' ? transactionInfo.transactionId : undefined;
    const id = idOf(action === 'StopTransaction' ? transactionId : ended);
    if (id === null) return;
    this.#ended.set(id, this.#at.wall.monotonicMs());
    bound(this.#ended, maxEnded);
  }

  /** The station has handled a call. */
  served({ action, payload, messageId }: ServedCall): void {
    if (!stopActions.includes(action)) return;
    const id = idOf(payload.transactionId) ?? '';
    const endedMs = this.#ended.get(id) ?? Infinity;
    const seconds = Math.round((this.#at.wall.monotonicMs() - endedMs) / 1000);
    const text = `transaction ${id} has ended ${seconds} s ago`;
    if (this.#at.wall.monotonicMs() - endedMs <= crossingMs) this.#at.kept('remote_stop_unknown');
    else this.#at.broken({ rule: 'remote_stop_unknown', text, action, messageId, facts: { seconds } });
  }

  #count(key: string): number {
    // a digest: long lists differ at their ends, and may be secrets
    const digest = createHash('sha1').update(key).digest('base64');
    const nowMs = this.#at.wall.monotonicMs();
    const former = this.#refusals.get(digest);
    const count = former !== undefined && nowMs - former.atMs <= memoryMs ? former.count + 1 : 1;
    this.#refusals.delete(digest);
    this.#refusals.set(digest, { count, atMs: nowMs });
    bound(this.#refusals, maxNames);
    return count;
  }
}
