/** Tokens at a connector: what the station decides itself, and what it asks. */
import { expect } from 'chai';
import { maxCacheEntries, offlineStatus } from '../../../../src/ocpp/authorization.ts';
import type { TokenStatus } from '../../../../src/ocpp/v16/authorization/tokens.ts';
import { SessionRig } from './rig.ts';

const on = { LocalAuthListEnabled: 'true', LocalPreAuthorize: 'true' };

describe('OCPP 1.6 authorisation (3.5, 4.1)', () => {
  for (const status of ['Blocked', 'Expired', 'Invalid', 'ConcurrentTx'] as const)
    it(`${status} in Authorize.conf refuses the token (4.1)`, async () => {
      const rig = await SessionRig.open();
      rig.central.infos.set('BAD', { status });
      await rig.plug();
      expect(await rig.present('BAD')).to.equal(status);
      expect(rig.connector().phase).to.equal('connected');
      expect(rig.central.starts).to.deep.equal([]);
    });

  it('a token of more than 20 characters is Invalid and nothing is asked (7.28)', async () => {
    const rig = await SessionRig.open();
    expect(await rig.present('X'.repeat(21))).to.equal('Invalid');
    expect(await rig.present('')).to.equal('Invalid');
    expect(rig.central.asked).to.deep.equal([]);
  });

  it('an unknown connector is UNKNOWN_RESOURCE', async () => {
    const rig = await SessionRig.open();
    expect(await rig.present('A', 9)).to.equal('UNKNOWN_RESOURCE');
  });

  it('LocalPreAuthorize: an accepted token of the cache charges without a question, until it expires (3.5.1, 9.1)', async () => {
    const rig = await SessionRig.open({ keys: { LocalPreAuthorize: 'true' } });
    rig.central.infos.set('A', { status: 'Accepted', expiryDate: rig.inMs(1000) });
    expect(await rig.present('A')).to.equal('Accepted');
    await rig.run(70);
    expect(await rig.present('A')).to.equal('Accepted');
    expect(rig.central.asked).to.deep.equal(['A']);
    await rig.run(1000);
    await rig.present('A');
    expect(rig.central.asked).to.deep.equal(['A', 'A']);
  });

  it('without LocalPreAuthorize each presentation is asked (9.1)', async () => {
    const rig = await SessionRig.open({ keys: { LocalPreAuthorize: 'false' } });
    for (const connectorId of [1, 2]) await rig.present('A', connectorId);
    expect(rig.central.asked).to.deep.equal(['A', 'A']);
  });

  it('a token that list or cache do not accept is asked while online (3.5.1)', async () => {
    const rig = await SessionRig.open({ keys: on });
    rig.central.infos.set('A', { status: 'Blocked' });
    expect(await rig.present('A')).to.equal('Blocked');
    rig.central.infos.delete('A');
    expect(await rig.present('A')).to.equal('Accepted');
  });

  it('AuthorizationCacheEnabled false: nothing is remembered (9.1)', async () => {
    const rig = await SessionRig.open({ keys: { AuthorizationCacheEnabled: 'false', LocalPreAuthorize: 'true' } });
    for (const connectorId of [1, 2]) await rig.present('A', connectorId);
    expect(rig.central.asked).to.have.lengthOf(2);
    expect(rig.tokens.list().cache).to.deep.equal([]);
    expect(await rig.ask('ClearCache', {})).to.deep.equal({ status: 'Rejected' });
  });

  it('a CALLERROR to Authorize refuses (4.1)', async () => {
    const rig = await SessionRig.open();
    rig.central.refuses.add('Authorize');
    expect(await rig.present('A')).to.equal('Invalid');
  });

  const offline: readonly (readonly [TokenStatus | null, boolean, boolean, TokenStatus])[] = [
    ['Accepted', true, false, 'Accepted'],
    ['Accepted', false, true, 'Invalid'],
    ['Blocked', true, true, 'Blocked'],
    ['Expired', true, true, 'Expired'],
    [null, true, false, 'Invalid'],
    [null, false, true, 'Accepted'],
  ];
  for (const [status, known, unknown, said] of offline)
    it(`offline: ${status ?? 'unknown'}, LocalAuthorizeOffline ${known}, AllowOfflineTxForUnknownId ${unknown}: ${said} (3.5.4)`, () => {
      expect(offlineStatus<TokenStatus>(status, { known, unknown }, 'Invalid')).to.equal(said);
    });

  it('offline: a token of the cache charges, an unknown one does not (3.5.4, 9.1)', async () => {
    const rig = await SessionRig.open({ keys: { LocalAuthorizeOffline: 'true', LocalPreAuthorize: 'true' } });
    await rig.present('A');
    await rig.run(70);
    await rig.connect(false);
    expect(await rig.present('B')).to.equal('Invalid');
    expect(await rig.present('A')).to.equal('Accepted');
    rig.keys.set('LocalAuthorizeOffline', 'false');
    expect(await rig.present('A', 2)).to.equal('Invalid');
    rig.keys.set('AllowOfflineTxForUnknownId', 'true');
    expect(await rig.present('B', 2)).to.equal('Accepted');
  });

  it('another tag at a busy connector is refused, one of the same group stops it without a question (4.10)', async () => {
    const rig = await SessionRig.open();
    rig.central.infos.set('A', { status: 'Accepted', parentIdTag: 'FAMILY' });
    rig.central.infos.set('B', { status: 'Accepted', parentIdTag: 'family' });
    await rig.present('B', 2);
    await rig.plug();
    await rig.present('A');
    await rig.run(30);
    expect(await rig.present('C')).to.equal('COMMAND_CONFLICT');
    expect(rig.transactions.at(1)?.parentIdTag).to.equal('FAMILY');
    const asked = rig.central.asked.length;
    expect(await rig.present('B')).to.equal('Accepted');
    expect(rig.central.asked).to.have.lengthOf(asked);
    expect(rig.central.stops[0]).to.include({ reason: 'Local', idTag: 'B' });
  });

  it('the group of a tag that is not known is asked for (4.1, 4.10)', async () => {
    const rig = await SessionRig.open();
    rig.central.infos.set('A', { status: 'Accepted', parentIdTag: 'FAMILY' });
    rig.central.infos.set('B', { status: 'Accepted', parentIdTag: 'FAMILY' });
    await rig.plug();
    await rig.present('A');
    expect(await rig.present('B')).to.equal('Accepted');
    expect(rig.central.asked).to.deep.equal(['A', 'B']);
    expect(rig.central.stops).to.have.lengthOf(1);
  });

  it('without a group another tag is refused and nothing is asked (4.10)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.present('A');
    expect(await rig.present('B')).to.equal('COMMAND_CONFLICT');
    expect(rig.central.asked).to.deep.equal(['A']);
  });

  it('ConnectionTimeOut: an authorisation without a vehicle ends, and no transaction begins (9.1)', async () => {
    const rig = await SessionRig.open({ connectionTimeoutS: 30 });
    await rig.tap('A');
    expect(rig.connector().status).to.equal('preparing');
    await rig.run(31);
    expect(rig.connector().status).to.equal('available');
    await rig.plug();
    expect(rig.central.starts).to.deep.equal([]);
  });

  it('the same tag takes an authorisation back before a vehicle comes, another one is refused (3.2 B1)', async () => {
    const rig = await SessionRig.open();
    await rig.tap('A');
    expect(await rig.present('B')).to.equal('COMMAND_CONFLICT');
    expect(await rig.present('A')).to.equal('Accepted');
    expect(rig.connector().status).to.equal('available');
  });

  it('a faulted or inoperative connector refuses, and nothing is asked (4.1)', async () => {
    const rig = await SessionRig.open();
    await rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'OtherError' });
    await rig.do({ kind: 'evse.availability', connectorId: 2, operative: false });
    for (const connectorId of [1, 2]) expect(await rig.present('A', connectorId)).to.equal('COMMAND_CONFLICT');
    expect(rig.central.asked).to.deep.equal([]);
  });

  it('plugging in presents AUTO to the central system where it is set so (4.1)', async () => {
    const rig = await SessionRig.open({ autoAuthorize: true });
    await rig.plug();
    expect(rig.central.asked).to.deep.equal(['AUTO']);
    expect(rig.central.starts[0]).to.include({ idTag: 'AUTO' });
    rig.central.infos.set('AUTO', { status: 'Invalid' });
    await rig.plug(2);
    expect(rig.central.starts).to.have.lengthOf(1);
  });

  it('a vehicle that came before the station was heard, or without a connection, presents AUTO later (4.1)', async () => {
    const rig = await SessionRig.open({
      autoAuthorize: true,
      before: (kind) => {
        kind.command({ kind: 'evse.authority', central: true });
        kind.command({ kind: 'evse.plug', connectorId: 1 });
      },
    });
    await rig.connect(false);
    await rig.plug(2);
    expect([rig.connector(1).phase, rig.connector(2).phase, rig.central.asked]).to.deep.equal([
      'connected',
      'connected',
      [],
    ]);
    await rig.connect(true);
    expect(rig.central.asked).to.deep.equal(['AUTO', 'AUTO']);
    expect(rig.central.starts.map(({ connectorId }) => connectorId)).to.have.members([1, 2]);
    await rig.connect(true);
    expect(rig.central.asked).to.have.length(2);
    // what the central system has refused is not asked again
    rig.central.infos.set('AUTO', { status: 'Blocked' });
    await rig.unplug(2);
    await rig.plug(2);
    await rig.connect(true);
    expect(rig.central.asked).to.have.length(3);
  });

  it('a second transaction of a tag at once is not remembered against it (7.8)', async () => {
    const rig = await SessionRig.open({ keys: on });
    await rig.present('A');
    rig.central.infos.set('A', { status: 'ConcurrentTx' });
    await rig.present('A', 2);
    expect(rig.tokens.find('A')?.status).to.equal('Accepted');
  });

  it('ClearCache forgets groups too; a list entry without a group has none (5.4, 3.5.2)', async () => {
    const rig = await SessionRig.open({ keys: on });
    rig.central.infos.set('A', { status: 'Accepted', parentIdTag: 'FAMILY' });
    await rig.present('A');
    expect(rig.tokens.parentOf('A')).to.equal('FAMILY');
    const entry = { idTag: 'A', idTagInfo: { status: 'Accepted' } } as const;
    await rig.ask('SendLocalList', { listVersion: 1, updateType: 'Full', localAuthorizationList: [entry] });
    expect(rig.tokens.parentOf('A')).to.equal(null);
    await rig.ask('SendLocalList', { listVersion: 2, updateType: 'Full', localAuthorizationList: [] });
    await rig.ask('ClearCache', {});
    expect(rig.tokens.parentOf('A')).to.equal(null);
  });

  it('the cache survives a restart, ClearCache empties it and leaves the list alone (3.5.1, 5.4)', async () => {
    const first = await SessionRig.open({ keys: on });
    await first.present('A');
    await first.ask('SendLocalList', {
      listVersion: 1,
      updateType: 'Full',
      localAuthorizationList: [{ idTag: 'L', idTagInfo: { status: 'Accepted' } }],
    });
    await first.settle();
    const second = await SessionRig.open({ disk: first.disk, keys: on });
    expect(second.tokens.list().cache.map(({ idToken }) => idToken)).to.deep.equal(['A']);
    expect(await second.ask('ClearCache', {})).to.deep.equal({ status: 'Accepted' });
    await second.settle();
    const third = await SessionRig.open({ disk: first.disk, keys: on });
    expect(third.tokens.list()).to.deep.include({ version: 1, cache: [] });
  });

  it('the cache is bounded: the token used longest ago goes first', async () => {
    const rig = await SessionRig.open();
    for (let i = 0; i <= maxCacheEntries; i++) rig.tokens.learn(`T${i}`, { status: 'Accepted' });
    expect(rig.tokens.list().cache).to.have.lengthOf(maxCacheEntries);
    expect(rig.tokens.find('T0')).to.equal(null);
    expect(rig.tokens.find('t1')?.idTag).to.equal('T1');
  });
});
