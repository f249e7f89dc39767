/** Faults as state that a restart keeps: each is a plain description, from which the next process builds it again. */
import { ActiveFault } from './active-fault.ts';
import type { FaultDue, FaultEnds, FaultFacts } from './active-fault.ts';
import { plainOrigin } from '../origin.ts';
import type { FaultKind, FaultProtocol } from './kinds.ts';
import type { JsonValue } from '../store.ts';
import type { SimTime } from '../time/clock.ts';

type PlainFacts = Omit<FaultFacts, 'kind'>;

export interface KeptFault {
  readonly protocol: FaultProtocol;
  readonly kind: string;
  readonly facts: PlainFacts;
  /** the remaining devices of its group; null: no group */
  readonly group: readonly number[] | null;
  /** end by its duration in simulated time; null: none */
  readonly dueSim: SimTime | null;
  /** counters and random numbers, as `ActiveFault.kept` saves them */
  readonly state: JsonValue;
}

/** Facts never change, and are saved again and again. */
const plainFacts = new WeakMap<FaultFacts, PlainFacts>();

function plainFactsOf(facts: FaultFacts): PlainFacts {
  const cached = plainFacts.get(facts);
  if (cached !== undefined) return cached;
  // `undefined` is left out: the kind here, and what a request has not restricted
  const plain = JSON.parse(JSON.stringify({ ...facts, by: plainOrigin(facts.by), kind: undefined })) as PlainFacts;
  plainFacts.set(facts, plain);
  return plain;
}

export function keptFault(fault: ActiveFault): KeptFault {
  return {
    protocol: fault.protocol,
    kind: fault.facts.kind.kind,
    facts: plainFactsOf(fault.facts),
    group: fault.group,
    dueSim: fault.due.sim,
    state: fault.kept().save(),
  };
}

/** The fault of a description. @param monotonicMs its end by the wall clock; null: none */
export function restoredFault(
  { facts, group, dueSim, state }: KeptFault,
  kind: FaultKind,
  ends: FaultEnds,
  monotonicMs: FaultDue['monotonicMs'] = null,
): ActiveFault {
  const fault = new ActiveFault({ ...facts, kind }, { sim: dueSim, monotonicMs }, ends, group);
  fault.kept().restore(state);
  return fault;
}
