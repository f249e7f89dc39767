/** A line that breaks at any instant of a transaction, and a station that restarts: the books of the central system (2.x E). */
import { expect } from 'chai';
import type { EvseTransition } from '../../../src/contract/kinds/evse-transitions.ts';
import type { CentralAnswer } from '../central/answers.ts';
import type { BookedTransaction } from '../central/books.ts';
import { casesOf } from '../../support/random.ts';
import { Site } from './site.ts';
import { pick } from '../../support/depth.ts';

const sampleS = 5;
const register = 'Energy.Active.Import.Register';

/** When the line breaks: at a call before its answer, and after its answer is on its way. */
type Instant = 'unanswered' | 'answered';

interface Instance {
  readonly meterWh: number;
  readonly atMs: number;
  /** the station has no connection then */
  readonly offline: boolean;
}

/** A session of the device. */
interface Session {
  /** of the simulator, counted from 0: each has its own simulated time */
  readonly run: number;
  readonly start: Instance;
  /** null: it goes on, or the simulator has ended first */
  end: Instance | null;
}

/** What happens at the device and to the connection, in each run of the simulator. */
class Watch {
  readonly sessions: Session[] = [];
  /** instants at which the connection has come or gone, by run */
  readonly changes: { readonly atMs: number; readonly offline: boolean }[][] = [];
  readonly #site: Site;

  constructor(site: Site) {
    this.#site = site;
    this.begin();
  }

  get run(): number {
    return this.changes.length - 1;
  }

  get #offline(): boolean {
    return this.#site.peers !== 1;
  }

  /** A run of the simulator has begun. */
  begin(): void {
    this.changes.push([]);
    this.look();
    const { plant } = this.#site.app;
    plant.device(0).onEvse((transition: EvseTransition) => {
      if (!('connector' in transition) || transition.sessionChange === null) return;
      const { connector, at, sessionChange } = transition;
      const atMs = Math.floor(plant.dateMs(at));
      const instance = { meterWh: Math.round(connector.energyWh), atMs, offline: this.#offline };
      if (sessionChange === 'started') this.sessions.push({ run: this.run, start: instance, end: null });
      else (this.sessions.at(-1) as Session).end = instance;
    });
  }

  /** The simulator is about to end: a session that goes on is known up to now. */
  end(): void {
    const last = this.sessions.at(-1);
    if (last === undefined || last.end !== null) return;
    const meterWh = Math.round(this.#site.connector().energyWh);
    // told by the next run, which has no connection yet
    last.end = { meterWh, atMs: Math.floor(this.#site.nowMs()), offline: true };
  }

  /** To be asked after whatever may have changed the connection. */
  look(): void {
    const changes = this.changes.at(-1) ?? [];
    const offline = this.#offline;
    if (changes.at(-1)?.offline !== offline) changes.push({ atMs: this.#site.nowMs(), offline });
  }

  /** Whether the connection was away; null: it came or went in that millisecond. */
  offlineAt(run: number, atMs: number): boolean | null {
    const changes = this.changes[run] ?? [];
    if (changes.some((change) => Math.abs(change.atMs - atMs) < 2)) return null;
    return changes.findLast((change) => change.atMs < atMs)?.offline ?? null;
  }
}

/** A script of cuts at calls, and what they have done to the books. */
class Cuts {
  done = 0;
  repeats = 0;
  /** the next break at a call, and how many calls are left until then */
  planned: { readonly instant: Instant; readonly calls: number } | null = null;
  /** events whose answer may not have arrived */
  readonly #lost = new Set<string>();
  readonly #booked = new Set<string>();
  /** events that came again although their answer had arrived */
  readonly needless: string[] = [];
  readonly #site: Site;

  constructor(site: Site) {
    this.#site = site;
    const { answers } = site.station;
    for (const [action, answer] of Object.entries({ ...answers })) answers[action] = this.#breaking(action, answer);
  }

  cut(): void {
    if (!this.#site.station.connected) return;
    this.done += 1;
    this.#site.station.cut();
  }

  #due(): Instant | null {
    if (this.planned === null) return null;
    const { instant, calls } = this.planned;
    this.planned = calls === 0 ? null : { instant, calls: calls - 1 };
    return calls === 0 ? instant : null;
  }

  #breaking(action: string, answer: CentralAnswer): CentralAnswer {
    return (payload) => {
      const instant = this.#due();
      if (action === 'TransactionEvent') this.#book(JSON.stringify(payload), instant);
      if (instant === 'unanswered') this.cut();
      if (instant === 'answered')
        process.nextTick(() => {
          this.cut();
        });
      return answer(payload);
    };
  }

  #book(event: string, instant: Instant | null): void {
    if (this.#booked.has(event)) {
      this.repeats += 1;
      if (!this.#lost.has(event)) this.needless.push(event);
    }
    this.#booked.add(event);
    if (instant === null) this.#lost.delete(event);
    else this.#lost.add(event);
  }
}

/** Readings of the import register, Wh. */
const readings = ({ meterValue = [] }: BookedTransaction['events'][number]): readonly number[] =>
  meterValue.flatMap(({ sampledValue }) =>
    sampledValue.filter(({ measurand = register }) => measurand === register).map(({ value }) => value),
  );

type Told = BookedTransaction['events'][number] & { readonly offline?: boolean };

/** Transactions of the books against the sessions of the device, one by one. */
function compare(transactions: readonly BookedTransaction[], watch: Watch): void {
  expect(transactions).to.have.length(watch.sessions.length);
  for (const [n, { events, ended, transactionId }] of transactions.entries()) {
    const { run, start, end } = watch.sessions[n] as Session;
    const about = `session ${n}, ${transactionId}`;
    const [first, last] = [events[0] as Told, events.at(-1) as Told];
    const told = (event: Told, meterWh: number | undefined): Partial<Instance> => ({
      atMs: Date.parse(event.timestamp),
      offline: event.offline ?? false,
      ...(meterWh !== undefined && { meterWh }),
    });
    expect(ended, about).to.equal(true);
    expect(
      events.map(({ seqNo }) => seqNo),
      about,
    ).to.deep.equal(events.map((_, at) => at));
    expect(
      events.filter(({ eventType }) => eventType === 'Started'),
      about,
    ).to.have.length(1);
    for (const [event, meterWh, seen] of [
      [first, readings(first)[0], start],
      [last, readings(last).at(-1), end],
    ] as const) {
      const { atMs, ...more } = told(event, meterWh);
      // a new run sets its clock by the time of the central system, which has whole milliseconds
      expect(atMs, about).to.be.closeTo(seen?.atMs ?? NaN, run === 0 ? 0 : 1);
      expect(more, about).to.deep.equal({ meterWh: seen?.meterWh, offline: seen?.offline });
    }
    for (const event of events as readonly Told[]) {
      const offline = watch.offlineAt(run, Date.parse(event.timestamp));
      if (event !== last && offline !== null)
        expect(event.offline ?? false, `${about}: ${JSON.stringify(event)}`).to.equal(offline);
    }
  }
}

/** Breaks of the line in the two tests. */
const [cutsOfLine, cutsWithRestarts] = pick({ quick: [60, 30], ci: [200, 80] });

describe('a charging station of OCPP 2.x whose line breaks again and again', () => {
  const open = (version: 'ocpp2.0.1' | 'ocpp2.1') =>
    Site.open({
      flags: ['--ocpp_version', version === 'ocpp2.1' ? version : 'ocpp2.0.1j'],
      central: { subprotocols: [version] },
    });

  async function prepared(site: Site): Promise<void> {
    await site.until('the station is available', () => site.station.callsOf('StatusNotification').length > 0);
    const set = [
      ['AuthCtrlr', 'OfflineTxForUnknownIdEnabled', 'true'],
      ['SampledDataCtrlr', 'TxUpdatedInterval', String(sampleS)],
    ].map(([component, variable, attributeValue]) => ({
      component: { name: component },
      variable: { name: variable },
      attributeValue,
    }));
    const { setVariableResult: results } = await site.call('SetVariables', { setVariableData: set });
    for (const { attributeStatus } of results) expect(attributeStatus).to.equal('Accepted');
  }

  const emptied = (site: Site) =>
    site.until('the queue is empty', async () => {
      const { connection_state, queue } = await site.get('ocpp/CP-1');
      return connection_state === 'connected' && queue.transaction_messages === 0;
    });

  async function run(version: 'ocpp2.0.1' | 'ocpp2.1', seed: number, count: number, restartChance: number) {
    const random = casesOf('cuts', seed);
    const site = await open(version);
    try {
      await prepared(site);
      const cuts = new Cuts(site);
      const watch = new Watch(site);
      const plug = () => {
        site.do({ kind: 'evse.plug', connectorId: 1, ev: { batteryCapacityWh: 500_000, socPct: 10 } });
      };
      let restarts = 0;
      plug();
      while (cuts.done < count) {
        // a person taps a card: it begins or ends a session, unless the central system is being asked
        if (random.next() < 0.3) site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
        const instant = random.next() < 0.6 ? 'unanswered' : 'answered';
        cuts.planned ??= { instant, calls: Math.floor(random.next() * 3) };
        await site.advance(0.3 + 2 * random.next(), 4);
        watch.look();
        if (random.next() < 0.4) {
          cuts.cut();
          await site.settle();
          watch.look();
        }
        if (random.next() >= restartChance) continue;
        restarts += 1;
        watch.end();
        await site.stop();
        await site.start();
        watch.begin();
        plug();
      }
      cuts.planned = null;
      await site.advance(1);
      watch.look();
      if (site.connector().session?.endedAtS === null) site.do({ kind: 'evse.stop', connectorId: 1 });
      await emptied(site);
      return { site, cuts, watch, restarts };
    } catch (error) {
      await site.close();
      throw error;
    }
  }

  it('leaves complete and right books: each session once, its energy, its times, what was offline (2.1)', async () => {
    const { site, cuts, watch } = await run('ocpp2.1', 17, cutsOfLine, 0);
    try {
      const { transactions } = site.station.books;
      expect(transactions.length).to.be.greaterThan(cutsOfLine / 5);
      compare(transactions, watch);
      const energyWh = transactions.reduce((sum, { events }) => {
        const all = events.flatMap(readings);
        return sum + (all.at(-1) ?? NaN) - (all[0] ?? NaN);
      }, 0);
      expect(energyWh).to.equal(Math.round(site.connector().energyWh));
      expect(energyWh).to.be.greaterThan(0);
      expect(cuts.needless).to.deep.equal([]);
      expect(cuts.repeats).to.be.greaterThan(cutsOfLine / 20);
      expect(site.station.connects).to.be.greaterThan(cutsOfLine);
      expect(site.station.callsOf('BootNotification')).to.have.length(1);
    } finally {
      await site.close();
    }
  }).timeout(60_000);

  it('also where the simulator restarts again and again (2.0.1)', async () => {
    const { site, cuts, watch, restarts } = await run(
      'ocpp2.0.1',
      18,
      cutsWithRestarts,
      pick({ quick: 0.25, ci: 0.1 }),
    );
    try {
      compare(site.station.books.transactions, watch);
      expect(restarts).to.be.greaterThan(0);
      expect(cuts.needless).to.deep.equal([]);
    } finally {
      await site.close();
    }
  }).timeout(60_000);
});
