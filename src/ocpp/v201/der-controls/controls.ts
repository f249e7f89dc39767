/**
 * The stacks of DER controls: supersession, controls in force, instants of change (R04.FR.03 to FR.11, FR.20 to FR.22).
 * Defaults and scheduled controls of one type have a stack each. Each function returns a new book; none reads a clock.
 *
 * - Of two controls the one with the lower `priority` wins; of equal ones both stay, and the newer is in force.
 * - A superseded control never runs, also after its superseding control is cleared. If scheduled, it is removed at its
 *   end.
 */
import type { DERControlEnum, DerControl, DerNotice } from './model.ts';

export type DerBook = readonly DerControl[];

export interface BookChange {
  readonly book: DerBook;
  /** notices in order of time */
  readonly notices: readonly DerNotice[];
}

const isScheduled = ({ isDefault }: DerControl) => !isDefault;
const isRunning = ({ isDefault, started, superseded }: DerControl) => !isDefault && started && !superseded;
const isWaiting = ({ isDefault, started, superseded }: DerControl) => !isDefault && !started && !superseded;
const idsOf = (controls: readonly DerControl[]) => controls.map(({ id }) => id);

function supersede(book: DerBook, ids: readonly string[]): DerBook {
  if (ids.length === 0) return book;
  return book.map((each) => (ids.includes(each.id) ? { ...each, superseded: true } : each));
}

function endNotice({ id }: DerControl, atMs: number): DerNotice {
  return { id, started: false, atMs, supersededIds: [] };
}

/** Starts the due controls in order of priority: each supersedes running and due ones of its type of worse priority. */
function start(book: DerBook, atMs: number): BookChange {
  const due = book.filter((each) => isWaiting(each) && each.startMs <= atMs);
  due.sort((a, b) => a.priority - b.priority || a.order - b.order);
  const notices: DerNotice[] = [];
  let next = book;
  for (const { id, type, priority, startMs } of due) {
    const running = next.filter((each) => isRunning(each) && each.type === type);
    if (running.some((each) => each.priority < priority)) {
      next = supersede(next, [id]);
      continue;
    }
    const supersededIds = idsOf(running.filter((each) => each.priority > priority));
    next = supersede(next, supersededIds).map((each) => (each.id === id ? { ...each, started: true } : each));
    notices.push({ id, started: true, atMs: startMs, supersededIds });
  }
  return { book: next, notices };
}

/** Removes the scheduled controls that have ended. */
function end(book: DerBook, atMs: number): BookChange {
  const isOver = (each: DerControl) => isScheduled(each) && each.endMs !== null && each.endMs <= atMs;
  const over = book.filter(isOver);
  if (over.length === 0) return { book, notices: [] };
  const notices = over.filter(isRunning).map((each) => endNotice(each, each.endMs ?? atMs));
  return { book: book.filter((each) => !isOver(each)), notices };
}

/** The next instant at which something starts or ends; null: never. */
export function nextChangeMs(book: DerBook): number | null {
  let next: number | null = null;
  const consider = (ms: number | null) => {
    if (ms !== null && (next === null || ms < next)) next = ms;
  };
  for (const each of book) {
    if (!isScheduled(each)) continue;
    consider(each.endMs);
    if (isWaiting(each)) consider(each.startMs);
  }
  return next;
}

/** Carries out all starts and ends up to an instant, in order of time. */
export function advance(book: DerBook, nowMs: number): BookChange {
  const notices: DerNotice[] = [];
  let present = book;
  for (let at = nextChangeMs(present); at !== null && at <= nowMs; at = nextChangeMs(present)) {
    const ended = end(present, at);
    const started = start(ended.book, at);
    notices.push(...ended.notices, ...started.notices);
    present = started.book;
  }
  return { book: present, notices };
}

/** Removes controls; the end of a running one is reported. */
export function clear(book: DerBook, matches: (control: DerControl) => boolean, nowMs: number): BookChange {
  const cleared = book.filter(matches);
  return {
    book: book.filter((each) => !matches(each)),
    notices: cleared.filter(isRunning).map((each) => endNotice(each, nowMs)),
  };
}

/** Adds a default: it supersedes defaults of worse priority, and one of better priority supersedes it. */
function addDefault(book: DerBook, control: DerControl): BookChange & { readonly supersededIds: readonly string[] } {
  const others = book.filter((each) => each.isDefault && !each.superseded && each.type === control.type);
  if (others.some(({ priority }) => priority < control.priority))
    return { book: [...book, { ...control, superseded: true }], notices: [], supersededIds: [control.id] };
  const supersededIds = idsOf(others.filter(({ priority }) => priority > control.priority));
  return { book: [...supersede(book, supersededIds), control], notices: [], supersededIds };
}

/**
 * Adds a scheduled control. It supersedes waiting ones of worse priority at once, regardless of its start, and running
 * ones at its start; a running one of better priority supersedes it.
 */
function addScheduled(
  book: DerBook,
  control: DerControl,
  nowMs: number,
): BookChange & { readonly supersededIds: readonly string[] } {
  const ofType = book.filter(({ type }) => type === control.type);
  if (ofType.some((each) => isRunning(each) && each.priority < control.priority))
    return { book: [...book, { ...control, superseded: true }], notices: [], supersededIds: [control.id] };
  const waiting = idsOf(ofType.filter((each) => isWaiting(each) && each.priority > control.priority));
  const change = advance([...supersede(book, waiting), control], nowMs);
  const atStart = change.notices.flatMap((notice) => (notice.id === control.id ? notice.supersededIds : []));
  return { ...change, supersededIds: [...waiting, ...atStart] };
}

/**
 * Adds a control in place of one with the same id.
 * @param book a book that is advanced to `nowMs`
 * @returns the change, and the ids of the controls that are now superseded, possibly the new one
 */
export function set(
  book: DerBook,
  control: DerControl,
  nowMs: number,
): BookChange & { readonly supersededIds: readonly string[] } {
  const cleared = clear(book, ({ id }) => id === control.id, nowMs);
  const added = control.isDefault ? addDefault(cleared.book, control) : addScheduled(cleared.book, control, nowMs);
  return { ...added, notices: [...cleared.notices, ...added.notices] };
}

function better(a: DerControl, b: DerControl): DerControl {
  if (a.priority !== b.priority) return a.priority < b.priority ? a : b;
  return a.order > b.order ? a : b;
}

/** The control of each type that is in force: a scheduled one that runs, else a default. @param book advanced to now */
export function inForce(book: DerBook): ReadonlyMap<DERControlEnum, DerControl> {
  const byType = new Map<DERControlEnum, DerControl>();
  for (const each of book) {
    if (each.superseded || !(each.isDefault || each.started)) continue;
    const other = byType.get(each.type);
    if (other === undefined) byType.set(each.type, each);
    else if (other.isDefault === each.isDefault) byType.set(each.type, better(other, each));
    else if (!each.isDefault) byType.set(each.type, each);
  }
  return byType;
}
