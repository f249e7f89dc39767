/** Judges the order of commands to a device, and whether their set-points are read back. */
import type { Peer } from '../../../core/findings/peer.ts';
import type { Deadline } from '../../../core/findings/rule.ts';
import type { SetpointChange, SetpointGroup, SetpointWrite } from '../../../core/findings/setpoints.ts';
import type { JudgeContext } from './request.ts';

/** An enable that came before its value. */
interface EarlyEnable {
  readonly atMs: number;
  /** the set-points that it put in force */
  readonly values: string;
}

/** The commands of the last writer of a group. */
interface Command {
  readonly peer: Peer;
  early: EarlyEnable | null;
  /** the set-points as the peer wrote them; null: it has not */
  values: string | null;
  /** true: somebody else has changed them since */
  isOverruled: boolean;
  readback: Deadline | null;
}

export class CommandJudge {
  readonly #context: JudgeContext;
  readonly #deviceIndex: number | null;
  readonly #commands = new Map<SetpointGroup, Command>();
  /** enables as they were after the last write */
  readonly #enabled = new Map<SetpointGroup, boolean>();

  constructor(context: JudgeContext, deviceIndex: number | null, groups: readonly SetpointGroup[]) {
    this.#context = context;
    this.#deviceIndex = deviceIndex;
    for (const group of groups) this.#enabled.set(group, group.isEnabled());
  }

  /** Takes a write by a peer, after it was carried out. */
  wrote(peer: Peer, write: SetpointWrite): void {
    const { group, setsValue } = write;
    const command = this.#commandOf(peer, group);
    this.#judgeOrder(command, write);
    this.#enabled.set(group, group.isEnabled());
    if (!setsValue) return;
    command.values = group.values();
    command.isOverruled = false;
    this.#awaitReadback(command, write);
  }

  /** Takes a change of the set-points by somebody else, or the end of a reversion time. */
  changed(group: SetpointGroup, how: SetpointChange): void {
    if (how === 'by_peer') return;
    this.#enabled.set(group, group.isEnabled());
    const command = this.#commands.get(group);
    if (command === undefined) return;
    command.readback?.drop();
    command.early = null;
    command.isOverruled ||= how === 'by_others' && command.values !== null;
  }

  /** Takes a write of which the master has not seen what became of it. */
  disturbed(): void {
    for (const group of this.#enabled.keys()) {
      this.#enabled.set(group, group.isEnabled());
      this.#forget(group);
    }
  }

  /** Takes a read of set-points of the group. */
  read(peer: Peer, group: SetpointGroup): void {
    const command = this.#commands.get(group);
    if (command?.peer === peer) command.readback?.met();
  }

  /** True if somebody has yet to read a set-point back. */
  get awaitsReadback(): boolean {
    return [...this.#commands.values()].some(({ readback }) => readback?.isPending === true);
  }

  #commandOf(peer: Peer, group: SetpointGroup): Command {
    const existing = this.#commands.get(group);
    if (existing?.peer === peer) return existing;
    this.#forget(group);
    const command: Command = { peer, early: null, values: null, isOverruled: false, readback: null };
    this.#commands.set(group, command);
    return command;
  }

  #forget(group: SetpointGroup): void {
    this.#commands.get(group)?.readback?.drop();
    this.#commands.delete(group);
  }

  #judgeOrder(command: Command, { group, setsValue, setsEnable, evidence }: SetpointWrite): void {
    const rule = this.#context.rules.enable_before_value;
    const { peer, early } = command;
    const nowMs = this.#context.monotonicMs();
    if (!group.isEnabled()) command.early = null;
    else if (setsValue && early !== null) {
      command.early = null;
      const waitMs = nowMs - early.atMs;
      const isInTime = waitMs < rule.param('min_ms') || waitMs > rule.param('max_s') * 1000;
      const values = group.values();
      if (isInTime || values === early.values) rule.exercised(peer);
      else
        rule.broken(
          peer,
          this.#deviceIndex,
          () => ({
            text: `switched on ${group.enable} with ${group.name} at ${early.values}, and wrote ${values} ${Math.round(waitMs)} ms later`,
            facts: { point: group.name, enable: group.enable, before: early.values, after: values },
            ...evidence,
          }),
          group.name,
        );
    } else if (setsEnable && this.#enabled.get(group) === false) {
      const values = group.values();
      if (setsValue || group.isNeutral() || values === command.values) rule.exercised(peer);
      else if (command.isOverruled) rule.undecided(peer);
      else command.early = { atMs: nowMs, values };
    }
  }

  #awaitReadback(command: Command, { group, evidence }: SetpointWrite): void {
    if (command.readback?.isPending === true) return;
    const { findings, rules } = this.#context;
    const rule = rules.readback_missing;
    command.readback = findings.waitFor({
      rule,
      peer: command.peer,
      deviceIndex: this.#deviceIndex,
      waitMs: rule.param('wait_s') * 1000,
      presence: 'active',
      key: group.name,
      expired: () => ({
        text: `wrote ${group.name} (${group.values()}) and did not read it back`,
        facts: { point: group.name, values: group.values() },
        ...evidence,
      }),
    });
  }
}
