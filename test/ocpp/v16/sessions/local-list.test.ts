/** Local Authorization List. */
import { expect } from 'chai';
import type { Requests } from '../../../../src/ocpp/v16/messages.ts';
import { SessionRig } from './rig.ts';

type Send = Requests['SendLocalList'];
type Entry = NonNullable<Send['localAuthorizationList']>[number];

const entry = (idTag: string, status: 'Accepted' | 'Blocked' = 'Accepted'): Entry => ({ idTag, idTagInfo: { status } });
const full = (listVersion: number, ...localAuthorizationList: Entry[]): Send => ({
  listVersion,
  updateType: 'Full',
  localAuthorizationList,
});
const change = (listVersion: number, ...localAuthorizationList: Entry[]): Send => ({
  listVersion,
  updateType: 'Differential',
  localAuthorizationList,
});

const on = { LocalAuthListEnabled: 'true', LocalPreAuthorize: 'true' };
const open = (keys: Readonly<Record<string, string>> = {}) => SessionRig.open({ keys: { ...on, ...keys } });
const tags = (rig: SessionRig): string[] => rig.tokens.list().entries.map(({ idToken }) => idToken);

describe('OCPP 1.6 local authorisation list (3.5.2, 5.10, 5.15)', () => {
  it('is empty with version 0 at first; a full list replaces it, and a change adds, changes and removes (5.15)', async () => {
    const rig = await open();
    expect(await rig.ask('GetLocalListVersion', {})).to.deep.equal({ listVersion: 0 });
    expect(await rig.ask('SendLocalList', full(3, entry('A'), entry('B')))).to.deep.equal({ status: 'Accepted' });
    expect(await rig.ask('GetLocalListVersion', {})).to.deep.equal({ listVersion: 3 });
    const update = change(4, { idTag: 'a' }, entry('B', 'Blocked'), entry('C'));
    expect(await rig.ask('SendLocalList', update)).to.deep.equal({ status: 'Accepted' });
    expect(rig.tokens.list().entries.map(({ idToken, status }) => `${idToken} ${status}`)).to.deep.equal([
      'B Blocked',
      'C Accepted',
    ]);
    await rig.ask('SendLocalList', full(2, entry('D')));
    expect(tags(rig)).to.deep.equal(['D']);
    expect(await rig.ask('GetLocalListVersion', {})).to.deep.equal({ listVersion: 2 });
    await rig.ask('SendLocalList', { listVersion: 9, updateType: 'Full' });
    expect(await rig.ask('GetLocalListVersion', {})).to.deep.equal({ listVersion: 0 });
  });

  it('a change with a version that is not greater is VersionMismatch and changes nothing (5.15)', async () => {
    const rig = await open();
    await rig.ask('SendLocalList', full(3, entry('A')));
    for (const version of [2, 3])
      expect(await rig.ask('SendLocalList', change(version, entry('B')))).to.deep.equal({ status: 'VersionMismatch' });
    expect(tags(rig)).to.deep.equal(['A']);
  });

  const failures: readonly (readonly [string, Send, string | null])[] = [
    ['a tag twice', full(5, entry('X'), entry('x')), 'OCPP 1.6 5.15: an idTag occurs twice'],
    ['an entry without idTagInfo in a full list', full(5, { idTag: 'X' }), 'OCPP 1.6 5.15: idTagInfo is mandatory'],
    ['version 0 with entries', full(0, entry('X')), 'OCPP 1.6 5.15: listVersion 0'],
    ['a negative version', full(-1, entry('X')), 'OCPP 1.6 5.15: listVersion 0'],
  ];
  for (const [what, request, finding] of failures)
    it(`${what}: Failed, nothing is changed and it is found (5.15)`, async () => {
      const rig = await open();
      await rig.ask('SendLocalList', full(3, entry('A')));
      expect(await rig.ask('SendLocalList', request)).to.deep.equal({ status: 'Failed' });
      expect(tags(rig)).to.deep.equal(['A']);
      expect(rig.findings[0]).to.contain(finding);
    });

  it('SendLocalListMaxLength and LocalAuthListMaxLength: Failed (9.2)', async () => {
    const rig = await open();
    const [perMessage, all] = [rig.keys.integer('SendLocalListMaxLength'), rig.keys.integer('LocalAuthListMaxLength')];
    const some = (from: number, count: number) => Array.from({ length: count }, (_, i) => entry(`T${from + i}`));
    expect(await rig.ask('SendLocalList', full(1, ...some(0, perMessage + 1)))).to.deep.equal({ status: 'Failed' });
    for (let from = 0; from < all; from += perMessage)
      expect(await rig.ask('SendLocalList', change(from + 1, ...some(from, perMessage)))).to.include({
        status: 'Accepted',
      });
    expect(await rig.ask('SendLocalList', change(all + 1, entry('ONE')))).to.deep.equal({ status: 'Failed' });
    await rig.settle();
    const again = await SessionRig.open({ disk: rig.disk, keys: on });
    expect(tags(again)).to.have.lengthOf(all);
  });

  it('LocalAuthListEnabled false: version -1, NotSupported, and the list does not count (9.2.1)', async () => {
    const rig = await open();
    await rig.ask('SendLocalList', full(1, entry('A')));
    rig.keys.set('LocalAuthListEnabled', 'false');
    expect(await rig.ask('GetLocalListVersion', {})).to.deep.equal({ listVersion: -1 });
    expect(await rig.ask('SendLocalList', full(2, entry('B')))).to.deep.equal({ status: 'NotSupported' });
    expect(rig.tokens.find('A')).to.equal(null);
  });

  it('has precedence over the cache, and decides offline (3.5.2, 3.5.3)', async () => {
    const rig = await open({ LocalAuthorizeOffline: 'true' });
    await rig.present('A', 2);
    await rig.ask('SendLocalList', full(1, entry('A', 'Blocked'), entry('L')));
    expect(rig.tokens.list().cache).to.deep.equal([]);
    await rig.connect(false);
    expect(await rig.present('A')).to.equal('Blocked');
    expect(await rig.present('L')).to.equal('Accepted');
  });

  it('a token that the list accepts and the central system does not: LocalListConflict for connector 0 (3.5.2)', async () => {
    const rig = await open();
    await rig.ask('SendLocalList', full(1, entry('A'), entry('B')));
    rig.central.startInfos.set('A', { status: 'Invalid' });
    rig.central.startInfos.set('B', { status: 'ConcurrentTx' });
    await rig.plug(1);
    await rig.tap('A', 1);
    expect(rig.central.asked).to.deep.equal([]);
    // an event, and then the state again
    expect(rig.central.notices.map(({ errorCode }) => errorCode)).to.deep.equal(['LocalListConflict', 'NoError']);
    expect(rig.central.notices[0]).to.include({ connectorId: 0, errorCode: 'LocalListConflict', status: 'Available' });
    expect(rig.tokens.find('A')?.status).to.equal('Accepted');
    await rig.plug(2);
    await rig.tap('B', 2);
    expect(rig.central.notices).to.have.lengthOf(2);
  });
});
