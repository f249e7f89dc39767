/**
 * Random rounds of requests that switch and restart CSIP, OCPP and DNP3 at their peers, with controls of each in force.
 * When all of them are off, nothing of a former adapter is left.
 */
import v8 from 'node:v8';
import { expect } from 'chai';
import { ChargePoint } from '../../src/ocpp/station/charge-point.ts';
import { Client } from '../../src/csip/client.ts';
import { DeviceOutstation } from '../../src/dnp3/device-outstation.ts';
import { EndDevice } from '../../src/csip/end-device.ts';
import { HeadEnd } from '../csip/head-end/head-end.ts';
import { Site } from '../csip/whole/site.ts';
import { Central } from '../ocpp/central/central.ts';
import { pick } from '../support/depth.ts';
import { openHandles, settledTo } from '../support/handles.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { settingsOf, Subscriptions } from '../support/left-behind.ts';
import { casesOf } from '../support/random.ts';

const rounds = pick({ quick: 10, ci: 12, full: 200 });
/** acts of a round, after which everything is switched off */
const actsOfRound = pick({ quick: 3, ci: 5 });
const identity = 'CP-1';

describe('Random switches of protocols at their peers', () => {
  let site: Site;
  let other: HeadEnd;
  let central: Central;
  const random = casesOf('protocol rounds');
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)] as T;

  before(async () => {
    // its answers come when the site is there
    const nowMs = () => site.wall.nowMs();
    central = await Central.open({ subprotocols: ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'], nowMs });
    const prepare = (headEnd: HeadEnd, lfdis: readonly string[]) => {
      for (const lfdi of lfdis) headEnd.register(lfdi);
      headEnd.program({ default: { opModMaxLimW: 9000 } });
    };
    site = await Site.open({
      types: ['PV-3Phase', 'EVSE'],
      tls: null,
      flags: [
        ...[
          '--ocpp_csms_url',
          central.url,
          '--ocpp_csid',
          identity,
          '--csip_notify_port',
          '0',
          '--csip_notify_enc',
          'no',
        ],
        ...['--dnp3_port', '0'],
      ],
      prepare,
    });
    other = await HeadEnd.open({ tls: null, nowMs: () => site.wall.nowMs() });
    prepare(other, site.lfdis);
    for (const [at, program] of other.programs.entries()) program.mRID = `B${at}`.repeat(16);
  });
  after(async () => {
    await site.close();
    await Promise.all([other.close(), central.close()]);
  });

  const patch = (body: Json) => site.patch(body);
  const off = { csip_client_enable: false, ocpp_enable: false, dnp3_enable: false };

  /** A request, or something at a peer that a later request has to cope with. */
  const acts: readonly (() => Promise<unknown>)[] = [
    () => patch({ csip_client_enable: oneOf([true, true, false]) }),
    () => patch({ ocpp_enable: oneOf([true, true, false]) }),
    () => patch({ dnp3_enable: oneOf([true, true, false]) }),
    () => patch({ csip_client_enable: true, csip_server_port: oneOf([site.headEnd.port, other.port]) }),
    () => patch({ csip_subscribe: oneOf([true, false]), csip_lost_after_s: oneOf([60, 70]) }),
    () => patch({ ocpp_enable: true, ocpp_version: oneOf(['ocpp1.6j', 'ocpp2.0.1j', 'ocpp2.1']) }),
    () => patch({ ocpp_auto_authorize: oneOf([true, false]) }),
    () => patch({ dnp3_enable: true, dnp3_shared_port: oneOf([true, false]) }),
    () => patch({ dnp3_profile: oneOf(['an2018', 'ieee1815.2']), dnp3_outstation_addr: oneOf([1, 20]) }),
    () => patch({ csip_client_enable: oneOf([true, false]), ocpp_enable: oneOf([true, false]) }),
    giveControl,
    () => callStation(),
    () => post(`evse/${identity}/connectors/1/${oneOf(['plug', 'unplug'])}`, {}),
    () => post(`evse/${identity}/connectors/1/start`, { id_token: 'TAG-1' }),
    () => site.advance(oneOf([2, 20]), 2),
  ];

  /** The device may refuse it now. */
  async function post(path: string, body: Json): Promise<void> {
    const { status } = await ask(site.port, `/api/sim/${path}`, { method: 'POST', body });
    expect(status).to.be.oneOf([200, 409]);
  }

  function giveControl(): Promise<void> {
    const headEnd = oneOf([site.headEnd, other]);
    const [program] = headEnd.programs;
    if (program === undefined) throw new Error('the head-end has no program');
    const modes = oneOf<Json>([{ opModMaxLimW: 5000 }, { opModFixedVar: { refType: 2, value: 2000 } }]);
    headEnd.control(program, { modes, inS: oneOf([0, 3]), durationS: oneOf([10, 4000]) });
    return Promise.resolve();
  }

  async function callStation(): Promise<void> {
    const station = central.station(identity);
    if (!station.connected) return;
    const limitMaxDischarge = { priority: 1, pctMaxDischargePower: 40 };
    const control = { isDefault: false, controlId: 'L1', controlType: 'LimitMaxDischarge', limitMaxDischarge };
    const chargingSchedule = { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 5000 }] };
    const csChargingProfiles = {
      chargingProfileId: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'ChargePointMaxProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule,
    };
    const [action, payload] =
      station.connection.subprotocol === 'ocpp1.6'
        ? oneOf<readonly [string, Json]>([
            ['SetChargingProfile', { connectorId: 0, csChargingProfiles }],
            ['ChangeAvailability', { connectorId: 1, type: oneOf(['Inoperative', 'Operative']) }],
          ])
        : oneOf<readonly [string, Json]>([
            ['ChangeAvailability', { operationalStatus: oneOf(['Inoperative', 'Operative']), evse: { id: 1 } }],
            ...(station.connection.subprotocol === 'ocpp2.1' ? [['SetDERControl', control] as const] : []),
          ]);
    await station.call(action, payload);
  }

  it(`${rounds} rounds leave nothing behind, and every answer is that of a healthy simulator`, async function () {
    this.timeout(600_000);
    await patch(off);
    await site.settle();
    const { app } = site;
    const before = app.plant.devices.map(({ index }) => settingsOf(app, index));
    const subscriptions = new Subscriptions(app);
    const handles = openHandles();
    for (let round = 1; round <= rounds; round += 1) {
      const name = `round ${round}`;
      for (let count = 0; count < actsOfRound; count += 1) {
        await oneOf(acts)();
        await site.settle();
      }
      expect((await site.get('health')).status, name).to.equal('ok');
      await patch(off);
      await site.settle();
      expect(
        app.plant.devices.map(({ index }) => settingsOf(app, index)),
        name,
      ).to.deep.equal(before);
      expect(new Set(Object.values(subscriptions.counts)), name).to.deep.equal(new Set([0]));
      expect(site.timers.waiting, name).to.equal(0);
      expect(
        app.plant.devices.flatMap(({ alarms }) => alarms.map(({ code }) => code)),
        name,
      ).to.deep.equal([]);
      const connectors = app.plant.devices.flatMap(({ detail }) => (detail.kind === 'evse' ? detail.connectors : []));
      expect(
        connectors.map(({ operative, reservation }) => [operative, reservation]),
        name,
      ).to.deep.equal([[true, null]]);
      await settledTo(handles);
      expect(openHandles(), name).to.deep.equal(handles);
    }
    const kinds = [Client, EndDevice, ChargePoint, DeviceOutstation] as const;
    type Kind = (typeof kinds)[number];
    // a search of the whole heap takes some seconds, the more the longer the process has run
    const one = [oneOf<Kind>(kinds)];
    for (const kind of pick<readonly Kind[]>({ quick: one, ci: one, full: kinds }))
      expect(v8.queryObjects(kind, { format: 'count' }), kind.name).to.equal(0);
  });
});
