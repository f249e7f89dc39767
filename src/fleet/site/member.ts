/** The budget of a shard: that of the last message of the leader, and less the longer the leader is silent. */
import { isDeepStrictEqual } from 'node:util';
import type { FleetBudget, FleetPart } from '../../contract/fleet-site.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Later } from '../../core/time/timers.ts';
import type { FleetLink, Stop } from '../link.ts';
import { renewedMs, silentMs } from './keeper.ts';
import { noPowerOf, readBudgets, sharesSubject } from './messages.ts';
import type { BudgetMessage, ShardBudget } from './messages.ts';
import { decodedSite, siteKey } from './record.ts';

export interface SiteMemberOptions {
  readonly link: Pick<FleetLink, 'shared' | 'subscribe'>;
  readonly prefix: string;
  readonly shard: string;
  /** of the clock */
  readonly fleet: string;
  readonly part: FleetPart;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
}

export class SiteMember {
  readonly #options: SiteMemberOptions;
  #revision = -1;
  #stop: Stop = () => undefined;
  #timers: Stop[] = [];
  /** true: the leader has told nothing for so long that the budget by rating acts */
  #isFallback = false;

  constructor(options: SiteMemberOptions) {
    this.#options = options;
  }

  /** A fleet with limits gives a new shard nothing before its leader counts it. @throws FleetError */
  async open(): Promise<void> {
    const { link, prefix, part, fleet } = this.#options;
    this.#stop = link.subscribe(sharesSubject(prefix), (body) => {
      this.#follow(body);
    });
    const stored = await link.shared.get(siteKey);
    const record = stored && decodedSite(stored.value);
    if (record?.limits && record.fleet === fleet && this.#revision < 0)
      part.setBudget({ limits: record.limits, budgetW: noPowerOf(record.limits), binding: [], mode: 'fallback' });
  }

  close(): void {
    this.#stop();
    this.#endTimers();
  }

  #follow(body: Uint8Array): void {
    const { part, shard, log } = this.#options;
    let message: BudgetMessage;
    try {
      message = readBudgets(body);
    } catch (error) {
      log.warning(`the limits of the fleet: ${errorText(error)}`);
      return;
    }
    const { revision, limits, budgets } = message;
    if (revision < this.#revision) return;
    this.#revision = revision;
    this.#endTimers();
    if (this.#isFallback) log.info('the leader of the fleet divides its limits again');
    this.#isFallback = false;
    if (limits === null) {
      if (part.budget !== null) part.setBudget(null);
      return;
    }
    const none = noPowerOf(limits);
    this.#act({ ...message, limits }, budgets[shard] ?? { shared: none, alone: none, safe: none });
  }

  #act({ limits, binding }: BudgetMessage & Pick<FleetBudget, 'limits'>, { shared, alone, safe }: ShardBudget): void {
    const { later, log } = this.#options;
    this.#set({ limits, binding, budgetW: shared, mode: 'shared' });
    this.#timers = [
      later(renewedMs, () => {
        this.#set({ limits, binding, budgetW: alone, mode: 'shared' });
      }),
      later(silentMs, () => {
        this.#isFallback = true;
        log.warning('nobody divides the limits of the fleet: this shard keeps to its part by rating');
        this.#set({ limits, binding: [], budgetW: safe, mode: 'fallback' });
      }),
    ];
  }

  /** The present shares stay where nothing changes. */
  #set(budget: FleetBudget): void {
    const { part } = this.#options;
    if (!isDeepStrictEqual(part.budget, budget)) part.setBudget(budget);
  }

  #endTimers(): void {
    for (const stop of this.#timers) stop();
    this.#timers = [];
  }
}
