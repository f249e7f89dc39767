/** Contents of calls: limits, certificates, passwords and places of firmware, in the forms of all versions. */
import { expect } from 'chai';
import { acRatingOf, certificateIssue, smallLimit, wattsAsAmperes } from '../../../src/ocpp/findings/contents.ts';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import { rootPem } from '../security/fixtures.ts';
import { JudgeRig } from './rig.ts';

const dayMs = 86_400_000;
const endMs = Date.UTC(2126, 10, 1, 23, 6, 46);

const schedule = (
  chargingRateUnit: string,
  ...periods: readonly (readonly [startPeriod: number, limit: unknown])[]
) => ({
  chargingRateUnit,
  chargingSchedulePeriod: periods.map(([startPeriod, limit]) => ({ startPeriod, limit })),
});
const profile2 = (...chargingSchedule: readonly Payload[]): Payload => ({
  evseId: 1,
  chargingProfile: { chargingSchedule },
});

describe('OCPP findings: contents of calls', () => {
  it('a limit below 6 A counts in each schedule, from the first period that lasts a minute', () => {
    expect(smallLimit(profile2(schedule('W', [0, 3]), schedule('A', [0, 16], [60, 5])))).to.equal(5);
    expect(smallLimit(profile2(schedule('A', [0, 5], [59, 16])))).to.equal(null);
    expect(smallLimit(profile2(schedule('A', [0, 5], [60, 16])))).to.equal(5);
    expect(smallLimit(profile2(schedule('A', [0, '5'], [60, -1], [120, 6])))).to.equal(null);
    expect(smallLimit(profile2({ ...schedule('A', [0, 5]), duration: 60 }))).to.equal(5);
    for (const payload of [{}, { chargingProfile: {} }, profile2({ chargingRateUnit: 'A' })])
      expect(smallLimit(payload)).to.equal(null);
  });

  it('a limit in A looks like W between the least power of a vehicle and a little more than that of the station', () => {
    const rating = { currentA: 32, powerW: 22_000 };
    const looksOff = (...limits: readonly number[]) =>
      wattsAsAmperes(profile2(schedule('A', ...limits.map((limit, i) => [i, limit] as const))), rating);
    expect([looksOff(1380), looksOff(26_400), looksOff(16, 7400), looksOff(12_000)]).to.deep.equal([
      1380, 26_400, 7400, 12_000,
    ]);
    expect([looksOff(1379), looksOff(26_401), looksOff(1999), looksOff(20_000)]).to.deep.equal([
      null,
      null,
      1999,
      null,
    ]);
    expect(wattsAsAmperes(profile2(schedule('W', [0, 7400])), rating)).to.equal(null);
    // a large station may be limited to so many amperes
    expect(wattsAsAmperes(profile2(schedule('A', [0, 1500])), { currentA: 500, powerW: 345_000 })).to.equal(null);
    expect(wattsAsAmperes(profile2(schedule('A', [0, 1501])), { currentA: 500, powerW: 345_000 })).to.equal(1501);
  });

  it('a number that stands for no limit is none in W, at a large station too', () => {
    const large = { currentA: 64, powerW: 66_000 };
    for (const limit of [3000, 40_000, 32_767, 65_535])
      expect(wattsAsAmperes(profile2(schedule('A', [0, limit])), large), String(limit)).to.equal(null);
  });

  it('certificates behind the first one are not judged, though they cannot be read', () => {
    const odd = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
    const text = `Bag Attributes\r\n${rootPem.replaceAll('\n', '\r\n')}${odd}`;
    expect(certificateIssue(text, null)).to.equal(null);
    expect(certificateIssue(odd + rootPem, null)).to.contain('no certificate');
  });

  it('the rating of a station is that of its grid connection or of its connectors together', () => {
    const of = (maxCurrentA: number, maxPowerW: number, type: 'ac' | 'dc' = 'ac') =>
      ({ type, maxCurrentA, maxPowerW }) as never;
    expect(acRatingOf({ ratings: [of(16, 11_000), of(32, 22_000)], stationRating: of(40, 40_000) })).to.deep.equal({
      currentA: 48,
      powerW: 40_000,
    });
    expect(acRatingOf({ ratings: [of(16, 11_000), of(100, 50_000, 'dc')], stationRating: of(63, 43_000) })).to.equal(
      null,
    );
  });

  it('a certificate counts as expired a day after its end, and only by a clock of the wall', () => {
    expect(certificateIssue(rootPem, endMs + dayMs)).to.equal(null);
    expect(certificateIssue(rootPem, endMs + dayMs + 1)).to.equal(
      'the certificate has expired at 2126-11-01T23:06:46.000Z',
    );
    expect(certificateIssue(rootPem, null)).to.equal(null);
    const late = (isWallTime: boolean) => {
      const rig = new JudgeRig({ isWallTime }).open();
      rig.findings.wall.jump(endMs + 2 * dayMs - rig.findings.wall.nowMs());
      rig.call('CertificateSigned', { certificateChain: rootPem });
      return rig.row('certificate_bad').broken;
    };
    expect([late(true), late(false)]).to.deep.equal([1, 0]);
  });

  it('a firmware is late from one day on, by its time in any version', () => {
    const late = (action: string, payload: (time: string) => Payload, days: number, isWallTime = true) => {
      const rig = new JudgeRig({ isWallTime }).open();
      rig.call(action, payload(new Date(rig.findings.wall.nowMs() - days * dayMs).toISOString()));
      const row = rig.row('firmware_location');
      return row.cases[0]?.text ?? row.state;
    };
    const v16 = (retrieveDate: string) => ({ location: 'http://a/b', retrieveDate });
    const v2 = (retrieveDateTime: string) => ({ firmware: { location: 'http://a/b', retrieveDateTime } });
    const text = 'the firmware is to be fetched 2 days ago';
    expect(late('UpdateFirmware', v16, 2)).to.equal(`UpdateFirmware: ${text}`);
    expect(late('SignedUpdateFirmware', v2, 2)).to.equal(`SignedUpdateFirmware: ${text}`);
    expect([late('UpdateFirmware', v2, 1), late('UpdateFirmware', v2, 2, false)]).to.deep.equal(['held', 'held']);
  });

  it('a place of a firmware is named without its secrets', () => {
    const rig = new JudgeRig().open();
    for (const location of ['me:pass@host/x.bin', 'gopher://me:pass@host/x.bin?token=1'])
      rig.call('UpdateFirmware', { location });
    expect(rig.row('firmware_location').cases.map(({ text }) => text)).to.deep.equal([
      'UpdateFirmware: the firmware is at a location of me:',
    ]);
    const other = new JudgeRig().open();
    other.call('UpdateFirmware', { location: 'evse.bin' });
    expect(other.row('firmware_location').cases[0]?.text).to.equal(
      'UpdateFirmware: the firmware is at a location that is not a URL',
    );
  });

  it('a short password counts in SetVariables and in a network profile, and is not shown', () => {
    for (const [action, payload] of [
      ['SetNetworkProfile', { connectionData: { basicAuthPassword: 'too short' } }],
      [
        'SetVariables',
        {
          setVariableData: [
            { variable: { name: 'Identity' }, attributeValue: 'x' },
            { variable: { name: 'BasicAuthPassword' }, attributeValue: 'too short' },
          ],
        },
      ],
    ] as const) {
      const rig = new JudgeRig({ redact: (text) => text.replaceAll('too short', '***') }).open('ocpp2.0.1');
      rig.call(action, payload);
      const { broken, cases } = rig.row('password_short');
      expect(broken, action).to.equal(1);
      expect(JSON.stringify(cases)).not.to.include('too short');
    }
  });

  it('three profiles in a row to usual currents in W look like amperes; each other power begins anew', () => {
    const looksOff = (limits: readonly (number | readonly number[])[], options = {}) => {
      const rig = new JudgeRig(options).open('ocpp2.0.1');
      for (const limit of limits)
        rig.call('SetChargingProfile', profile2(schedule('W', ...[limit].flat().map((each, i) => [i, each] as const))));
      return rig.row('limit_unit_phases').cases[0]?.text ?? null;
    };
    const text = (limit: number) => `SetChargingProfile: 3 profiles in a row limit to ${limit} W or the like`;
    expect(looksOff([16, 32, 6])).to.equal(text(6));
    expect(looksOff([16, 0, 32, [0, 13]])).to.equal(text(13));
    expect(looksOff([10, 20, 50])).to.equal(null);
    expect(looksOff([16, 32])).to.equal(null);
    expect(looksOff([16, 32, [16, 1000], 16, 16])).to.equal(null);
    expect(looksOff([16, 32, 6], { rating: null })).to.equal(null);
  });

  it('limits are not judged where direct current is among the connectors', () => {
    const rig = new JudgeRig({ rating: null }).open();
    rig.call('SetChargingProfile', profile2(schedule('A', [0, 3], [60, 11_000])));
    for (const rule of ['limit_below_minimum', 'limit_unit_phases'] as const)
      expect(rig.row(rule).state).to.equal('not_exercised');
  });
});
