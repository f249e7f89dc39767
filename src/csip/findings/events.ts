/** Judges the DERControls of one reading, beside what the schedule knows of them from earlier readings. */
import { isDeepStrictEqual } from 'node:util';
import type { Case } from '../../core/findings/rule.ts';
import type { ResolvedControl } from '../control/model.ts';
import { modesIn } from '../control/modes.ts';
import type { ListedControl, ListedProgram } from '../events/model.ts';
import { maxEvents } from '../events/receive.ts';
import { isLive } from '../events/state.ts';
import type { TrackedEvent } from '../events/state.ts';
import type { TakenCapability } from './capabilities.ts';
import { FitnessJudge } from './fitness.ts';
import type { FitnessMemory } from './fitness.ts';
import { readingS } from './model.ts';
import type { CsipRules, JudgeParts, SeenPrograms } from './model.ts';
import { judgeOverlaps } from './overlaps.ts';

/** A year with a leap day. */
const longestS = 366 * 86_400;
/** Time before the end of an event in which a server may drop it already, s. */
const endMarginS = 5;

type Rule = CsipRules[keyof CsipRules];

/** Counts of the readings of one EndDevice. */
export interface EventMemory extends FitnessMemory {
  /** new events that asked for no response, while none asked for one; null: one has */
  silent: number | null;
  /** since when programs with events have no default control, on `WallClock.monotonicMs`; null: they have one */
  withoutDefaultMs: number | null;
  /** time of the server at the last reading of the list of each program, s */
  readAtS: ReadonlyMap<string, number>;
}

export const newMemory = (): EventMemory => ({
  silent: 0,
  withoutDefaultMs: null,
  readAtS: new Map(),
  offScale: 0,
  offScaleW: null,
  unsupported: 0,
});

const ended = (status: ListedControl['status']) => status !== 'scheduled' && status !== 'active';

/** A value of a mode in a form in which equal ones are equal: scaled, and links by the curve that they lead to. */
function comparable(value: unknown, curves: ResolvedControl['curves']): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members: Readonly<Record<string, unknown>> = { ...value };
  // a curve that cannot be read now may be the same
  if (typeof members['href'] === 'string') return curves.get(members['href'])?.mRID?.toUpperCase() ?? null;
  const { multiplier = 0, ...rest } = members;
  const scaled = Object.entries(rest).map(([name, each]) => [
    name,
    typeof each === 'number' && (name === 'value' || name === 'displacement')
      ? Number(`${each}e${typeof multiplier === 'number' ? multiplier : 0}`)
      : comparable(each, curves),
  ]);
  return Object.fromEntries(scaled);
}

/** Names of the modes whose values differ; null: a value cannot be read, so that they cannot be compared. */
function changedModes(first: ResolvedControl, latest: ResolvedControl): readonly string[] | null {
  if (JSON.stringify(first.base).includes('"unread"') || JSON.stringify(latest.base).includes('"unread"')) return null;
  const names = new Set([...Object.keys(first.base), ...Object.keys(latest.base)]);
  const valueOf = ({ base, curves }: ResolvedControl, name: string) =>
    comparable((base as Readonly<Record<string, unknown>>)[name], curves);
  return [...names].filter((name) => {
    const values = [valueOf(first, name), valueOf(latest, name)];
    return !values.includes(null) && !isDeepStrictEqual(values[0], values[1]);
  });
}

export class EventJudge {
  readonly #parts: JudgeParts;
  readonly #fitness: FitnessJudge;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    this.#fitness = new FitnessJudge(parts);
  }

  /** Judges a reading before the schedule takes it. @param capability null: the server does not know it */
  programs(seen: SeenPrograms, memory: EventMemory, capability: TakenCapability | null): void {
    const { programs, events, deviceIndex } = seen;
    const { peer } = this.#parts;
    const controls = programs.flatMap((program) => program.controls ?? []);
    if (controls.length > 0 || programs.some(({ defaultControl }) => defaultControl)) peer.hasWritten = true;
    for (const control of controls) {
      const event = events.get(control.mrid);
      if (event === undefined || event.left) this.#first(control, seen, memory);
      else this.#again(event, control, seen);
    }
    for (const { defaultControl, key } of programs)
      if (defaultControl) this.#fitness.curves(defaultControl.control, `the default control of ${key}`, deviceIndex);
    this.#created(seen, memory, capability);
    for (const program of programs) this.#statuses(program, seen);
    this.#vanished(seen);
    this.#twice(seen);
    this.#defaults(seen, memory);
    judgeOverlaps(this.#parts, seen);
  }

  #decide(rule: Rule, isRight: boolean, { deviceIndex }: SeenPrograms, mrid: string, makeCase: () => Case): void {
    const { peer } = this.#parts;
    if (isRight) rule.exercised(peer);
    else rule.broken(peer, deviceIndex, makeCase, mrid);
  }

  #first(control: ListedControl, seen: SeenPrograms, memory: EventMemory): void {
    const { rules, peer } = this.#parts;
    const { mrid, durationS, replyTo, responseRequired } = control;
    const facts = { mRID: mrid };
    const { base } = control.control;
    const isEmpty = modesIn(base).length === 0 && base.rampTms === undefined && base.unread === undefined;
    this.#decide(rules.control_empty, !isEmpty, seen, mrid, () => ({ text: `the event ${mrid} has no mode`, facts }));
    if (responseRequired !== 0)
      this.#decide(rules.reply_to_missing, replyTo !== null, seen, mrid, () => ({
        text: `the event ${mrid} asks for responses and has no replyTo`,
        facts: { ...facts, responseRequired },
      }));
    this.#decide(rules.duration_zero, durationS > 0 && durationS <= longestS, seen, mrid, () => ({
      text: `the event ${mrid} lasts ${durationS} s`,
      facts: { ...facts, duration: durationS },
    }));
    const { creationS = 0 } = control.written ?? {};
    if (seen.nowS !== null && creationS > 0) {
      const aheadS = control.creationS - seen.nowS;
      const rule = rules.creation_time_future;
      this.#decide(rule, aheadS <= rule.param('tolerance_s'), seen, mrid, () => ({
        text: `the event ${mrid} was created ${Math.round(aheadS)} s after the time of the server`,
        facts: { ...facts, creationTime: creationS },
      }));
    }
    this.#fitness.curves(control.control, `the event ${mrid}`, seen.deviceIndex);
    // the schedule does not keep events for other devices, and ended ones, so that they come as new ones again and again
    if (ended(control.status) || control.deviceCategory !== null) return;
    if (responseRequired !== 0) memory.silent = null;
    else if (memory.silent !== null) memory.silent += 1;
    if (memory.silent === null) rules.response_unasked.exercised(peer);
    else if (memory.silent >= rules.response_unasked.param('events'))
      rules.response_unasked.broken(peer, seen.deviceIndex, () => ({
        text: `none of ${memory.silent} events asks for a response`,
      }));
  }

  /** Judges live events for all devices that were created since the last reading of their list. */
  #created(
    { programs, events, nowS, deviceIndex }: SeenPrograms,
    memory: EventMemory,
    capability: TakenCapability | null,
  ): void {
    if (nowS === null) return;
    const { clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    const readAtS = new Map(memory.readAtS);
    // servers may move the creationTime of an event, and show it in several programs
    const judged = new Set(events.keys());
    for (const { key, controls, controlsReadMs } of programs) {
      const formerS = memory.readAtS.get(key) ?? Infinity;
      for (const control of controls ?? []) {
        const { mrid, creationS, deviceCategory, status } = control;
        if (creationS <= formerS || ended(status) || deviceCategory !== null || judged.has(mrid)) continue;
        judged.add(mrid);
        this.#over(control, deviceIndex);
        const createdMs = nowMs - (nowS - creationS) * 1000;
        if (capability !== null && createdMs > capability.atMs)
          this.#fitness.created(control, capability, deviceIndex, memory);
      }
      if (controls !== undefined) readAtS.set(key, readingS(nowS, nowMs, controlsReadMs));
    }
    const keys = new Set(programs.map(({ key }) => key));
    memory.readAtS = new Map([...readAtS].filter(([key]) => keys.has(key)));
  }

  /** Judges whether an event was over when it was created. */
  #over(control: ListedControl, deviceIndex: number | null): void {
    const { rules, peer } = this.#parts;
    const { mrid, startS, durationS, creationS, randomizeStartS, randomizeDurationS } = control;
    const sinceS = creationS - (startS + durationS + Math.abs(randomizeStartS) + Math.abs(randomizeDurationS));
    if (sinceS < 0) rules.event_over.exercised(peer);
    else
      rules.event_over.broken(
        peer,
        deviceIndex,
        () => ({
          text: `the event ${mrid} ended ${Math.round(sinceS)} s before it was created`,
          facts: { mRID: mrid, sinceS: Math.round(sinceS) },
        }),
        mrid,
      );
  }

  #again(event: TrackedEvent, latest: ListedControl, seen: SeenPrograms): void {
    const { rules, peer } = this.#parts;
    const { listed: first } = event;
    const { mrid } = latest;
    this.#comesBack(first, latest, seen);
    if (!isLive(event)) return;
    const [before, after] = [first.written, latest.written];
    if (before === undefined || after === undefined) return;
    const modes = changedModes(first.control, latest.control);
    // a copy below another FSA may be on another clock
    const isShifted = before.startS !== after.startS && first.startS !== latest.startS;
    const isMoved = isShifted || first.durationS !== latest.durationS;
    if (modes === null && !isMoved) rules.event_rewritten.undecided(peer);
    else
      this.#decide(rules.event_rewritten, !isMoved && modes?.length === 0, seen, mrid, () => {
        const what = [...(isMoved ? ['interval'] : []), ...(modes ?? [])];
        const interval = { start: after.startS, duration: latest.durationS };
        return {
          text: `the event ${mrid} has another ${what.join(', ')} than at first`,
          facts: { mRID: mrid, firstStart: before.startS, firstDuration: first.durationS, ...interval },
        };
      });
    if (before.creationS <= 0 || after.creationS <= 0) return;
    const isSame = before.creationS === after.creationS || first.creationS === latest.creationS;
    this.#decide(rules.creation_time_moved, isSame, seen, mrid, () => ({
      text: `the creationTime of the event ${mrid} went from ${before.creationS} to ${after.creationS}`,
      facts: { mRID: mrid, first: before.creationS, creationTime: after.creationS },
    }));
  }

  /** Judges whether an event that the server has ended goes on. A copy with an older dateTime may be of another list. */
  #comesBack(first: ListedControl, latest: ListedControl, seen: SeenPrograms): void {
    const { rules } = this.#parts;
    if (!ended(first.status)) return;
    if ((latest.statusS ?? Infinity) + latest.aheadS < (first.statusS ?? -Infinity) + first.aheadS) return;
    this.#decide(rules.event_status_back, ended(latest.status), seen, latest.mrid, () => ({
      text: `the event ${latest.mrid} was ${first.status} and is ${latest.status}`,
      facts: { mRID: latest.mrid, before: first.status, status: latest.status },
    }));
  }

  /** Judges statuses as of the reading of their list: lists are polled one by one, and an unreadable one stays. */
  #statuses({ controls = [], controlsReadMs }: ListedProgram, seen: SeenPrograms): void {
    if (seen.nowS === null) return;
    const readS = readingS(seen.nowS, this.#parts.clock.monotonicMs(), controlsReadMs);
    for (const control of controls) this.#status(control, readS, seen);
  }

  #status(control: ListedControl, readS: number, seen: SeenPrograms): void {
    const { rules } = this.#parts;
    const { mrid, startS, durationS, randomizeStartS, status } = control;
    const rule = rules.event_status_late;
    if (ended(status)) return;
    const lateS = readS - startS - Math.abs(randomizeStartS);
    if (lateS <= rule.param('tolerance_s') || readS >= startS + durationS) return;
    this.#decide(rule, status === 'active', seen, mrid, () => ({
      text: `the event ${mrid} is shown as scheduled ${Math.round(lateS)} s after its start`,
      facts: { mRID: mrid, lateS: Math.round(lateS) },
    }));
  }

  /** Judges events that their lists do not show any more, in lists that were read whole. */
  #vanished(seen: SeenPrograms): void {
    const { programs, events, nowS } = seen;
    const { rules } = this.#parts;
    if (nowS === null || events.size >= maxEvents) return;
    const listed = new Set(programs.flatMap(({ controls = [] }) => controls.map(({ mrid }) => mrid)));
    const whole = new Set(
      programs.flatMap(({ key, controls, isPartial }) => (controls === undefined || isPartial ? [] : [key])),
    );
    for (const [mrid, event] of events) {
      const { startS, durationS, status } = event.listed;
      if (!isLive(event) || event.programs.length === 0 || ended(status)) continue;
      if (nowS >= startS + durationS - endMarginS || !event.programs.every((key) => whole.has(key))) continue;
      this.#decide(rules.event_vanished, listed.has(mrid), seen, mrid, () => ({
        text: `the event ${mrid} has left its list ${Math.round(startS + durationS - nowS)} s before its end`,
        facts: { mRID: mrid, status },
      }));
    }
  }

  /** Judges copies of one event in several programs. */
  #twice(seen: SeenPrograms): void {
    const { rules } = this.#parts;
    const copies = new Map<string, ListedControl>();
    for (const { controls = [] } of seen.programs)
      for (const control of controls) {
        const other = copies.get(control.mrid);
        copies.set(control.mrid, control);
        if (other === undefined || other === control) continue;
        const isSame =
          (other.written?.startS === control.written?.startS || other.startS === control.startS) &&
          other.durationS === control.durationS &&
          (changedModes(other.control, control.control) ?? []).length === 0;
        this.#decide(rules.mrid_reused, isSame, seen, control.mrid, () => ({
          text: `the mRID ${control.mrid} is that of two events`,
          facts: { mRID: control.mrid, starts: `${other.written?.startS} ${control.written?.startS}` },
        }));
      }
  }

  #defaults(seen: SeenPrograms, memory: EventMemory): void {
    const { programs, deviceIndex } = seen;
    const { rules, peer, clock } = this.#parts;
    const rule = rules.default_missing;
    const isBare = programs.every(({ defaultControl }) => defaultControl === null);
    if (!isBare || !programs.some(({ controls = [] }) => controls.length > 0)) {
      memory.withoutDefaultMs = null;
      if (programs.some(({ defaultControl }) => defaultControl)) rule.exercised(peer);
      return;
    }
    const nowMs = clock.monotonicMs();
    memory.withoutDefaultMs ??= nowMs;
    const forS = Math.round((nowMs - memory.withoutDefaultMs) / 1000);
    if (forS >= rule.param('wait_s'))
      rule.broken(peer, deviceIndex, () => ({
        text: `no program has a DefaultDERControl for ${forS} s`,
        facts: { programs: programs.length, forS },
      }));
  }
}
