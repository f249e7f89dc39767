/** What the answer to Authorize allows the vehicle of a transaction. */
import { expect } from 'chai';
import type { EnergyTransferModeEnum } from '../../../../src/ocpp/v201/messages.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { chargingRig, profile, watts } from '../charging/rig.ts';

const vehicle = { socPct: 60, maxChargeW: 60_000 };
const asked = ({ of }: ReturnType<typeof chargingRig>) =>
  (of('NotifyEVChargingNeeds') as unknown as readonly Requests['NotifyEVChargingNeeds'][]).map(
    ({ chargingNeeds }) => chargingNeeds.requestedEnergyTransfer,
  );
const answer = (...allowedEnergyTransfer: readonly EnergyTransferModeEnum[]) => ({
  idTokenInfo: { status: 'Accepted' as const },
  ...(allowedEnergyTransfer.length > 0 && { allowedEnergyTransfer }),
});

describe('OCPP 2.1: energy transfers of the answer to Authorize (Q01)', () => {
  it('before the vehicle: its needs and its power keep to them, for one transaction', async () => {
    const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
    const { v2x, plug, set, rig, kw } = station;
    v2x.authorized(1, answer('DC'));
    await plug(1, vehicle);
    expect(asked(station)).to.deep.equal(['DC']);
    await set(profile({ schedule: watts({ operationMode: 'CentralSetpoint', setpoint: -20_000 }) }));
    await rig.run(60);
    expect(kw()).to.equal(0);
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    await plug(1, vehicle);
    expect(asked(station)).to.deep.equal(['DC', 'DC_BPT']);
    await rig.run(60);
    expect(kw()).to.equal(-20);
  });

  it('an answer without them, a refused token, and one at a transaction that has its token restrict nothing', async () => {
    for (const last of [answer(), { ...answer('DC'), idTokenInfo: { status: 'Blocked' as const } }]) {
      const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
      station.v2x.authorized(1, answer('DC'));
      station.v2x.authorized(1, last);
      await station.plug(1, vehicle);
      station.v2x.authorized(1, answer('DC'));
      expect(asked(station)).to.deep.equal(['DC_BPT']);
    }
  });

  it('a transaction that began with the cable tells its needs again', async () => {
    const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
    await station.plug(1, vehicle);
    const [begun] = station.running;
    if (begun === undefined) throw new Error('no transaction');
    station.running[0] = { ...begun, idToken: null };
    station.v2x.authorized(1, answer('DC'));
    expect(asked(station)).to.deep.equal(['DC_BPT', 'DC']);
  });
});
