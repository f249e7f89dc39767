/**
 * Judges the central system of one station. It looks at frames, at answers, and at what the station itself finds, and
 * changes nothing; an error in it switches the rules off and does not reach the station.
 */
import type { Case, Findings } from '../../core/findings/rule.ts';
import type { Peer } from '../../core/findings/peer.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import type { SentCall } from '../rpc/caller.ts';
import type { OcppSubprotocol, Payload, PayloadIssue } from '../rpc/model.ts';
import type { FrameWatch, HeardFrame } from '../rpc/transport.ts';
import { AnswerJudge } from './answers.ts';
import { BootJudge } from './boot.ts';
import { ContentJudge } from './contents.ts';
import type { StationRating } from './contents.ts';
import type { Found, JudgeContext, OcppRules } from './context.ts';
import { FrameJudge } from './frames.ts';
import { RefusalJudge } from './refusals.ts';
import { ReplyJudge } from './replies.ts';
import { RequestJudge } from './requests.ts';
import type { ServedCall } from './requests.ts';

export interface OcppJudgeOptions {
  readonly findings: Findings;
  readonly rules: OcppRules;
  /** charge point id */
  readonly station: string;
  readonly deviceIndex: number;
  readonly wall: WallClock;
  /** null: connectors for direct current are among them */
  readonly rating: StationRating | null;
  /** false: times of the central system belong to the simulated clock */
  readonly isWallTime: boolean;
  /** a fault may act on frames now */
  readonly isDisturbed: () => boolean;
  /** the registration of the station permits calls */
  readonly isServed: () => boolean;
  /** messages about transactions wait, so that the central system does not know all */
  readonly hasBacklog: () => boolean;
  /** removes secrets from the text of a frame */
  readonly redact: (text: string) => string;
  /** removes secrets of the station from words: a central system may have them as an action or id */
  readonly hideSecrets: (text: string) => string;
}

/** Facts of a connection that has opened. */
export interface OpenedConnection {
  readonly subprotocol: OcppSubprotocol;
  /** without the identity */
  readonly url: string;
  readonly securityProfile: number;
  /** header of the handshake; null: none */
  readonly server: string | null;
}

/** Origin and path of an endpoint, which identify a central system. */
export function addressOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/** A line that brings a frame so long after a ping works, ms. */
const pongMs = 10_000;

const mapTexts = (facts: Found['facts'] = {}, change: (text: string) => string): Found['facts'] =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? change(value) : value]),
  );

/** Calls after which a central system has changed something. */
const isWriting = (action: string) => !/^Get|TriggerMessage$|^DataTransfer$/.test(action);

/** The judges of one central system. */
interface Topics {
  readonly answers: AnswerJudge;
  readonly boot: BootJudge;
  readonly requests: RequestJudge;
  readonly refusals: RefusalJudge;
  readonly contents: ContentJudge;
  readonly replies: ReplyJudge;
}

export class OcppJudge implements FrameWatch, JudgeContext {
  readonly findings: Findings;
  readonly rules: OcppRules;
  readonly wall: WallClock;
  readonly station: string;
  readonly deviceIndex: number;
  version: string | null = null;
  peer: Peer | null = null;
  readonly #options: OcppJudgeOptions;
  readonly #frames: FrameJudge;
  #topics: Topics;
  /** the central system of the last connection; null: none yet */
  #judged: Peer | null = null;
  #disturbedMs = -Infinity;

  constructor(options: OcppJudgeOptions) {
    this.#options = options;
    this.findings = options.findings;
    this.rules = options.rules;
    this.wall = options.wall;
    this.station = options.station;
    this.deviceIndex = options.deviceIndex;
    this.#frames = new FrameJudge(this, options.redact);
    this.#topics = this.#freshTopics();
  }

  opened({ subprotocol, url, securityProfile, server }: OpenedConnection): void {
    this.#safely(() => {
      const peer = this.#peerAt(url);
      // another central system knows nothing of what this one has read, set or ended
      if (this.#judged !== null && this.#judged !== peer) this.#topics = this.#freshTopics();
      this.peer = this.#judged = peer;
      this.version = subprotocol.slice('ocpp'.length);
      this.#frames.opened();
      this.#topics.requests.opened();
      this.#topics.replies.opened(securityProfile);
      peer.connected(this.wall.nowMs());
      if (!this.#options.isWallTime) peer.lacking.set('wall_clock', 'the clock of OCPP is the simulated one');
      peer.facet('station', this.station);
      peer.facet('version', this.version);
      peer.facet('security profile', securityProfile);
      if (server !== null) peer.facet('server', this.#options.hideSecrets(server));
      this.kept('subprotocol');
    });
  }

  closed(): void {
    this.#safely(() => {
      const { boot, answers, refusals, replies } = this.#topics;
      for (const topic of [boot, answers, refusals, replies]) topic.closed();
      this.#frames.closed();
      this.peer?.disconnected(this.wall.nowMs());
      this.peer = null;
    });
  }

  /** The handshake has chosen a version that was not offered. */
  chose(url: string, chosen: string): void {
    this.#judging(() => {
      const peer = this.#peerAt(url);
      // it has answered a handshake of OCPP
      peer.isValid = true;
      const chosenText = this.#options.hideSecrets(chosen).slice(0, 40);
      const text = `the handshake chooses ${chosenText}, which was not offered`;
      this.rules.subprotocol.broken(peer, this.deviceIndex, () => ({
        text,
        facts: { station: this.station },
      }));
    });
  }

  begin(heard: HeardFrame): void {
    this.#judging(() => {
      const { frame } = heard;
      this.#frames.begin(heard);
      if (this.peer === null || frame.kind === 'invalid') return;
      this.peer.isValid = true;
      this.peer.requests += 1;
      if (frame.kind === 'call') {
        if (isWriting(frame.action)) this.peer.hasWritten = true;
        this.#topics.boot.called();
      }
    });
  }

  done(): void {
    this.#judging(() => {
      const { heard } = this.#frames;
      if (heard === null) return;
      const { frame, isServed } = heard;
      this.#frames.judge(frame);
      if (frame.kind === 'call' && isServed && this.#options.isServed() && !this.#frames.isUnserved)
        this.#served({ action: frame.action, payload: frame.payload, messageId: frame.id });
      this.#frames.end();
    });
  }

  // also while findings are off: a Reset ends a wait
  replied({ id: messageId, action, payload }: Parameters<FrameWatch['replied']>[0], reply: Payload): void {
    this.#safely(() => {
      this.#topics.refusals.replied({ action, payload, messageId }, reply);
      this.#topics.replies.replied({ action, payload, messageId }, reply);
    });
  }

  disturbed(): void {
    this.#disturbedMs = this.wall.monotonicMs();
    this.#topics.answers.disturbed();
    this.#topics.replies.disturbed();
  }

  sent(call: SentCall): void {
    this.#judging(() => {
      if (this.#options.isDisturbed()) this.disturbed();
      this.#topics.answers.sent();
      this.#topics.replies.sent(call);
      this.#noteTurn(call);
    });
  }

  // the ends of calls count also while findings are off: they end waits, which would accuse once findings are on again
  answered(call: SentCall, reply: Payload | null): void {
    this.#safely(() => {
      this.#noteTurn(call);
      this.#topics.answers.answered(call, reply);
      if (reply === null) return;
      this.#topics.refusals.answered(call.action, call.payload, reply);
      this.#topics.boot.answered(call.action, reply, call.id, call.durationMs);
    });
  }

  refused(call: SentCall, code: string): void {
    this.#safely(() => {
      this.#noteTurn(call);
      this.#topics.answers.refused(call, code);
    });
  }

  timedOut(call: SentCall): void {
    this.#judging(() => {
      this.#topics.answers.timedOut(call);
    });
  }

  late(messageId: string): void {
    this.#safely(() => {
      this.#topics.answers.late(messageId);
    });
  }

  ponged(): void {
    this.#judging(() => {
      this.kept('ping_unanswered');
    });
  }

  unponged(pingedMs: number): void {
    this.#judging(() => {
      if (this.#frames.lastMs - pingedMs < pongMs || this.#disturbedMs >= pingedMs) {
        this.undecided('ping_unanswered');
        return;
      }
      const seconds = Math.round((this.wall.monotonicMs() - pingedMs) / 1000);
      const text = `a ping is not answered within ${seconds} s, while messages still came`;
      this.broken({ rule: 'ping_unanswered', text, action: null, messageId: null, facts: { seconds } });
    });
  }

  /** A message breaks its schema. */
  violated(issue: PayloadIssue, action: string | null, messageId: string | null): void {
    this.#judging(() => {
      const rule = this.#frames.ruleOf(issue);
      if (rule === null) return;
      this.broken({ rule, text: `${action ?? 'a message'}: ${issue.description}`, action, messageId });
    });
  }

  /** The station has found a rule broken. */
  foundByStation(one: Found): void {
    this.#judging(() => {
      if (this.#topics.requests.isExcused(one.rule)) {
        this.#frames.noteBroken(one.rule);
        this.undecided(one.rule);
      } else if (!this.#frames.isTrap(one)) this.broken(one);
    });
  }

  broken({ rule, text, action, messageId, clause, facts }: Found): void {
    const { peer } = this;
    if (peer === null || !this.#has(rule)) return;
    this.#frames.noteBroken(rule);
    const evidence = this.#frames.evidenceOf(messageId);
    const makeCase = (): Case => {
      const hide = this.#options.hideSecrets;
      return {
        text: hide(action === null || text.includes(action) ? text : `${action}: ${text}`),
        facts: {
          station: this.station,
          ...(action !== null && { action: hide(action).slice(0, 64) }),
          ...(messageId !== null && { message_id: hide(messageId).slice(0, 64) }),
          ...(clause !== undefined && { clause }),
          ...mapTexts(facts, hide),
        },
        ...evidence(),
      };
    };
    this.rules[rule].broken(peer, this.deviceIndex, makeCase, `${action ?? ''} ${clause ?? ''}`);
  }

  /** Counts an occasion for a rule that the frame at hand has not broken. */
  kept(rule: OcppRule): void {
    if (this.peer !== null && this.#has(rule) && !this.#frames.hasBroken(rule)) this.rules[rule].exercised(this.peer);
  }

  undecided(rule: OcppRule): void {
    if (this.peer !== null && this.#has(rule)) this.rules[rule].undecided(this.peer);
  }

  #served(call: ServedCall): void {
    this.#topics.requests.served(call);
    this.#topics.refusals.served(call);
    this.#topics.contents.served(call);
  }

  #has(rule: OcppRule): boolean {
    const { versions } = this.rules[rule].row;
    return versions === undefined || this.version === null || versions.includes(this.version);
  }

  #noteTurn({ action, payload }: SentCall): void {
    const isEvent = action === 'TransactionEvent' && payload.eventType !== 'Updated';
    if (!isEvent && action !== 'StartTransaction' && action !== 'StopTransaction') return;
    this.#topics.requests.turned();
    this.#topics.replies.turned();
  }

  #freshTopics(): Topics {
    const { rating, isWallTime } = this.#options;
    return {
      answers: new AnswerJudge(this, () => ({ count: this.#frames.count, disturbedMs: this.#disturbedMs })),
      boot: new BootJudge(this, isWallTime),
      requests: new RequestJudge(this, this.#options),
      refusals: new RefusalJudge(this),
      contents: new ContentJudge(this, rating, isWallTime),
      replies: new ReplyJudge(this),
    };
  }

  #peerAt(url: string): Peer {
    return this.findings.peer({ protocol: 'ocpp', address: addressOf(url) });
  }

  #judging(act: () => void): void {
    if (this.findings.on) this.#safely(act);
  }

  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.findings.failed(this.rules, error);
    }
  }
}
