/** Commands of classic points without a current counterpart: they act within a window and end by reversion. */
import { errorText } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import type { RandomStream } from '../../core/random.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';

export interface CommandHost {
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  readonly now: () => SimTime;
  /** of the device; draws the delays within windows */
  readonly random: RandomStream;
  /** @throws SimError if the writer may not write now */
  readonly admit: (by: Origin) => void;
  readonly warn: (message: string) => void;
}

const byReversion: Origin = { source: 'reversion' };

/**
 * A command with a window and a reversion time, s. It acts after a random part of the window; until then its points
 * show the pending values. A command of another protocol cancels window and reversion.
 */
export abstract class TimedCommand<Host extends CommandHost = CommandHost> implements CommitParticipant {
  protected readonly host: Host;
  protected abstract readonly model: number;
  /** points whose write is the command */
  protected abstract readonly triggers: readonly string[];
  #window: Timer | null = null;
  #reversion: Timer | null = null;

  constructor(host: Host) {
    this.host = host;
  }

  protected abstract get windowS(): number;
  /** 0: no reversion */
  protected abstract get reversionS(): number;
  /** Carries out the command of the points. @returns true if a reversion is needed */
  protected abstract act(by: Origin): boolean;
  protected abstract revert(by: Origin): void;
  /** Updates the points to the state of the device. */
  protected abstract update(): void;

  prepare({ effective, by }: Commit): FollowUp | null {
    if (!effective.some(({ modelId, path }) => modelId === this.model && this.triggers.includes(path))) return null;
    return () => {
      this.#begin(by);
    };
  }

  reloaded(): void {
    this.clear();
  }

  /** Cancels window and reversion. */
  clear(): void {
    this.#stop();
    this.update();
  }

  /** Updates the points to the state of the device, unless a command is pending. */
  show(): void {
    if (this.#window?.waiting !== true) this.update();
  }

  #stop(): void {
    for (const timer of [this.#window, this.#reversion]) if (timer) this.host.scheduler.cancel(timer);
    this.#window = this.#reversion = null;
  }

  #begin(by: Origin): void {
    const { scheduler, now, random, admit, warn } = this.host;
    this.#stop();
    const seconds = this.windowS;
    if (seconds <= 0) {
      this.#carryOut(by);
      return;
    }
    this.#window = scheduler.at(addSeconds(now(), random.next() * seconds), () => {
      this.#window = null;
      try {
        admit(by);
        this.#carryOut(by);
      } catch (error) {
        warn(`a command of model ${this.model} that waited within its window was refused: ${errorText(error)}`);
        this.update();
      }
    });
  }

  #carryOut(by: Origin): void {
    const { scheduler, now } = this.host;
    const seconds = this.reversionS;
    if (!this.act(by) || seconds <= 0) return;
    this.#reversion = scheduler.at(addSeconds(now(), seconds), () => {
      this.#reversion = null;
      this.revert(byReversion);
      this.update();
    });
  }
}
