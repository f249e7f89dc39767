import { expect } from 'chai';
import fc from 'fast-check';
import { checkedContents, replaceContents } from '../../src/state/contents.ts';
import type { Contents } from '../../src/state/contents.ts';
import { journalFile } from '../../src/state/journal.ts';
import { replay } from '../../src/state/record.ts';
import { areaOf, devicesIn, ownersOf, ownersSlot, slotsOfDevice } from '../../src/state/slots.ts';
import { errorOf } from '../support/map.ts';
import { holdsAsync } from '../support/property.ts';
import { TestFolder } from '../support/state-folder.ts';

const limits = { maxEntries: 3, maxBytes: 20, maxSlots: 2 };
const details = (slots: unknown) => errorOf(() => checkedContents(slots, limits)).issues;

describe('contents from a file', () => {
  it('are the JSON texts of their values; lists without values are no slots', () => {
    const contents = checkedContents({ a: [1, { x: null }], 'ocpp/CP-1/q': [] }, limits);
    expect([...contents]).to.deep.equal([['a', ['1', '{"x":null}']]]);
  });

  it('are refused with every reason', () => {
    expect(details(null)).to.deep.equal([{ name: '/slots', detail: 'is no object of lists by name' }]);
    expect(details({ a: [1, 2, 3, 4], '../b': [1], c: 5, d: ['x'.repeat(19)], 'a//b': [] })).to.deep.equal([
      { name: '/slots', detail: 'has 5 slots; allowed: 2 at most' },
      { name: '/slots/"a"', detail: 'has 4 values; allowed: 3 at most' },
      { name: '/slots/"../b"', detail: 'is no name of a slot' },
      { name: '/slots/"c"', detail: 'is no list of values' },
      { name: '/slots/"d"', detail: 'has 21 octets; allowed: 20 at most' },
      { name: '/slots/"a//b"', detail: 'is no name of a slot' },
    ]);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`s${i}`, i]));
    expect(details(many)).to.have.length(21);
    expect(details(many).at(-1)?.detail).to.include('31 further issues');
  });

  it('are refused where they are nested too deep', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i += 1) deep = [deep];
    expect(errorOf(() => checkedContents({ a: [deep] })).issues[0]?.detail).to.include('nested too deep');
  });

  it('replace a journal whole or not at all, wherever power is lost', async () => {
    const old: Contents = new Map([['a', ['1']]]);
    const next: Contents = new Map([['b', ['"x"', '2']]]);
    await holdsAsync(
      'a journal after a loss of power',
      [fc.integer({ min: 0, max: 8 }), fc.nat(300)],
      async (stopStep, lucky) => {
        const folder = new TestFolder();
        await replaceContents(folder, old);
        let [steps, lost] = [0, null as TestFolder | null];
        folder.beforeStep = () => {
          if (steps === stopStep) lost = folder.afterPowerLoss(lucky);
          steps += 1;
          return Promise.resolve();
        };
        await replaceContents(folder, next);
        const { slots, damage } = replay((lost ?? folder.afterPowerLoss()).octets(journalFile));
        expect(damage).to.equal(null);
        expect([...slots]).to.be.deep.oneOf(lost === null ? [[...next]] : [[...old], [...next]]);
      },
    );
  });
});

describe('names of slots', () => {
  it('say the part of the simulator', () => {
    const areas: Readonly<Record<string, string>> = {
      'plant/device/3': 'devices',
      'plant/shared/site': 'site',
      'plant/shared': 'plant',
      'ocpp/CP-1/station/line': 'ocpp',
      faults: 'faults',
    };
    for (const [name, area] of Object.entries(areas)) expect(areaOf(name), name).to.equal(area);
  });

  it('belong to a device by its index, and by the table in the folder', () => {
    const contents: Contents = new Map([
      [
        ownersSlot,
        ['{"device":1,"slots":["ocpp/CP-1"]}', '{"device":2,"slots":"?"}', 'null', '{"device":1,"slots":["csip/AB"]}'],
      ],
      ['plant/device/10', ['1']],
    ]);
    const isOfDevice = slotsOfDevice(1, ownersOf(contents));
    const names = [
      'plant/device/1',
      'plant/device/1/x',
      'dnp3/1/events',
      'dnp3/1%20PV-1%20Field/values',
      'ocpp/CP-1/ocpp1.6/keys',
      'csip/AB/events',
    ];
    for (const name of names) expect(isOfDevice(name), name).to.equal(true);
    for (const name of [
      'plant/device/10',
      'plant/device/10/x',
      'plant/shared/site',
      'ocpp/CP-10/x/keys',
      'dnp3/11/x',
      'dnp3/11%20PV/values',
      ownersSlot,
    ])
      expect(isOfDevice(name), name).to.equal(false);
    expect(devicesIn(contents)).to.deep.equal([1, 10]);
  });
});
