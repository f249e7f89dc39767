import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../src/core/errors.ts';
import { createMemoryStore, slotName } from '../../src/core/store.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { codeOf } from '../support/map.ts';
import { holds, holdsAsync } from '../support/property.ts';
import { TransactionQueue } from '../support/transaction-queue.ts';

async function codeOfAsync(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return error instanceof SimError ? error.code : String(error);
  }
}

const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !Object.is(value, -0)) as fc.Arbitrary<JsonValue>;
/** What JSON text makes of a value: no negative zero, no prototypes. */
const asText = (values: readonly JsonValue[]) => JSON.parse(JSON.stringify(values)) as JsonValue[];

describe('store', () => {
  it('a slot is the list that the operations on it make', async () => {
    await holdsAsync(
      'a slot is the list of its operations',
      fc.array(fc.record({ replace: fc.boolean(), values: fc.array(json, { maxLength: 4 }) }), { maxLength: 12 }),
      async (operations) => {
        const slot = createMemoryStore().slot('a');
        let model: JsonValue[] = [];
        for (const { replace, values } of operations) {
          await (replace ? slot.replace(values) : slot.append(...values));
          model = replace ? values : [...model, ...values];
          expect(await slot.read()).to.deep.equal(asText(model));
        }
      },
    );
  });

  it('takes effect in the order of the calls', async () => {
    const slot = createMemoryStore().slot('a');
    const all = [slot.append(1), slot.replace([2]), slot.append(3, 4), slot.read()];
    expect((await Promise.all(all))[3]).to.deep.equal([2, 3, 4]);
  });

  it('values are copies, both ways', async () => {
    const slot = createMemoryStore().slot('a');
    const value = { n: [1] };
    await slot.append(value);
    value.n.push(2);
    const [read] = (await slot.read()) as [{ n: number[] }];
    expect(read).to.deep.equal({ n: [1] });
    read.n.push(3);
    expect(await slot.read()).to.deep.equal([{ n: [1] }]);
  });

  it('one name is one slot, and slots are apart', async () => {
    const store = createMemoryStore();
    await store.slot('a/b').append(1);
    expect(await store.slot('a/b').read()).to.deep.equal([1]);
    expect(await store.slot('a/c').read()).to.deep.equal([]);
  });

  it('refuses what exceeds its limits, and changes nothing', async () => {
    const store = createMemoryStore({ maxEntries: 3, maxBytes: 20, maxSlots: 2 });
    const slot = store.slot('a');
    await slot.append(1, 2);
    expect(await codeOfAsync(slot.append(3, 4))).to.equal('STORE_FULL');
    expect(await codeOfAsync(slot.append('x'.repeat(17)))).to.equal('STORE_FULL');
    // umlauts count as the two bytes that they take
    expect(await codeOfAsync(slot.append('ü'.repeat(9)))).to.equal('STORE_FULL');
    expect(await slot.read()).to.deep.equal([1, 2]);
    await slot.append('x'.repeat(16));
    expect(await codeOfAsync(slot.replace([1, 2, 3, 4]))).to.equal('STORE_FULL');
    expect((await slot.read()).length).to.equal(3);
    await slot.replace([]);
    await slot.append('x'.repeat(18));
    store.slot('b');
    expect(codeOf(() => store.slot('c'))).to.equal('STORE_FULL');
    store.slot('a');
  });

  it('keeps JSON only', async () => {
    const slot = createMemoryStore().slot('a');
    const wrong: unknown[] = [NaN, Infinity, undefined, { a: undefined }, [() => 1], { n: 1n }, Symbol('s')];
    for (const value of wrong) expect(await codeOfAsync(slot.append(value as JsonValue))).to.equal('INTERNAL');
    expect(await codeOfAsync(slot.append(1, NaN))).to.equal('INTERNAL');
    expect(await slot.read()).to.deep.equal([]);
  });

  it('names are safe as paths of files; free texts become names, different ones different names', () => {
    const store = createMemoryStore();
    for (const name of [
      '',
      '/',
      'a/',
      '/a',
      'a//b',
      '.',
      '..',
      'a/../b',
      '.a',
      'a b',
      'ä',
      'a\\b',
      'a\0',
      'x'.repeat(201),
    ])
      expect(
        codeOf(() => store.slot(name)),
        JSON.stringify(name),
      ).to.equal('INTERNAL');
    expect(slotName('ocpp', 'Lab|1/ä', '..', "it's (1)*!")).to.equal(
      'ocpp/Lab%7C1%2F%C3%A4/%2E./it%27s%20%281%29%2A%21',
    );
    const long = '\u{1d160}'.repeat(12);
    expect(slotName(long)).to.match(/^(?:%[0-9A-F]{2})+~[0-9a-f]{40}$/);
    expect(slotName(long)).to.have.length.at.most(64);
    expect(slotName(`${long}a`)).to.not.equal(slotName(`${long}b`));
    store.slot(slotName('ocpp', long, long, long));
    const text = fc.string({ minLength: 1, maxLength: 48, unit: 'grapheme' });
    holds('names are safe and differ', [text, text], (a, b) => {
      store.slot(slotName('p', a));
      expect(slotName(a) === slotName(b)).to.equal(a === b);
    });
    store.slot(slotName('half \ud800'));
  });
});

describe('store: a transaction queue', () => {
  const name = slotName('ocpp', 'SIM-CP-1', 'transactions');

  it('survives a restart: what was not answered is sent again, in order, and numbers go on', async () => {
    const store = createMemoryStore();
    const before = await TransactionQueue.open(store.slot(name));
    for (const action of ['Started', 'Updated', 'Updated', 'Ended']) await before.put(action, { action });
    await before.done(0);
    expect(before.head).to.deep.include({ seqNo: 1, action: 'Updated' });
    const after = await TransactionQueue.open(store.slot(name));
    expect(after.waiting).to.deep.equal(before.waiting);
    expect(await after.put('Started', {})).to.deep.include({ seqNo: 4 });
  });

  it('numbers have no gap after everything was answered', async () => {
    const store = createMemoryStore();
    const before = await TransactionQueue.open(store.slot(name));
    for (let i = 0; i < 100; i += 1) await before.done((await before.put('Updated', { i })).seqNo);
    expect((await store.slot(name).read()).length).to.be.below(12);
    expect(await (await TransactionQueue.open(store.slot(name))).put('Ended', {})).to.deep.include({ seqNo: 100 });
  });

  it('where room is short, intermediate messages go, first and last ones never', async () => {
    const store = createMemoryStore({ maxEntries: 10 });
    const queue = await TransactionQueue.open(store.slot(name));
    await queue.put('Started', {});
    for (let i = 0; i < 9; i += 1) await queue.put('Updated', { i }, true);
    await queue.put('Ended', {});
    expect(queue.waiting.map(({ seqNo }) => seqNo)).to.deep.equal([0, 2, 4, 6, 8, 10]);
    expect((await TransactionQueue.open(store.slot(name))).waiting).to.deep.equal(queue.waiting);
  });
});
