/** A line that breaks at any instant of a session, and the books of the central system (OCPP 1.6 3.7 and 3.7.1). */
import { expect } from 'chai';
import type { EvseTransition } from '../../../src/contract/kinds/evse-transitions.ts';
import { pick as byDepth } from '../../support/depth.ts';
import type { Json } from '../../support/http.ts';
import { casesOf } from '../../support/random.ts';
import type { CentralAnswer } from '../central/answers.ts';
import { id, Site } from './site.ts';

const cuts = byDepth({ quick: 60, ci: 200 });
const sampleS = 5;

/**
 * The books of a central system. A message that comes again because its answer was lost is one event: it has the same
 * content, time stamp included, and gets the same answer (errata sheet of 1.6, 3.18). It counts as a repeat.
 */
class Books {
  readonly starts: Json[] = [];
  readonly stops: Json[] = [];
  readonly values: Json[] = [];
  repeats = 0;
  readonly #known = new Map<string, Json>();

  book(list: Json[], payload: Json, answer: Json): Json {
    const event = JSON.stringify(payload);
    const known = this.#known.get(event);
    if (known !== undefined) {
      this.repeats += 1;
      return known;
    }
    this.#known.set(event, answer);
    list.push({ ...payload, ...answer });
    return answer;
  }

  readonly answers: Readonly<Record<string, CentralAnswer>> = {
    StartTransaction: (payload) => {
      const transactionId = this.starts.length + 1;
      return this.book(this.starts, payload, { transactionId, idTagInfo: { status: 'Accepted' } });
    },
    StopTransaction: (payload) => this.book(this.stops, payload, {}),
    MeterValues: (payload) => this.book(this.values, payload, {}),
  };
}

/** When the line breaks: at a call before it is booked, after it is booked, after its answer is on its way. */
type Instant = 'before' | 'after' | 'answered';
const instants: readonly [Instant, ...Instant[]] = ['before', 'after', 'answered'];

interface Event {
  readonly meterWh: number;
  readonly atMs: number;
}

/** What happened at the device, session by session. */
function watched(site: Site): { readonly starts: Event[]; readonly stops: Event[] } {
  const seen = { starts: [] as Event[], stops: [] as Event[] };
  const { plant } = site.app;
  plant.device(0).onEvse((transition: EvseTransition) => {
    if (!('connector' in transition) || transition.sessionChange === null) return;
    const event = { meterWh: Math.round(transition.connector.energyWh), atMs: Math.floor(plant.dateMs(transition.at)) };
    (transition.sessionChange === 'started' ? seen.starts : seen.stops).push(event);
  });
  return seen;
}

describe('a charge point of OCPP 1.6 whose line breaks again and again', () => {
  it('leaves complete and right books: one start and one stop of each session, its energy, its times', async () => {
    const random = casesOf('cuts');
    const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random.next() * list.length)] ?? list[0];
    const books = new Books();
    /** the next break at a call, and how many calls are left until then */
    let planned: { readonly instant: Instant; readonly calls: number } | null = null;
    let done = 0;
    const cut = () => {
      if (!site.station.connected) return;
      done += 1;
      site.station.cut();
    };
    /** @returns the break that this call meets */
    const due = (): Instant | null => {
      if (planned === null) return null;
      const { instant, calls } = planned;
      planned = calls === 0 ? null : { instant, calls: calls - 1 };
      return calls === 0 ? instant : null;
    };
    const breaking =
      (answer: CentralAnswer): CentralAnswer =>
      (payload) => {
        const instant = due();
        if (instant === 'before') {
          cut();
          return {};
        }
        const given = answer(payload);
        if (instant === 'after') cut();
        if (instant === 'answered') process.nextTick(cut);
        return given;
      };

    const site = await Site.open();
    try {
      const { station } = site;
      for (const [action, answer] of Object.entries({ ...station.answers, ...books.answers }))
        station.answers[action] = breaking(answer);
      const set = (key: string, value: string) => site.post(`ocpp/${id}/configuration`, { key, value });
      await set('AllowOfflineTxForUnknownId', 'true');
      await set('MeterValueSampleInterval', String(sampleS));
      const seen = watched(site);
      site.do({ kind: 'evse.plug', connectorId: 1, ev: { batteryCapacityWh: 500_000, socPct: 10 } });
      while (done < cuts) {
        // a person taps a card: it begins or ends a session, unless the central system is being asked
        if (random.next() < 0.3) site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
        planned ??= { instant: pick(instants), calls: Math.floor(random.next() * 3) };
        await site.advance(0.3 + 2 * random.next(), 4);
        if (random.next() < 0.4) cut();
      }
      planned = null;
      // the sessions between breaks may be too short for a watt-hour
      if (site.connector().session?.endedAtS !== null)
        site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
      await site.advance(30);
      if (site.connector().session?.endedAtS === null) site.do({ kind: 'evse.stop', connectorId: 1 });
      await site.until('the queue is empty', async () => {
        const { connection_state, queue } = await site.get(`ocpp/${id}`);
        return connection_state === 'connected' && queue.transaction_messages === 0;
      });
      const { starts, stops, values } = books;
      expect(seen.starts.length).to.be.greaterThan(cuts / 5);
      expect(seen.stops).to.have.length(seen.starts.length);
      const told = (event: Json, meter: string): Event => ({
        meterWh: event[meter] as number,
        atMs: Date.parse(event.timestamp as string),
      });
      expect(starts.map((start) => told(start, 'meterStart'))).to.deep.equal(seen.starts);
      expect(stops.map((stop) => told(stop, 'meterStop'))).to.deep.equal(seen.stops);
      expect(stops.map(({ transactionId }) => transactionId as number)).to.deep.equal(
        starts.map(({ transactionId }) => transactionId as number),
      );
      const energyWh = stops.reduce<number>(
        (sum, stop, n) => sum + Number(stop.meterStop) - Number(starts[n].meterStart),
        0,
      );
      expect(energyWh).to.equal(Math.round(site.connector().energyWh));
      expect(energyWh).to.be.greaterThan(0);
      for (const [n, { transactionId }] of starts.entries()) {
        const from = seen.starts[n]?.atMs ?? NaN;
        const to = seen.stops[n]?.atMs ?? NaN;
        const due = Array.from({ length: Math.floor((to - from) / 1000 / sampleS) }, (_, k) => (k + 1) * sampleS);
        const ofIt = values.filter((each) => each.transactionId === transactionId);
        const sampled = ofIt.map(({ meterValue }) => (Date.parse(meterValue[0].timestamp) - from) / 1000);
        // a session that ends at the very instant of a sample may end before it
        if (due.at(-1) === (to - from) / 1000 && sampled.length < due.length) due.pop();
        expect(sampled, `samples of session ${n}`).to.deep.equal(due);
      }
      // the cases that the issue is about have all happened
      expect(books.repeats).to.be.greaterThan(cuts / 20);
      expect(station.connects).to.be.greaterThan(cuts);
      expect(station.callsOf('BootNotification')).to.have.length(1);
    } finally {
      await site.close();
    }
  }).timeout(60_000);
});
