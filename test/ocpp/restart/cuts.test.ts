/**
 * The end of a process at any step of disk and line, and the books of the central system: each transaction has one start
 * and one end, numbers have no gap, no energy is counted twice, and what was accepted is there.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { OcppVersion } from '../../../src/contract/ocpp.ts';
import { journalFile } from '../../../src/state/journal.ts';
import { holdsAsync } from '../../support/property.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { answers16 } from '../central/answers.ts';
import type { CentralAnswer } from '../central/answers.ts';
import { answers2 } from '../central/answers-2.ts';
import { TransactionBooks } from '../central/books.ts';
import { availabilityOf, promisesOf } from './promises.ts';
import type { AcceptedChange } from './promises.ts';
import { RestartSite } from './site.ts';
import type { Cut } from './site.ts';

type Json = Record<string, unknown>;

interface Transaction {
  readonly startWh: number;
  readonly stopWh: number;
}

/** What the central system knows of the transactions at connector 1. */
interface Books {
  readonly answers: (nowMs: () => number) => Readonly<Record<string, CentralAnswer>>;
  /** @throws AssertionError for books that are not whole; all transactions have ended */
  check(): readonly Transaction[];
}

/** An event that comes again because its answer was lost has the same content, and gets the same answer. */
function books16(): Books {
  const starts: Json[] = [];
  const stops: Json[] = [];
  const values: Json[] = [];
  const earlier = new Map<string, Json>();
  const book = (list: Json[], payload: Json, answer: Json): Json => {
    const event = JSON.stringify(payload);
    const given = earlier.get(event);
    if (given !== undefined) return given;
    earlier.set(event, answer);
    list.push({ ...payload, ...answer });
    return answer;
  };
  const readings = (payload: Json): readonly number[] =>
    (payload['meterValue'] as readonly { readonly sampledValue: readonly Json[] }[])
      .flatMap(({ sampledValue }) => sampledValue)
      .filter(({ measurand = 'Energy.Active.Import.Register' }) => measurand === 'Energy.Active.Import.Register')
      .map(({ value }) => Math.floor(Number(value)));
  return {
    answers: (nowMs) => ({
      ...answers16(nowMs),
      StartTransaction: (payload) =>
        book(starts, payload, { transactionId: starts.length + 1, idTagInfo: { status: 'Accepted' } }),
      StopTransaction: (payload) => book(stops, payload, {}),
      MeterValues: (payload) => book(values, payload, {}),
    }),
    check() {
      const idsOf = (list: readonly Json[]) => list.map(({ transactionId }) => Number(transactionId));
      expect(idsOf(stops), 'one stop for each start, in their order').to.deep.equal(idsOf(starts));
      return starts.map(({ transactionId, meterStart }, n) => {
        const [startWh, stopWh] = [Number(meterStart), Number(stops[n]?.['meterStop'])];
        const ofIt = values.filter((each) => each['transactionId'] === transactionId).flatMap(readings);
        expect(stopWh, `meterStop of ${String(transactionId)}`).to.be.at.least(Math.max(startWh, ...ofIt));
        return { startWh, stopWh };
      });
    },
  };
}

function books2(version: 'ocpp2.0.1' | 'ocpp2.1'): Books {
  const books = new TransactionBooks();
  const issues: string[] = [];
  const register = (event: { readonly meterValue?: readonly { readonly sampledValue: readonly Json[] }[] }) => {
    const value = event.meterValue?.at(-1)?.sampledValue.find(({ phase }) => phase === undefined)?.['value'];
    return Number(value);
  };
  return {
    answers: (nowMs) => ({
      ...answers2(version, nowMs),
      TransactionEvent: (payload) => {
        const issue = books.issue(payload);
        if (issue !== null) issues.push(`${issue}: ${JSON.stringify(payload)}`);
        return {};
      },
    }),
    check() {
      expect(issues).to.deep.equal([]);
      expect(books.transactions.filter(({ ended }) => !ended)).to.deep.equal([]);
      return books.transactions.map(({ events }) => {
        const [first, last] = [events[0], events.at(-1)];
        return { startWh: register(first ?? {}), stopWh: register(last ?? {}) };
      });
    },
  };
}

type Act = 'begin' | 'end' | 'plug' | 'unplug' | 'tap' | 'online' | 'offline';

type Step =
  | { readonly kind: 'act'; readonly act: Act }
  | { readonly kind: 'ask'; readonly which: number; readonly n: number }
  | { readonly kind: 'run'; readonly seconds: number }
  | { readonly kind: 'cut'; readonly cut: Cut }
  | { readonly kind: 'restart' };

const cutOf = fc.record({
  steps: fc.nat(12),
  kind: fc.constantFrom('kill' as const, 'power' as const),
  luck: fc.oneof(fc.constant(0), fc.nat(4000)),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom<Act>('begin', 'begin', 'begin', 'end', 'plug', 'unplug', 'tap', 'online', 'offline')
      .map((act) => ({ kind: 'act' as const, act })),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), which: fc.nat(5), n: fc.nat(8) }) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 99 }).map((n) => ({ kind: 'run' as const, seconds: n / 10 })) },
  { weight: 4, arbitrary: cutOf.map((cut) => ({ kind: 'cut' as const, cut })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

/** States that the central system may rely on, by name: the last accepted one, or one whose answer was lost since. */
class Promised {
  readonly #values = new Map<string, { readonly promise: AcceptedChange; readonly allowed: Set<string> }>();

  asked(promise: AcceptedChange, n: number, reply: Json | null): void {
    const value = JSON.stringify(promise.value(n));
    const before = this.#values.get(promise.name);
    if (reply === null) before?.allowed.add(value);
    else if (promise.isAccepted(reply)) this.#values.set(promise.name, { promise, allowed: new Set([value]) });
  }

  async check(site: RestartSite): Promise<void> {
    for (const [name, { promise, allowed }] of this.#values)
      expect([...allowed], name).to.include(JSON.stringify(await promise.read(site)));
  }
}

async function act(site: RestartSite, which: Act): Promise<void> {
  const ev = { socPct: 10, batteryCapacityWh: 500_000 };
  switch (which) {
    case 'begin':
      await act(site, 'plug');
      if (site.process.port.connector(1).session?.endedAtS !== null) await act(site, 'tap');
      await site.run(2);
      return;
    case 'end':
      await site.do({ kind: 'evse.stop', connectorId: 1 });
      await act(site, 'unplug');
      return;
    case 'plug':
      await site.do({ kind: 'evse.plug', connectorId: 1, ev });
      return;
    case 'unplug':
      await site.do({ kind: 'evse.unplug', connectorId: 1 });
      return;
    case 'tap':
      await site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
      return;
    case 'online':
    case 'offline':
      await site.connect(which === 'online');
  }
}

async function live(site: RestartSite, steps: readonly Step[], promises: readonly AcceptedChange[]): Promise<Promised> {
  const promised = new Promised();
  for (const each of steps) {
    if (each.kind === 'act') {
      await act(site, each.act);
      // two transactions of one instant would look like one that is sent again
      await site.run(0.1);
    } else if (each.kind === 'run') await site.run(each.seconds);
    else if (each.kind === 'cut') site.plan(each.cut);
    else if (each.kind === 'restart') await site.restart();
    else {
      const promise = promises[each.which % promises.length];
      if (promise === undefined || !site.process.isOpen) continue;
      const { restarts } = site;
      const reply = await site.ask(promise.action, promise.request(each.n));
      // an answer that was on its way when the process ended may have come
      promised.asked(promise, each.n, site.restarts > restarts && reply === null ? null : reply);
    }
  }
  return promised;
}

async function expectWhole(
  version: OcppVersion,
  steps: readonly Step[],
  promises: readonly AcceptedChange[],
): Promise<void> {
  const books = version === 'ocpp1.6j' ? books16() : books2(version === 'ocpp2.1' ? 'ocpp2.1' : 'ocpp2.0.1');
  const site = await RestartSite.open({ version, answers: books.answers });
  try {
    const promised = await live(site, steps, promises);
    site.plan({ steps: Infinity, kind: 'kill', luck: 0 });
    await site.connect(true);
    await site.do({ kind: 'evse.stop', connectorId: 1 });
    await site.do({ kind: 'evse.unplug', connectorId: 1 });
    await site.run(3);
    expect(site.issues).to.deep.equal([]);
    expect(site.process.stack.transactionMessages, 'messages that wait').to.equal(0);
    await promised.check(site);
    const transactions = books.check();
    let lastWh = 0;
    for (const { startWh, stopWh } of transactions) {
      expect(startWh, 'a meter goes back').to.be.at.least(lastWh);
      lastWh = stopWh;
    }
    const sumWh = transactions.reduce((sum, { startWh, stopWh }) => sum + stopWh - startWh, 0);
    const { energyWh } = site.process.port.connector(1);
    expect(sumWh, 'energy of all transactions').to.be.closeTo(energyWh, transactions.length + 1);
  } finally {
    site.close();
  }
}

const lineEnd = 10;

/** The journal after each of its records from an octet on. */
function prefixes(journal: Buffer, from: number): readonly Buffer[] {
  const ends = [...journal.keys()].filter((at) => at >= from && journal[at] === lineEnd);
  return ends.map((at) => journal.subarray(0, at + 1));
}

/** Two transactions without a connection. @returns the folder, and its octets before them */
async function offlineSessions(version: OcppVersion): Promise<readonly [journal: Buffer, from: number]> {
  const { answers } = version === 'ocpp1.6j' ? books16() : books2('ocpp2.1');
  const site = await RestartSite.open({ version, answers });
  const component = { name: 'AuthCtrlr' };
  const variable = { name: 'OfflineTxForUnknownIdEnabled' };
  const [action, payload] =
    version === 'ocpp1.6j'
      ? ['ChangeConfiguration', { key: 'AllowOfflineTxForUnknownId', value: 'true' }]
      : ['SetVariables', { setVariableData: [{ component, variable, attributeValue: 'true' }] }];
  await site.ask(action, payload);
  await site.connect(false);
  const from = site.folder.octets(journalFile).length;
  for (let n = 0; n < 2; n += 1) {
    await act(site, 'begin');
    await site.run(2);
    await act(site, 'end');
  }
  const journal = site.folder.octets(journalFile);
  site.close();
  return [journal, from];
}

describe('OCPP over the end of the process at any instant', () => {
  for (const version of ['ocpp1.6j', 'ocpp2.1'] as const)
    it(`${version}: each record at which the journal may end leaves whole books`, async function () {
      this.timeout(30_000);
      const [journal, from] = await offlineSessions(version);
      const counts = new Set<number>();
      for (const prefix of prefixes(journal, from)) {
        const books = version === 'ocpp1.6j' ? books16() : books2('ocpp2.1');
        const folder = new TestFolder();
        folder.put(journalFile, prefix);
        const site = await RestartSite.open({ version, answers: books.answers }, folder);
        try {
          expect(site.process.stack.transactionMessages).to.equal(0);
          counts.add(books.check().length);
        } finally {
          site.close();
        }
      }
      expect([...counts]).to.have.members([0, 1, 2]);
    });

  for (const version of ['ocpp1.6j', 'ocpp2.0.1j', 'ocpp2.1'] as const)
    it(`${version}: books are whole, and what was accepted is there`, async function () {
      this.timeout(60_000);
      await holdsAsync(
        `restarts of ${version}`,
        [fc.array(step, { minLength: 4, maxLength: 30 })],
        (steps) => expectWhole(version, [{ kind: 'act', act: 'begin' }, ...steps], promisesOf(version)),
        { runs: 12 },
      );
    });

  for (const version of ['ocpp1.6j', 'ocpp2.0.1j', 'ocpp2.1'] as const)
    it(`${version}: an accepted availability is there`, async () => {
      const answers = version === 'ocpp1.6j' ? books16().answers : books2('ocpp2.1').answers;
      const site = await RestartSite.open({ version, answers });
      try {
        const promise = availabilityOf(version);
        for (const n of [1, 0, 1]) {
          const reply = await site.ask(promise.action, promise.request(n));
          expect(reply).to.include({ status: 'Accepted' });
          await site.kill('power');
          expect(await promise.read(site)).to.equal(promise.value(n));
        }
      } finally {
        site.close();
      }
    });
});
