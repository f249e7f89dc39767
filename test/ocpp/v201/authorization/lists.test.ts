/** Local Authorization List and Authorization Cache. */
import { expect } from 'chai';
import { maxCacheEntries } from '../../../../src/ocpp/authorization.ts';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import { listLimits, maxAdditionalInfo } from '../../../../src/ocpp/v201/authorization/tokens.ts';
import type { AuthorizationData, IdTokenInfo } from '../../../../src/ocpp/v201/messages.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { card, SessionRig } from './session.ts';

type SendLocalList = Requests['SendLocalList'];

const accepted: IdTokenInfo = { status: 'Accepted' };
const entry = (idToken: string, idTokenInfo: IdTokenInfo = accepted): AuthorizationData => ({
  idToken: card(idToken),
  idTokenInfo,
});
const removal = (idToken: string): AuthorizationData => ({ idToken: card(idToken) });

const send = (
  rig: SessionRig,
  updateType: SendLocalList['updateType'],
  versionNumber: number,
  ...entries: readonly AuthorizationData[]
) =>
  rig.ask('SendLocalList', {
    updateType,
    versionNumber,
    ...(entries.length > 0 && { localAuthorizationList: entries }),
  });
const version = async (rig: SessionRig) => (await rig.ask('GetLocalListVersion', {})).versionNumber;
const listed = (rig: SessionRig) => rig.tokens.list().entries.map(({ idToken, status }) => `${idToken} ${status}`);
const cached = (rig: SessionRig) => rig.tokens.list().cache.map(({ idToken }) => idToken);

describe('OCPP 2.x local authorisation list (D01, D02)', () => {
  it('a full list replaces what was there, an empty one leaves nothing (D01)', async () => {
    const rig = await SessionRig.open();
    expect(await version(rig)).to.equal(0);
    expect(await send(rig, 'Full', 5, entry('A1'), entry('B1', { status: 'Blocked' }))).to.deep.equal(accepted);
    expect(listed(rig)).to.deep.equal(['A1 Accepted', 'B1 Blocked']);
    expect(await send(rig, 'Full', 2, entry('C1'))).to.deep.equal(accepted);
    expect([await version(rig), ...listed(rig)]).to.deep.equal([2, 'C1 Accepted']);
    expect(rig.variables.integer('LocalAuthListCtrlr', 'Entries')).to.equal(1);
    expect(rig.variables.integer('LocalAuthListCtrlr', 'Storage')).to.be.above(30);
    expect(await send(rig, 'Full', 3)).to.deep.equal(accepted);
    expect([await version(rig), ...listed(rig)]).to.deep.equal([3]);
  });

  it('a differential one adds, changes and removes; one that is not newer is VersionMismatch (D01)', async () => {
    const rig = await SessionRig.open();
    await send(rig, 'Full', 5, entry('A1'), entry('B1'));
    expect(await send(rig, 'Differential', 5, entry('C1'))).to.deep.equal({ status: 'VersionMismatch' });
    expect(
      await send(rig, 'Differential', 7, removal('a1'), entry('b1', { status: 'Expired' }), entry('C1')),
    ).to.deep.equal(accepted);
    expect([await version(rig), ...listed(rig)]).to.deep.equal([7, 'b1 Expired', 'C1 Accepted']);
    expect(await send(rig, 'Differential', 8)).to.deep.equal(accepted);
    expect(await version(rig)).to.equal(8);
  });

  const wrong: readonly (readonly [string, SendLocalList['updateType'], number, readonly AuthorizationData[]])[] = [
    ['version 0', 'Full', 0, []],
    ['a version below 0', 'Differential', -1, [entry('A1')]],
    ['a token twice', 'Full', 9, [entry('A1'), entry('a1')]],
    ['a full list without idTokenInfo', 'Full', 9, [removal('A1')]],
    ['a token without a text', 'Full', 9, [{ idToken: { idToken: '', type: 'ISO14443' }, idTokenInfo: accepted }]],
    [
      'more additionalInfo than AdditionalInfoItemsPerMessage',
      'Full',
      9,
      [
        {
          idToken: {
            ...card('A1'),
            additionalInfo: Array.from({ length: maxAdditionalInfo + 1 }, () => ({
              additionalIdToken: 'x',
              type: 'y',
            })),
          },
          idTokenInfo: accepted,
        },
      ],
    ],
  ];
  for (const [what, updateType, versionNumber, entries] of wrong)
    it(`${what}: Failed, a finding, and the list stays (D01)`, async () => {
      const rig = await SessionRig.open();
      await send(rig, 'Full', 5, entry('Z1'));
      const { status } = await send(rig, updateType, versionNumber, ...entries);
      expect(status).to.equal('Failed');
      expect(rig.findings).to.have.lengthOf(1);
      expect([await version(rig), ...listed(rig)]).to.deep.equal([5, 'Z1 Accepted']);
    });

  it('more items or bytes than a message may have are CALLERRORs (D01.FR.11, D01.FR.12)', async () => {
    const rig = await SessionRig.open({ version: 'ocpp2.1' });
    const many = Array.from({ length: listLimits.itemsPerMessage + 1 }, (_, i) => entry(`T${i}`));
    const long = Array.from({ length: 200 }, (_, i) => ({
      idToken: {
        ...card(`T${i}`),
        additionalInfo: Array.from({ length: 5 }, () => ({ additionalIdToken: 'x'.repeat(255), type: 'y' })),
      },
      idTokenInfo: accepted,
    }));
    for (const [entries, code] of [
      [many, 'OccurrenceConstraintViolation'],
      [long, 'FormatViolation'],
    ] as const) {
      const error: unknown = await send(rig, 'Full', 5, ...entries).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CallError).with.property('code', code);
    }
    expect(await version(rig)).to.equal(0);
  });

  it('the list is bounded (D01)', async () => {
    const rig = await SessionRig.open();
    const { itemsPerMessage, entries } = listLimits;
    for (let i = 0; i < entries / itemsPerMessage; i++) {
      const part = Array.from({ length: itemsPerMessage }, (_, j) => entry(`T${i}-${j}`));
      expect(await send(rig, 'Differential', i + 1, ...part)).to.deep.equal(accepted);
    }
    expect(await send(rig, 'Differential', 99, entry('ONE'))).to.deep.include({ status: 'Failed' });
    expect(rig.variables.integer('LocalAuthListCtrlr', 'Entries')).to.equal(entries);
  });

  it('LocalAuthListCtrlr.Enabled false: version 0, Failed, and it does not count (D02)', async () => {
    const rig = await SessionRig.open();
    await send(rig, 'Full', 5, entry('A1'));
    rig.variables.set('LocalAuthListCtrlr', 'Enabled', 'false');
    expect(await version(rig)).to.equal(0);
    expect(await send(rig, 'Full', 6, entry('B1'))).to.deep.equal({
      status: 'Failed',
      statusInfo: { reasonCode: 'NotEnabled' },
    });
    expect(rig.tokens.find(card('A1'))).to.equal(null);
    rig.variables.set('LocalAuthListCtrlr', 'Enabled', 'true');
    expect([await version(rig), ...listed(rig)]).to.deep.equal([5, 'A1 Accepted']);
  });

  it('it survives a restart (D01)', async () => {
    const first = await SessionRig.open();
    await send(first, 'Full', 5, entry('A1', { ...accepted, groupIdToken: { idToken: 'G', type: 'Central' } }));
    await first.settle();
    const second = await SessionRig.open({ store: first.store });
    expect(await version(second)).to.equal(5);
    expect(second.tokens.list().entries).to.deep.equal([
      { idToken: 'A1', status: 'Accepted', expiresMs: null, parentIdToken: 'G' },
    ]);
  });

  it('an entry whose time has passed: Expired in 2.0.1, as if absent in 2.1 (SupportsExpiryDateTime)', async () => {
    for (const [of, said] of [
      ['ocpp2.0.1', 'Expired'],
      ['ocpp2.1', null],
    ] as const) {
      const rig = await SessionRig.open({ version: of });
      await send(rig, 'Full', 5, entry('A1', { ...accepted, cacheExpiryDateTime: rig.inMs(60) }));
      expect(rig.tokens.find(card('A1'))?.info.status).to.equal('Accepted');
      await rig.run(61);
      expect(rig.tokens.find(card('A1'))?.info.status ?? null, of).to.equal(said);
    }
  });
});

describe('OCPP 2.x authorisation cache (C10 to C12)', () => {
  it('keeps what Authorize and TransactionEvent say, but of no token of the list (C10)', async () => {
    const rig = await SessionRig.open();
    await send(rig, 'Full', 1, entry('L1'));
    await rig.present('L1', 1, 'ISO14443');
    expect(cached(rig)).to.deep.equal([]);
    await rig.present('A1', 2, 'ISO14443');
    expect(cached(rig)).to.deep.equal(['A1']);
    rig.central.infos.set('A1', { status: 'Blocked' });
    await rig.plug(2);
    await rig.settle();
    expect(rig.tokens.find(card('A1'))?.info.status).to.equal('Blocked');
    expect(rig.variables.integer('AuthCacheCtrlr', 'Storage')).to.be.above(20);
  });

  it('a token that comes into the list leaves the cache (C10)', async () => {
    const rig = await SessionRig.open();
    await rig.present('A1', 1, 'ISO14443');
    await send(rig, 'Full', 1, entry('A1', { status: 'Blocked' }));
    expect(cached(rig)).to.deep.equal([]);
    expect(rig.tokens.find(card('A1'))?.info.status).to.equal('Blocked');
  });

  it('LifeTime since the last use, and cacheExpiryDateTime, end an entry (C10)', async () => {
    const rig = await SessionRig.open({
      variables: { 'AuthCacheCtrlr.LifeTime': '100', 'AuthCtrlr.LocalPreAuthorize': 'true' },
    });
    rig.tokens.learn(card('A1'), accepted);
    rig.tokens.learn(card('B1'), accepted);
    rig.tokens.learn(card('C1'), { ...accepted, cacheExpiryDateTime: rig.inMs(50) });
    await rig.run(60);
    expect(rig.tokens.find(card('C1'))).to.equal(null);
    expect(await rig.present('A1', 1, 'ISO14443')).to.equal('Accepted');
    await rig.run(50);
    expect(rig.tokens.find(card('A1'))).not.to.equal(null);
    expect(rig.tokens.find(card('B1'))).to.equal(null);
    expect(cached(rig)).to.deep.equal(['A1']);
  });

  it('a second transaction of a token at once is not remembered against it (C10)', async () => {
    const rig = await SessionRig.open();
    rig.tokens.learn(card('A1'), accepted);
    rig.tokens.learn(card('A1'), { status: 'ConcurrentTx' });
    expect(rig.tokens.find(card('A1'))?.info.status).to.equal('Accepted');
  });

  it('AuthCacheCtrlr.Enabled false: nothing is kept, and ClearCache is Rejected (C11)', async () => {
    const rig = await SessionRig.open({ variables: { 'AuthCacheCtrlr.Enabled': 'false' } });
    await rig.present('A1');
    expect(cached(rig)).to.deep.equal([]);
    expect(await rig.ask('ClearCache', {})).to.deep.equal({
      status: 'Rejected',
      statusInfo: { reasonCode: 'NotEnabled' },
    });
  });

  it('it survives a restart; ClearCache empties it, with the groups, and leaves the list (C11)', async () => {
    const first = await SessionRig.open();
    await send(first, 'Full', 1, entry('L1'));
    first.tokens.learn(card('A1'), { ...accepted, groupIdToken: { idToken: 'G', type: 'Central' } });
    await first.settle();
    const second = await SessionRig.open({ store: first.store });
    expect(cached(second)).to.deep.equal(['A1']);
    expect(second.tokens.groupOf(card('a1'))?.idToken).to.equal('G');
    expect(await second.ask('ClearCache', {})).to.deep.equal(accepted);
    expect(second.tokens.groupOf(card('A1'))).to.equal(null);
    await second.settle();
    const third = await SessionRig.open({ store: first.store });
    expect([...cached(third), ...listed(third)]).to.deep.equal(['L1 Accepted']);
  });

  for (const [policy, leaves] of [
    ['LRU', 'T1'],
    ['LFU', 'T2'],
    ['FIFO', 'T0'],
  ] as const)
    it(`a full cache lets ${leaves} go by ${policy} (AuthCacheCtrlr.Policy)`, async () => {
      const rig = await SessionRig.open({ variables: { 'AuthCacheCtrlr.Policy': policy } });
      for (let i = 0; i < maxCacheEntries; i++) rig.tokens.learn(card(`T${i}`), accepted);
      // all but T2 are used again: T1 first and T0 last
      for (let i = 1; i < maxCacheEntries; i++) if (i !== 2) rig.tokens.used(card(`T${i}`));
      rig.tokens.used(card('T0'));
      if (policy === 'LRU') rig.tokens.used(card('T2'));
      rig.tokens.learn(card('NEW'), accepted);
      expect(cached(rig)).to.have.lengthOf(maxCacheEntries);
      expect(cached(rig)).to.include('NEW').and.not.include(leaves);
    });
});
