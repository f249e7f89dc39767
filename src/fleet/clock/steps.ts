/** Decides about each message that drives the ticks of a shard, as a table of the message and of the shard's state. */
import type { StepNumber } from './messages.ts';

export type StepVerb = 'prepare' | 'go';
/** Age of a message beside the last one. */
export type Order = 'newer' | 'same' | 'older' | 'of an earlier leader';
export type TickState = 'no tick' | 'open tick';

export type StepAct = 'begin' | 'resume' | 'advance' | 'catch up';

/** A shard without an open tick has ended it, or its process is new. */
const acts: Readonly<Record<StepVerb, Readonly<Record<TickState, StepAct>>>> = {
  prepare: { 'no tick': 'begin', 'open tick': 'resume' },
  go: { 'no tick': 'catch up', 'open tick': 'advance' },
};

/** The act of a newer message. */
export const stepAct = (verb: StepVerb, state: TickState): StepAct => acts[verb][state];

/** @param last null: there was none */
export function orderOf({ term, step }: StepNumber, last: StepNumber | null): Order {
  if (last === null || term > last.term) return 'newer';
  if (term < last.term) return 'of an earlier leader';
  return step > last.step ? 'newer' : step === last.step ? 'same' : 'older';
}
