/** The disconnect switch behind 123.Conn, with its window and its reversion. */
import type { Origin } from '../../core/origin.ts';
import type { RandomStream } from '../../core/random.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { RegisterBank } from '../../sunspec/map/bank.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import { m123 } from '../../sunspec/models/m123.ts';

export interface ConnectHost {
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  readonly now: () => SimTime;
  /** of the device; draws the delays within windows */
  readonly random: RandomStream;
  readonly isClosed: () => boolean;
  readonly setSwitch: (closed: boolean, by: Origin) => void;
}

/** Points of 123 of which a write commands the switch or restarts its reversion. */
const commands: readonly string[] = ['Conn', 'Conn_RvrtTms'];

const byReversion: Origin = { source: 'reversion' };

/**
 * Carries out writes of 123.Conn. The switch opens or closes after a random part of Conn_WinTms; Conn_RvrtTms after that
 * it closes again. Until a window is over, 123.Conn shows the wish and the switch stays; a command of another protocol
 * ends wish and reversion.
 */
export class ConnectCommands implements CommitParticipant {
  readonly #host: ConnectHost;
  #window: Timer | null = null;
  #reversion: Timer | null = null;

  constructor(host: ConnectHost) {
    this.#host = host;
  }

  prepare({ effective, by }: Commit): FollowUp | null {
    if (!effective.some(({ modelId, path }) => modelId === m123.id && commands.includes(path))) return null;
    return () => {
      this.#begin(by);
    };
  }

  reloaded(): void {
    this.clear();
  }

  /** Ends window and reversion without their effect. */
  clear(): void {
    this.#stop();
    this.show();
  }

  /** Another protocol has moved the switch, or a tick is over: 123.Conn shows it. */
  show(): void {
    const { m123: m } = this.#host.bank.measurements;
    if (m && !this.#window?.waiting) m.Conn = this.#host.isClosed() ? 'CONNECT' : 'DISCONNECT';
  }

  #stop(): void {
    const { scheduler } = this.#host;
    for (const timer of [this.#window, this.#reversion]) if (timer) scheduler.cancel(timer);
    this.#window = this.#reversion = null;
  }

  #begin(by: Origin): void {
    const { bank, scheduler, now, random } = this.#host;
    this.#stop();
    const seconds = bank.map.m123?.Conn_WinTms ?? 0;
    if (seconds <= 0) {
      this.#act(by);
      return;
    }
    this.#window = scheduler.at(addSeconds(now(), random.next() * seconds), () => {
      this.#window = null;
      this.#act(by);
    });
  }

  #act(by: Origin): void {
    const { bank, scheduler, now, setSwitch } = this.#host;
    const closed = bank.map.m123?.Conn === 'CONNECT';
    if (closed !== this.#host.isClosed()) setSwitch(closed, by);
    const seconds = bank.map.m123?.Conn_RvrtTms ?? 0;
    if (closed || seconds <= 0) return;
    this.#reversion = scheduler.at(addSeconds(now(), seconds), () => {
      this.#reversion = null;
      setSwitch(true, byReversion);
      this.show();
    });
  }
}
