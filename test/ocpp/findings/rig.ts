/** The judge of a central system, with frames and answers that a test makes up. */
import type { Peer } from '../../../src/core/findings/peer.ts';
import { ocppRules } from '../../../src/finding-rules/ocpp.ts';
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import { OcppJudge } from '../../../src/ocpp/findings/judge.ts';
import type { OcppJudgeOptions } from '../../../src/ocpp/findings/judge.ts';
import { parseFrame } from '../../../src/ocpp/rpc/frames.ts';
import type { OcppSubprotocol, Payload } from '../../../src/ocpp/rpc/model.ts';
import { FindingsRig } from '../../support/findings.ts';

export const url = 'ws://central.example:9000/ocpp/';

export interface CallSent {
  readonly id?: string;
  readonly payload?: Payload;
  readonly afterMs?: number;
  readonly isJudged?: boolean;
}

export class JudgeRig {
  readonly findings = new FindingsRig();
  readonly judge: OcppJudge;
  readonly peer: Peer;
  isRegistered = true;
  isDisturbed = false;
  hasBacklog = false;
  #ids = 0;
  #wireIds = 0;

  constructor(more: Partial<OcppJudgeOptions> = {}) {
    const { registry, wall } = this.findings;
    this.judge = new OcppJudge({
      findings: registry,
      rules: registry.rules('ocpp', ocppRules),
      station: 'CP-1',
      deviceIndex: 0,
      wall,
      rating: { currentA: 32, powerW: 22_000 },
      isWallTime: true,
      isDisturbed: () => this.isDisturbed,
      hasBacklog: () => this.hasBacklog,
      isServed: () => this.isRegistered,
      redact: (text) => text.replaceAll('secret', '(hidden)'),
      hideSecrets: (text) => text.replaceAll('secret', '(hidden)'),
      ...more,
    });
    this.peer = registry.peer({ protocol: 'ocpp', address: 'ws://central.example:9000/ocpp' });
  }

  open(subprotocol: OcppSubprotocol = 'ocpp1.6', at = url): this {
    this.judge.opened({ subprotocol, url: at, securityProfile: 1, server: 'Test/1' });
    // strangers have no findings, which would hide one
    this.judge.peer!.isValid = true;
    return this;
  }

  pass(ms: number): void {
    this.findings.timers.pass(ms);
  }

  /** A text of the central system. @param finds what the station finds while it takes the frame */
  hear(text: string, finds: () => void = () => undefined, isServed = true): void {
    const frame = parseFrame(text, `ocpp${this.judge.version}` as OcppSubprotocol);
    const action = frame.kind === 'call' ? frame.action : null;
    this.#wireIds += 1;
    this.judge.begin({ frame, action, text, wireId: this.#wireIds, isServed });
    if (frame.kind === 'invalid') this.finds('frame', null, frame.id);
    finds();
    this.judge.done();
  }

  /** A call of the central system. @param rule that the station finds broken */
  call(action: string, payload: Payload = {}, rule: OcppRule | null = null): void {
    this.#ids += 1;
    const messageId = `central-${this.#ids}`;
    this.hear(JSON.stringify([2, messageId, action, payload]), () => {
      if (rule !== null) this.finds(rule, action, messageId);
    });
  }

  /** A call of the central system, with the answer of the station. */
  replied(action: string, payload: Payload, reply: Payload): void {
    this.#ids += 1;
    const id = `central-${this.#ids}`;
    this.hear(JSON.stringify([2, id, action, payload]), () => {
      this.judge.replied({ id, action, payload }, reply);
    });
  }

  finds(rule: OcppRule, action: string | null, messageId: string | null): void {
    this.judge.foundByStation({ rule, clause: 'OCPP 1', text: 'why', action, messageId });
  }

  sent(action: string, { id = 'own', payload = {}, afterMs = 0, isJudged = true }: CallSent = {}) {
    const call = { id, action, payload, isJudged };
    this.judge.sent({ ...call, durationMs: 0 });
    this.pass(afterMs);
    return { ...call, durationMs: afterMs };
  }

  /** A call of the station with its result. */
  answered(action: string, reply: Payload, sent: CallSent = {}): void {
    this.pass(1);
    const call = this.sent(action, sent);
    this.hear(JSON.stringify([3, call.id, reply]), () => {
      this.judge.answered(call, reply);
    });
  }

  /** A call of the station with its CALLERROR. */
  refused(action: string, code: string, sent: CallSent = {}): void {
    this.pass(1);
    const call = this.sent(action, sent);
    this.hear(JSON.stringify([4, call.id, code, '', {}]), () => {
      this.judge.refused(call, code);
    });
  }

  /** A call of the station that times out after 30 s. @param isBusy the central system calls meanwhile */
  timedOut(action: string, { isBusy = true, ...sent }: CallSent & { readonly isBusy?: boolean } = {}): void {
    this.pass(1);
    const call = this.sent(action, sent);
    if (isBusy) this.call('GetConfiguration');
    this.pass(30_000);
    this.judge.timedOut({ ...call, durationMs: 30_000 });
  }

  booted(reply: Payload): void {
    const currentTime = new Date(this.findings.wall.nowMs() + 1).toISOString();
    this.answered('BootNotification', { status: 'Accepted', interval: 300, currentTime, ...reply });
  }

  /** A heartbeat whose time is off. */
  beat(offMs: number): void {
    this.answered('Heartbeat', { currentTime: new Date(this.findings.wall.nowMs() + 1 + offMs).toISOString() });
  }

  row(rule: OcppRule) {
    return this.findings.row(this.peer, `ocpp.${rule}`);
  }
}
