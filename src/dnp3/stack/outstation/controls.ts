/** SELECT, OPERATE and the direct controls. IEEE 1815 4.4.4 to 4.4.7 */
import { Buffer } from 'node:buffer';
import { functionCodes, iin } from '../application/types.ts';
import type { Answer, ObjectHeader, Request } from '../application/types.ts';
import { analogValue, stateOfCode } from '../objects.ts';
import { controlStatus } from './types.ts';
import type { Control, ControlStatus, FunctionContext } from './types.ts';

const crobGroup = 12;
const analogGroup = 41;
/** Offset of the number of operations in a g12v1. */
const crobCountAt = 1;

/** A select that waits for its OPERATE. */
interface Selection {
  /** octets of the objects with their headers */
  readonly objects: Buffer;
  readonly seq: number;
  readonly atMs: number;
  readonly outputs: ReadonlySet<string>;
}

const outputKey = (kind: Control['kind'], index: number) => `${kind} ${index}`;

/** One object of a request with its verdict before the device is asked. */
interface Item {
  readonly control: Control;
  /** decided by the object alone; null: the device decides */
  readonly verdict: ControlStatus | null;
}

function itemOf({ group, variation }: ObjectHeader, index: number, octets: Buffer): Item {
  // a request has the status 0; an object with another status is refused: certification 8.2.6
  const isRequest = octets.at(-1) === controlStatus.success;
  const wrong = isRequest ? null : controlStatus.formatError;
  if (group === crobGroup) {
    const state = octets[crobCountAt] === 0 ? null : stateOfCode(octets[0] ?? 0);
    const control: Control = { kind: 'binary', index, state: state ?? 0 };
    return { control, verdict: wrong ?? (state === null ? controlStatus.notSupported : null) };
  }
  const value = analogValue(variation, octets);
  const control: Control = { kind: 'analog', index, value, isFloat: variation >= 3 };
  return { control, verdict: wrong ?? (Number.isFinite(value) ? null : controlStatus.outOfRange) };
}

/** Bits of IIN2 that refuse a request before its objects are checked. */
function refusalOf({ headers }: Request): number {
  if (headers.length === 0) return iin.parameterError;
  let bits = 0;
  for (const { group, range } of headers) {
    if (group !== crobGroup && group !== analogGroup) bits |= iin.objectUnknown;
    else if (range.kind !== 'indexes') bits |= iin.parameterError;
  }
  return bits;
}

/** A copy of the objects of a request, whose octets are views of a fragment. */
const objectsOf = ({ headers }: Request): Buffer => Buffer.concat(headers.map(({ octets }) => octets));

/** Reports a control that is refused without the device. @returns the status */
function refuse(control: Control, status: ControlStatus, request: Request, context: FunctionContext): ControlStatus {
  const isSelect = request.functionCode === functionCodes.select;
  context.outstation.controls.refused?.(control, status, context.master, isSelect);
  return status;
}

type Judge = (item: Control) => ControlStatus;

/** The answer to a control: the objects of the request, with a status in each. */
interface Judged extends Answer {
  readonly succeeded: readonly Control[];
}

/** Judges each object, in order. @param judge selects or operates; not called if the object is already refused */
function judged(request: Request, context: FunctionContext, judge: Judge): Judged {
  const { outstation } = context;
  const succeeded: Control[] = [];
  let iin2 = 0;
  let count = 0;
  const objects = request.headers.map((header) => {
    const answer = Buffer.from(header.octets);
    for (const { index, octets } of header.objects) {
      const item = itemOf(header, index ?? 0, octets);
      const { kind, index: output } = item.control;
      count += 1;
      const exists = outstation.controls.has(kind, output);
      const isTooMany = count > outstation.limits.controlsPerRequest;
      if (!exists && !isTooMany) iin2 |= iin.parameterError;
      let verdict: ControlStatus | null = item.verdict;
      if (isTooMany) verdict = controlStatus.tooManyObjects;
      else if (!exists) verdict = controlStatus.notSupported;
      else if (verdict === null && context.selectedByOther(kind, output)) verdict = controlStatus.blockedOtherMaster;
      const status = verdict === null ? judge(item.control) : refuse(item.control, verdict, request, context);
      context.controlled(item.control, status);
      if (status === controlStatus.success) succeeded.push(item.control);
      // the object is a view of the header's octets
      answer[octets.byteOffset - header.octets.byteOffset + octets.length - 1] = status;
    }
    return answer;
  });
  return { objects: Buffer.concat(objects), iin2, succeeded };
}

const refused = (iin2: number): Answer => ({ objects: Buffer.alloc(0), iin2 });

/** The controls of one association, with its select. */
export class Controls {
  #selection: Selection | null = null;
  readonly #timeoutMs: number;
  readonly #nowMs: () => number;

  constructor(timeoutMs: number, nowMs: () => number) {
    this.#timeoutMs = timeoutMs;
    this.#nowMs = nowMs;
  }

  get hasSelect(): boolean {
    return this.#selection !== null && !this.#isOver(this.#selection);
  }

  isSelected(kind: Control['kind'], index: number): boolean {
    return this.hasSelect && this.#selection?.outputs.has(outputKey(kind, index)) === true;
  }

  /** Ends a select before any request but OPERATE; not called for CONFIRM. */
  precede({ functionCode }: Request): void {
    if (functionCode !== functionCodes.operate) this.#selection = null;
  }

  drop(): void {
    this.#selection = null;
  }

  select(request: Request, context: FunctionContext): Answer {
    const bits = refusalOf(request);
    if (bits !== 0) return refused(bits);
    const answer = judged(request, context, (control) => context.outstation.controls.select(control, context.master));
    if (answer.succeeded.length > 0)
      this.#selection = {
        objects: objectsOf(request),
        seq: request.control.seq,
        atMs: context.receivedMs,
        outputs: new Set(answer.succeeded.map(({ kind, index }) => outputKey(kind, index))),
      };
    return answer;
  }

  operate(request: Request, context: FunctionContext): Answer {
    const selection = this.#selection;
    this.#selection = null;
    const bits = refusalOf(request);
    if (bits !== 0) return refused(bits);
    const refusal = this.#operateRefusal(selection, request);
    return judged(request, context, (control) => {
      // an object that failed its select is not selected, even if others of the request are
      const isSelected = selection?.outputs.has(outputKey(control.kind, control.index)) === true;
      const status = refusal ?? (isSelected ? null : controlStatus.noSelect);
      if (status !== null) return refuse(control, status, request, context);
      return context.outstation.controls.operate(control, context.master);
    });
  }

  direct(request: Request, context: FunctionContext): Answer {
    const bits = refusalOf(request);
    if (bits !== 0) return refused(bits);
    return judged(request, context, (control) => context.outstation.controls.operate(control, context.master));
  }

  #operateRefusal(selection: Selection | null, request: Request): ControlStatus | null {
    if (selection === null || request.control.seq !== ((selection.seq + 1) & 0x0f)) return controlStatus.noSelect;
    if (!selection.objects.equals(objectsOf(request))) return controlStatus.noSelect;
    return this.#isOver(selection) ? controlStatus.timeout : null;
  }

  #isOver({ atMs }: Selection): boolean {
    return this.#nowMs() - atMs > this.#timeoutMs;
  }
}
