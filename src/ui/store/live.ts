/**
 * Answers of the REST interface that follow the simulation: read again at ticks, and after each action of this page.
 */
import { computed, effect, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { createContext, options } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { perform, Problem } from '../api/call';
import { shown } from './shown';
import { link, tick } from './stream';

/**
 * A node of Preact with its mangled members (`mangle.json`): the component, and the parent node. Only they lead to the
 * components above a panel, which may have read the content of the panel. If the names change, no panel is marked for
 * these answers, which are then listed below the top bar (`outdatedElsewhere`) like all answers in no panel.
 */
interface Node {
  readonly __c?: object | null;
  readonly __?: Node | null;
}

const hooks = options as { __r?: (node: Node) => void };
const nextHook = hooks.__r;

let rendering: Node | null = null;
const answersOf = new WeakMap<object, Set<unknown>>();

// called before each render of a component
hooks.__r = (node) => {
  rendering = node;
  if (node.__c) answersOf.delete(node.__c);
  nextHook?.(node);
};

/** Records that the rendering component uses this answer. */
function noteUse(answer: unknown): void {
  const component = rendering?.__c;
  if (!component) return;
  const answers = answersOf.get(component);
  if (answers === undefined) answersOf.set(component, new Set([answer]));
  else answers.add(answer);
}

/** The answers used by the components above the rendering one. */
function usedAbove(): ReadonlySet<unknown> {
  const all = new Set<unknown>();
  for (let node = rendering?.__; node; node = node.__)
    for (const answer of (node.__c && answersOf.get(node.__c)) ?? []) all.add(answer);
  return all;
}

/** An answer, as far as it is loaded. */
interface Live<R> {
  readonly data: R | undefined;
  /** reason for missing data; outdated data is marked by its panel, see {@link useOutdated} */
  readonly problem: Problem | null;
}

/** A displayed answer that is outdated because the latest readings failed. */
export interface Outdated {
  /** path in the interface, such as `controls/time` */
  readonly path: string;
  /** wall time of the last successful reading, ms */
  readonly sinceMs: number;
  readonly problem: Problem;
}

interface Answer {
  readonly data: unknown;
  readonly problem: Problem | null;
  /** wall time at which `data` was read, ms */
  readonly atMs: number;
}

/**
 * `tick`: at ticks, but at most once per second and at least every 5 s; `change`: when {@link changes} counts up, and
 * every 15 s; `state`: the same, and every 3 s; `once`: at the start and after actions; a number: ms between readings.
 */
export type Pace = 'tick' | 'change' | 'state' | 'once' | number;

/** Number of changes that the daemon has announced, and of times that the page was shown again. */
export const changes = signal(0);

/** Times between two readings without a change, ms. */
const unchangedMs = { change: 15_000, state: 3000 } as const;

const isPaceOfChanges = (pace: Pace): pace is keyof typeof unchangedMs => pace === 'change' || pace === 'state';

/** Minimum time between two readings at ticks, ms. */
const minGapMs = 900;

/** True for what a gateway answers for one shard or device only, or not at all. */
export const isRefusedByGateway = ({ status, code, issues }: Problem): boolean =>
  code === 'fleet-unsupported' || (status === 422 && issues.some(({ name }) => name === 'shard'));

/** A sentence about a refusal of a gateway. */
export const gatewaySentence = ({ code, message }: Problem): string =>
  code === 'fleet-unsupported'
    ? message
    : 'A gateway shows this for one shard only: open the dashboard of the shard, see "Fleet".';

/** Delay before a failed reading is repeated at any pace, ms. */
const retryMs = 5000;

/** True if the same request will be refused again, as by a gateway that has no such resource, or not of all shards. */
const isFinal = (problem: Problem | null): boolean => problem?.status === 422 || problem?.code === 'fleet-unsupported';

class Reader {
  readonly answer: Signal<Answer> = signal({ data: undefined, problem: null, atMs: 0 });
  readonly outdated = computed<Outdated | null>(() => {
    const { data, problem, atMs } = this.answer.value;
    const path = this.#call.address.replace(/^\/api\/sim\//, '').replace(/\?.*/, '');
    return data === undefined || problem === null ? null : { path, sinceMs: atMs, problem };
  });
  /** number of panels that mark it as outdated */
  readonly marks = signal(0);
  users = 0;
  readonly #paces = new Set<{ readonly pace: Pace }>();
  /** readings under way */
  reading: Promise<void> | null = null;
  /** calls of {@link read} */
  #asked = 0;
  /** true: a tick came too soon after the last reading, so that the page's timer reads instead */
  #missedTick = false;
  #readAtMs = -Infinity;
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  get address(): string {
    return this.#call.address;
  }

  /** Adds a pace; the fastest pace applies. @returns function that removes the pace */
  addPace(pace: Pace): () => void {
    const entry = { pace };
    this.#paces.add(entry);
    return () => this.#paces.delete(entry);
  }

  get followsChanges(): boolean {
    return [...this.#paces].some(({ pace }) => isPaceOfChanges(pace));
  }

  get #pace(): 'tick' | 'once' | number {
    const paces = [...this.#paces].map(({ pace }) => (isPaceOfChanges(pace) ? unchangedMs[pace] : pace));
    const fixed = Math.min(...paces.filter((pace) => typeof pace === 'number'));
    // answers are read at ticks at most once per second: a shorter interval is faster
    if (paces.includes('tick')) return fixed < 1000 ? fixed : 'tick';
    return Number.isFinite(fixed) ? fixed : 'once';
  }

  /** Remembers a tick that comes too soon. @returns true: a reading is due */
  checkDue(nowMs: number, ticked: boolean): boolean {
    const age = nowMs - this.#readAtMs;
    if (isFinal(this.answer.peek().problem)) return false;
    if (this.#pace === 'once') return this.answer.peek().problem !== null && age >= retryMs;
    if (typeof this.#pace === 'number') return age >= this.#pace;
    if (age >= (ticked || this.#missedTick ? minGapMs : 5000)) return true;
    this.#missedTick ||= ticked;
    return false;
  }

  /** Reads; during a reading, once more after it. @returns resolved when the last of these readings has ended */
  read(): Promise<void> {
    this.#asked += 1;
    this.reading ??= this.#readAll();
    return this.reading;
  }

  async #readAll(): Promise<void> {
    try {
      for (let answered = -1; answered < this.#asked; ) {
        answered = this.#asked;
        await this.#readOne();
        // it is read again when the page is shown
        if (document.hidden) return;
      }
    } finally {
      this.reading = null;
    }
  }

  async #readOne(): Promise<void> {
    this.#missedTick = false;
    this.#readAtMs = performance.now();
    try {
      this.answer.value = { data: await perform(this.#call), problem: null, atMs: Date.now() };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.answer.value = { ...this.answer.peek(), problem: error };
    }
  }
}

const readers = new Map<string, Reader>();
/** Readers in use by a component. */
const readersInUse = signal<ReadonlySet<Reader>>(new Set());

function countUser(reader: Reader, change: 1 | -1): void {
  reader.users += change;
  const next = new Set(readersInUse.peek());
  if (reader.users > 0) next.add(reader);
  else next.delete(reader);
  if (next.size !== readersInUse.peek().size) readersInUse.value = next;
}

/** The readers used by the parts of a panel. */
type Inside = Signal<readonly Reader[]>;

/** The panel around a component. */
const PanelContext = createContext<Inside | null>(null);

/** Time for which an unused answer is kept, ms: the next view often uses it too. */
const keptMs = 2000;

function forget(address: string, reader: Reader): void {
  if (reader.users === 0 && readers.get(address) === reader) readers.delete(address);
}

function readerOf(call: Call): Reader {
  const existing = readers.get(call.address);
  if (existing) return existing;
  const reader = new Reader(call);
  readers.set(call.address, reader);
  return reader;
}

/**
 * The answer to a GET, kept up to date while a component uses it. Components with the same address share it.
 * @param call null: nothing is read
 */
export function useLive<R>(call: Call<R> | null, pace: Pace = 'tick'): Live<R> {
  const { answer, reader } = useReader(call, pace);
  const panel = useContext(PanelContext);
  if (reader !== null) noteUse(reader);
  useEffect(() => {
    if (reader === null || panel === null) return undefined;
    panel.value = [...panel.peek(), reader];
    return () => {
      const at = panel.peek().indexOf(reader);
      panel.value = panel.peek().filter((_one, index) => index !== at);
    };
  }, [reader, panel]);
  return { data: answer.data, problem: answer.data === undefined ? answer.problem : null } as Live<R>;
}

/** An answer used by the whole page: no panel marks it as outdated, see {@link outdatedElsewhere}. */
export function useShared<R>(call: Call<R> | null, pace: Pace): Live<R> {
  return useReader(call, pace).answer as Live<R>;
}

const nothing: Answer = { data: undefined, problem: null, atMs: 0 };

function useReader(call: Call | null, pace: Pace): { readonly answer: Answer; readonly reader: Reader | null } {
  const address = call?.address ?? null;
  const reader = call === null ? null : readerOf(call);
  useEffect(() => {
    if (reader === null || address === null) return undefined;
    readers.set(address, reader);
    countUser(reader, 1);
    const removePace = reader.addPace(pace);
    void reader.read();
    return () => {
      countUser(reader, -1);
      removePace();
      setTimeout(() => forget(address, reader), keptMs);
    };
  }, [address, pace]);
  return { answer: reader?.answer.value ?? nothing, reader };
}

/** Answers of a panel: used by its parts, or by components around it. `Context` must surround the parts. */
export function useOutdated(): {
  readonly outdated: readonly Outdated[];
  /** sentences about answers that a gateway refuses */
  readonly refused: readonly string[];
  /** true: a gateway refuses all that the parts of the panel read */
  readonly isRefused: boolean;
  /** addresses of all answers */
  readonly addresses: readonly string[];
  readonly inside: Inside;
  readonly Context: typeof PanelContext;
} {
  const [inside] = useState<Inside>(() => signal([]));
  const above = [...usedAbove()].filter((answer) => answer instanceof Reader);
  const all = [...new Set([...above, ...inside.value])];
  const old = all.filter(({ outdated }) => outdated.value !== null);
  const key = old.map(({ address }) => address).join(' ');
  useEffect(() => {
    for (const { marks } of old) marks.value += 1;
    return () => {
      for (const { marks } of old) marks.value -= 1;
    };
  }, [key]);
  const problems = inside.value.flatMap(({ answer }) => {
    const { data, problem } = answer.value;
    return data === undefined && problem !== null && isRefusedByGateway(problem) ? problem : [];
  });
  return {
    refused: [...new Set(problems.map(gatewaySentence))],
    isRefused: problems.length > 0 && problems.length === inside.value.length,
    outdated: old.flatMap(({ outdated }) => outdated.value ?? []),
    addresses: all.map(({ address }) => address),
    inside,
    Context: PanelContext,
  };
}

/** Outdated answers in no panel, such as the clock. */
export const outdatedElsewhere = computed(() =>
  [...readersInUse.value]
    .filter(({ marks }) => marks.value === 0)
    .flatMap(({ outdated }) => outdated.value ?? [])
    // a removed device is announced elsewhere on the page
    .filter(({ problem }) => problem.status !== 404),
);

/** Reads all answers in use again: after an action, and when the daemon returns. */
export function refresh(): void {
  for (const reader of readers.values()) if (reader.users > 0) void reader.read();
}

/** Waits for the readings of an answer that are under way, such as those after an action. */
export async function settled(call: Call): Promise<void> {
  await readers.get(call.address)?.reading;
}

function readDue(ticked: boolean): void {
  if (document.hidden || link.peek().state === 'lost') return;
  const nowMs = performance.now();
  for (const reader of readers.values()) if (reader.users > 0 && reader.checkDue(nowMs, ticked)) void reader.read();
}

/** Reads all answers in use once, those that follow changes by counting a change. */
function catchUp(): void {
  for (const reader of readers.values()) if (reader.users > 0 && !reader.followsChanges) void reader.read();
  changes.value = changes.peek() + 1;
}

/** Starts reading at ticks and by a timer. @param streamed false: no stream at this address, only the timer */
export function startLive(streamed: boolean): void {
  setInterval(() => readDue(!streamed), 500);
  effect(() => {
    if (shown.value > 0) catchUp();
  });
  effect(() => {
    if (tick.value >= 0) readDue(true);
  });
  effect(() => {
    if (changes.value === 0) return;
    for (const reader of readers.values()) if (reader.users > 0 && reader.followsChanges) void reader.read();
  });
  effect(() => {
    if (link.value.state === 'open' && !document.hidden) refresh();
  });
}
