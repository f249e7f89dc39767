/** An outstation whose master is judged, without sockets: requests go in, and time is stepped by hand. */
import type { CellState, ReportRow } from '../../../src/core/findings/report.ts';
import type { Peer } from '../../../src/core/findings/peer.ts';
import type { OutstationFacts } from '../../../src/dnp3/findings/dialogue.ts';
import { Dnp3Judges } from '../../../src/dnp3/findings/judges.ts';
import type { LinkJudge } from '../../../src/dnp3/findings/link.ts';
import type { Cast, MasterObserver } from '../../../src/dnp3/stack/outstation/types.ts';
import type { dnp3Rules } from '../../../src/finding-rules/dnp3.ts';
import { FindingsRig } from '../../support/findings.ts';
import { hex } from '../rig/frames.ts';
import { Stack, spec } from '../rig/stack.ts';
import type { StackOptions } from '../rig/stack.ts';

export type RuleName = keyof typeof dnp3Rules;

export interface JudgeRigOptions extends Partial<StackOptions> {
  readonly facts?: Partial<OutstationFacts>;
}

const stepMs = 500;
const specs = [
  ...[1, 2, 3].map((of, index) => spec('binaryInput', index, { class: of as 1 | 2 | 3, eventVariation: 1 })),
  spec('binaryOutput', 0, { class: 0 }),
  spec('analogOutput', 0, { class: 0 }),
];

/** Requests in octets without their control octet. */
export const clearRestart = '02 50 01 00 07 07 00';
export const integrity = '01 3c 02 06 3c 03 06 3c 04 06 3c 01 06';
export const class0 = '01 3c 01 06';
export const class1 = '01 3c 02 06';
/** a latch of BO0, and a set-point of 400 for AO0 */
export const latch = '0c 01 28 01 00 00 00 03 01 00 00 00 00 00 00 00 00 00';
export const setPoint = '29 02 28 01 00 00 00 90 01 00';

export class JudgeRig {
  readonly findings = new FindingsRig();
  readonly judges: Dnp3Judges;
  readonly stack: Stack;
  readonly link: LinkJudge;
  /** of the master at the outstation, for fragments that the stack would not send */
  observer: MasterObserver;
  readonly facts: OutstationFacts;
  readonly peer: Peer;
  /** for `next` */
  seq = -1;

  constructor({ facts, ...options }: JudgeRigOptions = {}) {
    const { unsolicited = false } = options;
    this.judges = new Dnp3Judges({
      findings: this.findings.registry,
      clock: this.findings.wall,
      message: () => ({ channel: 'dnp3', id: 7 }),
    });
    this.peer = this.judges.peerOf('4@127.0.0.1:1');
    this.link = this.judges.linkOf('127.0.0.1:1', null);
    this.link.joined(4, 1);
    this.facts = {
      deviceIndex: 0,
      address: 1,
      hasUnsolicited: unsolicited,
      isWallTime: true,
      selectTimeoutMs: 5000,
      staticPoints: () => 200,
      hasBuiltInMap: true,
      outputOf: () => 0,
      rangeOf: (_, index) => (index === 0 ? { min: 0, max: 1000 } : undefined),
      ...facts,
    };
    this.observer = this.judges.masterOf(this.facts);
    this.stack = new Stack({
      specs,
      unsolicited,
      ...options,
      observerOf: () => (this.observer = this.judges.masterOf(this.facts)),
    });
    for (const index of [0, 1, 2]) this.stack.set('binaryInput', index, 0);
  }

  /** A request with its control octet. */
  ask(octets: string, cast: Cast = 'unicast'): readonly string[] {
    return this.stack.ask(octets, 4, cast);
  }

  /** A request with the next sequence number. @param seq default: the one after the last */
  next(objects: string, seq = (this.seq + 1) & 0x0f): readonly string[] {
    this.seq = seq;
    return this.ask(`c${seq.toString(16)} ${objects}`);
  }

  confirm(seq: number, isUnsolicited = false): void {
    this.ask(`${isUnsolicited ? 'd' : 'c'}${seq.toString(16)} 00`);
  }

  /** A response that the stack would not send now. @param octets control, function, IIN and objects */
  sent(octets: string): void {
    this.observer.sent(hex(octets));
  }

  /** Clears the restart, and writes the right time. */
  settle(): void {
    this.next(integrity);
    this.next(clearRestart);
    this.writeTime();
  }

  /** @param offsetMs by which the time is ahead */
  writeTime(offsetMs = 0, variation = 1): void {
    const octets = Buffer.alloc(6);
    octets.writeUIntLE(this.findings.wall.nowMs() + offsetMs, 0, 6);
    this.next(`02 32 0${variation} 07 01 ${octets.toString('hex')}`);
  }

  /** An event of binary input 0, 1 or 2, which are of class 1, 2 and 3. */
  event(index = 0): void {
    const { value = 0 } = this.stack.database.point('binaryInput', index)?.state ?? {};
    this.stack.set('binaryInput', index, value === 0 ? 1 : 0);
  }

  pass(ms: number): void {
    for (let left = ms; left > 0; left -= stepMs) {
      const step = Math.min(stepMs, left);
      this.findings.timers.pass(step);
      this.stack.clock.pass(step);
    }
  }

  /** Another connection of the same master. */
  reconnect(): void {
    this.stack.disconnect();
    this.link.closed(true);
    this.link.joined(4, 1);
    this.stack.connect();
    this.seq = -1;
  }

  row(rule: RuleName): ReportRow {
    return this.findings.row(this.peer, `dnp3.${rule}`);
  }

  state(rule: RuleName): CellState {
    return this.row(rule).state;
  }

  /** Names of the rules in a state; default: those that are broken. */
  rules(state: CellState = 'broken'): readonly string[] {
    return this.findings.ids(this.peer, state).map((id) => id.replace('dnp3.', ''));
  }
}
