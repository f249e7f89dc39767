/** Findings of the whole simulator at central systems of the tests, over real sockets. */
import { expect } from 'chai';
import type { OcppSubprotocol } from '../../../src/ocpp/rpc/model.ts';
import type { Json } from '../../support/http.ts';
import { CentralRefusal } from '../central/answers.ts';
import { id, Site } from '../whole/site.ts';
import type { SiteOptions } from '../whole/site.ts';

const words: Readonly<Record<OcppSubprotocol, string>> = {
  'ocpp1.6': 'ocpp1.6j',
  'ocpp2.0.1': 'ocpp2.0.1j',
  'ocpp2.1': 'ocpp2.1',
};

describe('findings about central systems of OCPP', () => {
  let site: Site;
  afterEach(() => site.close());

  async function open(subprotocol: OcppSubprotocol, central: SiteOptions['central'] = {}): Promise<void> {
    site = await Site.open({
      flags: ['--ocpp_version', words[subprotocol]],
      central: { subprotocols: [subprotocol], ...central },
    });
    await site.until('it is connected', () => site.peers === 1);
    await site.settle();
  }

  async function report(): Promise<Json> {
    const { peers } = await site.get('findings/peers');
    expect(peers).to.have.length(1);
    return site.get(`findings/peers/${peers[0].id}`);
  }

  const rulesOf = (rows: Json): string[] => rows.map(({ rule }: Json) => rule);

  /** A session with the messages of every day. */
  async function session(start: string, token: Json): Promise<void> {
    site.do({ kind: 'evse.plug', connectorId: 1, vehicle: {} } as never);
    await site.advance(5);
    await site.call(start, token);
    await site.advance(20);
    site.do({ kind: 'evse.unplug', connectorId: 1 } as never);
    await site.advance(10);
  }

  for (const [subprotocol, start, token] of [
    ['ocpp1.6', 'RemoteStartTransaction', { idTag: 'A', connectorId: 1 }],
    [
      'ocpp2.0.1',
      'RequestStartTransaction',
      { idToken: { idToken: 'A', type: 'Central' }, evseId: 1, remoteStartId: 1 },
    ],
    ['ocpp2.1', 'RequestStartTransaction', { idToken: { idToken: 'A', type: 'Central' }, evseId: 1, remoteStartId: 1 }],
  ] as const)
    it(`are none at a right one of ${subprotocol}, and its rules come up`, async () => {
      await open(subprotocol);
      const read = subprotocol === 'ocpp1.6' ? {} : { requestId: 1, reportBase: 'FullInventory' };
      await site.call(subprotocol === 'ocpp1.6' ? 'GetConfiguration' : 'GetBaseReport', read);
      await session(start, token);
      const { broken, held, not_observable: unobservable, identities } = await report();
      expect(rulesOf(broken)).to.deep.equal([]);
      expect(rulesOf(held)).to.include.members([
        'ocpp.subprotocol',
        'ocpp.schema',
        'ocpp.frame',
        'ocpp.answer_late',
        'ocpp.call_error_wrong',
        'ocpp.interval',
        'ocpp.current_time',
      ]);
      expect(rulesOf(held)).to.include(
        subprotocol === 'ocpp1.6' ? 'ocpp.transaction_id' : 'ocpp.id_token_info_missing',
      );
      expect(rulesOf(unobservable)).to.include(
        subprotocol === 'ocpp1.6' ? 'ocpp.call_overlap' : 'ocpp.call_overlap_16',
      );
      const facets = Object.fromEntries(identities[0].facets.map(({ name, values }: Json) => [name, values]));
      expect(facets).to.deep.include({ station: [id], version: [subprotocol.slice('ocpp'.length)] });
      expect(identities[0].address).to.equal(site.central.url.replace(/\/$/, ''));
    });

  it('have the id of the message that a handler has refused, and the message itself', async () => {
    await open('ocpp1.6');
    const csChargingProfiles = {
      chargingProfileId: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Absolute',
      chargingSchedule: { chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: -1 }] },
    };
    const request = { connectorId: 1, csChargingProfiles };
    const reply = await site.station.brokenCall('SetChargingProfile', request, 'negative');
    expect(reply).to.deep.equal({ kind: 'result', payload: { status: 'Rejected' } });
    const { findings } = await site.get(`ocpp/${id}/findings`);
    expect(findings[0]).to.deep.include({ kind: 'rule', action: 'SetChargingProfile', message_id: 'negative' });
    const { broken } = await report();
    expect(rulesOf(broken)).to.deep.equal(['ocpp.profile_rule']);
    const [evidence] = broken[0].evidence;
    expect(evidence).to.deep.include({ channel: `ocpp/${id}`, message_kept: true });
    expect(evidence.facts).to.deep.include({ station: id, action: 'SetChargingProfile', message_id: 'negative' });
    expect(evidence.excerpt).to.match(/^\[2,"negative","SetChargingProfile"/);
    const { messages } = await site.get(`ocpp/${id}/messages?action=SetChargingProfile&direction=in`);
    expect(messages[0].id).to.equal(evidence.message_id);
  });

  it('name the answer about which a station finds something later', async () => {
    await open('ocpp1.6');
    site.station.answers['BootNotification'] = () => ({
      status: 'Accepted',
      interval: -5,
      currentTime: new Date(site.nowMs()).toISOString(),
    });
    await site.post(`ocpp/${id}/boot`);
    await site.settle();
    const [finding] = (await site.get(`ocpp/${id}/findings`)).findings;
    expect(finding).to.deep.include({ action: 'BootNotification' });
    expect(finding.message_id).to.equal(site.station.callsOf('BootNotification').at(-1)?.messageId);
    const { broken } = await report();
    expect(rulesOf(broken)).to.deep.equal(['ocpp.interval']);
    expect(broken[0].evidence[0].excerpt).to.include('"interval":-5');
  });

  it('come of frames, ids and overlapping calls', async () => {
    await open('ocpp2.0.1', { wrong: () => undefined });
    const { station } = site;
    const variable = { component: { name: 'EVSE' }, variable: { name: 'Power' } };
    for (const messageId of ['same', 'same'])
      station.sendText(JSON.stringify([2, messageId, 'GetVariables', { getVariableData: [variable] }]));
    station.sendText('[2,"wrong","GetVariables",{}]');
    await site.settle();
    station.sendText('{"no":"frame"}');
    await station.brokenCall('Dance');
    await station.brokenCall('Heartbeat');
    await site.settle();
    expect(rulesOf((await report()).broken)).to.have.members([
      'ocpp.schema',
      'ocpp.id_reused',
      'ocpp.call_overlap',
      'ocpp.frame',
      'ocpp.action_unknown',
      'ocpp.action_direction',
    ]);
  });

  it('come of late and missing answers, and of an answer to no call', async () => {
    await open('ocpp1.6');
    await site.advance(60, 10);
    site.station.silent = true;
    void site.rest(`ocpp/${id}/heartbeat`, {});
    await site.advance(1);
    const call = site.station.callsOf('Heartbeat').at(-1);
    await site.station.call('GetLocalListVersion');
    await site.advance(35, 5);
    expect(call).to.include({ action: 'Heartbeat' });
    if (call !== undefined) site.station.answer(call, { currentTime: new Date(site.nowMs()).toISOString() });
    site.station.sendText('[3,"nobody asked",{}]');
    await site.settle();
    expect(rulesOf((await report()).broken)).to.have.members(['ocpp.answer_late', 'ocpp.answer_unknown']);
    void site.rest(`ocpp/${id}/heartbeat`, {});
    await site.advance(1);
    await site.station.call('GetLocalListVersion');
    await site.advance(130, 10);
    expect(rulesOf((await report()).broken)).to.include('ocpp.answer_missing');
  });

  it('come of errors in place of results, and of settings that are asked for again', async () => {
    await open('ocpp1.6');
    site.station.answers['Heartbeat'] = () => Promise.reject(new CentralRefusal('NotImplemented'));
    await site.rest(`ocpp/${id}/heartbeat`, {});
    for (let n = 0; n < 4; n += 1) await site.call('GetConfiguration', { key: ['Nonsense'] });
    const { broken } = await report();
    expect(rulesOf(broken)).to.have.members(['ocpp.call_error_wrong', 'ocpp.config_unknown']);
  });

  it('come of what stands in calls, and of what follows the answers of the station', async () => {
    await open('ocpp1.6');
    const { station } = site;
    await station.call('ChangeConfiguration', { key: 'AuthorizationKey', value: '0123' });
    await station.call('InstallCertificate', { certificateType: 'ManufacturerRootCertificate', certificate: 'none' });
    await station.call('UpdateFirmware', {
      location: 'file:///evse.bin',
      retrieveDate: new Date(site.nowMs()).toISOString(),
    });
    const csChargingProfiles = {
      chargingProfileId: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule: { chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: 7400 }] },
    };
    await station.call('SetChargingProfile', { connectorId: 1, csChargingProfiles });
    expect(rulesOf((await report()).broken)).to.have.members([
      'ocpp.password_short',
      'ocpp.certificate_bad',
      'ocpp.firmware_location',
      'ocpp.limit_unit_phases',
    ]);
  });

  it('come of a report with the id of one under way', async () => {
    await open('ocpp2.0.1');
    const { station } = site;
    station.silent = true;
    for (const reportBase of ['FullInventory', 'ConfigurationInventory'])
      await station.call('GetBaseReport', { requestId: 1, reportBase });
    expect(rulesOf((await report()).broken)).to.deep.equal(['ocpp.request_id_reused']);
  });

  it('are none at the first messages of SteVe, which reads settings before it answers BootNotification', async () => {
    await open('ocpp1.6');
    await site.stop();
    const replies: Promise<Json>[] = [];
    site.station.answers['BootNotification'] = () => {
      replies.push(site.station.call('GetConfiguration', { key: ['ChargeProfileMaxStackLevel'] }));
      return { status: 'Accepted', interval: 14_400, currentTime: new Date(site.nowMs()).toISOString() };
    };
    await site.start();
    await site.until('it is connected', () => site.peers === 1);
    await Promise.all(replies);
    await site.advance(10);
    expect(replies).to.have.length(1);
    expect(rulesOf((await report()).broken)).to.deep.equal([]);
    expect((await site.get(`ocpp/${id}/findings`)).findings).to.deep.equal([]);
  });

  it('are none at the first messages of Home Assistant, among them a relative ChargePointMaxProfile', async () => {
    await open('ocpp1.6');
    const { station } = site;
    for (const key of ['SupportedFeatureProfiles', 'HeartbeatInterval', 'NumberOfConnectors'])
      await station.call('GetConfiguration', { key: [key] });
    await station.call('ChangeConfiguration', { key: 'MeterValueSampleInterval', value: '60' });
    await station.call('ChangeConfiguration', {
      key: 'MeterValuesSampledData',
      value: 'Energy.Active.Import.Register,Power.Active.Import',
    });
    await station.call('ChangeAvailability', { connectorId: 0, type: 'Operative' });
    await station.call('TriggerMessage', { requestedMessage: 'BootNotification' });
    await station.call('TriggerMessage', { requestedMessage: 'StatusNotification', connectorId: 1 });
    const csChargingProfiles = {
      chargingProfileId: 8,
      stackLevel: 0,
      chargingProfileKind: 'Relative',
      chargingProfilePurpose: 'ChargePointMaxProfile',
      chargingSchedule: { chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: 32 }] },
    };
    expect(await site.call('SetChargingProfile', { connectorId: 0, csChargingProfiles })).to.deep.equal({
      status: 'Accepted',
    });
    await site.advance(10);
    const { broken, held } = await report();
    expect(rulesOf(broken)).to.deep.equal([]);
    // it has not read the settings that name a limit
    expect(rulesOf(held)).to.include('ocpp.profile_rule').and.not.include('ocpp.profile_limits');
    expect((await site.get(`ocpp/${id}/findings`)).findings).to.deep.equal([]);
  });

  it('of the answer to BootNotification count after a restart that a fault has brought about', async () => {
    await open('ocpp1.6');
    site.station.answers['BootNotification'] = () => ({
      status: 'Accepted',
      interval: 5,
      currentTime: new Date(site.nowMs()).toISOString(),
    });
    const boots = site.station.callsOf('BootNotification').length;
    await site.post('faults', { inject: [{ protocol: 'device', kind: 'reboot', off_s: 5, count: 1 }] });
    await site.advance(30, 5);
    expect(site.station.callsOf('BootNotification').length).to.be.greaterThan(boots);
    const { broken, excused } = await report();
    expect([rulesOf(broken), rulesOf(excused)]).to.deep.equal([['ocpp.interval_short'], []]);
  });

  it('are excused while a fault acts, and made-up calls of a user count nothing', async () => {
    await open('ocpp1.6', { wrong: () => undefined });
    site.station.judged = false;
    await site.post(`ocpp/${id}/fault`, {
      kind: 'missing_member',
      members: ['status'],
      action: 'StatusNotification',
    });
    const raw = { action: 'StatusNotification', payload: { nonsense: true }, validate: false };
    site.station.answers['StatusNotification'] = () => Promise.reject(new CentralRefusal('FormationViolation'));
    await site.post(`ocpp/${id}/call`, raw);
    await site.call('TriggerMessage', { requestedMessage: 'StatusNotification', connectorId: 1 });
    await site.settle();
    const { broken, excused } = await report();
    expect(rulesOf(broken)).to.deep.equal([]);
    expect(rulesOf(excused)).to.deep.equal([]);
  });
});
