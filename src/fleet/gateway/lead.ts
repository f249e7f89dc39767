/** The gateway among those of its fleet: one of them leads, and the others pass on to it what only the leader may do. */
import { randomUUID } from 'node:crypto';
import type { RunReport, ScenarioBook } from '../../contract/scenarios.ts';
import { createProblem } from '../../core/http/problem.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Origin } from '../../core/origin.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { describeError, HttpProblem } from '../../api/http/errors.ts';
import type { Perform } from '../../api/http/perform.ts';
import { ClockKeeper } from '../clock/keeper.ts';
import type { ClockShard } from '../clock/keeper.ts';
import { decodedLeader, leaderKey, Leadership } from '../clock/leader.ts';
import { askTime } from '../clock/member.ts';
import { clockMessage, isOrigin, jsonOf, nowSubject } from '../clock/messages.ts';
import type { ClockRecord } from '../clock/record.ts';
import { ClockRestore } from '../clock/restore.ts';
import { FleetTime } from '../clock/time.ts';
import { FleetError } from '../link.ts';
import type { FleetMessage, Stop } from '../link.ts';
import { leadSubject, statusHeader, typeHeader } from '../operation.ts';
import { isInternal } from './forward.ts';
import type { ForwardedReply } from './forward.ts';
import type { RoutedRequest } from './router.ts';
import { SiteKeeper } from '../site/keeper.ts';
import type { SiteRules } from '../site/rules.ts';
import { siteShards, SiteOperations } from './site.ts';
import { ruleOf } from './rules.ts';
import { TimeOperations } from './time.ts';
import { FleetGround } from './scenarios/ground.ts';
import { RunHistory } from './scenarios/run-history.ts';
import { RunMark } from './scenarios/run-mark.ts';
import { isOfScenarios, ScenarioOperations } from './scenarios/operations.ts';
import type { LeadRequest } from './scenarios/operations.ts';
import type { FleetView } from './view.ts';

/** Time after which a tick that has not come is no longer waited for, ms. */
const tickLimitMs = 5000;
/** A leader without a sign of life for so long is silent, ms. */
const silentMs = 30_000;
/** Slots by which a gateway spreads a correction of its time, s. */
const slotS = 1.5;

export interface FleetLeadOptions {
  readonly view: FleetView;
  readonly wall: WallClock;
  readonly later: Later;
  readonly log: Logger;
  /** address of the HTTP interface */
  readonly http: () => string;
  readonly pace: 'hold' | 'free';
  /** of the limits of the whole fleet */
  readonly siteRules: SiteRules;
  /** carries out requests of scenarios */
  readonly perform: Perform;
  /** Makes the scenarios of a gateway on a fleet. */
  readonly scenarios: (ground: FleetGround) => FleetBook;
}

/** The scenarios that a gateway keeps. */
export interface FleetBook extends ScenarioBook {
  /** Lists a run that has ended in another gateway. */
  addEnded(report: RunReport): void;
  /** Ends all runs. */
  close(): Promise<void>;
}

const leaderGone = new FleetError(
  'no-responder',
  'The gateway that led has ended before its answer; the request may have been carried out',
);

export class FleetLead {
  readonly #options: FleetLeadOptions;
  readonly #leadership: Leadership;
  readonly #keeper: ClockKeeper;
  readonly #time: FleetTime;
  readonly #site: SiteKeeper;
  readonly #operations: TimeOperations;
  readonly #siteOperations: SiteOperations;
  readonly #session = randomUUID();
  readonly #mark: RunMark;
  readonly #history: RunHistory;
  readonly #ground: FleetGround;
  readonly #book: FleetBook;
  readonly #scenarios: ScenarioOperations;
  /** aborted when the shard is lost, by the name of a shard that lives */
  readonly #lost = new Map<string, AbortController>();
  /** the gateway that leads, and what ends requests to it; null: nobody leads */
  #leader: { readonly session: string; readonly gone: AbortController } | null = null;
  #stops: Stop[] = [];
  #restore: ClockRestore | null = null;
  #serving: Promise<readonly Stop[]> = Promise.resolve([]);

  constructor(options: FleetLeadOptions) {
    const { view, wall, later, log, http, pace, perform, siteRules } = options;
    const { link, prefix } = view;
    this.#options = options;
    const ask = askTime(link, prefix);
    this.#time = new FleetTime({
      wall,
      later,
      tickS: slotS,
      // a new leader goes on with the time of the former one
      ask: () => (this.#leadership.isLeader ? Promise.resolve(this.#time.nowMs()) : ask()),
    });
    this.#site = new SiteKeeper({
      link,
      prefix,
      wall,
      later,
      isLeader: () => this.#leadership.isLeader,
      fleet: () => this.#keeper.record?.fleet ?? null,
      shards: () => siteShards(view),
      rules: siteRules,
      log,
    });
    this.#keeper = new ClockKeeper({
      link,
      prefix,
      wall,
      nowMs: () => this.#time.nowMs(),
      shards: () => this.#shards(),
      noResponder: (shard) => {
        view.noResponder(shard);
      },
      wait: (ms) => new Promise((resolve) => later(ms, resolve)),
      ticksCome: (shards, tick) => this.#ticksCome(shards, tick),
      sharing: this.#site,
      pace,
      log,
      leads: () => this.#leadership.isLeader,
    });
    const shards = {
      places: () => view.places(),
      newest: (shard: string) => view.ticks.newest(shard),
      onTick: (listener: Parameters<FleetView['onTick']>[0]) => view.onTick(listener),
      onLost: (listener: (shard: string) => void) =>
        view.onShard(({ kind, shard }) => {
          if (kind === 'lost' || kind === 'left') listener(shard);
        }),
    };
    const ticksCome = (tick: number) => this.#ticksCome([...view.shards.keys()], tick);
    this.#mark = new RunMark({ link, session: this.#session, nowMs: () => wall.nowMs(), log });
    this.#history = new RunHistory({ link, log });
    const around = { perform, wall, later, log, mark: this.#mark, history: this.#history };
    this.#ground = new FleetGround({ shards, keeper: this.#keeper, ticksCome, ...around });
    this.#book = options.scenarios(this.#ground);
    this.#scenarios = new ScenarioOperations(this.#book, this.#ground);
    const fleet = {
      keeper: this.#keeper,
      clockOwner: this.#ground,
      places: shards.places,
      newest: shards.newest,
      wall,
    };
    this.#operations = new TimeOperations(fleet);
    this.#siteOperations = new SiteOperations({ ...fleet, site: this.#site });
    this.#leadership = new Leadership({
      link,
      session: this.#session,
      http,
      wall,
      later,
      log,
      onChange: (isLeader) => {
        this.#change(isLeader);
      },
    });
  }

  /** Follows the clock, and tries to lead. */
  async start(): Promise<void> {
    const { view, later, log } = this.#options;
    this.#keeper.start();
    const restore = (this.#restore = new ClockRestore({
      link: view.link,
      later,
      log,
      newest: () => this.#runningRecord,
      anchors: new Map(),
    }));
    this.#site.start();
    this.#stops = [
      () => {
        restore.stop();
      },
      view.link.leases.watch(leaderKey, ({ value }) => {
        this.#followLeader(value === null ? null : decodedLeader(value).session);
      }),
      view.onShard(({ kind, shard, lease }) => {
        if (kind !== 'lost' && kind !== 'left') return;
        this.#lose(shard, `the shard "${shard}" ${words[kind]}`);
        this.#keeper.lose(lease.session);
      }),
      view.onTick(({ head }) => {
        if (this.#leadership.isLeader) void this.#keeper.follow(head);
      }),
    ];
    await this.#leadership.start();
    await this.#time.start(true);
  }

  async stop(): Promise<void> {
    await this.#book.close();
    // the mode of a scenario would stay, since only a leader changes the clock
    await this.#ground.released;
    await this.#history.written;
    this.#time.stop();
    this.#keeper.stop();
    this.#site.stop();
    for (const stop of this.#stops) stop();
    await this.#leadership.stop();
    for (const stop of await this.#serving) stop();
  }

  get isLeader(): boolean {
    return this.#leadership.isLeader;
  }

  /** @throws HttpProblem, SimError */
  async answer(request: RoutedRequest): Promise<ForwardedReply> {
    const { route, params, query, body, by } = request;
    const { operationId } = route;
    if (this.#leadership.isLeader || reading.has(operationId))
      return this.#carryOut({ operationId, params, query, body, by });
    return this.#passOn(request);
  }

  #carryOut(request: LeadRequest): Promise<ForwardedReply> {
    const { operationId } = request;
    if (operationId === 'remove_scenario_run') return this.#removeRun(request);
    if (isOfScenarios(operationId)) return this.#scenarios.answer(request);
    return (operationId.endsWith('_site') ? this.#siteOperations : this.#operations).answer(request);
  }

  /** A removed run is none for the next leader either. */
  async #removeRun(request: LeadRequest): Promise<ForwardedReply> {
    const { run: id } = request.params;
    const run = this.#book.runs.list().find((each) => each.id === id);
    const reply = await this.#scenarios.answer(request);
    if (run !== undefined) await this.#history.forget(run.report);
    return reply;
  }

  async #passOn({ route, path, params, query, body, by, id }: RoutedRequest): Promise<ForwardedReply> {
    const { link, prefix } = this.#options.view;
    if (link.state !== 'connected')
      throw new HttpProblem('fleet-offline', 'The gateway has no connection to the server of the fleet.');
    const asked = { operationId: route.operationId, params, query, body, by, path, id };
    try {
      const signal = this.#leader?.gone.signal;
      const options = { whileAlive: true, ...(signal && { signal }) };
      const answer = await link.request(leadSubject(prefix), clockMessage(asked), silentMs, options);
      const { [statusHeader]: status, [typeHeader]: type = 'application/json' } = answer.headers;
      const others = Object.entries(answer.headers).filter(([name]) => name !== typeHeader && !isInternal(name));
      return { status: Number(status), type, headers: Object.fromEntries(others), bytes: Buffer.from(answer.body) };
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      if (error === leaderGone) throw new HttpProblem('upstream-error', `${error.message}.`);
      if (error.code === 'no-responder')
        throw new HttpProblem('fleet-offline', 'No gateway leads the fleet now; one takes over within 5 s.');
      throw new HttpProblem('upstream-error', `The gateway that leads did not answer: ${error.message}.`);
    }
  }

  /** Ends the requests that were passed on to an earlier leader, which nobody will answer. */
  #followLeader(session: string | null): void {
    if (session === (this.#leader?.session ?? null)) return;
    this.#leader?.gone.abort(leaderGone);
    this.#leader = session === null ? null : { session, gone: new AbortController() };
  }

  /** The clock of shards that live, to be kept by the leader; without a shard the next one begins a clock of its own. */
  get #runningRecord(): ClockRecord | null {
    return this.#leadership.isLeader && this.#shards().length > 0 ? this.#keeper.record : null;
  }

  #change(isLeader: boolean): void {
    const { log } = this.#options;
    log.info(isLeader ? 'this gateway leads the fleet' : 'this gateway no longer leads the fleet');
    if (isLeader) {
      this.#keeper.beginTerm();
      // the server may have come back without its store before
      void this.#restore?.restore();
      this.#site.beginTerm();
      void this.#takeOver();
    } else this.#ground.lose(new Error('this gateway no longer leads the fleet'));
    this.#serving = this.#serving
      .then(async (stops) => {
        for (const stop of stops) stop();
        return isLeader ? await this.#serve() : [];
      })
      .catch((error: unknown) => {
        log.warning(`the gateway cannot lead the fleet: ${errorText(error)}`);
        return [];
      });
  }

  /** Lists the runs of leaders before; one under way has ended with its leader. */
  async #takeOver(): Promise<void> {
    for (const report of await this.#history.takeOver()) this.#book.addEnded(report);
    const gone = await this.#mark.takeGone();
    if (gone === null || this.#history.knows(gone)) return;
    this.#book.addEnded(gone);
    await this.#history.add(gone);
  }

  #serve(): Promise<readonly Stop[]> {
    const { link, prefix } = this.#options.view;
    return Promise.all([
      link.serve('now', nowSubject(prefix), () => Promise.resolve(clockMessage({ ms: this.#time.nowMs() }))),
      link.serve('lead', leadSubject(prefix), (request) => this.#lead(request)),
    ]);
  }

  /** Answers another gateway. */
  async #lead({ body }: FleetMessage): Promise<FleetMessage | null> {
    // a gateway that stood still may have lost the lead: the one that has it answers
    if (!this.#leadership.isLeader) return null;
    const asked = askedOf(body);
    const { status, type, headers, bytes } = await this.#carryOut(asked).catch((error: unknown) => {
      const { code, detail, issues } = describeError(error);
      const problem = createProblem(code, detail, { instance: asked.path, id: asked.id }, issues);
      return {
        ...problem,
        type: 'application/problem+json',
        headers: {},
        bytes: Buffer.from(`${JSON.stringify(problem)}\n`),
      };
    });
    return { headers: { ...headers, [statusHeader]: String(status), [typeHeader]: type }, body: bytes };
  }

  #shards(): readonly ClockShard[] {
    const live = this.#options.view.places().filter(({ isLost }) => !isLost);
    return live.map(({ name, epoch }) => {
      const controller = this.#lost.get(name) ?? new AbortController();
      this.#lost.set(name, controller);
      return { shard: name, epoch, lost: controller.signal };
    });
  }

  #lose(shard: string, reason: string): void {
    this.#lost.get(shard)?.abort(new FleetError('no-responder', reason));
    this.#lost.delete(shard);
  }

  async #ticksCome(shards: readonly string[], tick: number): Promise<void> {
    const { view, later } = this.#options;
    const haveCome = () =>
      shards.every(
        (name) => view.shards.get(name)?.isLive !== true || (view.ticks.newest(name)?.head.tick ?? 0) >= tick,
      );
    if (haveCome()) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        for (const stop of stops) stop();
        resolve();
      };
      const check = () => {
        if (haveCome()) end();
      };
      const stops = [view.onTick(check), view.onShard(check), later(tickLimitMs, end)];
    });
  }
}

/** Operations that every gateway answers. */
const reading = new Set(['get_time', 'get_site']);

const words = { lost: 'is lost', left: 'has left' } as const;

/** @throws FleetError `refused` */
function askedOf(body: Uint8Array): LeadRequest & { readonly path: string; readonly id: string } {
  const value = (jsonOf(body, 'the request of a gateway') ?? {}) as Readonly<Record<string, unknown>>;
  const { operationId, params = {}, query, by, path, id } = value;
  const isForLeader = ruleOf(String(operationId))?.name === 'leader' || operationId === 'set_site';
  if (!isForLeader || !isOrigin(by) || typeof query !== 'object' || typeof params !== 'object')
    throw new FleetError('refused', 'the request of a gateway is not complete');
  return {
    operationId: String(operationId),
    params: (params ?? {}) as Readonly<Record<string, string>>,
    query: (query ?? {}) as Readonly<Record<string, unknown>>,
    body: value['body'],
    by: by as Origin,
    path: String(path),
    id: String(id),
  };
}
