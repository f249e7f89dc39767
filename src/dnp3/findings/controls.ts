/** Judges SELECT and OPERATE, and the objects of controls. */
import { functionCodes } from '../stack/application/types.ts';
import type { ObjectHeader, Request } from '../stack/application/types.ts';
import type { Control, ControlStatus } from '../stack/outstation/types.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import { digestOf } from './digest.ts';
import type { Dialogue, Incoming, TopicJudge } from './dialogue.ts';
import { RefusalsJudge } from './refusals.ts';

const [crobGroup, analogGroup] = [12, 41];
/** Parts of the control code of g12v1. */
const [operationMask, tripCloseShift, maxOperation, reservedTripClose] = [0x0f, 6, 4, 3];
/** Time in which an OPERATE may be sent again, or follow a SELECT of another connection. */
const retryMs = 30_000;
const abandonedSelects = 3;

const controlFunctions: ReadonlySet<number> = new Set([
  functionCodes.select,
  functionCodes.operate,
  functionCodes.directOperate,
  functionCodes.directOperateNr,
]);

/** Digest of the objects of a request without the width of their indexes. */
function objectsOf({ headers }: Request): string {
  const objects = headers.flatMap((header) =>
    header.objects.map(({ index, octets }) => `${header.group}.${header.variation}.${index}.${octets.toString('hex')}`),
  );
  return digestOf(objects.join(' '));
}

interface Select {
  readonly objects: string;
  readonly seq: number;
  readonly atMs: number;
  /** false: an object was refused, and the master is right to do something else */
  readonly isAccepted: boolean;
}

function nameOf({ group }: ObjectHeader, index: number | null): string {
  return `${group === crobGroup ? 'BO' : 'AO'}${index}`;
}

export class ControlsJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  readonly #refusals: RefusalsJudge;
  /** the last request, if it was a SELECT */
  #select: Select | null = null;
  /** a SELECT that another request followed */
  #interrupted: Select | null = null;
  /** accepted SELECTs in a row without an OPERATE */
  #abandoned = 0;
  #lastOperate: { readonly objects: string; readonly atMs: number } | null = null;
  /** false: a broadcast or a restart may have dropped a select */
  #isSelectKnown: boolean;
  /** of the present request */
  #areAllAccepted = true;
  #count = 0;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
    this.#refusals = new RefusalsJudge(dialogue);
    // the SELECT may have come on a connection that was lost
    this.#isSelectKnown = dialogue.nowMs - dialogue.history.selectedMs > retryMs;
  }

  requested(request: Incoming): void {
    this.#areAllAccepted = true;
    this.#count = 0;
    if (request.isRetry) return;
    const { functionCode, cast } = request;
    if (controlFunctions.has(functionCode)) this.#judgeObjects(request);
    if (cast !== 'unicast') this.#forget();
    else if (functionCode === functionCodes.select) this.#judgeAbandoned();
    else if (functionCode === functionCodes.operate) this.#judgeOperate(request);
    else if (this.#select !== null) {
      this.#interrupted = this.#select;
      this.#select = null;
    }
  }

  controlled(control: Control, status: ControlStatus): void {
    this.#count += 1;
    if (status !== controlStatus.success) this.#areAllAccepted = false;
    this.#judgePoint(control);
    this.#refusals.controlled(control, status);
  }

  answered(request: Request): void {
    if (request.functionCode !== functionCodes.select) return;
    const { nowMs, history } = this.#dialogue;
    history.selectedMs = nowMs;
    const isAccepted = this.#areAllAccepted && this.#count > 0;
    this.#select = { objects: objectsOf(request), seq: request.control.seq, atMs: nowMs, isAccepted };
  }

  restarted(): void {
    this.#forget();
  }

  lost(): void {
    this.#forget();
  }

  #forget(): void {
    this.#select = null;
    this.#interrupted = null;
    this.#isSelectKnown = false;
  }

  #judgeAbandoned(): void {
    const rule = this.#dialogue.rules.select_abandoned;
    const former = this.#select ?? this.#interrupted;
    this.#select = null;
    this.#interrupted = null;
    if (former?.isAccepted !== true) return;
    this.#abandoned += 1;
    if (this.#abandoned < abandonedSelects) return;
    this.#abandoned = 0;
    this.#dialogue.broken(rule, () => ({ text: `sent no OPERATE after ${abandonedSelects} SELECTs in a row` }));
  }

  #judgeOperate(request: Incoming): void {
    const { nowMs, rules } = this.#dialogue;
    const [select, interrupted, isKnown] = [this.#select, this.#interrupted, this.#isSelectKnown];
    const objects = objectsOf(request);
    const last = this.#lastOperate;
    const isAgain = last !== null && last.objects === objects && nowMs - last.atMs <= retryMs;
    this.#select = null;
    this.#interrupted = null;
    this.#isSelectKnown = true;
    this.#lastOperate = { objects, atMs: nowMs };
    if (select?.isAccepted === true) this.#dialogue.exercised(rules.select_abandoned);
    this.#abandoned = 0;
    if (select !== null) this.#judgePair(request, select, objects);
    else if (interrupted !== null) {
      if (interrupted.isAccepted)
        this.#dialogue.broken(rules.select_interrupted, () => ({
          text: 'sent another request between SELECT and OPERATE',
          excerpt: request.octets,
        }));
    } else if (isAgain || !isKnown) rules.operate_without_select.undecided(this.#dialogue.peer);
    else
      this.#dialogue.broken(rules.operate_without_select, () => ({
        text: 'sent OPERATE, and no SELECT before it',
        excerpt: request.octets,
      }));
  }

  #judgePair({ control: { seq }, octets }: Incoming, select: Select, objects: string): void {
    const { nowMs, rules, facts } = this.#dialogue;
    if (!select.isAccepted) return;
    const { operate_without_select: without, operate_sequence: sequence, operate_differs: differs } = rules;
    const tookMs = Math.round(nowMs - select.atMs);
    this.#dialogue.exercised(without, rules.select_interrupted);
    if (seq !== ((select.seq + 1) & 0x0f))
      this.#dialogue.broken(sequence, () => ({
        text: `sent OPERATE with the number ${seq} after a SELECT with the number ${select.seq}`,
        facts: { sequence: seq, select: select.seq },
        excerpt: octets,
      }));
    else if (objects !== select.objects)
      this.#dialogue.broken(differs, () => ({
        text: 'sent OPERATE of other objects than its SELECT',
        excerpt: octets,
      }));
    else if (tookMs > facts.selectTimeoutMs)
      this.#dialogue.broken(rules.operate_late, () => ({
        text: `sent OPERATE ${(tookMs / 1000).toFixed(1)} s after its SELECT`,
        facts: { took_ms: tookMs, limit_ms: facts.selectTimeoutMs },
        excerpt: octets,
      }));
    else this.#dialogue.exercised(sequence, differs, rules.operate_late);
  }

  /** Judges the octets of controls, before the device is asked. */
  #judgeObjects(request: Incoming): void {
    const { rules } = this.#dialogue;
    for (const header of request.headers) {
      if (header.group !== crobGroup && header.group !== analogGroup) continue;
      for (const { index, octets } of header.objects) {
        const name = nameOf(header, index);
        const status = octets.at(-1) ?? 0;
        if (status === 0) this.#dialogue.exercised(rules.control_status);
        else
          this.#dialogue.broken(
            rules.control_status,
            () => ({ text: `sent a control of ${name} with the status ${status}`, excerpt: request.octets }),
            name,
          );
        if (header.group === crobGroup) this.#judgeCode(request, name, octets[0] ?? 0);
        else this.#judgeAcknowledged(request, name);
      }
    }
  }

  #judgeCode(request: Incoming, name: string, code: number): void {
    const rule = this.#dialogue.rules.control_code;
    const isReserved = (code & operationMask) > maxOperation || code >> tripCloseShift === reservedTripClose;
    if (!isReserved) this.#dialogue.exercised(rule);
    else
      this.#dialogue.broken(
        rule,
        () => ({
          text: `sent a control of ${name} with the reserved code ${code}`,
          facts: { code },
          excerpt: request.octets,
        }),
        name,
      );
  }

  #judgeAcknowledged({ functionCode, cast, octets }: Incoming, name: string): void {
    const rule = this.#dialogue.rules.control_unacknowledged;
    if (functionCode === functionCodes.select || cast !== 'unicast') return;
    if (functionCode !== functionCodes.directOperateNr) this.#dialogue.exercised(rule);
    else
      this.#dialogue.broken(
        rule,
        () => ({ text: `sent a set-point of ${name} with DIRECT_OPERATE_NR`, excerpt: octets }),
        name,
      );
  }

  /** Judges a control by the point map. */
  #judgePoint(control: Control): void {
    const { rules, facts } = this.#dialogue;
    const { kind, index } = control;
    const name = `${kind === 'binary' ? 'BO' : 'AO'}${index}`;
    const range = facts.rangeOf(kind, index);
    if (range === undefined) {
      this.#dialogue.broken(
        rules.control_unknown,
        () => ({ text: `sent a control of ${name}, which the point map does not have`, facts: { point: name } }),
        name,
      );
      return;
    }
    this.#dialogue.exercised(rules.control_unknown);
    if (control.kind === 'binary') return;
    const { value } = control;
    const { min, max } = range;
    if (value >= min && value <= max) this.#dialogue.exercised(rules.control_value);
    else
      this.#dialogue.broken(
        rules.control_value,
        () => ({
          text: `sent ${value} to ${name}, whose range is ${min} to ${max}`,
          facts: { point: name, value: String(value), min, max },
        }),
        name,
      );
  }
}
