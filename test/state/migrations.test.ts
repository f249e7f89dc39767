/** Migrations of the state between its forms. */
import { expect } from 'chai';
import { silentLogger } from '../../src/core/log/log.ts';
import type { Contents } from '../../src/state/contents.ts';
import { imported } from '../../src/state/document.ts';
import { createFileStore } from '../../src/state/file-store.ts';
import { migrated } from '../../src/state/migrations.ts';
import { formatVersion, replay } from '../../src/state/record.ts';
import { TestFolder } from '../support/state-folder.ts';
import { crc32 } from 'node:zlib';

const bankOf1 = {
  layout: 7,
  registers: [
    [3, Buffer.from('00010002', 'hex').toString('base64')],
    [9, Buffer.from('0003', 'hex').toString('base64')],
  ],
  writers: [],
  points: [],
  last: null,
};
const bankOf2 = {
  layout: 'sum 7',
  writers: [],
  points: [],
  last: null,
  runs: [3, 2, 4, 1],
  octets: Buffer.from('000100020003', 'hex').toString('base64'),
};
const device = (bank: unknown) => ({ configuration: 'c', state: { registers: { bank, gradient: 1 }, source: 2 } });
const contentsOf = (slots: Readonly<Record<string, unknown>>): Contents =>
  new Map(Object.entries(slots).map(([slot, value]) => [slot, [JSON.stringify(value)]]));
const valuesOf = (contents: Contents) =>
  Object.fromEntries(Array.from(contents, ([slot, texts]) => [slot, texts.map((text) => JSON.parse(text) as unknown)]));

describe('state: migrations', () => {
  const other = { 'plant/device/12/part': device(bankOf1), 'ocpp/CP/queue': { registers: [] } };

  it('form 1: registers of devices get the octets of all runs together, and nothing else changes', () => {
    const contents = contentsOf({ 'plant/device/12': device(bankOf1), ...other });
    expect(valuesOf(migrated(contents, 1))).to.deep.equal({
      'plant/device/12': [device(bankOf2)],
      'plant/device/12/part': [other['plant/device/12/part']],
      'ocpp/CP/queue': [other['ocpp/CP/queue']],
    });
    expect(valuesOf(contents)['plant/device/12'], 'the contents given').to.deep.equal([device(bankOf1)]);
  });

  it('form 1: outstations of DNP3 have the holds of schedules at their end alone', () => {
    const values = (holds: unknown) => ({ 'output AO88': { former: 1, present: 2 }, 'holds of schedules': holds });
    const holds = { holds: { controls: [] }, controls: { live: [] } };
    const contents = new Map([
      ['dnp3/1%20PV%200%20an2018/values', [values({ former: 7, present: holds }), { settings: 1 }]],
      ['dnp3/1%20PV%200%20an2018/events%204', [values({ former: 7, present: holds })]],
    ]);
    const texts = new Map(
      Array.from(contents, ([slot, list]) => [slot, list.map((value) => JSON.stringify(value))] as const),
    );
    expect(valuesOf(migrated(texts, 1))).to.deep.equal({
      ...Object.fromEntries(contents),
      'dnp3/1%20PV%200%20an2018/values': [values(holds), { settings: 1 }],
    });
    const present = new Map([['dnp3/0/values', [JSON.stringify(values(holds)), 'null', '[]']]]);
    expect(migrated(present, 1)).to.deep.equal(present);
  });

  it('form 1: a value that is none of a device stays as it is', () => {
    for (const value of [null, 7, 'x', [], { state: null }, { state: { registers: { bank: 1 } } }]) {
      const contents = contentsOf({ 'plant/device/0': value });
      expect(valuesOf(migrated(contents, 1))).to.deep.equal({ 'plant/device/0': [value] });
    }
  });

  it('the present form stays as it is', () => {
    const contents = contentsOf({ 'plant/device/12': device(bankOf1) });
    expect(migrated(contents, formatVersion)).to.equal(contents);
  });

  it('a folder of an older form is read in the present one, and written anew with a line in the log', async () => {
    const folder = new TestFolder();
    const line = (text: string) => `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
    const value = JSON.stringify(device(bankOf1));
    folder.put(
      'journal.jsonl',
      Buffer.from(line('{"n":0,"derbench_state":1}') + line(`{"n":1,"slot":"plant/device/0","value":${value}}`)),
    );
    const lines: string[] = [];
    const log = { ...silentLogger, info: (text: string) => lines.push(text) };
    const store = createFileStore({ folder, log, later: () => () => undefined, nowMs: () => 0 });
    expect(store.values('plant/device/0')).to.deep.equal([device(bankOf2)]);
    await store.open();
    store.write('a', '1');
    await store.close();
    const { version, slots, damage } = replay(folder.octets('journal.jsonl'));
    expect({ version, damage }).to.deep.equal({ version: formatVersion, damage: null });
    expect(valuesOf(slots)).to.deep.equal({ 'plant/device/0': [device(bankOf2)], a: [1] });
    expect(lines).to.deep.equal([`the state in /state is brought from form 1 to form ${formatVersion}`]);
  });

  it('a document of an older form is imported in the present one', () => {
    const document = { derbench_state: 1, slots: { 'plant/device/0': [device(bankOf1)] } };
    const { contents } = imported(JSON.stringify(document));
    expect(valuesOf(contents)).to.deep.equal({ 'plant/device/0': [device(bankOf2)] });
  });
});
