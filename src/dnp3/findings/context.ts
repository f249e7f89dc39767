/** Parts that all judges of a process share. */
import type { Peer } from '../../core/findings/peer.ts';
import type { Case, Findings } from '../../core/findings/rule.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { dnp3Rules } from '../../finding-rules/dnp3.ts';
import { Dialogue } from './dialogue.ts';
import type { Dnp3Handles, History, OutstationFacts } from './dialogue.ts';
import { OutstationModes } from './modes.ts';

export interface JudgeContextOptions {
  readonly findings: Findings;
  readonly clock: WallClock;
  /** the present message in the wire log; null: it is not recorded */
  readonly message: () => NonNullable<Case['message']> | null;
}

/** Dropped frames and segments by peer. */
export class Losses {
  readonly #counts = new WeakMap<Peer, number>();

  of(peer: Peer): number {
    return this.#counts.get(peer) ?? 0;
  }

  add(peer: Peer): void {
    this.#counts.set(peer, this.of(peer) + 1);
  }
}

/** `4@127.0.0.1` of `4@127.0.0.1:50123`: ports change with each connection. */
const peerAddress = (peer: string) => peer.slice(0, peer.lastIndexOf(':'));

export class JudgeContext {
  readonly rules: Dnp3Handles;
  readonly losses = new Losses();
  /** addresses of outstations that have served a master */
  readonly served = new Set<number>();
  readonly #options: JudgeContextOptions;
  readonly #modes = new WeakMap<OutstationFacts, OutstationModes>();

  constructor(options: JudgeContextOptions) {
    this.#options = options;
    this.rules = options.findings.rules('dnp3', dnp3Rules);
  }

  get on(): boolean {
    return this.#options.findings.on;
  }

  get nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  get wallMs(): number {
    return this.#options.clock.nowMs();
  }

  peerOf(peer: string): Peer {
    return this.#options.findings.peer({ protocol: 'dnp3', address: peerAddress(peer) });
  }

  dialogue(peer: string, facts: OutstationFacts, history: History): Dialogue {
    const { findings, clock, message } = this.#options;
    const master = this.peerOf(peer);
    master.facet('outstation', facts.address);
    if (facts.hasUnsolicited) master.lacking.delete('unsolicited');
    else master.lacking.set('unsolicited', 'unsolicited responses are off (--dnp3_unsolicited)');
    if (facts.isWallTime) master.lacking.delete('wall_clock');
    else master.lacking.set('wall_clock', 'masters set the simulated clock (--remote_clock)');
    return new Dialogue({ findings, rules: this.rules, clock, message, facts }, master, history);
  }

  /** The modes of an outstation, which its masters share. */
  modesOf(facts: OutstationFacts): OutstationModes {
    const { findings, clock } = this.#options;
    const modes = this.#modes.get(facts) ?? new OutstationModes({ findings, rules: this.rules, clock, facts });
    this.#modes.set(facts, modes);
    return modes;
  }

  /** Switches the judges off if one throws. */
  guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.findings.failed(this.rules, error);
    }
  }
}
