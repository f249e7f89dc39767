/** Scopes of limits by themselves: bounds, owners, groups, and devices that leave. */
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { Provenance } from '../../../src/core/origin.ts';
import { maxSiteGroups, maxSiteLimitW, maxSiteOwnerLength, maxSiteOwners } from '../../../src/contract/site.ts';
import type { SiteLimitName, SitePatch, SiteTarget } from '../../../src/contract/site.ts';
import { scopeDevices, SiteScopes } from '../../../src/der/site/scopes.ts';
import type { SiteScope } from '../../../src/der/site/scopes.ts';

const by = (at: number, source = 'rest') => ({ source, at, wallMs: 0 }) as unknown as Provenance;
const names = ['export', 'import', 'generation', 'load'] as const;
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

function refusal(call: () => unknown): SimError {
  try {
    call();
  } catch (error) {
    if (error instanceof SimError) return error;
    throw error;
  }
  return expect.fail('taken');
}

const refused = (scopes: SiteScopes, patch: SitePatch, target: SiteTarget = {}) =>
  refusal(() => {
    scopes.set(patch, by(0), target);
  });
const limitOf = (scope: SiteScope | null, name: SiteLimitName = 'export') => scope?.tightest(name)?.limitW ?? null;
const shown = (scopes: SiteScopes) => scopes.limited.map(({ devices }) => devices?.join() ?? 'site');

describe('Limits of a connection point: bounds', () => {
  it('each limit is 0 to the highest one, or null', () => {
    for (const name of names) {
      const scopes = new SiteScopes();
      for (const limitW of [0, maxSiteLimitW]) {
        scopes.set({ [name]: limitW }, by(0));
        expect(limitOf(scopes.whole, name)).to.equal(limitW);
      }
      for (const limitW of [-0.001, maxSiteLimitW + 1, NaN]) {
        const { code, issues } = refused(scopes, { [name]: limitW });
        expect([code, issues.map((issue) => issue.name)]).to.deep.equal(['COMMAND_BAD_VALUE', [name]]);
        expect(issues[0]?.detail).to.include(`given ${limitW} W`);
      }
      expect(limitOf(scopes.whole, name)).to.equal(maxSiteLimitW);
      scopes.set({ [name]: null }, by(0));
      expect(limitOf(scopes.whole, name)).to.equal(null);
    }
  });

  it('limits are kept to the milliwatt', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 1234.5678, load: 0.0004 }, by(0));
    expect([limitOf(scopes.whole), limitOf(scopes.whole, 'load')]).to.deep.equal([1234.568, 0]);
  });

  it('one limit at least is named, and one that is bad refuses the others', () => {
    const scopes = new SiteScopes();
    expect(refused(scopes, {})).to.include({ code: 'COMMAND_BAD_VALUE' });
    expect(refused(scopes, { export: undefined } as unknown as SitePatch)).to.include({ code: 'COMMAND_BAD_VALUE' });
    expect(refused(scopes, { export: 1, load: -1, import: -2 }).issues.map(({ name }) => name)).to.deep.equal([
      'import',
      'load',
    ]);
    expect(shown(scopes)).to.deep.equal([]);
  });

  it('the name of an owner has 1 to 128 characters', () => {
    const scopes = new SiteScopes();
    for (const length of [0, maxSiteOwnerLength + 1]) {
      const { code, message, issues } = refused(scopes, { export: 1 }, { owner: 'x'.repeat(length) });
      expect([code, issues.map(({ name }) => name)]).to.deep.equal(['COMMAND_BAD_VALUE', ['owner']]);
      expect(message).to.equal(`the name of the owner of a limit is ${length === 0 ? 'empty' : 'too long'}`);
      expect(issues[0]?.detail).to.include(`given ${length} characters`);
    }
    for (const length of [1, maxSiteOwnerLength]) scopes.set({ export: 1 }, by(0), { owner: 'x'.repeat(length) });
    expect(scopes.whole.owners).to.have.length(2);
  });

  it('devices are listed once and ascending, by their numbers', () => {
    expect(scopeDevices([10, 9, 2, 9])).to.deep.equal([2, 9, 10]);
    expect(refusal(() => scopeDevices([])).issues.map(({ name }) => name)).to.deep.equal(['devices']);
    const scopes = new SiteScopes();
    expect(refused(scopes, { export: 1 }, { devices: [] })).to.include({ code: 'COMMAND_BAD_VALUE' });
    scopes.set({ export: 1 }, by(0), { devices: [10, 9, 10] });
    expect(scopes.of([9, 10])?.devices).to.deep.equal([9, 10]);
  });
});

describe('Limits of a connection point: owners of one scope', () => {
  it('the tightest is in force, of equal ones the first', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 5 }, by(1), { owner: 'a' });
    scopes.set({ export: 5 }, by(2), { owner: 'b' });
    expect(scopes.whole.tightest('export')).to.deep.equal({ limitW: 5, setBy: by(1), owner: 'a' });
    scopes.set({ export: 4 }, by(3), { owner: 'b' });
    expect(scopes.whole.tightest('export')).to.deep.equal({ limitW: 4, setBy: by(3), owner: 'b' });
    scopes.set({ export: 6 }, by(4), { owner: 'b' });
    expect(scopes.whole.tightest('export')?.owner).to.equal('a');
  });

  it('each is shown with its limits and its last change', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 1, load: 4 }, by(1), { owner: 'a' });
    scopes.set({ import: 2, generation: 3 }, by(2), { owner: 'b' });
    scopes.set({ load: null }, by(3), { owner: 'a' });
    expect(scopes.whole.owners).to.deep.equal([
      { owner: 'a', limitsW: { export: 1, import: null, generation: null, load: null }, changedBy: by(3) },
      { owner: 'b', limitsW: { export: null, import: 2, generation: 3, load: null }, changedBy: by(2) },
    ]);
  });

  it('the writer of a limit is that of the one in force, without one the last that ended one', () => {
    const scopes = new SiteScopes();
    expect(scopes.whole.setBy('export')).to.equal(null);
    scopes.set({ export: 1 }, by(1), { owner: 'a' });
    scopes.set({ export: 2 }, by(2), { owner: 'b' });
    scopes.set({ export: null }, by(3), { owner: 'a' });
    expect(scopes.whole.setBy('export')).to.deep.equal(by(2));
    scopes.set({ export: null }, by(4), { owner: 'b' });
    expect(scopes.whole.setBy('export')).to.deep.equal(by(4));
    expect(scopes.whole.setBy('load')).to.equal(null);
    expect(scopes.whole.limited).to.equal(false);
  });

  it('32 have limits; a further one has none to end, one of them may change its own', () => {
    const scopes = new SiteScopes();
    for (const i of upTo(maxSiteOwners)) scopes.set({ load: 1 }, by(0), { owner: `o${i}` });
    expect(refused(scopes, { load: 1 }, { owner: 'late' })).to.include({ code: 'COMMAND_CONFLICT' });
    expect(refused(scopes, { load: null, export: 1 }, { owner: 'late' })).to.include({ code: 'COMMAND_CONFLICT' });
    scopes.set({ load: null }, by(0), { owner: 'late' });
    scopes.set({ load: 2 }, by(0), { owner: 'o3' });
    expect(scopes.whole.owners).to.have.length(maxSiteOwners);
    scopes.set({ load: 1 }, by(0), { owner: 'late', devices: [0] });
    scopes.set({ load: null }, by(0), { owner: 'o3' });
    scopes.set({ load: 1 }, by(0), { owner: 'late' });
    expect(scopes.whole.hasRoomFor('o3')).to.equal(false);
    expect(scopes.whole.hasRoomFor('late')).to.equal(true);
  });

  it('only the limits of a patch are fresh after it', () => {
    const scopes = new SiteScopes();
    const { fresh } = scopes.whole;
    expect(fresh).to.deep.equal({ export: true, import: true, generation: true, load: true });
    for (const name of names) fresh[name] = false;
    scopes.set({ import: 3, load: null }, by(0));
    expect(fresh).to.deep.equal({ export: false, import: true, generation: false, load: true });
  });
});

describe('Limits of a connection point: scopes', () => {
  it('inner ones are before outer ones, the whole site is the last; those without a limit are left out', () => {
    const scopes = new SiteScopes();
    expect([scopes.anyLimit, shown(scopes)]).to.deep.equal([false, []]);
    scopes.set({ export: 1 }, by(0));
    expect([scopes.anyLimit, shown(scopes)]).to.deep.equal([true, ['site']]);
    for (const devices of [[0, 1, 2], [2], [0, 1], [5]]) scopes.set({ export: 1 }, by(0), { devices });
    expect(shown(scopes)).to.deep.equal(['2', '5', '0,1', '0,1,2', 'site']);
    scopes.set({ export: null }, by(0));
    scopes.set({ export: null }, by(0), { devices: [2] });
    expect([scopes.anyLimit, shown(scopes)]).to.deep.equal([true, ['5', '0,1', '0,1,2']]);
    for (const devices of [[0, 1, 2], [0, 1], [5]]) scopes.set({ export: null }, by(0), { devices });
    expect([scopes.anyLimit, shown(scopes)]).to.deep.equal([false, []]);
  });

  it('the end of no limit opens none; a device keeps its last writer, a group is forgotten', () => {
    const scopes = new SiteScopes();
    for (const devices of [[0], [0, 1]]) {
      scopes.set({ export: null }, by(1), { devices });
      expect(scopes.of(devices)).to.equal(null);
      scopes.set({ export: 1, load: 2 }, by(2), { devices });
      scopes.set({ export: null }, by(3), { devices });
      expect(scopes.of(devices)?.limited).to.equal(true);
      scopes.set({ load: null }, by(4), { devices });
    }
    expect(scopes.of([0])?.setBy('load')).to.deep.equal(by(4));
    expect(scopes.of([0, 1])).to.equal(null);
    expect(scopes.of(null)).to.equal(scopes.whole);
  });

  it('groups that share devices are nested', () => {
    const cases: readonly (readonly [readonly number[], boolean])[] = [
      [[1, 2], true],
      [[1, 2, 3], true],
      [[0, 1, 2, 3, 4], true],
      [[4, 5], true],
      [[2], true],
      [[3, 4], false],
      [[0, 1], false],
      [[0, 1, 2], false],
      [[2, 3, 4, 5], false],
    ];
    for (const [devices, fits] of cases) {
      const scopes = new SiteScopes();
      scopes.set({ export: 1 }, by(0), { devices: [0] });
      scopes.set({ export: 1 }, by(0), { devices: [1, 2, 3] });
      if (fits) scopes.set({ export: 1 }, by(0), { devices });
      else {
        const { code, message } = refused(scopes, { export: 1 }, { devices });
        expect(code).to.equal('COMMAND_CONFLICT');
        expect(message).to.match(new RegExp(`^devices ${devices.join(', ')} cross the group 1, 2, 3:`));
      }
      expect(limitOf(scopes.of(devices)), devices.join()).to.equal(fits ? 1 : null);
    }
  });

  it('a refusal names ten devices of a group at most', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 1 }, by(0), { devices: upTo(10) });
    const words = (devices: readonly number[]) => refused(scopes, { export: 1 }, { devices }).message;
    expect(words(upTo(11).slice(1))).to.include(
      'devices 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 cross the group 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:',
    );
    expect(words(upTo(12).slice(1))).to.include('devices 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... cross');
  });

  it('100 groups have limits; devices do not count, and a group that ends leaves room', () => {
    const scopes = new SiteScopes();
    const group = (size: number) => ({ devices: upTo(size) });
    for (let i = 0; i < maxSiteGroups; i += 1) scopes.set({ load: 1 }, by(0), group(i + 2));
    scopes.set({ load: 1 }, by(0), group(1));
    scopes.set({ load: 2 }, by(0), group(50));
    expect(refused(scopes, { load: 1 }, group(200))).to.include({ code: 'COMMAND_CONFLICT' });
    scopes.set({ load: null }, by(0), group(50));
    scopes.set({ load: 1 }, by(0), group(200));
    expect(refused(scopes, { load: 1 }, group(201))).to.include({ code: 'COMMAND_CONFLICT' });
    scopes.set({ load: null }, by(0), group(1));
    expect(refused(scopes, { load: 1 }, group(201))).to.include({ code: 'COMMAND_CONFLICT' });
    // the group of two becomes a device
    scopes.forget(0);
    expect(limitOf(scopes.of([1]), 'load')).to.equal(1);
    scopes.set({ load: 1 }, by(0), { devices: upTo(201).slice(1) });
    expect(refused(scopes, { load: 1 }, { devices: upTo(202).slice(1) })).to.include({ code: 'COMMAND_CONFLICT' });
  });
});

describe('Limits of a connection point: a device that leaves', () => {
  it('ends its own scope, and leaves those without it alone', () => {
    const scopes = new SiteScopes();
    for (const devices of [[0], [1], [2, 3]]) scopes.set({ export: 1 }, by(0), { devices });
    const other = scopes.of([2, 3]);
    scopes.forget(0);
    scopes.forget(9);
    expect(shown(scopes)).to.deep.equal(['1', '2,3']);
    expect(scopes.of([2, 3])).to.equal(other);
    expect(scopes.of([0])).to.equal(null);
  });

  it('two scopes of the same devices become one: of each owner the lower of two limits, and those of one alone', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 5, import: 7, load: 1 }, by(1), { owner: 'a', devices: [1] });
    scopes.set({ export: 6, import: 3, generation: 2 }, by(2), { owner: 'a', devices: [0, 1] });
    scopes.set({ export: 4 }, by(3), { owner: 'b', devices: [0, 1] });
    scopes.forget(0);
    const scope = scopes.of([1]);
    expect(scope?.owners).to.deep.equal([
      { owner: 'a', limitsW: { export: 5, import: 3, generation: 2, load: 1 }, changedBy: by(1) },
      { owner: 'b', limitsW: { export: 4, import: null, generation: null, load: null }, changedBy: by(3) },
    ]);
    expect(scope?.tightest('export')).to.deep.equal({ limitW: 4, owner: 'b', setBy: by(3) });
    expect(scope?.tightest('import')).to.deep.equal({ limitW: 3, owner: 'a', setBy: by(2) });
    expect(shown(scopes)).to.deep.equal(['1']);
  });

  it('of two equal limits of one owner that of the scope that stays is kept', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 5 }, by(1), { devices: [1] });
    scopes.set({ export: 5 }, by(2), { devices: [0, 1] });
    scopes.forget(0);
    expect(scopes.of([1])?.setBy('export')).to.deep.equal(by(1));
  });

  it('a group without an equal takes its limits along', () => {
    const scopes = new SiteScopes();
    scopes.set({ export: 5 }, by(1), { devices: [0, 1, 2] });
    scopes.forget(1);
    expect(scopes.of([0, 2])?.tightest('export')).to.deep.equal({ limitW: 5, owner: 'rest', setBy: by(1) });
    expect(scopes.of([0, 1, 2])).to.equal(null);
    scopes.forget(0);
    scopes.forget(2);
    expect(shown(scopes)).to.deep.equal([]);
  });
});
