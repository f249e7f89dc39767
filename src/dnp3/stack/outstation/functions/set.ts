/** The functions of one association beside READ, CONFIRM and those of unsolicited responses, by function code. */
import { Buffer } from 'node:buffer';
import { functionCodes, iin } from '../../application/types.ts';
import type { Answer } from '../../application/types.ts';
import type { FunctionContext, FunctionHandler, FunctionSet, OutstationOptions } from '../types.ts';
import { Controls } from './controls.ts';
import { assignClass, freeze } from './points.ts';
import { write } from './write.ts';
import type { TimeBook } from './write.ts';

const nothing = Buffer.alloc(0);
const answer = (iin2: number): Answer => ({ objects: nothing, iin2 });

const maxFineMs = 0xffff;

/** A g52: v2 counts milliseconds, v1 seconds where they do not suffice. */
function delay(ms: number): Answer {
  const fine = ms <= maxFineMs;
  const count = Math.min(0xffff, Math.round(fine ? ms : ms / 1000));
  return { objects: Buffer.from([52, fine ? 2 : 1, 0x07, 1, count & 0xff, count >> 8]), iin2: 0 };
}

function freezing(clear: boolean): FunctionHandler {
  return ({ headers }, { outstation: { database, clock } }) =>
    answer(freeze(headers, database, { clear, stamp: clock.stamp() }));
}

function restarting(kind: 'cold' | 'warm'): FunctionHandler {
  return ({ headers }, context) => {
    if (headers.length > 0) return answer(iin.parameterError);
    context.requestRestart(kind);
    return delay(context.outstation.restartDelayMs);
  };
}

function timing({ outstation: { clock }, receivedMs }: FunctionContext): Answer {
  return delay(Math.max(0, clock.monotonicMs() - receivedMs));
}

/** A master that sends objects with a function that has none has made a mistake. */
const without =
  (handler: FunctionHandler): FunctionHandler =>
  (request, context) =>
    request.headers.length > 0 ? answer(iin.parameterError) : handler(request, context);

/** Makes the functions of one association. */
export function createFunctionSet({ limits, clock }: Pick<OutstationOptions, 'limits' | 'clock'>): FunctionSet {
  const controls = new Controls(limits.selectTimeoutMs, () => clock.monotonicMs());
  const book: TimeBook = { recordedMs: null };
  const direct: FunctionHandler = (request, context) => controls.direct(request, context);
  const handlers: Readonly<Record<number, FunctionHandler>> = {
    [functionCodes.write]: ({ headers }, context) => answer(write(headers, context, book)),
    [functionCodes.select]: (request, context) => controls.select(request, context),
    [functionCodes.operate]: (request, context) => controls.operate(request, context),
    [functionCodes.directOperate]: direct,
    [functionCodes.directOperateNr]: direct,
    [functionCodes.immediateFreeze]: freezing(false),
    [functionCodes.immediateFreezeNr]: freezing(false),
    [functionCodes.freezeClear]: freezing(true),
    [functionCodes.freezeClearNr]: freezing(true),
    [functionCodes.coldRestart]: restarting('cold'),
    [functionCodes.warmRestart]: restarting('warm'),
    [functionCodes.assignClass]: ({ headers }, { outstation: { database } }) => answer(assignClass(headers, database)),
    [functionCodes.delayMeasure]: without((_, context) => timing(context)),
    [functionCodes.recordCurrentTime]: without((_, { receivedMs }) => {
      book.recordedMs = receivedMs;
      return answer(0);
    }),
  };
  return {
    handler: (code) => handlers[code],
    precede: (request) => controls.precede(request),
    get hasSelect() {
      return controls.hasSelect;
    },
    isSelected: (kind, index) => controls.isSelected(kind, index),
    sessionEnded() {
      controls.drop();
      book.recordedMs = null;
    },
  };
}
