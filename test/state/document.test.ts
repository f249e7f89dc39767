import { expect } from 'chai';
import fc from 'fast-check';
import type { Contents } from '../../src/state/contents.ts';
import { exported, imported, partOf, withPart } from '../../src/state/document.ts';
import { layoutsSlot, ownersSlot } from '../../src/state/slots.ts';
import { codeOf, errorOf } from '../support/map.ts';
import { holds } from '../support/property.ts';

const nowMs = Date.parse('2026-06-21T12:00:00Z');
const base = { device: null, withSecrets: true, nowMs, version: '1.2.3' };

const lab: Contents = new Map([
  [ownersSlot, ['{"device":0,"slots":["ocpp/CP-1"]}', '{"device":1,"slots":["ocpp/CP-2"]}']],
  ['plant/shared/clock', ['7']],
  ['plant/device/0/x', ['1']],
  ['plant/device/1/x', ['2']],
  ['ocpp/CP-1/station/line', ['{"password":"61"}']],
  ['ocpp/CP-2/station/line', ['{"password":"62"}']],
]);

const textOf = (contents: Contents, options: Partial<Parameters<typeof exported>[1]> = {}) =>
  JSON.stringify(exported(contents, { ...base, ...options }));
const asObject = (contents: Contents) => Object.fromEntries(contents);

describe('document of a state', () => {
  it('gives back every slot when it is imported', () => {
    const text = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value));
    const slot = fc.constantFrom('a', 'b/c', '__proto__', 'plant/device/0/x');
    const entries = fc.uniqueArray(fc.tuple(slot, fc.array(text, { minLength: 1, maxLength: 3 })), {
      selector: ([name]) => name,
    });
    holds('export and import', [entries], (given) => {
      const contents = new Map(given);
      const { contents: again, device } = imported(textOf(contents));
      expect([...again]).to.have.deep.members([...contents]);
      expect(device).to.equal(null);
    });
  });

  it('has secrets only if they are asked for, and names the slots without', () => {
    const plain = exported(lab, { ...base, withSecrets: false });
    expect(JSON.stringify(plain)).not.to.include('password');
    expect(plain).to.deep.include({ secrets: false, left_out: ['ocpp/CP-1/station/line', 'ocpp/CP-2/station/line'] });
    expect(imported(JSON.stringify(plain)).leftOut).to.have.length(2);
    expect(exported(lab, base)).to.deep.include({ secrets: true, left_out: [] });
    expect(textOf(lab)).to.include('"password":"61"');
  });

  it('of one device has its slots and its row of the table, and replaces these alone', () => {
    const part = partOf(lab, 1);
    expect(asObject(part)).to.deep.equal({
      [ownersSlot]: ['{"device":1,"slots":["ocpp/CP-2"]}'],
      'plant/device/1/x': ['2'],
      'ocpp/CP-2/station/line': ['{"password":"62"}'],
    });
    const { contents, device } = imported(textOf(lab, { device: 1 }));
    expect(device).to.equal(1);
    const other: Contents = new Map([
      [ownersSlot, ['{"device":1,"slots":["ocpp/OLD"]}', '{"device":0,"slots":["ocpp/A"]}']],
      ['plant/device/1/gone', ['9']],
      ['ocpp/OLD/station/line', ['8']],
      ['ocpp/A/station/line', ['5']],
      ['plant/device/10/x', ['6']],
    ]);
    expect(asObject(withPart(other, contents, 1))).to.deep.equal({
      [ownersSlot]: ['{"device":0,"slots":["ocpp/A"]}', '{"device":1,"slots":["ocpp/CP-2"]}'],
      'ocpp/A/station/line': ['5'],
      'plant/device/10/x': ['6'],
      'plant/device/1/x': ['2'],
      'ocpp/CP-2/station/line': ['{"password":"62"}'],
    });
    expect([...withPart(lab, new Map(), 1).keys()].sort()).to.deep.equal([
      'ocpp/CP-1/station/line',
      'plant/device/0/x',
      'plant/shared/clock',
      ownersSlot,
    ]);
  });

  it('of one device has the register maps, which join those of the folder', () => {
    const withMaps: Contents = new Map([...lab, [layoutsSlot, ['{"a":"1"}']]]);
    const { contents } = imported(textOf(withMaps, { device: 1 }));
    expect(contents.get(layoutsSlot)).to.deep.equal(['{"a":"1"}']);
    const other: Contents = new Map([[layoutsSlot, ['{"b":"2"}']]]);
    expect(withPart(other, contents, 1).get(layoutsSlot)).to.deep.equal(['{"b":"2","a":"1"}']);
  });

  it('of a device without state is refused with those that have some', () => {
    const { code, message } = errorOf(() => partOf(lab, 7));
    expect(code).to.equal('CONFIG_INVALID');
    expect(message).to.include('device 7').and.to.include('of 0, 1');
  });

  const refusals: readonly (readonly [words: string, document: unknown])[] = [
    ['it has no derbench_state', { slots: {} }],
    ['it has no derbench_state', [1]],
    ['derbench_state: given 3; allowed: 1 to 2', { derbench_state: 3, slots: {} }],
    ['derbench_state: given "1"; allowed: 1 to 2', { derbench_state: '1', slots: {} }],
    ['derbench_state: given 0; allowed: 1 to 2', { derbench_state: 0, slots: {} }],
    ['has the member "slot", which no document has', { derbench_state: 1, slot: {}, slots: {} }],
    ['device: given -1', { derbench_state: 1, device: -1, slots: {} }],
    ['left_out: allowed', { derbench_state: 1, left_out: 'x', slots: {} }],
    ['secrets: given "maybe"; allowed: true, false', { derbench_state: 1, secrets: 'maybe', slots: {} }],
    ['cannot be kept', { derbench_state: 1, slots: { '/x': [] } }],
    ['cannot be kept', { derbench_state: 1 }],
    ['does not belong to device 1', { derbench_state: 1, device: 1, slots: { 'plant/device/0/x': [1] } }],
  ];
  for (const [words, document] of refusals)
    it(`is refused: ${words}: ${JSON.stringify(document)}`, () => {
      expect(codeOf(() => imported(JSON.stringify(document)))).to.equal('CONFIG_INVALID');
      expect(() => imported(JSON.stringify(document))).to.throw(words);
    });

  it('is refused when it is no JSON', () => {
    expect(() => imported('{"derbench_state": 1,')).to.throw('is no JSON');
  });
});
