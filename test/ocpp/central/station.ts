/** One charge point as the central system of the tests sees it, over all its connections. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type WebSocket from 'ws';
import { CentralRefusal } from './answers.ts';
import type { CentralAnswer } from './answers.ts';
import { TransactionBooks } from './books.ts';
import { FrameJudge, versionOf } from './judge.ts';
import type { CentralVersion } from './judge.ts';

type Json = Record<string, unknown>;

/** A frame as it stood on the wire. */
export interface CentralFrame {
  readonly direction: 'in' | 'out';
  readonly text: string;
  /** null: no JSON */
  readonly frame: readonly unknown[] | null;
}

/** A call of the station. */
export interface CentralCall {
  readonly messageId: string;
  readonly action: string;
  // payloads of tests are looked into freely
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly payload: any;
}

/** What the station answered to a call. */
export type CentralReply =
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  | { readonly kind: 'result'; readonly payload: any }
  | { readonly kind: 'error'; readonly code: string; readonly description: string; readonly details: unknown }
  /** the connection ended first */
  | { readonly kind: 'lost' };

export interface CentralConnection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly subprotocol: string;
  /** octets of basic authentication behind the first colon after the identity; null: none were sent */
  readonly password: Buffer | null;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

interface Waiter<T> {
  readonly fits: (value: T) => boolean;
  readonly resolve: (value: T) => void;
}

/** Values in order of arrival; each is taken once. */
export class Mailbox<T> {
  readonly #kept: T[] = [];
  #waiters: Waiter<T>[] = [];

  put(value: T): void {
    const waiter = this.#waiters.find(({ fits }) => fits(value));
    if (waiter === undefined) {
      this.#kept.push(value);
      return;
    }
    this.#waiters = this.#waiters.filter((each) => each !== waiter);
    waiter.resolve(value);
  }

  /** The oldest value that fits and was not taken yet, as soon as there is one. */
  take(fits: (value: T) => boolean = () => true): Promise<T> {
    const at = this.#kept.findIndex(fits);
    const [found] = at < 0 ? [] : this.#kept.splice(at, 1);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      this.#waiters.push({ fits, resolve });
    });
  }
}

export interface CentralStationOptions {
  /** that the station will probably speak */
  readonly version: CentralVersion;
  /** Answers to every call of a version; asked once for each. */
  readonly defaults: (version: CentralVersion) => Readonly<Record<string, CentralAnswer>>;
  /** in place of them, in every version */
  readonly answers: Readonly<Record<string, CentralAnswer>>;
  /** told of each frame that is none, or breaks its schema, and of TransactionEvents that do not fit together */
  readonly wrong: (text: string) => void;
}

export class CentralStation {
  readonly identity: string;
  /** every frame of every connection */
  readonly frames: CentralFrame[] = [];
  /** every call that the station has sent, in order */
  readonly calls: CentralCall[] = [];
  /** by action, for the version of the last connection; calls without one get a CALLERROR */
  readonly answers: Record<string, CentralAnswer>;
  /** transactions of 2.x */
  readonly books = new TransactionBooks();
  /** true: calls are read and not answered */
  silent = false;
  /** false: frames are broken on purpose, for example by a fault */
  judged = true;
  /** false: events of transactions are missing on purpose, for example since the station has dropped them */
  booked = true;
  connects = 0;
  readonly #options: CentralStationOptions;
  readonly #defaults = new Map<CentralVersion, Readonly<Record<string, CentralAnswer>>>();
  #version: CentralVersion;
  #judge: FrameJudge;
  #connection: CentralConnection | null = null;
  readonly #calls = new Mailbox<CentralCall>();
  readonly #connections = new Mailbox<CentralConnection>();
  readonly #texts = new Mailbox<string>();
  readonly #asked = new Map<string, (reply: CentralReply) => void>();

  constructor(identity: string, options: CentralStationOptions) {
    this.identity = identity;
    this.#options = options;
    this.#version = options.version;
    this.#judge = new FrameJudge(options.version);
    this.answers = { ...this.#defaultsOf(options.version), ...options.answers };
  }

  #defaultsOf(version: CentralVersion): Readonly<Record<string, CentralAnswer>> {
    const made = this.#defaults.get(version) ?? this.#options.defaults(version);
    this.#defaults.set(version, made);
    return made;
  }

  /** The answers become those of another version, but for those that a test has set. */
  #speak(version: CentralVersion): void {
    this.#judge = new FrameJudge(version);
    if (version === this.#version) return;
    const before = this.#defaultsOf(this.#version);
    const now = this.#defaultsOf(version);
    const set = Object.entries(this.answers).filter(([action, answer]) => before[action] !== answer);
    for (const action of Object.keys(this.answers)) Reflect.deleteProperty(this.answers, action);
    Object.assign(this.answers, now, Object.fromEntries(set));
    this.#version = version;
  }

  /** The present connection. @throws Error without one */
  get connection(): CentralConnection {
    if (this.#connection === null) throw new Error(`${this.identity} is not connected`);
    return this.#connection;
  }

  get connected(): boolean {
    return this.#connection !== null;
  }

  /** calls that the station has not answered yet */
  get waiting(): number {
    return this.#asked.size;
  }

  /** The next connection that was not taken yet, as soon as there is one. */
  nextConnection(): Promise<CentralConnection> {
    return this.#connections.take();
  }

  /** The oldest call of the station with this action that was not taken yet, as soon as there is one. */
  next(action: string, fits: (payload: CentralCall['payload']) => boolean = () => true): Promise<CentralCall> {
    return this.#calls.take((call) => call.action === action && fits(call.payload));
  }

  /** The oldest frame that was not taken yet and is no call: answers, and what is no frame. */
  nextText(): Promise<string> {
    return this.#texts.take();
  }

  callsOf(action: string): readonly CentralCall[] {
    return this.calls.filter((call) => call.action === action);
  }

  /** Sends a call to the station. */
  call(action: string, payload: Json = {}, messageId: string = randomUUID()): Promise<CentralReply> {
    return this.#call(action, payload, messageId, this.judged);
  }

  /** As `call`, with an action or a payload that breaks the schemas on purpose. */
  brokenCall(action: string, payload: unknown = {}, messageId: string = randomUUID()): Promise<CentralReply> {
    return this.#call(action, payload, messageId, false);
  }

  /** Answers a call by hand, for example a late one. */
  answer({ messageId }: CentralCall, payload: Json): void {
    this.#send(JSON.stringify([3, messageId, payload]), this.judged);
  }

  /** Any text; it may break every rule. */
  sendText(text: string): void {
    this.#send(text, false);
  }

  #call(action: string, payload: unknown, messageId: string, judged: boolean): Promise<CentralReply> {
    const answered = new Promise<CentralReply>((resolve) => {
      this.#asked.set(messageId, resolve);
    });
    this.#send(JSON.stringify([2, messageId, action, payload]), judged);
    return answered;
  }

  #send(text: string, judged: boolean): void {
    this.#keep('out', text, judged);
    this.connection.socket.send(text);
  }

  close(code = 1000, reason = ''): void {
    this.connection.socket.close(code, reason);
  }

  /** Ends the connection without a close frame; what is being answered gets no answer. */
  cut(): void {
    const { socket } = this.connection;
    this.#lose();
    socket.terminate();
  }

  #lose(): void {
    this.#connection = null;
    for (const resolve of this.#asked.values()) resolve({ kind: 'lost' });
    this.#asked.clear();
  }

  /** @see Central */
  attach(connection: CentralConnection): void {
    this.#connection = connection;
    this.#speak(versionOf(connection.subprotocol));
    this.connects += 1;
    connection.socket.on('message', (data: Buffer) => {
      this.#received(data.toString());
    });
    void connection.closed.then(() => {
      if (this.#connection === connection) this.#lose();
    });
    this.#connections.put(connection);
  }

  #keep(direction: 'in' | 'out', text: string, judged: boolean): readonly unknown[] | null {
    let frame: readonly unknown[] | null = null;
    try {
      const value: unknown = JSON.parse(text);
      if (Array.isArray(value)) frame = value;
    } catch {
      // it stays null
    }
    this.frames.push({ direction, text, frame });
    // also where nothing may be said, so that answers find their calls
    const issue = this.#judge.issue(direction, frame);
    const sender = direction === 'in' ? this.identity : 'the central system';
    if (judged && issue !== null) this.#options.wrong(`${sender} has sent ${text}: ${issue}`);
    if (issue === null && direction === 'in') this.#book(frame, text, judged && this.booked);
    return frame;
  }

  #book(frame: readonly unknown[] | null, text: string, judged: boolean): void {
    if (this.#version === 'ocpp1.6' || frame?.[0] !== 2 || frame[2] !== 'TransactionEvent') return;
    const issue = this.books.issue(frame[3]);
    if (judged && issue !== null) this.#options.wrong(`${this.identity} has sent ${text}: ${issue}`);
  }

  #received(text: string): void {
    const frame = this.#keep('in', text, this.judged);
    const [type, id, ...rest] = frame ?? [];
    // SEND of 2.1 is kept like a call, and not answered
    if (type === 2 || type === 6) {
      const call = { messageId: String(id), action: String(rest[0]), payload: rest[1] };
      this.calls.push(call);
      this.#calls.put(call);
      if (type === 2) {
        if (!this.silent) void this.#answer(call);
        return;
      }
    }
    const asked = this.#asked.get(String(id));
    this.#texts.put(text);
    if (asked === undefined) return;
    this.#asked.delete(String(id));
    if (type === 3) asked({ kind: 'result', payload: rest[0] });
    else asked({ kind: 'error', code: String(rest[0]), description: String(rest[1]), details: rest[2] });
  }

  async #answer({ messageId, action, payload }: CentralCall): Promise<void> {
    const at = this.#connection;
    const answer = this.answers[action];
    let frame: readonly unknown[];
    try {
      if (answer === undefined) throw new CentralRefusal('NotImplemented');
      frame = [3, messageId, await answer(payload as Json)];
    } catch (error) {
      if (!(error instanceof CentralRefusal)) throw error;
      frame = [4, messageId, error.code, error.message, {}];
    }
    if (at !== null && this.#connection === at && !this.silent) this.#send(JSON.stringify(frame), this.judged);
  }
}
