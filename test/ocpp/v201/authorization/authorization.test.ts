/** Tokens at an EVSE: what the station decides itself, and what it asks. */
import { expect } from 'chai';
import type { IdTokenInfo } from '../../../../src/ocpp/v201/messages.ts';
import { tokenOf, typeOfText } from '../../../../src/ocpp/v201/authorization/tokens.ts';
import { card, FakeCentral, SessionRig } from './session.ts';

const a = 'A1B2C3D4';
const b = '0A0B0C0D';
const family = { groupIdToken: { idToken: 'FAMILY', type: 'Central' } } as const;
const ofFamily: IdTokenInfo = { status: 'Accepted', ...family };
const pre = { 'AuthCtrlr.LocalPreAuthorize': 'true' };

/** cache, or a list of one entry, that says something of a token */
async function knows(rig: SessionRig, token: string, info: IdTokenInfo): Promise<void> {
  await rig.ask('SendLocalList', {
    versionNumber: 1,
    updateType: 'Full',
    localAuthorizationList: [{ idToken: card(token), idTokenInfo: info }],
  });
}

describe('OCPP 2.x authorisation (C01 to C16)', () => {
  it('an accepted token charges, and the transaction has it (C01)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    expect(await rig.present(a)).to.equal('Accepted');
    expect(rig.central.asked).to.deep.equal([card(a)]);
    await rig.run(10);
    expect(rig.connector().powerW).to.be.above(1000);
    expect(rig.transactions.at(1)?.idToken).to.deep.equal(card(a));
    expect(rig.central.events.find(({ idToken }) => idToken !== undefined)?.idToken).to.deep.equal(card(a));
  });

  for (const status of [
    'Blocked',
    'ConcurrentTx',
    'Expired',
    'Invalid',
    'NoCredit',
    'NotAllowedTypeEVSE',
    'NotAtThisLocation',
    'NotAtThisTime',
    'Unknown',
  ] as const)
    it(`${status} in the answer to Authorize refuses the token: no energy (C01)`, async () => {
      const rig = await SessionRig.open();
      rig.central.infos.set(a, { status });
      await rig.plug();
      expect(await rig.present(a)).to.equal(status);
      await rig.run(10);
      expect(rig.connector()).to.deep.include({ phase: 'connected', powerW: 0 });
    });

  it('a CALLERROR to Authorize refuses (C01)', async () => {
    const rig = await SessionRig.open();
    rig.central.refuses.add('Authorize');
    expect(await rig.present(a)).to.equal('Invalid');
  });

  it('a token that names EVSEs is valid at those only (C01)', async () => {
    const rig = await SessionRig.open();
    rig.central.infos.set(a, { status: 'Accepted', evseId: [2] });
    expect(await rig.present(a, 1)).to.equal('NotAtThisLocation');
    expect(rig.connector(1).phase).to.equal('free');
    expect(await rig.present(a, 2)).to.equal('Accepted');
  });

  it('types: by the form of the text, or as given; each version has its own (C01, C04)', async () => {
    expect(['DEADBEEF', '01020304050607', 'E007000012345678', 'AUTO', '1234', 'DEADBEE'].map(typeOfText)).to.deep.equal(
      ['ISO14443', 'ISO14443', 'ISO15693', 'KeyCode', 'KeyCode', 'KeyCode'],
    );
    expect(tokenOf('ocpp2.1', 'WVWZZZ', 'vin')).to.deep.equal({ idToken: 'WVWZZZ', type: 'VIN' });
    for (const [version, text, type] of [
      ['ocpp2.0.1', 'WVWZZZ', 'VIN'],
      ['ocpp2.0.1', 'X'.repeat(37), undefined],
      ['ocpp2.1', 'X'.repeat(256), 'KeyCode'],
      ['ocpp2.1', '', 'KeyCode'],
      ['ocpp2.1', 'X', 'NoAuthorization'],
    ] as const)
      expect(() => tokenOf(version, text, type))
        .to.throw()
        .with.property('code', 'COMMAND_BAD_VALUE');
    const rig = await SessionRig.open({ version: 'ocpp2.1' });
    expect(await rig.present('PAY-1', 1, 'DirectPayment')).to.equal('Accepted');
    expect(rig.central.asked).to.deep.equal([{ idToken: 'PAY-1', type: 'DirectPayment' }]);
    expect(await rig.present('', 1, 'KeyCode')).to.equal('COMMAND_BAD_VALUE');
    expect(await rig.present('A', 9)).to.equal('UNKNOWN_RESOURCE');
  });

  it('the same text of another type is another token, another case is not (C01)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.present('abc', 1, 'KeyCode');
    expect(await rig.present('ABC', 1, 'MacAddress')).to.equal('COMMAND_CONFLICT');
    expect(await rig.present('ABC', 1, 'KeyCode')).to.equal('Accepted');
    expect(rig.central.events.at(-1)?.triggerReason).to.equal('StopAuthorized');
  });

  for (const type of ['Central', 'Local'])
    it(`${type} is not asked about and not cached (C05, C06)`, async () => {
      const rig = await SessionRig.open();
      expect(await rig.present('X-1', 1, type)).to.equal('Accepted');
      expect(rig.central.asked).to.deep.equal([]);
      expect(rig.tokens.list().cache).to.deep.equal([]);
    });

  it('AuthCtrlr.Enabled false: plugging in is enough, and its token is NoAuthorization (C02)', async () => {
    const rig = await SessionRig.open({ variables: { 'AuthCtrlr.Enabled': 'false' } });
    await rig.plug();
    await rig.run(10);
    expect(rig.connector().powerW).to.be.above(1000);
    expect(rig.central.asked).to.deep.equal([]);
    expect(rig.transactions.at(1)?.idToken).to.deep.equal({ idToken: '', type: 'NoAuthorization' });
    // a token that is there is told
    expect(await rig.present(a, 2)).to.equal('Accepted');
    await rig.plug(2);
    expect(rig.transactions.at(2)?.idToken).to.deep.equal(card(a));
  });

  it('AuthCtrlr.Enabled that becomes false starts what waits (C02)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    expect(rig.connector().phase).to.equal('connected');
    rig.variables.set('AuthCtrlr', 'Enabled', 'false');
    await rig.settle();
    expect(rig.connector().phase).to.equal('starting');
  });

  it('AUTO without authorisation is no token (C02)', async () => {
    const rig = await SessionRig.open({ autoAuthorize: true, variables: { 'AuthCtrlr.Enabled': 'false' } });
    await rig.plug();
    expect(rig.central.asked).to.deep.equal([]);
    expect(rig.transactions.at(1)?.idToken?.type).to.equal('NoAuthorization');
  });

  it('plugging in presents AUTO to the central system where it is set so (C01)', async () => {
    const rig = await SessionRig.open({ autoAuthorize: true });
    await rig.plug();
    expect(rig.central.asked).to.deep.equal([{ idToken: 'AUTO', type: 'KeyCode' }]);
    expect(rig.connector().phase).to.equal('starting');
    rig.central.infos.set('AUTO', { status: 'Invalid' });
    await rig.plug(2);
    expect(rig.connector(2).phase).to.equal('connected');
  });

  it('AUTO of a vehicle that came without a connection is presented later, once (C01)', async () => {
    const rig = await SessionRig.open({
      autoAuthorize: true,
      before: (kind) => {
        kind.command({ kind: 'evse.authority', central: true });
        kind.command({ kind: 'evse.plug', connectorId: 1 });
      },
    });
    await rig.connect(false);
    await rig.plug(2);
    expect([rig.connector(1).phase, rig.connector(2).phase]).to.deep.equal(['connected', 'connected']);
    await rig.connect(true);
    await rig.connect(true);
    expect(rig.central.texts).to.deep.equal(['AUTO', 'AUTO']);
    expect([rig.connector(1).phase, rig.connector(2).phase]).to.deep.equal(['starting', 'starting']);
  });

  it('before the first acceptance nothing begins, unless TxBeforeAcceptedEnabled; AUTO begins after it (B02, B03)', async () => {
    const central = new FakeCentral();
    central.boots = 0;
    central.online = false;
    const rig = await SessionRig.open({
      central,
      autoAuthorize: true,
      variables: { 'AuthCtrlr.OfflineTxForUnknownIdEnabled': 'true', 'TxCtrlr.TxBeforeAcceptedEnabled': 'false' },
    });
    await rig.plug();
    expect(await rig.present(a, 2)).to.equal('COMMAND_CONFLICT');
    expect(rig.connector().phase).to.equal('connected');
    central.boots = 1;
    await rig.connect(true);
    expect(rig.connector().phase).to.equal('starting');
    central.boots = 0;
    await rig.connect(false);
    rig.variables.override('TxCtrlr', 'TxBeforeAcceptedEnabled', 'true');
    expect(await rig.present(a, 2)).to.equal('Accepted');
  });

  it('LocalPreAuthorize: list and cache accept a token without a question (C10, C14)', async () => {
    const rig = await SessionRig.open({ variables: pre });
    await rig.present(a);
    expect(await rig.present(a, 2)).to.equal('Accepted');
    expect(rig.central.texts).to.deep.equal([a]);
    await knows(rig, b, { status: 'Accepted' });
    await rig.run(61);
    expect(await rig.present(b)).to.equal('Accepted');
    expect(rig.central.texts).to.deep.equal([a]);
    rig.variables.set('AuthCtrlr', 'LocalPreAuthorize', 'false');
    await rig.run(61);
    await rig.present(b);
    expect(rig.central.texts).to.deep.equal([a, b]);
  });

  for (const [where, component] of [
    ['list', 'LocalAuthListCtrlr'],
    ['cache', 'AuthCacheCtrlr'],
  ] as const)
    it(`a token that the ${where} does not accept is asked, unless DisablePostAuthorize (C10.FR.03, C14.FR.03)`, async () => {
      const rig = await SessionRig.open({ variables: pre });
      if (where === 'list') await knows(rig, a, { status: 'Blocked' });
      else rig.tokens.learn(card(a), { status: 'Blocked' });
      rig.variables.set(component, 'DisablePostAuthorize', 'true');
      expect(await rig.present(a)).to.equal('Blocked');
      expect(rig.central.asked).to.deep.equal([]);
      rig.variables.set(component, 'DisablePostAuthorize', 'false');
      expect(await rig.present(a)).to.equal('Accepted');
      expect(rig.central.texts).to.deep.equal([a]);
    });

  it('DisableRemoteAuthorization: list and cache alone decide (C01)', async () => {
    const rig = await SessionRig.open({ variables: { 'AuthCtrlr.DisableRemoteAuthorization': 'true' } });
    await knows(rig, a, { status: 'Accepted' });
    expect(await rig.present(b)).to.equal('Unknown');
    expect(await rig.present(a)).to.equal('Accepted');
    expect(rig.central.asked).to.deep.equal([]);
  });

  it('offline: LocalAuthorizeOffline and OfflineTxForUnknownIdEnabled decide (C13, C15)', async () => {
    const rig = await SessionRig.open();
    await knows(rig, a, { status: 'Accepted' });
    await rig.connect(false);
    expect(await rig.present(b)).to.equal('Unknown');
    expect(await rig.present(a)).to.equal('Accepted');
    rig.variables.set('AuthCtrlr', 'LocalAuthorizeOffline', 'false');
    expect(await rig.present(a, 2)).to.equal('Unknown');
    rig.variables.set('AuthCtrlr', 'OfflineTxForUnknownIdEnabled', 'true');
    expect(await rig.present(b, 2)).to.equal('Accepted');
    expect(rig.central.asked).to.deep.equal([]);
  });

  it('offline: a token known as refused stays refused (C13)', async () => {
    const rig = await SessionRig.open({ variables: { 'AuthCtrlr.OfflineTxForUnknownIdEnabled': 'true' } });
    await knows(rig, a, { status: 'Blocked' });
    await rig.connect(false);
    expect(await rig.present(a)).to.equal('Blocked');
  });

  it('the token of a transaction stops it, with the trigger and reason of the standard (E07)', async () => {
    const rig = await SessionRig.open({ variables: { 'TxCtrlr.TxStopPoint': 'Authorized' } });
    await rig.plug();
    await rig.present(a);
    await rig.run(10);
    expect(await rig.present(a)).to.equal('Accepted');
    const [ended] = rig.central.of('Ended');
    expect(ended).to.deep.include({ triggerReason: 'StopAuthorized', idToken: card(a) });
    expect(rig.connector()).to.deep.include({ phase: 'finishing', powerW: 0 });
    expect(rig.central.texts).to.deep.equal([a]);
  });

  it('a token of the same group stops it, known or asked (C09)', async () => {
    for (const isKnown of [true, false]) {
      const rig = await SessionRig.open({ variables: { 'TxCtrlr.TxStopPoint': 'Authorized' } });
      rig.central.infos.set(a, ofFamily);
      rig.central.infos.set(b, { status: 'Accepted', groupIdToken: { idToken: 'family', type: 'Central' } });
      if (isKnown) await rig.present(b, 2);
      await rig.plug();
      await rig.present(a);
      expect(rig.transactions.at(1)?.groupIdToken).to.deep.equal(family.groupIdToken);
      const asked = rig.central.asked.length;
      expect(await rig.present(b)).to.equal('Accepted');
      expect(rig.central.asked.length - asked).to.equal(isKnown ? 0 : 1);
      expect(rig.central.of('Ended')[0]?.idToken).to.deep.equal(card(b));
    }
  });

  it('without a group another token is refused and nothing is asked; one of another group too (C09)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.present(a);
    expect(await rig.present(b)).to.equal('COMMAND_CONFLICT');
    expect(rig.central.texts).to.deep.equal([a]);
    const other = await SessionRig.open();
    other.central.infos.set(a, ofFamily);
    other.central.infos.set(b, { status: 'Accepted', groupIdToken: { idToken: 'OTHERS', type: 'Central' } });
    await other.plug();
    await other.present(a);
    expect(await other.present(b)).to.equal('COMMAND_CONFLICT');
    expect(other.central.of('Ended')).to.deep.equal([]);
  });

  it('a master pass stops every transaction and starts none (C16)', async () => {
    const rig = await SessionRig.open({
      variables: { 'AuthCtrlr.MasterPassGroupId': 'MASTER', 'TxCtrlr.TxStopPoint': 'Authorized' },
    });
    rig.central.infos.set(b, { status: 'Accepted', groupIdToken: { idToken: 'master', type: 'Central' } });
    expect(await rig.present(b)).to.equal('COMMAND_CONFLICT');
    expect(rig.connector().phase).to.equal('free');
    for (const evseId of [1, 2]) {
      await rig.plug(evseId);
      await rig.present(`${a.slice(0, 7)}${evseId}`, evseId);
    }
    await rig.run(10);
    expect(await rig.present(b)).to.equal('Accepted');
    expect(rig.central.of('Ended').map(({ transactionInfo }) => transactionInfo.stoppedReason)).to.deep.equal([
      'MasterPass',
      'MasterPass',
    ]);
    expect([rig.connector(1).powerW, rig.connector(2).powerW]).to.deep.equal([0, 0]);
    // at the reader of a free EVSE too
    await rig.unplug(2);
    await rig.present(a);
    await rig.run(10);
    expect(rig.connector(1).powerW).to.be.above(1000);
    expect(await rig.present(b, 2)).to.equal('Accepted');
    expect(rig.connector(1).powerW).to.equal(0);
    expect(rig.connector(2).phase).to.equal('free');
  });

  it('the same token takes an authorisation back before a vehicle comes, another one is refused (E03)', async () => {
    const rig = await SessionRig.open();
    await rig.tap(a);
    expect(await rig.present(b)).to.equal('COMMAND_CONFLICT');
    expect(await rig.present(a)).to.equal('Accepted');
    expect(rig.connector()).to.deep.include({ status: 'available', authorised: false });
  });

  it('a transaction that began with the cable takes a token, and one whose token has gone takes another (E02)', async () => {
    const points = { 'TxCtrlr.TxStartPoint': 'EVConnected', 'TxCtrlr.TxStopPoint': 'EVConnected' };
    const rig = await SessionRig.open({ variables: points });
    await rig.plug();
    const began = rig.transactions.at(1);
    expect(began?.idToken).to.equal(null);
    await rig.present(a);
    await rig.run(10);
    await rig.present(a);
    expect(rig.connector().powerW).to.equal(0);
    expect(rig.transactions.at(1)?.transactionId).to.equal(began?.transactionId);
    expect(await rig.present(b)).to.equal('Accepted');
    expect(rig.transactions.at(1)).to.deep.include({ transactionId: began?.transactionId, idToken: card(b) });
  });

  it('a faulted or inoperative EVSE refuses, and nothing is asked (C01)', async () => {
    const rig = await SessionRig.open();
    await rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'OtherError' });
    await rig.do({ kind: 'evse.availability', connectorId: 2, operative: false });
    for (const evseId of [1, 2]) expect(await rig.present(a, evseId)).to.equal('COMMAND_CONFLICT');
    expect(rig.central.asked).to.deep.equal([]);
  });

  it('what the answer of 2.1 brings beside the token goes to listeners (Q01, I07)', async () => {
    const rig = await SessionRig.open({ version: 'ocpp2.1' });
    rig.central.more = { allowedEnergyTransfer: ['AC_BPT', 'AC_single_phase'] };
    const heard: unknown[] = [];
    const end = rig.authorization.onAnswered(({ evseId, idToken, reply }) => {
      heard.push([evseId, idToken.idToken, reply.allowedEnergyTransfer]);
    });
    await rig.present(a);
    end();
    await rig.present(b, 2);
    expect(heard).to.deep.equal([[1, a, ['AC_BPT', 'AC_single_phase']]]);
  });

  it('what is known of the driver comes with the answer over REST', async () => {
    const rig = await SessionRig.open();
    const info: IdTokenInfo = {
      status: 'Accepted',
      chargingPriority: 3,
      language1: 'nl',
      personalMessage: { format: 'UTF8', content: 'Hallo' },
    };
    rig.central.infos.set(a, info);
    expect(await rig.authorization.present(1, a)).to.deep.equal({ status: 'Accepted', info });
  });
});
