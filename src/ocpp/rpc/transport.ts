/** OCPP-J of one station: its connection, its calls and its answers, put together. */
import { ocppMessageTypes } from '../../contract/ocpp.ts';
import type { OcppCounters, OcppMessageType } from '../../contract/ocpp.ts';
import { errorText } from '../../core/errors.ts';
import { wireDirections } from '../../core/wire/wire-log.ts';
import type { WireDirection, WireLog } from '../../core/wire/wire-log.ts';
import type { Logger } from '../../core/log/log.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import { createCaller, noWatch } from './caller.ts';
import type { CallWatch } from './caller.ts';
import type { Credentials } from './credentials.ts';
import type { ConnectFailure } from './socket.ts';
import { answerToInvalid, isErrorCode, maxLevels } from './frames.ts';
import type { Frame } from './frames.ts';
import { Link } from './link.ts';
import type { LinkOptions } from './link.ts';
import { messageBook, ocppChannel, recordFrame, redacted, withoutSecretTexts } from './messages.ts';
import type { OcppChannel, OcppMessageBook } from './messages.ts';
import { CallError } from './model.ts';
import type { CallHandler, Line, LineClosed, LineOpened, Payload, PayloadChecks, PayloadIssue } from './model.ts';
import { createOutlet } from './outlet.ts';
import type { FrameFacts } from './outlet.ts';
import { createResponder } from './responder.ts';

/** A rule of the transport that a frame of the central system breaks. */
export interface BrokenRule {
  /** of OCPP-J */
  readonly clause: string;
  readonly text: string;
  readonly action: string | null;
  readonly messageId: string | null;
  /** of the catalogue of findings; null: nothing there is about it */
  readonly rule: OcppRule | null;
}

/** A frame of the central system, as its judge sees it. */
export interface HeardFrame {
  readonly frame: Frame;
  /** of a call, also for its answer; null: unknown */
  readonly action: string | null;
  readonly text: string;
  /** of the wire log; null: it is off */
  readonly wireId: number | null;
  /** false: a fault answers in place of the station */
  readonly isServed: boolean;
}

/** Learns of the frames of the central system; each is judged from `begin` to `done`. */
export interface FrameWatch extends CallWatch {
  begin(heard: HeardFrame): void;
  done(): void;
  /** The station has answered a call with a result. */
  replied(call: { readonly id: string; readonly action: string; readonly payload: Payload }, reply: Payload): void;
  /** An answer came after its call had timed out. */
  late(messageId: string): void;
  /** A fault may act on a frame that comes in. */
  disturbed(): void;
  /** The central system has answered a ping. */
  ponged(): void;
  /** It has not. @param pingedMs time of the ping, monotonic ms */
  unponged(pingedMs: number): void;
}

const noFrameWatch: FrameWatch = {
  ...noWatch,
  late: () => undefined,
  begin: () => undefined,
  done: () => undefined,
  replied: () => undefined,
  disturbed: () => undefined,
  ponged: () => undefined,
  unponged: () => undefined,
};

/** Events of a connection for its version; every member is optional. */
interface TransportEvents {
  readonly opened?: (event: LineOpened) => void;
  readonly closed?: (event: LineClosed) => void;
  /**
   * An attempt to connect has failed.
   * @param isReverted credentials on trial have failed with it: the former ones are tried at once
   */
  readonly failed?: (failure: ConnectFailure, isReverted: boolean) => void;
  readonly credentials?: (outcome: 'proven' | 'reverted', inForce: Credentials) => void;
  /** A message of the central system breaks its schema; `code` and text are those of its refusal, if one is sent. */
  readonly violated?: (violation: PayloadIssue, action: string | null, messageId: string | null) => void;
  /** A rule of the transport is broken. */
  readonly broken?: (about: BrokenRule) => void;
  /** A frame has gone out or come in. */
  readonly activity?: (direction: WireDirection) => void;
  /** CALLRESULTERROR of 2.1: the central system could not use an answer of this station. */
  readonly resultRefused?: (messageId: string, code: string, description: string) => void;
}

export interface TransportOptions extends Omit<LinkOptions, 'log' | 'drain'> {
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  readonly wireLog: WireLog;
  readonly schemas: PayloadChecks;
  /** answers calls of actions that the version has */
  readonly handle: CallHandler;
  /** true: calls of the central system get no answer now, also no refusal; default: never */
  readonly isMute?: () => boolean;
  readonly events?: TransportEvents;
  /** Resolves when the state so far is durable; null: it is. Frames wait for it; default: they never wait. */
  readonly durable?: () => Promise<void> | null;
  /** default for a call, ms: 30 s */
  readonly callTimeoutMs?: number;
  readonly watch?: FrameWatch;
  readonly newId?: () => string;
}

/** Counters since the start. */
interface TransportCounters
  extends Pick<OcppCounters, 'messages' | 'connects' | 'drops' | 'callErrors' | 'lastError' | 'timeouts'> {
  /** answers that no call awaited, most of them too late */
  readonly lateAnswers: number;
}

export interface Transport {
  readonly line: Line;
  readonly link: Link;
  readonly channel: OcppChannel;
  readonly messages: OcppMessageBook;
  readonly counters: TransportCounters;
  /** Message id of the last call or answer of the central system about an action, on the present connection. */
  idOf(action: string): string | null;
  /** The text of a frame without secrets. */
  redact(text: string): string;
  /** Hides the present secrets of the station in a text that is no frame. */
  hideSecrets(text: string): string;
  /** For calls that are sent from now on, ms; absent: the default. */
  setCallTimeout(ms?: number): void;
  /** Closes for good; resolves within seconds. The messages are forgotten. */
  stop(): Promise<void>;
}

const defaultCallTimeoutMs = 30_000;
/** Invalid frames within `badFramesMs` that end the connection: the other end does not speak OCPP-J. */
const maxBadFrames = 10;
const badFramesMs = 60_000;

const lateTexts = {
  timeout: 'an answer after the time-out of its call',
  lost: 'an answer to a call of a connection that has ended',
} as const;

/** Letters of an error code that findings and status repeat; its description may mention a password. */
const maxCodeShown = 40;

/** Maximum of hidden texts of passwords; former ones stay hidden, since a central system may still mention them. */
const maxSecrets = 32;

/** Base64 of octets inside longer ones, for example after the identity in the header of basic authentication. */
function base64Parts(octets: Buffer): readonly string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), octets]).toString('base64');
    return text.slice(before === 0 ? 0 : 4, Math.floor((before + octets.length) / 3) * 4);
  });
}

/** Texts in which the password of a station could stand in a message. */
function secretsOf({ password }: Credentials): readonly string[] {
  if (password === null || password.length === 0) return [];
  const hex = password.toString('hex');
  const base64 = [password.toString('base64'), ...base64Parts(password)];
  const texts = [password.toString('utf8'), ...base64, hex, hex.toUpperCase()];
  // shorter texts would hide harmless ones
  return texts.filter((text) => text.length >= 4);
}

function counting() {
  const counts = Object.fromEntries(
    wireDirections.map((direction) => [direction, Object.fromEntries(ocppMessageTypes.map((type) => [type, 0]))]),
  ) as Record<WireDirection, Record<OcppMessageType, number>>;
  return {
    add(direction: WireDirection, type: OcppMessageType) {
      counts[direction][type] += 1;
    },
    get list() {
      return wireDirections.flatMap((direction) =>
        ocppMessageTypes.map((type) => ({ direction, type, count: counts[direction][type] })),
      );
    },
  };
}

/** Does not connect yet: `link.connect()` does. */
// the state of one connection, shared by what happens to it
export function createTransport(options: TransportOptions): Transport {
  const { clock, later, schemas, deviceIndex, disturber, log, wireLog, events = {} } = options;
  const { callTimeoutMs = defaultCallTimeoutMs, durable = () => null, watch = noFrameWatch } = options;
  const isMute = options.isMute ?? (() => false);
  const counts = counting();
  const tallies = { callErrors: 0, timeouts: 0, lateAnswers: 0 };
  let badFramesAtMs: number[] = [];
  let secrets: { readonly of: Credentials | null; readonly texts: readonly string[] } = { of: null, texts: [] };
  const secretTexts = () => {
    const { credentials } = link;
    if (secrets.of !== credentials) {
      const texts = [...new Set([...secretsOf(credentials), ...secrets.texts])].slice(0, maxSecrets);
      secrets = { of: credentials, texts };
    }
    return secrets.texts;
  };
  const channel = ocppChannel(wireLog, options.identity, secretTexts);
  const about = { peer: options.identity, deviceIndex };
  /** by action; of the present connection */
  const lastIds = new Map<string, string>();

  /** @returns id in the wire log; null: it is off */
  const record = (facts: FrameFacts, text: string) => {
    counts.add(facts.direction, facts.type);
    events.activity?.(facts.direction);
    return channel.active ? recordFrame(channel, facts, text, about) : null;
  };
  const outlet = createOutlet({ deviceIndex, later, disturber, record, durable });
  const violated = (messageId: string, action: string, violation: PayloadIssue) =>
    events.violated?.(violation, action, messageId);
  const caller = createCaller({
    clock,
    later,
    schemas,
    outlet,
    timeoutMs: callTimeoutMs,
    violated,
    watch,
    timedOut: () => {
      tallies.timeouts += 1;
    },
    ...(options.newId !== undefined && { newId: options.newId }),
  });
  const responder = createResponder({
    clock,
    schemas,
    outlet,
    deviceIndex,
    log,
    handle: options.handle,
    isMute,
    replied: (call, reply) => {
      watch.replied(call, reply);
    },
    violated,
    broken: ({ id, action, rule }, clause, text) => events.broken?.({ clause, text, action, messageId: id, rule }),
  });

  const onInvalid = (frame: Extract<Frame, { readonly kind: 'invalid' }>) => {
    const { subprotocol } = link;
    if (subprotocol === null) return;
    const { problem } = frame;
    const what = problem === 'deep' ? `a frame of more than ${maxLevels} levels` : 'a frame that is none of OCPP-J';
    events.broken?.({ clause: 'OCPP-J 4.2', text: what, action: null, messageId: frame.id, rule: 'frame' });
    if (frame.id !== null && (problem === 'broken' || problem === 'deep') && (frame.number === 3 || frame.number === 4))
      caller.answeredBadly(frame.id, frame.number);
    const answer = answerToInvalid(subprotocol, frame);
    if (answer !== null && !isMute()) outlet.send(answer, { action: null, durationMs: null });
    const nowMs = clock.monotonicMs();
    badFramesAtMs = [...badFramesAtMs.filter((atMs) => nowMs - atMs < badFramesMs), nowMs];
    if (badFramesAtMs.length < maxBadFrames) return;
    badFramesAtMs = [];
    log.warning(`${options.identity}: ${maxBadFrames} invalid frames within a minute, reconnecting`, deviceIndex);
    // not at once: a central system that sends them on each connection would be reconnected for ever without a pause
    link.drop('too many invalid frames', 1002);
  };

  const onUnawaited = ({ kind, id }: Extract<Frame, { readonly kind: 'result' | 'error' }>) => {
    tallies.lateAnswers += 1;
    const late = caller.takeLate(id);
    if (late?.isRepeated === true) return;
    const clause = kind === 'result' ? 'OCPP-J 4.2.2' : 'OCPP-J 4.2.3';
    const text = late === null ? 'an answer whose message id is that of no call in progress' : lateTexts[late.why];
    if (late?.why === 'timeout') watch.late(id);
    const rule = late === null ? 'answer_unknown' : null;
    events.broken?.({ clause, text, action: late?.action ?? null, messageId: id, rule });
  };

  const checkCode = ({ id, code }: Extract<Frame, { readonly kind: 'error' }>) => {
    const { subprotocol } = link;
    if (subprotocol === null || isErrorCode(subprotocol, code)) return;
    const action = caller.inFlight(id)?.action ?? null;
    const text = `${code.slice(0, maxCodeShown)} is no error code of the version`;
    events.broken?.({ clause: 'OCPP-J 4.2.3', text, action, messageId: id, rule: 'error_code' });
  };

  const process = (heard: Omit<HeardFrame, 'isServed'>, instead?: CallError | Payload) => {
    watch.begin({ ...heard, isServed: instead === undefined });
    try {
      take(heard.frame, instead);
    } finally {
      watch.done();
    }
  };

  const take = (frame: Frame, instead?: CallError | Payload) => {
    switch (frame.kind) {
      case 'call':
        responder.take(frame, instead);
        return;
      case 'result':
      case 'error':
        if (frame.kind === 'error') {
          tallies.callErrors += 1;
          const answered = caller.inFlight(frame.id)?.action ?? 'a call';
          // hidden before it is cut: a part of a secret is none that can be found
          const code = withoutSecretTexts(frame.code, secretTexts()).slice(0, maxCodeShown);
          link.failed(`the central system answers ${answered} with ${code}`);
          checkCode(frame);
        }
        if (!caller.answered(frame)) onUnawaited(frame);
        return;
      case 'result_error':
        if (link.subprotocol === 'ocpp2.1') events.resultRefused?.(frame.id, frame.code, frame.description);
        else onInvalid({ kind: 'invalid', problem: 'number', id: frame.id, number: 5 });
        return;
      case 'send':
        // nothing of 2.1 is sent this way to a station, and it is never answered
        if (link.subprotocol === 'ocpp2.1') {
          const { action, id: messageId } = frame;
          const text = 'a SEND, which only stations use';
          events.broken?.({ clause: 'OCPP-J 4.2.5', text, action, messageId, rule: 'action_direction' });
        } else onInvalid({ kind: 'invalid', problem: 'number', id: frame.id, number: 6 });
        return;
      case 'invalid':
        onInvalid(frame);
    }
  };

  const disturbedIn = (
    frame: Exclude<Frame, { readonly kind: 'invalid' | 'result_error' }>,
    heard: Omit<HeardFrame, 'isServed'>,
  ) => {
    const action = heard.action ?? '';
    const payload = 'payload' in frame ? frame.payload : {};
    const disturbance = disturber.disturb({
      deviceIndex,
      direction: 'in',
      type: frame.kind,
      action,
      payload,
    });
    if (disturbance === null) {
      process(heard);
      return;
    }
    if (disturbance.drop) {
      link.terminate();
      return;
    }
    if (disturbance.suppress) return;
    const { callError, pretence } = disturbance;
    process(heard, callError === undefined ? pretence : new CallError(callError.code, callError.description));
  };

  const isKnown = (action: string) => link.subprotocol !== null && schemas.knows(link.subprotocol, action);

  const received = (frame: Frame, text: string) => {
    const messageId = frame.id;
    const isAnswer = frame.kind === 'result' || frame.kind === 'error';
    const question = isAnswer ? caller.inFlight(frame.id) : null;
    const action = frame.kind === 'call' || frame.kind === 'send' ? frame.action : (question?.action ?? null);
    const durationMs = question?.durationMs ?? null;
    const wireId = record({ direction: 'in', type: frame.kind, messageId, action, durationMs }, text);
    if (action !== null && messageId !== null && isKnown(action)) lastIds.set(action, messageId);
    const heard = { frame, action, text, wireId };
    if (disturber.active) watch.disturbed();
    if (disturber.active && frame.kind !== 'invalid' && frame.kind !== 'result_error') disturbedIn(frame, heard);
    else process(heard);
  };

  const onFrame = (frame: Frame, text: string) => {
    try {
      received(frame, text);
    } catch (error) {
      log.error(`a frame of the central system could not be handled: ${errorText(error)}`, deviceIndex);
    }
  };

  const drain = (drained: () => void) => {
    caller.drain(drained);
  };
  const link: Link = new Link(
    { ...options, drain },
    {
      opened(event) {
        outlet.line = { send: (text) => link.send(text), terminate: () => link.terminate() };
        caller.opened(event.subprotocol);
        responder.opened(event.subprotocol);
        events.opened?.(event);
      },
      frame: onFrame,
      closed(event) {
        outlet.line = null;
        lastIds.clear();
        responder.closed();
        caller.closed();
        events.closed?.(event);
      },
      ponged: () => {
        watch.ponged();
      },
      unponged: (pingedMs) => {
        watch.unponged(pingedMs);
      },
      failed: (failure, isReverted) => events.failed?.(failure, isReverted),
      credentials: (outcome, inForce) => events.credentials?.(outcome, inForce),
    },
  );

  return {
    line: caller,
    link,
    channel,
    messages: messageBook(channel),
    get counters() {
      const failure = link.lastFailure;
      return {
        messages: counts.list,
        connects: link.connects,
        drops: link.drops,
        lastError: failure && { ...failure, text: withoutSecretTexts(failure.text, secretTexts()) },
        ...tallies,
      };
    },
    idOf: (action) => lastIds.get(action) ?? null,
    redact: (text) => redacted(text, secretTexts()),
    hideSecrets: (text) => withoutSecretTexts(text, secretTexts()),
    setCallTimeout: (ms = callTimeoutMs) => {
      caller.setTimeoutMs(ms);
    },
    async stop() {
      await link.stop();
      wireLog.remove(channel);
    },
  };
}
