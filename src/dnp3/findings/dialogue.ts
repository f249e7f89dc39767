/** One connection of a master with one outstation, as its judges share it. */
import type { Buffer } from 'node:buffer';
import type { Peer } from '../../core/findings/peer.ts';
import type { SetpointChange } from '../../core/findings/setpoints.ts';
import type { Case, Deadline, Findings, RuleHandle, RuleHandles } from '../../core/findings/rule.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { dnp3Rules } from '../../finding-rules/dnp3.ts';
import type { Request } from '../stack/application/types.ts';
import type { Cast, Control, ControlStatus } from '../stack/outstation/types.ts';

export type Dnp3Handles = RuleHandles<typeof dnp3Rules>;

/** Range of an output in wire units. */
export interface OutputRange {
  readonly min: number;
  readonly max: number;
}

/** Facts about an outstation that its judges use. */
export interface OutstationFacts {
  readonly deviceIndex: number;
  readonly address: number;
  /** true: unsolicited responses are configured */
  readonly hasUnsolicited: boolean;
  /** true: the time of masters runs on the wall clock */
  readonly isWallTime: boolean;
  readonly selectTimeoutMs: number;
  /** true: the outputs have the numbers of the DER profile */
  readonly hasBuiltInMap: boolean;
  /** Value in force of an output, wire units; undefined: the device has no such output. */
  readonly outputOf: (kind: Control['kind'], index: number) => number | undefined;
  /** number of points that a read of class 0 returns */
  readonly staticPoints: () => number;
  /**
   * Calls back when something but this outstation, or a reversion time, changes the set-points of a mode or enables it;
   * absent: nothing is told.
   * @param listener gets the index of the output that enables the mode
   */
  readonly onModeChange?: (listener: (enable: number, how: SetpointChange) => void) => void;
  /** Range that the point map names; undefined: the map has no such output. */
  readonly rangeOf: (kind: Control['kind'], index: number) => OutputRange | undefined;
}

/** State of one master at one outstation that outlives connections. */
export interface History {
  /** static data has been read since the restart */
  hasIntegrity: boolean;
  /** the integrity poll after this restart is judged */
  isIntegrityJudged: boolean;
  /** classes enabled for unsolicited responses, bit 0 for class 1 */
  enabledClasses: number;
  /** monotonic ms of the last restart; -Infinity: none since the start */
  restartedMs: number;
  /** monotonic ms of the last SELECT */
  selectedMs: number;
}

export const freshHistory = (): History => ({
  hasIntegrity: false,
  isIntegrityJudged: false,
  enabledClasses: 0,
  restartedMs: -Infinity,
  selectedMs: -Infinity,
});

/** A request as judges get it. */
export interface Incoming extends Request {
  readonly cast: Cast;
  /** the octets are those of the last request */
  readonly isRetry: boolean;
}

/** A response on its way out. */
export interface Outgoing {
  readonly seq: number;
  readonly isFirst: boolean;
  readonly asksForConfirm: boolean;
  readonly isUnsolicited: boolean;
  readonly hasObjects: boolean;
  /** IIN1 in the low octet, IIN2 in the high one */
  readonly bits: number;
}

/** A judge of one topic for one connection. */
export interface TopicJudge {
  requested?(request: Incoming): void;
  controlled?(control: Control, status: ControlStatus): void;
  answered?(request: Request, iin2: number): void;
  sent?(fragment: Outgoing): void;
  confirmed?(seq: number, isUnsolicited: boolean): void;
  dropped?(fragment: Buffer): void;
  /** Octets of the master are lost since its last request, a whole one perhaps. */
  lost?(): void;
  /** The connection ends. */
  closed?(): void;
  restarted?(): void;
}

export interface DialogueOptions {
  readonly findings: Findings;
  readonly rules: Dnp3Handles;
  readonly clock: WallClock;
  /** the present message in the wire log; null: it is not recorded */
  readonly message: () => NonNullable<Case['message']> | null;
  readonly facts: OutstationFacts;
}

export class Dialogue {
  readonly rules: Dnp3Handles;
  readonly facts: OutstationFacts;
  readonly history: History;
  readonly peer: Peer;
  readonly openedMs: number;
  readonly #options: DialogueOptions;

  constructor(options: DialogueOptions, peer: Peer, history: History) {
    this.rules = options.rules;
    this.facts = options.facts;
    this.history = history;
    this.peer = peer;
    this.#options = options;
    this.openedMs = this.nowMs;
  }

  /** The present message in the wire log; null: it is not recorded. */
  get message(): NonNullable<Case['message']> | null {
    return this.#options.message();
  }

  /** Monotonic ms. */
  get nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Wall time, ms since the epoch. */
  get wallMs(): number {
    return this.#options.clock.nowMs();
  }

  get ageMs(): number {
    return this.nowMs - this.openedMs;
  }

  /** Counts a case that the present message proves. */
  broken(rule: RuleHandle, makeCase: () => Case, key?: string): void {
    const { facts, message } = this.#options;
    rule.broken(this.peer, facts.deviceIndex, () => ({ message: message(), ...makeCase() }), key);
  }

  exercised(...rules: readonly RuleHandle[]): void {
    for (const rule of rules) rule.exercised(this.peer);
  }

  /** Waits for something that the master has to do on this connection. */
  wait(rule: RuleHandle, waitMs: number, text: string): Deadline {
    const { findings, facts } = this.#options;
    return findings.waitFor({
      rule,
      peer: this.peer,
      deviceIndex: facts.deviceIndex,
      waitMs,
      presence: 'connected',
      expired: () => ({ text, facts: { outstation: facts.address } }),
    });
  }
}

/** A wait of a connection, at most one at a time. */
export class OneWait {
  readonly #dialogue: Dialogue;
  readonly #rule: RuleHandle;
  #deadline: Deadline | null = null;

  constructor(dialogue: Dialogue, rule: RuleHandle) {
    this.#dialogue = dialogue;
    this.#rule = rule;
  }

  begin(waitMs: number, text: string): void {
    this.#deadline ??= this.#dialogue.wait(this.#rule, waitMs, text);
  }

  met(): void {
    this.#deadline?.met();
    this.#deadline = null;
  }

  /** The connection has ended before. */
  cut(): void {
    if (this.#deadline === null) return;
    this.#deadline.drop();
    this.#deadline = null;
    this.#rule.undecided(this.#dialogue.peer);
  }
}
