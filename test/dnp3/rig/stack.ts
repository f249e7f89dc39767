/** An outstation of a few points without sockets: requests go in, answers come out, time is stepped by hand. */
import type { Buffer } from 'node:buffer';
import { defaultVariations, quality } from '../../../src/dnp3/stack/points.ts';
import type { PointKind, PointSpec } from '../../../src/dnp3/stack/points.ts';
import { PointDatabase } from '../../../src/dnp3/stack/outstation/database.ts';
import { Outstation } from '../../../src/dnp3/stack/outstation/outstation.ts';
import { defaultLimits, undisturbed } from '../../../src/dnp3/stack/outstation/types.ts';
import type {
  Disturbance,
  AssociationClock,
  Cast,
  Control,
  ControlStatus,
  DeviceAttribute,
  Instant,
  OutstationLimits,
  OutstationOptions,
  Session,
} from '../../../src/dnp3/stack/outstation/types.ts';
import { hex, toHex } from './frames.ts';

export function spec(kind: PointKind, index: number, more: Partial<PointSpec> = {}): PointSpec {
  const { static: staticVariation, event: eventVariation } = defaultVariations[kind];
  return {
    kind,
    index,
    class: 1,
    inClass0: true,
    mayHaveEvents: true,
    deadband: 0,
    keeps: 'all',
    staticVariation,
    eventVariation,
    ...more,
  };
}

/** Time and timers that only `pass` moves. */
export class HandClock {
  nowMs = 0;
  #timers: { readonly atMs: number; readonly act: () => void }[] = [];

  readonly later = (ms: number, act: () => void) => {
    const timer = { atMs: this.nowMs + ms, act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  };

  pass(ms: number): void {
    const end = this.nowMs + ms;
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.act();
    }
    this.nowMs = end;
  }

  get waiting(): number {
    return this.#timers.length;
  }
}

/** The time of a master: an offset on the stamps, which are ms. */
export class MasterTime implements AssociationClock {
  needsTime = true;
  #offsetMs: number | null = null;
  readonly #clock: HandClock;

  constructor(clock: HandClock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs + (this.#offsetMs ?? 0);
  }

  /** the clock of the rig moves on, and so an event that were dated when it is sent would be late */
  instantOf(): Instant {
    return { localMs: this.#clock.nowMs, dateMs: this.#clock.nowMs };
  }

  timeOf({ localMs }: Instant) {
    return { ms: localMs + (this.#offsetMs ?? 0), synchronised: this.#offsetMs !== null };
  }

  restoredInstant(ms: number): Instant {
    return { localMs: ms - (this.#offsetMs ?? 0), dateMs: ms };
  }

  sync(ms: number, monotonicMs: number): boolean {
    this.#offsetMs = ms - monotonicMs;
    this.needsTime = false;
    return true;
  }

  forget(): void {
    this.needsTime = true;
  }
}

export interface StackOptions {
  readonly specs: readonly PointSpec[];
  readonly masters?: readonly number[];
  readonly limits?: Partial<OutstationLimits>;
  readonly unsolicited?: boolean;
  /** the status of a control; default: success */
  readonly judge?: (control: Control) => ControlStatus;
  readonly clearsCounters?: boolean;
  readonly restartDelayMs?: number;
  readonly attributes?: readonly DeviceAttribute[];
  readonly durable?: OutstationOptions['durable'];
  readonly observerOf?: OutstationOptions['observerOf'];
}

const attributesOfRig: readonly DeviceAttribute[] = [
  { variation: 252, value: 'derbench' },
  { variation: 250, value: 'test' },
];

const healthy = { online: quality.online };

export class Stack {
  readonly clock = new HandClock();
  readonly database: PointDatabase;
  readonly outstation: Outstation;
  readonly done: Control[] = [];
  /** for each of `done`, who has asked for it */
  readonly peers: string[] = [];
  /** controls that were refused before the device was asked */
  readonly refusals: { readonly index: number; readonly status: ControlStatus; readonly isSelect: boolean }[] = [];
  /** masters whose connection was replaced by another one */
  readonly replaced: number[] = [];
  /** how often the values were brought up to date */
  refreshes = 0;
  readonly disturbance: { iin: number; ignoresConfirm: boolean } & {
    -readonly [Name in keyof Disturbance]: Disturbance[Name];
  } = {
    iin: 0,
    ignoresConfirm: false,
    ...undisturbed,
  };
  readonly conditions = { localControl: false, trouble: false };
  readonly #sent = new Map<number, Buffer[]>();
  readonly #sessions = new Map<number, Session>();

  constructor({ specs, masters = [4], limits = {}, unsolicited = false, judge = () => 0, ...options }: StackOptions) {
    const { clearsCounters = false, restartDelayMs = 0, attributes = attributesOfRig, durable, observerOf } = options;
    const refresh = (): void => {
      this.refreshes += 1;
    };
    this.database = new PointDatabase({ specs, clearsCounters, refresh });
    const has = (kind: Control['kind'], index: number) =>
      this.database.point(kind === 'binary' ? 'binaryOutput' : 'analogOutput', index) !== undefined;
    const { clock, disturbance, conditions } = this;
    this.outstation = new Outstation(
      {
        database: this.database,
        controls: {
          has,
          select: (control) => judge(control),
          operate: (control, { peer }) => {
            const status = judge(control);
            if (status === 0) this.done.push(control);
            if (status === 0) this.peers.push(peer);
            return status;
          },
          refused: ({ index }, status, _, isSelect) => {
            this.refusals.push({ index, status, isSelect });
          },
        },
        conditions: { localControl: () => conditions.localControl, trouble: () => conditions.trouble },
        disturber: {
          iin: () => disturbance.iin,
          ignoresConfirm: () => disturbance.ignoresConfirm,
          response: () => disturbance,
        },
        clock: { monotonicMs: () => clock.nowMs, stamp: () => clock.nowMs },
        later: clock.later,
        limits: { ...defaultLimits, ...limits },
        attributes,
        unsolicited,
        masterClock: () => new MasterTime(clock),
        restartDelayMs,
        ...(durable && { durable }),
        ...(observerOf && { observerOf }),
        log: { info: () => undefined, warning: () => undefined, debug: () => undefined },
      },
      masters,
    );
    for (const master of masters) this.connect(master);
  }

  connect(master = 4): void {
    const sent: Buffer[] = [];
    this.#sent.set(master, sent);
    const session: Session = {
      peer: `${master}@127.0.0.1:1`,
      send: (fragment) => {
        sent.push(fragment);
      },
      replaced: () => {
        this.replaced.push(master);
      },
      probe: () => undefined,
    };
    this.#sessions.set(master, session);
    this.outstation.association(master)?.open(session);
  }

  disconnect(master = 4): void {
    const session = this.#sessions.get(master);
    if (session) this.outstation.association(master)?.close(session);
  }

  set(kind: PointKind, index: number, value: number, flags: number = healthy.online): void {
    this.database.update(kind, index, { value, flags }, this.clock.nowMs);
  }

  /** Sends a fragment of octets in hexadecimal. @returns the fragments that came back since, as text */
  ask(octets: string, master = 4, cast: Cast = 'unicast'): readonly string[] {
    this.sent(master);
    this.outstation.association(master)?.receive(hex(octets), cast);
    return this.sent(master);
  }

  /** The fragments sent since the last look. */
  sent(master = 4): readonly string[] {
    const sent = this.#sent.get(master) ?? [];
    return sent.splice(0).map(toHex);
  }
}
