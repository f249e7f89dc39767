/**
 * The life of an event at its client as a table, after IEEE 2030.5-2018 10.2.3 (event rules) and its table of
 * responses. Events of other device categories and of unreadable lists never get here.
 */
import type { EventStatusNow, ResponseStatus } from './model.ts';
import type { Phase } from './state.ts';

/** Conditions of a transition at one instant. */
export interface EventFacts {
  /** EventStatus.currentStatus of the server */
  readonly status: EventStatusNow;
  /** true if the EndDevice has lost the last program that listed the event */
  readonly left: boolean;
  /** true from the effective start */
  readonly begun: boolean;
  /** true from the effective end */
  readonly over: boolean;
  /** true while an event with a mode in common waits for its random start */
  readonly successorWaits: boolean;
  /** true after the random delay of a cancellation */
  readonly cancelDue: boolean;
  /** true if other events have taken all of its modes that the device can carry out */
  readonly lostAll: boolean;
  /** origin of the event that took the last mode */
  readonly takenBy: 'same program' | 'other program' | 'other server';
  /** reason of the device for not carrying the event out; null: none, or it has been carried out before */
  readonly refusal: 'unsupported' | 'invalid' | null;
  /** participation so far; `out`: opted out at present, `in`: opted out before, `none`: never carried out */
  readonly part: 'whole' | 'in' | 'out' | 'none';
  readonly revision: '2018' | '2023';
}

/** One way from a phase to another. */
export interface Transition {
  readonly from: readonly Phase[];
  readonly when: (facts: EventFacts) => boolean;
  readonly to: Phase;
  /** the response owed by the transition; null: none */
  readonly answer: (facts: EventFacts) => ResponseStatus | null;
  /** for the diagram */
  readonly label: string;
}

const live: readonly Phase[] = ['scheduled', 'active'];
const noResponse = () => null;
const always = (status: ResponseStatus) => () => status;

const endings = { whole: 3, out: 8, in: 9, none: 10 } as const;
const takeovers = {
  2018: { 'same program': 7, 'other program': 7, 'other server': 13 },
  2023: { 'same program': 7, 'other program': 14, 'other server': 13 },
} as const;
const unsupported = { 2018: 252, 2023: 251 } as const;

const isCancelled = ({ status }: EventFacts): boolean =>
  status === 'cancelled' || status === 'cancelled with randomization';
const refused = ({ refusal, revision }: EventFacts): ResponseStatus =>
  refusal === 'invalid' ? 253 : unsupported[revision];

/** The response of a superseded event. 2018 defines 14 for another program, but head ends expect 7. */
export const superseded = ({ takenBy, revision }: Pick<EventFacts, 'takenBy' | 'revision'>): ResponseStatus =>
  takeovers[revision][takenBy];

/** Highest priority first. */
export const eventTransitions: readonly Transition[] = [
  { from: ['received', 'scheduled'], when: isCancelled, to: 'cancelled', answer: always(6), label: 'cancelled' },
  { from: live, when: (f) => f.left, to: 'cancelled', answer: always(6), label: 'program left' },
  { from: ['active'], when: (f) => f.status === 'cancelled', to: 'cancelled', answer: always(6), label: 'cancelled' },
  { from: ['active'], when: (f) => f.cancelDue, to: 'cancelled', answer: always(6), label: 'random delay over' },
  {
    from: ['received', 'scheduled'],
    when: (f) => f.status === 'superseded',
    to: 'superseded',
    answer: always(7),
    label: 'superseded by the server',
  },
  {
    from: ['active'],
    // the event lasts until its successor starts, so that no instant is without a control
    when: (f) => f.status === 'superseded' && !f.successorWaits,
    to: 'superseded',
    answer: always(7),
    label: 'superseded by the server',
  },
  { from: ['received'], when: (f) => f.over, to: 'rejected', answer: always(254), label: 'too late' },
  { from: ['received'], when: (f) => f.refusal !== null, to: 'rejected', answer: refused, label: 'not possible' },
  { from: ['received'], when: () => true, to: 'scheduled', answer: noResponse, label: 'accepted' },
  { from: live, when: (f) => f.lostAll, to: 'superseded', answer: superseded, label: 'all modes taken' },
  { from: live, when: (f) => f.over, to: 'completed', answer: (f) => endings[f.part], label: 'end' },
  { from: ['active'], when: (f) => f.refusal !== null, to: 'rejected', answer: refused, label: 'not possible' },
  { from: ['scheduled'], when: (f) => f.begun, to: 'active', answer: noResponse, label: 'start' },
];

/** The transition that is due. undefined: none. */
export function dueTransition(phase: Phase, facts: EventFacts): Transition | undefined {
  return eventTransitions.find((row) => row.from.includes(phase) && row.when(facts));
}

/** The table as a Mermaid state diagram. */
export function eventDiagram(): string {
  const rows = eventTransitions.flatMap((row) => row.from.map((from) => `  ${from} --> ${row.to}: ${row.label}`));
  return ['stateDiagram-v2', '  [*] --> received', ...rows].join('\n');
}
