/** Which gateway leads: the one that has the lease `leader`. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { FleetError } from '../link.ts';
import type { FleetLink, Stop } from '../link.ts';
import { jsonOf } from './messages.ts';

export const leaderKey = 'leader';
const renewalMs = 1000;
/** a lease that was not renewed for so long may be that of another one */
const validMs = 4000;

/** Value of the lease. */
export interface LeaderLease {
  readonly session: string;
  /** address of its HTTP interface; empty: not known */
  readonly http: string;
}

export function decodedLeader(bytes: Uint8Array): LeaderLease {
  const value = (jsonOf(bytes, 'the lease of the leader') ?? {}) as Partial<Record<keyof LeaderLease, unknown>>;
  return { session: String(value.session), http: typeof value.http === 'string' ? value.http : '' };
}

export interface LeadershipOptions {
  readonly link: Pick<FleetLink, 'state' | 'onState' | 'leases'>;
  readonly session: string;
  readonly http: () => string;
  readonly wall: Pick<WallClock, 'monotonicMs'>;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  /** Called when this process begins to lead, and when it ends to. */
  readonly onChange: (isLeader: boolean) => void;
}

export class Leadership {
  readonly #options: LeadershipOptions;
  #renewedMs = 0;
  #isLeader = false;
  #isStopped = false;
  #cancel: () => void = () => undefined;
  #stopState: Stop = () => undefined;
  #attempt: Promise<void> | null = null;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** False too where the lease could not be renewed in time. */
  get isLeader(): boolean {
    return this.#isLeader && this.#options.wall.monotonicMs() - this.#renewedMs < validMs;
  }

  /** Tries to lead, and goes on trying; at once where the server comes back. */
  async start(): Promise<void> {
    await this.#try();
    this.#stopState = this.#options.link.onState((state) => {
      if (state === 'connected') this.#tryNow();
    });
    this.#plan();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopState();
    this.#cancel();
    await this.#attempt;
    const { link, log } = this.#options;
    const wasLeader = this.isLeader;
    this.#change(false);
    if (!wasLeader || link.state !== 'connected') return;
    try {
      await link.leases.delete(leaderKey);
    } catch (error) {
      log.warning(`the lease of the leader ends by its time limit: ${errorText(error)}`);
    }
  }

  #plan(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.later(renewalMs, () => {
      this.#tryNow();
    });
  }

  #tryNow(): void {
    if (this.#attempt !== null) return;
    this.#cancel();
    this.#attempt = this.#try().finally(() => {
      this.#attempt = null;
      this.#plan();
    });
  }

  async #try(): Promise<void> {
    const { link, session, http, wall, log } = this.#options;
    if (link.state !== 'connected') return;
    const value = Buffer.from(JSON.stringify({ session, http: http() } satisfies LeaderLease));
    const sentMs = wall.monotonicMs();
    try {
      const present = await link.leases.get(leaderKey);
      // another one has it, also where a server without its store counts its revisions anew
      if (present && decodedLeader(present.value).session !== session) this.#change(false);
      else {
        await (present ? link.leases.update(leaderKey, value, present.revision) : link.leases.create(leaderKey, value));
        this.#renewedMs = sentMs;
        this.#change(!this.#isStopped);
      }
    } catch (error) {
      if (error instanceof FleetError && error.code === 'conflict') this.#change(false);
      else log.warning(`the lease of the leader: ${errorText(error)}`);
    }
  }

  #change(isLeader: boolean): void {
    if (this.#isLeader === isLeader) return;
    this.#isLeader = isLeader;
    this.#options.onChange(isLeader);
  }
}
