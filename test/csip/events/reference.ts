/**
 * The rules of events once more, as slow and plain as can be: at each instant every mode is given out by itself, over all
 * events that are known. It shares no code with the scheduler.
 */
import type { ModeName } from '../../../src/csip/control/model.ts';
import type { EventStatusNow } from '../../../src/csip/events/model.ts';

export interface ReferenceEvent {
  readonly mrid: string;
  readonly startS: number;
  readonly durationS: number;
  /** picked */
  readonly startOffsetS: number;
  readonly durationOffsetS: number;
  readonly cancelDelayS: number;
  readonly creationS: number;
  readonly modes: readonly ModeName[];
  /** the device never takes it */
  readonly deaf: boolean;
}

interface Known {
  readonly event: ReferenceEvent;
  programs: Set<string>;
  primacy: number;
  state: 'scheduled' | 'active' | 'completed' | 'ended' | 'left';
  status: EventStatusNow;
  cancelS: number;
  window: [number, number] | null;
  lost: Set<ModeName>;
  /** when it gave up a mode before its end */
  gaveUpS: Map<ModeName, number>;
  out: boolean;
  missed: boolean;
  started: boolean;
}

export interface ReferenceProgram {
  readonly key: string;
  readonly primacy: number;
  readonly defaultModes: readonly ModeName[];
  /** null: unreadable */
  readonly shown: readonly { readonly event: ReferenceEvent; readonly status: EventStatusNow }[] | null;
}

const live = ({ state }: Known) => state === 'scheduled' || state === 'active';

export class Reference {
  readonly #known = new Map<string, Known>();
  #programs: readonly ReferenceProgram[] = [];
  responses: string[] = [];

  #windowOf(known: Known): [number, number] {
    if (known.window) return known.window;
    const { startS, durationS, startOffsetS, durationOffsetS, modes } = known.event;
    const ownStartS = startS + startOffsetS;
    const ownEndS = ownStartS + Math.max(0, durationS + durationOffsetS);
    if (ownEndS <= ownStartS) return [ownStartS, ownEndS];
    const ends: number[] = [];
    const earlyEnds: number[] = [];
    for (const other of this.#known.values()) {
      const { event, gaveUpS } = other;
      if (event.durationS <= 0 || event.startS + event.durationS !== startS) continue;
      for (const mode of event.modes.filter((each) => modes.includes(each))) {
        const endS = this.#windowOf(other)[1];
        if (this.#runsToItsEnd(other, mode)) ends.push(endS);
        else if (gaveUpS.has(mode)) earlyEnds.push(Math.min(endS, gaveUpS.get(mode)!));
      }
    }
    // the effective end of the earlier is the effective start of the later; an early end starts none before its time
    const fromS = Math.max(ends.length === 0 ? ownStartS : Math.max(...ends), ...earlyEnds);
    return [fromS, fromS + ownEndS - ownStartS];
  }

  #runsToItsEnd(known: Known, mode: ModeName): boolean {
    const { state, status, lost, out } = known;
    if (out || lost.has(mode)) return false;
    return state === 'completed' || (live(known) && (status === 'scheduled' || status === 'active'));
  }

  /** Notes the end of some modes of an event, unless they have ended earlier. */
  #giveUp(known: Known, modes: readonly ModeName[], atS: number): void {
    if (this.#fresh.has(known)) return;
    for (const mode of modes) {
      if (known.lost.has(mode)) continue;
      const earlierS = this.#runsToItsEnd(known, mode) ? Infinity : (known.gaveUpS.get(mode) ?? Infinity);
      known.gaveUpS.set(mode, Math.min(earlierS, atS));
    }
  }

  #answer(known: Known, status: number): void {
    this.responses.push(`${known.event.mrid} ${status}`);
  }

  #end(known: Known, state: Known['state'], status: number, nowS: number): void {
    known.window = this.#windowOf(known);
    if (state !== 'completed') this.#giveUp(known, known.event.modes, nowS);
    known.state = state;
    this.#answer(known, status);
  }

  read(programs: readonly ReferenceProgram[], nowS: number): void {
    this.#programs = programs;
    for (const { key, shown } of programs)
      for (const { event, status } of shown ?? []) {
        let known = this.#known.get(event.mrid);
        const overS = event.startS + event.startOffsetS + Math.max(0, event.durationS + event.durationOffsetS);
        if (known === undefined || (known.state === 'left' && nowS < overS)) {
          if (known === undefined && status !== 'scheduled' && status !== 'active' && overS <= nowS) continue;
          known = {
            event,
            programs: new Set(),
            primacy: 0,
            state: 'scheduled',
            status,
            cancelS: Infinity,
            window: null,
            lost: new Set(),
            gaveUpS: new Map(),
            out: false,
            missed: false,
            started: false,
          };
          this.#known.set(event.mrid, known);
          this.#fresh.add(known);
        }
        known.programs.add(key);
        if (!live(known)) continue;
        if (status === 'cancelled with randomization' && known.cancelS === Infinity)
          known.cancelS = nowS + event.cancelDelayS;
        if (status !== 'scheduled' && status !== 'active')
          this.#giveUp(known, event.modes, known.cancelS < Infinity ? known.cancelS : nowS);
        known.status = status;
      }
    for (const known of this.#known.values()) {
      const mine = programs.filter(({ key }) => known.programs.has(key));
      known.programs = new Set(mine.map(({ key }) => key));
      if (mine.length > 0) known.primacy = Math.min(...mine.map(({ primacy }) => primacy));
      else if (live(known)) this.#end(known, 'left', 6, nowS);
    }
  }

  readonly #fresh = new Set<Known>();

  opt(mrid: string, takesPart: boolean, nowS: number): void {
    const known = this.#known.get(mrid);
    if (known === undefined || !live(known) || known.out !== takesPart) return;
    if (!takesPart) this.#giveUp(known, known.event.modes, nowS);
    known.out = !takesPart;
    if (known.state === 'active' && known.out) known.missed = true;
    this.#answer(known, takesPart ? 5 : 4);
  }

  /** What holds at an instant: who has each mode. */
  at(nowS: number): ReadonlyMap<ModeName, string> {
    for (const known of [...this.#fresh].sort((a, b) => a.event.startS - b.event.startS)) {
      this.#answer(known, 1);
      if (known.status.startsWith('cancelled')) this.#end(known, 'ended', 6, nowS);
      else if (known.status === 'superseded') this.#end(known, 'ended', 7, nowS);
      else if (this.#windowOf(known)[1] <= nowS) this.#end(known, 'ended', 254, nowS);
    }
    this.#fresh.clear();
    for (let changed = true; changed; ) {
      changed = false;
      const now = () => [...this.#known.values()].map(({ state, lost }) => [state, ...lost].join(' ')).join();
      const before = now();
      this.#round(nowS);
      changed = before !== now();
    }
    for (const known of this.#known.values())
      if (known.state === 'active' && !known.out && !known.event.deaf && !known.started) {
        known.started = true;
        this.#answer(known, 2);
      }
    return this.#holders();
  }

  #round(nowS: number): void {
    const all = [...this.#known.values()];
    this.#endDue(all, nowS);
    this.#contest(all, nowS);
    this.#begin(all, nowS);
  }

  #endDue(all: readonly Known[], nowS: number): void {
    for (const known of all.filter(live)) {
      const endS = this.#windowOf(known)[1];
      const part = !known.started ? 10 : known.out ? 8 : known.missed ? 9 : 3;
      if (known.status === 'cancelled') this.#end(known, 'ended', 6, nowS);
      else if (known.status === 'cancelled with randomization' && known.state === 'scheduled')
        this.#end(known, 'ended', 6, nowS);
      else if (nowS >= Math.min(known.cancelS, endS) && known.cancelS < Infinity) this.#end(known, 'ended', 6, nowS);
      else if (known.status === 'superseded' && !this.#isBridging(known, nowS)) this.#end(known, 'ended', 7, nowS);
      else if (nowS >= endS) this.#end(known, 'completed', part, nowS);
    }
  }

  /** A superseded event runs on while the one that supersedes it is between its start and its random start. */
  #isBridging({ state, event, lost }: Known, nowS: number): boolean {
    return (
      state === 'active' &&
      [...this.#known.values()].some(
        (other) =>
          other.state === 'scheduled' &&
          !other.out &&
          other.event.modes.some((mode) => event.modes.includes(mode) && !lost.has(mode) && !other.lost.has(mode)) &&
          (other.status === 'active' || other.event.startS <= nowS) &&
          nowS < this.#windowOf(other)[0],
      )
    );
  }

  /** Of overlapping events with a mode in common, the one of the lowest primacy has it. */
  #contest(all: readonly Known[], nowS: number): void {
    const isLast = ({ status }: Known) => Number(status === 'superseded');
    const rank = (a: Known, b: Known) =>
      isLast(a) - isLast(b) ||
      a.primacy - b.primacy ||
      b.event.creationS - a.event.creationS ||
      (a.event.mrid < b.event.mrid ? -1 : 1);
    const rivals = all.filter(live).sort(rank);
    for (const [place, winner] of rivals.entries()) {
      const [fromS, endS] = this.#windowOf(winner);
      const toS = Math.min(endS, winner.cancelS);
      if (winner.out || (winner.state === 'scheduled' && nowS < fromS)) continue;
      // one that loses its modes ends the wait of those that follow it: it is looked at before them
      for (const loser of rivals.slice(place + 1).sort((a, b) => a.event.startS - b.event.startS)) {
        const [from, to] = this.#windowOf(loser);
        const areApart = from >= toS || fromS >= to;
        if (areApart && !(winner.state === 'active' && loser.state === 'active')) continue;
        for (const mode of winner.event.modes)
          if (!winner.lost.has(mode) && loser.event.modes.includes(mode) && !loser.lost.has(mode)) {
            this.#giveUp(loser, [mode], nowS);
            loser.lost.add(mode);
          }
      }
    }
  }

  #begin(all: readonly Known[], nowS: number): void {
    for (const known of all.filter(live)) {
      if (known.lost.size > 0 && known.event.modes.every((mode) => known.lost.has(mode)))
        this.#end(known, 'ended', 7, nowS);
      else if (known.state === 'scheduled' && nowS >= this.#windowOf(known)[0]) {
        known.window = this.#windowOf(known);
        known.state = 'active';
        known.missed = known.out;
      }
    }
  }

  #holders(): ReadonlyMap<ModeName, string> {
    const holders = new Map<ModeName, string>();
    for (const { state, out, event, lost } of this.#known.values())
      for (const mode of event.modes)
        if (state === 'active' && !out && !lost.has(mode)) {
          if (holders.has(mode)) throw new Error(`${mode} is held twice`);
          holders.set(mode, event.mrid);
        }
    const byPrimacy = [...this.#programs].sort((a, b) => a.primacy - b.primacy || (a.key < b.key ? -1 : 1));
    for (const { key, defaultModes } of byPrimacy)
      for (const mode of defaultModes) if (!holders.has(mode)) holders.set(mode, `default ${key}`);
    return holders;
  }
}
