/** Writes the clock of a fleet again that its server has lost, in every shard and in the gateway that leads. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Later } from '../../core/time/timers.ts';
import type { FleetLink, Stop } from '../link.ts';
import { joinAnchors } from './join.ts';
import type { ClockRecord } from './record.ts';
import { ClockStore } from './store.ts';

const retryMs = 1000;

export interface ClockRestoreOptions {
  readonly link: Pick<FleetLink, 'state' | 'onState' | 'shared' | 'leases'>;
  readonly later: Later;
  readonly log: Pick<Logger, 'warning'>;
  /** the last record that has come; null: none is to be written */
  readonly newest: () => ClockRecord | null;
  /** as in `JoinedFleet` */
  readonly anchors: ReadonlyMap<string, number>;
}

export class ClockRestore {
  readonly #options: ClockRestoreOptions;
  readonly #stopState: Stop;
  #cancel: Stop = () => undefined;
  #isStopped = false;

  constructor(options: ClockRestoreOptions) {
    this.#options = options;
    // a server that comes back may have lost its store
    this.#stopState = options.link.onState((state) => {
      if (state === 'connected') void this.restore();
    });
  }

  /** Looks now, and again while the server does not answer. */
  async restore(): Promise<void> {
    this.#cancel();
    const { link, later, log, newest, anchors } = this.#options;
    const mine = newest();
    if (mine === null || this.#isStopped) return;
    try {
      const record = await new ClockStore(link).restore(mine);
      if (record?.fleet === mine.fleet) await joinAnchors(link, mine.fleet, anchors);
    } catch (error) {
      if (link.state !== 'connected' || this.#hasStopped()) return;
      log.warning(`the clock of the fleet cannot be written again: ${errorText(error)}`);
      this.#cancel = later(retryMs, () => void this.restore());
    }
  }

  /** A function, so that the compiler does not carry a check over an `await`. */
  #hasStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopState();
    this.#cancel();
  }
}
