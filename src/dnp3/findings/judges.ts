/** The judges of all masters: one set of them for each connection of a master with an outstation. */
import type { Buffer } from 'node:buffer';
import type { Peer } from '../../core/findings/peer.ts';
import { functionCodes, readControl, responseHeaderOctets } from '../stack/application/types.ts';
import type { AppControl, Request } from '../stack/application/types.ts';
import type { Cast, Control, ControlStatus, MasterObserver } from '../stack/outstation/types.ts';
import { ConfirmsJudge } from './confirms.ts';
import { JudgeContext } from './context.ts';
import type { Losses } from './context.ts';
import { ControlsJudge } from './controls.ts';
import { digestOf } from './digest.ts';
import { freshHistory } from './dialogue.ts';
import type { Dialogue, History, OutstationFacts, TopicJudge } from './dialogue.ts';
import { IndicationsJudge } from './indications.ts';
import { LinkJudge } from './link.ts';
import { ModesJudge } from './modes.ts';
import type { OutstationModes } from './modes.ts';
import { PollsJudge } from './polls.ts';
import { RefusedReadsJudge } from './refused-reads.ts';
import { SequenceJudge } from './sequence.ts';

const commands: ReadonlySet<number> = new Set([
  functionCodes.select,
  functionCodes.operate,
  functionCodes.directOperate,
  functionCodes.directOperateNr,
]);

/** The judges of one connection. */
class DialogueJudges {
  readonly peer: Peer;
  readonly topics: readonly TopicJudge[];
  readonly #losses: Losses;
  #seenLosses: number;
  /** digest of the last request to this outstation alone; null: none yet */
  #last: string | null = null;

  constructor(dialogue: Dialogue, losses: Losses, modes: OutstationModes) {
    this.peer = dialogue.peer;
    this.#losses = losses;
    this.#seenLosses = losses.of(this.peer);
    this.topics = [
      new SequenceJudge(dialogue),
      new ConfirmsJudge(dialogue),
      new IndicationsJudge(dialogue),
      new PollsJudge(dialogue),
      new RefusedReadsJudge(dialogue),
      new ControlsJudge(dialogue),
      new ModesJudge(dialogue, modes),
    ];
  }

  requested(request: Request, cast: Cast): void {
    const { peer } = this;
    peer.isValid = true;
    peer.requests += 1;
    if (commands.has(request.functionCode)) peer.hasWritten = true;
    this.#noteLosses();
    const digest = digestOf(request.octets);
    const isRetry = cast === 'unicast' && this.#last === digest;
    if (cast === 'unicast') this.#last = digest;
    const incoming = { ...request, cast, isRetry };
    for (const topic of this.topics) topic.requested?.(incoming);
  }

  #noteLosses(): void {
    const losses = this.#losses.of(this.peer);
    if (losses === this.#seenLosses) return;
    this.#seenLosses = losses;
    for (const topic of this.topics) topic.lost?.();
  }

  sent(fragment: Buffer): void {
    const { seq, fir, con, uns } = readControl(fragment[0] ?? 0);
    const outgoing = {
      seq,
      isFirst: fir,
      asksForConfirm: con,
      isUnsolicited: uns,
      hasObjects: fragment.length > responseHeaderOctets,
      bits: fragment.readUInt16LE(2),
    };
    for (const topic of this.topics) topic.sent?.(outgoing);
  }
}

/** Observes one master at one outstation over all of its connections. A judge that fails never reaches the master. */
class MasterJudge implements MasterObserver {
  readonly #owner: JudgeContext;
  readonly #facts: OutstationFacts;
  readonly #history: History = freshHistory();
  /** null: there is no connection, or nothing is judged */
  #judges: DialogueJudges | null = null;

  constructor(owner: JudgeContext, facts: OutstationFacts) {
    this.#owner = owner;
    this.#facts = facts;
  }

  opened(peer: string): void {
    this.#owner.guard(() => {
      this.#judges = null;
      if (!this.#owner.on) return;
      const dialogue = this.#owner.dialogue(peer, this.#facts, this.#history);
      this.#judges = new DialogueJudges(dialogue, this.#owner.losses, this.#owner.modesOf(this.#facts));
    });
  }

  closed(): void {
    this.#each((topic) => topic.closed?.());
    this.#judges = null;
  }

  restarted(): void {
    Object.assign(this.#history, freshHistory(), { restartedMs: this.#owner.nowMs });
    this.#each((topic) => topic.restarted?.());
  }

  dropped(fragment: Buffer): void {
    this.#each((topic) => topic.dropped?.(fragment));
  }

  requested(request: Request, cast: Cast): void {
    this.#owner.guard(() => this.#judges?.requested(request, cast));
  }

  controlled(control: Control, status: ControlStatus): void {
    this.#each((topic) => topic.controlled?.(control, status));
  }

  answered(request: Request, iin2: number): void {
    this.#each((topic) => topic.answered?.(request, iin2));
  }

  sent(fragment: Buffer): void {
    this.#owner.guard(() => this.#judges?.sent(fragment));
  }

  confirmed({ seq, uns }: AppControl): void {
    this.#each((topic) => topic.confirmed?.(seq, uns));
  }

  #each(act: (topic: TopicJudge) => void): void {
    this.#owner.guard(() => {
      for (const topic of this.#judges?.topics ?? []) act(topic);
    });
  }
}

/** The judges of a process. */
export class Dnp3Judges extends JudgeContext {
  /** Makes the observer of one master at one outstation. */
  masterOf(facts: OutstationFacts): MasterObserver {
    return new MasterJudge(this, facts);
  }

  /** Makes the observer of one connection. @param peer `127.0.0.1:50123` @param subject of its certificate; null: none */
  linkOf(peer: string, subject: string | null): LinkJudge {
    return new LinkJudge(this, peer, subject);
  }
}
