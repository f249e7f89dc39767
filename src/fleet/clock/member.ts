/** The clock of a shard: it ticks on the grid of the fleet, or by the steps of the leader. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { fenced } from '../fence.ts';
import { FleetError } from '../link.ts';
import type { FleetLink, FleetMessage, Stop } from '../link.ts';
import { claimsMessage, readClaimRequest } from '../site/messages.ts';
import { FreeRun } from './free-run.ts';
import { decodedLeader, leaderKey } from './leader.ts';
import {
  checkedMembers,
  clockMessage,
  clockSubject,
  jsonOf,
  nowSubject,
  readGo,
  readPrepare,
  readSetPrepare,
  readTime,
} from './messages.ts';
import type { SetReady } from './messages.ts';
import type { ClockedPlant } from './plant.ts';
import { checkedRecord, isPaused, reachedAt, tickOf } from './record.ts';
import type { ClockRecord } from './record.ts';
import { ClockRestore } from './restore.ts';
import { SteppedTicks } from './stepped.ts';
import { ClockStore } from './store.ts';
import { FleetTime } from './time.ts';

const askLimitMs = 1000;
const nothing: FleetMessage = { headers: {}, body: new Uint8Array(0) };

export interface ClockMemberOptions {
  readonly link: FleetLink;
  readonly prefix: string;
  readonly shard: string;
  /** of the process, in the roster */
  readonly epoch: () => number;
  readonly plant: ClockedPlant;
  /** the record by which the plant was made */
  readonly record: ClockRecord;
  /** as in `JoinedFleet`; absent: none */
  readonly anchors?: ReadonlyMap<string, number>;
  readonly wall: WallClock;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  /** Resolves when the last tick has left. */
  readonly sent: () => Promise<void>;
}

/** Asks the leader of a fleet for its time. */
export const askTime = (link: Pick<FleetLink, 'request'>, prefix: string) => async (): Promise<number> =>
  readTime(await link.request(nowSubject(prefix), nothing, askLimitMs)).ms;

export class ClockMember {
  readonly #options: ClockMemberOptions;
  readonly #run: FreeRun;
  readonly #steps: SteppedTicks;
  readonly #time: FleetTime;
  readonly #stops: Stop[] = [];
  #leader: string | null = null;

  constructor(options: ClockMemberOptions) {
    const { link, prefix, plant, record, wall, later, log, sent } = options;
    this.#options = options;
    this.#steps = new SteppedTicks({ plant, sent });
    this.#time = new FleetTime({ wall, later, tickS: record.tickS, ask: askTime(link, prefix) });
    this.#run = new FreeRun(record, {
      plant,
      later,
      nowMs: () => this.#time.nowMs(),
      onFailure: (error) => {
        log.warning(`the clock of the fleet: ${errorText(error)}`);
      },
    });
  }

  /** The record in force. */
  get record(): ClockRecord {
    return this.#run.record;
  }

  /** Address of the gateway that leads, as it was seen last; null: not known. */
  get leader(): string | null {
    return this.#leader;
  }

  /** @throws FleetError; `close` ends what is open then */
  async open(): Promise<void> {
    const { link, prefix, shard, epoch, log, later, anchors = new Map() } = this.#options;
    await this.#time.start(true);
    const onFailure = (error: unknown) => {
      log.warning(`the clock of the fleet: ${errorText(error)}`);
    };
    const newest = () => this.#run.newest;
    const restore = new ClockRestore({ link, later, log, newest, anchors });
    // one after the other: what is open is closed where a later one fails
    this.#stops.push(
      () => {
        restore.stop();
      },
      new ClockStore(link).watch((record) => {
        this.#follow(record);
      }, onFailure),
      link.leases.watch(leaderKey, ({ value }) => {
        if (value !== null) this.#leader = decodedLeader(value).http || null;
      }),
    );
    this.#stops.push(await this.#serve('prepare', async (request) => this.#steps.prepare(readPrepare(request))));
    const claims = fenced(epoch, (request) => this.#claims(request));
    this.#stops.push(await link.serve('clock-claim', clockSubject(prefix, 'claim', shard), claims));
    this.#stops.push(await this.#serve('go', async (request) => this.#steps.go(readGo(request))));
    this.#stops.push(await this.#serve('set', (request) => this.#set(request)));
  }

  #serve(verb: 'prepare' | 'go' | 'set', answer: (request: FleetMessage) => Promise<object>): Promise<Stop> {
    const { link, prefix, shard, epoch } = this.#options;
    const served = async (request: FleetMessage) => clockMessage(await answer(request));
    return link.serve(`clock-${verb}`, clockSubject(prefix, verb, shard), fenced(epoch, served));
  }

  #follow(record: ClockRecord): void {
    const isOther = record.fleet !== this.#run.newest.fleet;
    this.#run.follow(record);
    if (!isOther) return;
    this.#options.log.warning('the clock of the fleet is that of another start, which this shard follows now');
    this.#warnAhead(record, 'this shard');
  }

  /** Claims of limits of the fleet, which change nothing here. @throws FleetError `refused` */
  async #claims(request: FleetMessage): Promise<FleetMessage> {
    const { endUs } = readClaimRequest(request);
    const { driven, fleetPart } = this.#options.plant;
    if (!(endUs > driven.reached)) throw new FleetError('refused', 'the piece of time is over');
    return Promise.resolve(claimsMessage(fleetPart.claims(endUs)));
  }

  /** Begins to tick. */
  startTicks(): void {
    this.#warnAhead(this.#run.record, 'the kept state of this shard');
    this.#run.start();
  }

  /** A plant with the state of an earlier process, or of another fleet, may be ahead, and cannot go back. */
  #warnAhead(record: ClockRecord, subject: string): void {
    const { plant, log } = this.#options;
    const reached = reachedAt(record, this.#time.nowMs());
    const ticks = tickOf(record, plant.latest.sim) - reached.tick;
    if (ticks < 1) return;
    const end = isPaused(record)
      ? 'the next step brings all shards there'
      : `it stands still until the fleet is there, in ${Math.round(ticks * record.tickS)} s`;
    const aheadS = Math.round(secondsBetween(reached.simUs, plant.latest.sim));
    log.warning(`${subject} is ${aheadS} simulated s ahead of its fleet: ${end}`);
  }

  /** Resolves when a tick under way has ended. */
  stopTicks(): Promise<void> {
    return this.#run.stop();
  }

  close(): void {
    this.#time.stop();
    for (const stop of this.#stops.splice(0)) stop();
  }

  async #set({ body }: FleetMessage): Promise<SetReady> {
    const value = jsonOf(body, 'the change of the clock');
    const { phase } = checkedMembers<{ readonly phase: unknown }>(
      value,
      { phase: () => true },
      'the change of the clock',
    );
    if (phase === 'prepare') return this.#ready(value);
    const record = checkedRecord((value as { readonly record?: unknown }).record);
    this.#follow(record);
    await this.#run.inForce(record);
    return this.#here;
  }

  /** @throws FleetError `refused` where the change comes too late, or in the middle of a step */
  #ready(value: unknown): SetReady {
    const { plant } = this.#options;
    const { atTick } = readSetPrepare(value);
    if (plant.driven.isOpen) throw new FleetError('refused', 'a step is under way');
    // its own numbers are higher where it has counted in another fleet before
    const last = tickOf(this.#run.record, plant.latest.sim);
    if (atTick !== null && last > atTick)
      throw new FleetError('refused', `it has run tick ${last}, and the change is for tick ${atTick}`);
    return this.#here;
  }

  get #here(): SetReady {
    const { latest } = this.#options.plant;
    return { simUs: latest.sim, tick: latest.tick };
  }
}
