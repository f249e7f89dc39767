/** Stepped on the simulated clock with one seed and one script of the central system, two runs of 2.1 agree to the byte. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { request } from '../v201/der/rig.ts';
import { id, Site } from './site.ts';

interface Run {
  /** every register of both stations, at several instants */
  readonly dumps: readonly string[];
  /** every call of the stations, without message ids */
  readonly calls: readonly string[];
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Ids of transactions are unique over all runs: each becomes the number of its first place. */
function numbered(texts: readonly string[]): readonly string[] {
  const known = new Map<string, number>();
  const numberOf = (text: string): string => {
    const number = known.get(text) ?? known.size;
    known.set(text, number);
    return `#${number}`;
  };
  return texts.map((text) => text.replaceAll(uuid, numberOf));
}

const profile = (profileId: number, more: Json, chargingRateUnit: string, ...limits: readonly number[]): Json => ({
  id: profileId,
  stackLevel: 1,
  chargingProfilePurpose: 'TxDefaultProfile',
  chargingProfileKind: 'Relative',
  ...more,
  chargingSchedule: [
    {
      id: 1,
      chargingRateUnit,
      randomizedDelay: 9,
      chargingSchedulePeriod: limits.map((limit, n) => ({ startPeriod: n * 20, limit })),
    },
  ],
});

async function run(): Promise<Run> {
  const statusOf = ({ idToken }: Json) => ({
    idTokenInfo: { status: idToken.idToken === 'B' ? 'Blocked' : 'Accepted' },
  });
  const site = await Site.open({
    flags: ['--ocpp_version', 'ocpp2.1', '--seed', '7'],
    central: { subprotocols: ['ocpp2.1'], answers: { Authorize: statusOf } },
  });
  try {
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    const { plant } = site.app;
    const dumps: string[] = [];
    const dump = () => {
      for (const { bank } of plant.devices) dumps.push(bank.read(bank.layout.base, bank.layout.size).toString('hex'));
    };
    await site.until('both are connected', () => site.peers === 2);
    const v2g = site.central.station(`${id}-1`);
    const set = (component: string, variable: string, attributeValue: string) => ({
      component: { name: component },
      variable: { name: variable },
      attributeValue,
    });
    await site.call('SetVariables', {
      setVariableData: [
        set('SampledDataCtrlr', 'TxUpdatedInterval', '7'),
        set('AlignedDataCtrlr', 'Interval', '30'),
        set('OCPPCommCtrlr', 'RetryBackOffRandomRange', '5'),
        set('AuthCtrlr', 'OfflineTxForUnknownIdEnabled', 'true'),
      ],
    });
    for (const device of [0, 1]) {
      site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 60 } }, device);
      site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'A' }, device);
    }
    await site.advance(33.3);
    dump();
    await site.call('SetChargingProfile', { evseId: 0, chargingProfile: profile(1, {}, 'A', 16, 10, 6.5, 12) });
    await site.call('SetDERControl', request('D1', 'FixedVar', { duration: 20 }) as Json, v2g);
    await site.call('SetDERControl', request('D2', 'VoltVar', { isDefault: true }) as Json, v2g);
    await site.advance(40, 0.7);
    dump();
    site.station.cut();
    site.do({ kind: 'evse.stop', connectorId: 1 });
    await site.advance(25);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'B' });
    await site.until('both are connected again', () => site.peers === 2, 200);
    const idToken = { idToken: 'C', type: 'Central' };
    await site.call('RequestStartTransaction', { evseId: 1, idToken, remoteStartId: 5 });
    await site.advance(15);
    dump();
    await site.call('Reset', { type: 'Immediate' });
    await site.advance(20);
    await site.post('evse/session-generator', { seed: 3, rate_per_hour: 60 });
    await site.advance(60, 5);
    dump();
    const calls = [id, `${id}-1`].flatMap((name) =>
      site.central.station(name).calls.map(({ action, payload }) => `${name} ${action} ${JSON.stringify(payload)}`),
    );
    return { dumps, calls: numbered(calls) };
  } finally {
    await site.close();
  }
}

describe('charging stations of OCPP 2.1 at a central system: determinism', () => {
  it('registers and calls of two stepped runs are identical', async () => {
    const [one, other] = [await run(), await run()];
    expect(one.calls.length).to.be.greaterThan(40);
    expect(new Set(one.dumps).size).to.equal(one.dumps.length);
    expect(other.dumps).to.deep.equal(one.dumps);
    expect(other.calls).to.deep.equal(one.calls);
  }).timeout(60_000);
});
