/**
 * The scheduler of the DERControls of one EndDevice (IEEE 2030.5-2018 10.2.3), pure: lists, outcomes and server time in;
 * responses and the controls in force out. The life of one event is the table in `transitions.ts`.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ControlInForce, ControlOutcome, ModeName } from '../control/model.ts';
import type {
  KnownControl,
  OwedResponse,
  ResponseStatus,
  ScheduleInput,
  ScheduleOptions,
  ScheduleStep,
} from './model.ts';
import {
  byPriority,
  byStart,
  effectivePeriods,
  givingUp,
  hasLostAll,
  heldModes,
  isLive,
  overlap,
  PeriodPass,
} from './state.ts';
import { Claims } from './claims.ts';
import { afterReading } from './receive.ts';
import type { Period, ScheduleState, TrackedEvent, TrackedProgram } from './state.ts';
import { dueTransition, superseded } from './transitions.ts';
import type { EventFacts, Transition } from './transitions.ts';

/** bits of responseRequired */
const asksForReceipt = 1;
const asksForResult = 2;
const asksForUser = 4;

const origin = (href: string): string | null => (URL.canParse(href) ? new URL(href).origin : null);

/** The state before the first reading. */
export function createSchedule(): ScheduleState {
  return { events: new Map(), programs: [], inForce: [] };
}

/** One step under way. */
class Step {
  readonly #options: ScheduleOptions;
  readonly #nowS: number;
  readonly #programs: ReadonlyMap<string, TrackedProgram>;
  readonly events: Map<string, TrackedEvent>;
  readonly responses: OwedResponse[] = [];
  /** effective periods in this step */
  #periods: ReadonlyMap<string, Period> = new Map();
  /** transitions and takeovers in this step */
  #changes = 0;
  /** of the servers of programs, by key */
  readonly #origins = new Map<string, string | null>();

  constructor(state: ScheduleState, nowS: number, options: ScheduleOptions) {
    this.#options = options;
    this.#nowS = nowS;
    this.#programs = new Map(state.programs.map((program) => [program.key, program]));
    this.events = new Map(state.events);
  }

  /** The event after the changes of this step: others may have taken modes from it. */
  #latest(event: TrackedEvent): TrackedEvent {
    return this.events.get(event.listed.mrid) ?? event;
  }

  #put(event: TrackedEvent): TrackedEvent {
    this.events.set(event.listed.mrid, event);
    return event;
  }

  #respond({ listed, answered }: TrackedEvent, status: ResponseStatus, bit: number): void {
    if (answered || listed.replyTo === null || (listed.responseRequired & bit) === 0) return;
    const { mrid, replyTo, aheadS } = listed;
    this.responses.push({ mrid, status, createdS: Math.floor(this.#nowS + aheadS), replyTo });
  }

  /** Owes the last response of an event, after which none follows. */
  #conclude(event: TrackedEvent, status: ResponseStatus | null): TrackedEvent {
    if (status !== null) this.#respond(event, status, asksForResult);
    return { ...event, answered: true };
  }

  #takenBy({ programKey, lostTo }: TrackedEvent): EventFacts['takenBy'] {
    if (lostTo === null || lostTo === programKey) return 'same program';
    const [eventOrigin, winnerOrigin] = [this.#originOf(programKey), this.#originOf(lostTo)];
    const elsewhere = eventOrigin !== null && winnerOrigin !== null && eventOrigin !== winnerOrigin;
    return elsewhere ? 'other server' : 'other program';
  }

  #originOf(key: string): string | null {
    const cached = this.#origins.get(key);
    if (cached !== undefined) return cached;
    const programOrigin = origin(this.#programs.get(key)?.href ?? '');
    this.#origins.set(key, programOrigin);
    return programOrigin;
  }

  /** True while an event that supersedes this one has begun for the server and waits for its random start here. */
  #successorWaits(event: TrackedEvent): boolean {
    const modes = heldModes(event);
    if (event.phase !== 'active' || modes.length === 0) return false;
    return [...this.events.values()].some((other) => {
      const { listed, own, phase, optedOut } = other;
      const hasBegun = listed.status === 'active' || listed.startS <= this.#nowS;
      const isWaiting = phase === 'scheduled' && !optedOut && hasBegun;
      const { startS } = this.#periods.get(listed.mrid) ?? own;
      return isWaiting && this.#nowS < startS && heldModes(other).some((mode) => modes.includes(mode));
    });
  }

  #facts(event: TrackedEvent, period: Period): EventFacts {
    const { listed, left, cancelAtS, outcome, started, optedOut, missed } = event;
    const refusal = outcome?.state === 'unsupported' || outcome?.state === 'invalid' ? outcome.state : null;
    return {
      status: listed.status,
      left,
      begun: this.#nowS >= period.startS,
      successorWaits: listed.status === 'superseded' && this.#successorWaits(event),
      over: this.#nowS >= period.endS,
      cancelDue: cancelAtS !== null && this.#nowS >= Math.min(cancelAtS, period.endS),
      lostAll: hasLostAll(event),
      takenBy: this.#takenBy(event),
      refusal: started ? null : refusal,
      part: !started ? 'none' : optedOut ? 'out' : missed ? 'in' : 'whole',
      revision: this.#options.revision,
    };
  }

  /** Carries out the transition that is due. null: none is due. */
  #advance(event: TrackedEvent, period: Period): TrackedEvent | null {
    const facts = this.#facts(event, period);
    const row = dueTransition(event.phase, facts);
    return row === undefined ? null : this.#carryOut(row, event, period, facts);
  }

  #carryOut(row: Transition, event: TrackedEvent, period: Period, facts: EventFacts): TrackedEvent {
    this.#changes += 1;
    const { to } = row;
    if (to === 'scheduled') return this.#put({ ...event, phase: to });
    if (to === 'active') return this.#put({ ...event, phase: to, fixed: period, missed: event.optedOut });
    const updated = to === 'completed' ? event : givingUp(event, heldModes(event), this.#nowS);
    const ended = this.#conclude(updated, row.answer(facts));
    return this.#put({ ...ended, phase: to, fixed: period, endedS: this.#nowS });
  }

  #settle(start: TrackedEvent, period: Period): TrackedEvent {
    let event = start;
    for (let next = this.#advance(event, period); next !== null; next = this.#advance(event, period)) event = next;
    return event;
  }

  /** New events come first: a refused one does not affect the times and priorities of the others. */
  #admit(): void {
    const events = byStart(this.events.values());
    for (const event of this.events.values()) if (event.phase === 'received') this.#respond(event, 1, asksForReceipt);
    const pass = new PeriodPass(this.events);
    this.#periods = pass.periods;
    for (const event of events) {
      const period = pass.decide(event);
      const decided = event.phase === 'received' ? this.#advance(event, period) : null;
      if (decided !== null) pass.replace(decided);
    }
  }

  /** Repeats until nothing changes: the end of one event may move the start of the next. */
  run(): void {
    this.#admit();
    let before: number;
    do {
      before = this.#changes;
      this.#decide();
    } while (this.#changes !== before);
  }

  #periodOf(event: TrackedEvent): Period {
    return this.#periods.get(event.listed.mrid) ?? event.own;
  }

  /** The period in which an event has its modes; if cancelled with randomization, until its random delay ends. */
  #claimOf(event: TrackedEvent): Period {
    const { startS, endS } = this.#periodOf(event);
    return { startS, endS: Math.min(endS, event.cancelAtS ?? Infinity) };
  }

  /** Ends the events whose end has come: none takes a mode from them any longer. */
  #endDue(order: readonly TrackedEvent[]): void {
    for (const event of order) {
      const period = this.#periodOf(event);
      const facts = this.#facts(event, period);
      const row = dueTransition(event.phase, facts);
      if (row !== undefined && row.to !== 'active') this.#carryOut(row, event, period, facts);
    }
  }

  /** Events in order of priority: each is settled, and an active one takes its modes from those after it. */
  #decide(): void {
    this.#periods = effectivePeriods(this.events);
    const order = [...this.events.values()].filter(isLive).sort(byPriority);
    const before = this.#changes;
    this.#endDue(order);
    // an end may move the start of another event
    if (this.#changes !== before) return;
    const places = new Map(order.map((event, place) => [event.listed.mrid, place]));
    const inTime = byStart(order);
    for (const [place, higher] of order.entries()) {
      const event = this.#settle(this.#latest(higher), this.#periodOf(higher));
      if (event.phase !== 'active' || event.optedOut || heldModes(event).length === 0) continue;
      this.#takeAll(event, inTime, ({ listed }) => (places.get(listed.mrid) ?? 0) > place);
    }
    if (this.#options.supersededResponse === 'at_discovery') this.#owePredicted(order);
  }

  /** Takes the modes of an active event from all that are below it. @param inTime by specified start */
  #takeAll(winner: TrackedEvent, inTime: readonly TrackedEvent[], isBelow: (event: TrackedEvent) => boolean): void {
    const starts = new Set(inTime.map(({ listed }) => listed.startS));
    const pass = new PeriodPass(this.events);
    for (const each of inTime) {
      pass.decide(this.#latest(each));
      if (!isBelow(each) || !this.#take(winner, this.#latest(each))) continue;
      pass.replace(this.#latest(each));
      // the wait of those that follow it ends here
      if (starts.has(each.listed.startS + each.listed.durationS)) this.#periods = pass.periods;
    }
  }

  /** @returns whether the loser had a mode of the winner at an instant at which the winner has it */
  #take(winner: TrackedEvent, loser: TrackedEvent): boolean {
    // a clock that was set back leaves events active whose periods are apart
    if (loser.phase !== 'active' && !overlap(this.#claimOf(winner), this.#periodOf(loser))) return false;
    const taken = heldModes(winner).filter((mode) => heldModes(loser).includes(mode));
    if (taken.length === 0) return false;
    const updated = givingUp(loser, taken, this.#nowS);
    this.#put({ ...updated, lost: [...loser.lost, ...taken], lostTo: winner.programKey });
    this.#changes += 1;
    return true;
  }

  /** Responds for events that will lose all modes if nothing changes; they run until the winner starts. */
  #owePredicted(order: readonly TrackedEvent[]): void {
    const winners = new Claims();
    for (const [place, each] of order.entries()) {
      const event = this.#latest(each);
      if (!isLive(event)) continue;
      const { modes } = event.listed;
      const period = this.#claimOf(event);
      const takers = modes.map((mode) => winners.takerOf(mode, period));
      const lost = modes.filter((mode, at) => takers[at] !== null || event.lost.includes(mode));
      const last = takers.reduce<number>((latest, taker) => Math.max(latest, taker ?? -1), -1);
      const winner = order[last];
      if (winner !== undefined && hasLostAll(event, lost)) {
        const takenBy = this.#takenBy({ ...event, lostTo: winner.programKey });
        this.#put(this.#conclude(event, superseded({ takenBy, revision: this.#options.revision })));
      } else if (!event.optedOut) {
        for (const mode of modes) if (!lost.includes(mode)) winners.add(mode, period, place);
      }
    }
  }

  outcomes(outcomes: ReadonlyMap<string, ControlOutcome>): void {
    for (const [mrid, outcome] of outcomes) {
      const event = this.events.get(mrid);
      if (event?.phase !== 'active' || event.optedOut || event.withdrawn) continue;
      const starts = outcome.state === 'applied' && !event.started;
      if (starts) this.#respond(event, 2, asksForResult);
      this.#put({ ...event, outcome, started: event.started || starts });
    }
  }

  opt(mrid: string, takesPart: boolean): void {
    const event = this.events.get(mrid);
    if (event === undefined || !isLive(event) || event.optedOut === !takesPart) return;
    this.#respond(event, takesPart ? 5 : 4, asksForUser);
    // an opt-out before the start does not count: the start decides again
    const updated = takesPart ? event : givingUp(event, heldModes(event), this.#nowS);
    this.#put({ ...updated, optedOut: !takesPart, missed: true });
  }

  /** Withdraws events that the device has started; others are still applied. */
  reset(): void {
    for (const event of this.events.values())
      if (event.phase === 'active' && event.started) this.#put({ ...event, withdrawn: true });
  }

  /** After `run`: the last round has changed nothing, so that its periods hold. */
  nextS(): number | null {
    let next = Infinity;
    for (const event of this.events.values()) {
      if (!isLive(event)) continue;
      const { startS, endS } = this.#periodOf(event);
      next = Math.min(next, event.phase === 'active' ? Math.min(endS, event.cancelAtS ?? endS) : startS);
    }
    return next === Infinity ? null : next;
  }
}

const isInForce = ({ phase, optedOut, withdrawn }: TrackedEvent): boolean =>
  phase === 'active' && !optedOut && !withdrawn;

const hasSettings = ({ control }: ControlInForce): boolean =>
  control.settings !== undefined && Object.values(control.settings).some((value) => value !== undefined);

/** True for a control with modes that cannot be read: it is shown with the reasons, even if none of its modes acts. */
const hasUnread = ({ control }: ControlInForce): boolean => control.base.unread !== undefined;

/** Default controls for the modes that no event has: each mode from the program of lowest primacy that defines it. */
function defaultsInForce(programs: readonly TrackedProgram[], claimed: Set<ModeName>): readonly ControlInForce[] {
  return programs.flatMap(({ key, primacy, defaultControl }) => {
    if (defaultControl === null) return [];
    const modes = defaultControl.modes.filter((mode) => !claimed.has(mode));
    for (const mode of modes) claimed.add(mode);
    const inForce: ControlInForce = {
      id: `default ${key}`,
      origin: 'default',
      rank: `default ${primacy}`,
      modes,
      control: defaultControl.control,
    };
    return modes.length > 0 || hasSettings(inForce) || hasUnread(inForce) ? [inForce] : [];
  });
}

/** Default controls without any event: for a client that has lost its server for too long. */
export const defaultControls = ({ programs }: ScheduleState): readonly ControlInForce[] =>
  defaultsInForce(programs, new Set());

function controlsInForce({ events, programs, inForce }: ScheduleState): readonly ControlInForce[] {
  const active = [...events.values()].filter(({ phase, optedOut }) => phase === 'active' && !optedOut).sort(byPriority);
  // an event ended by a reset keeps its modes: defaults do not replace it
  const claimed = new Set(active.flatMap(heldModes));
  const running = active.filter(isInForce).map((event): ControlInForce => {
    const { mrid, creationS, control } = event.listed;
    return { id: mrid, origin: 'event', rank: `event ${event.primacy} ${creationS}`, modes: heldModes(event), control };
  });
  const current = [...running, ...defaultsInForce(programs, claimed)];
  return isDeepStrictEqual(current, inForce) ? inForce : current;
}

/**
 * One step. A clock that jumps forward starts what is due at its target and skips events in between (response 10); a
 * clock that jumps back changes no past decision: active events last until their end, ended events stay ended.
 * @param nowS server time
 * @param read the state after the reading, where it is there already
 */
export function nextStep(
  state: ScheduleState,
  input: ScheduleInput,
  nowS: number,
  options: ScheduleOptions,
  read = input.kind === 'programs' ? afterReading(state, input.programs, nowS, options) : state,
): ScheduleStep<ScheduleState> {
  const step = new Step(read, nowS, options);
  if (input.kind === 'outcomes') step.outcomes(input.outcomes);
  else if (input.kind === 'opt') step.opt(input.mrid, input.in);
  else if (input.kind === 'reset') step.reset();
  step.run();
  const next = { ...read, events: step.events };
  const inForce = controlsInForce(next);
  return { state: { ...next, inForce }, responses: step.responses, inForce, nextS: step.nextS() };
}

/** All controls in the order of receipt. */
export function knownControls({ events }: ScheduleState): readonly KnownControl[] {
  return knownOf([...events.values()], effectivePeriods(events));
}

function knownOf(events: readonly TrackedEvent[], periods: ReadonlyMap<string, Period>): readonly KnownControl[] {
  return events.flatMap((event): KnownControl[] => {
    const { listed, programKey, primacy, phase, optedOut, started, outcome } = event;
    if (phase === 'received') return [];
    const { startS, endS } = periods.get(listed.mrid) ?? event.own;
    const times = { effectiveStartS: startS, effectiveDurationS: endS - startS };
    const isOut = (mode: ModeName) => outcome?.leftOut.some((each) => each.mode === mode) === true;
    const modesInForce = isInForce(event) ? heldModes(event).filter((mode) => !isOut(mode)) : [];
    return [{ listed, programKey, primacy, state: phase, ...times, modesInForce, optedOut, started, outcome }];
  });
}

/** Controls whose state or start differs between two states of the schedule. */
export function changedControls(before: ScheduleState, after: ScheduleState): readonly KnownControl[] {
  const changed = [...after.events.values()].filter(({ listed, phase, started }) => {
    const earlier = before.events.get(listed.mrid);
    return earlier?.phase !== phase || earlier.started !== started;
  });
  return changed.length === 0 ? [] : knownOf(changed, effectivePeriods(after.events));
}
