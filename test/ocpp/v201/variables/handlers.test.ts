import { expect } from 'chai';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import { createVariableEffects } from '../../../../src/ocpp/v201/variables/effects.ts';
import { createVariableHandlers, localOffsetMs } from '../../../../src/ocpp/v201/variables/handlers.ts';
import { fakeNetwork, storeRig, written } from './store-rig.ts';
import type { StoreRig } from './store-rig.ts';

const comm = (variable: string, instance?: string) => ({
  component: { name: 'OCPPCommCtrlr' },
  variable: { name: variable, ...(instance !== undefined && { instance }) },
});

function made(options: Parameters<typeof storeRig>[0] = {}, checks = {}) {
  const at = storeRig(options);
  const network = fakeNetwork();
  const effects = createVariableEffects({ ...at.parts, network, autoAuthorize: false });
  const part = createVariableHandlers(at.parts, { store: at.variables, checks });
  effects.apply();
  at.connection.done.length = network.done.length = at.device.commands.length = 0;
  return { ...at, network, effects, part };
}

async function setOne(
  { ask, part }: Pick<StoreRig, 'ask'> & { readonly part: ReturnType<typeof createVariableHandlers> },
  data: { readonly component: object; readonly variable: object },
  attributeValue: string,
) {
  const { setVariableResult } = await ask(part, 'SetVariables', {
    setVariableData: [{ ...data, attributeValue } as never],
  });
  const [result] = setVariableResult;
  return [result?.attributeStatus, result?.attributeStatusInfo?.reasonCode];
}

describe('OCPP 2.x B06 GetVariables', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`answers each item by itself, in the order of the request (${version})`, async () => {
      const { ask, part } = made({ version });
      const { getVariableResult } = await ask(part, 'GetVariables', {
        getVariableData: [
          comm('heartbeatinterval'),
          { ...comm('MessageTimeout', 'Default'), attributeType: 'Actual' },
          { ...comm('HeartbeatInterval'), attributeType: 'Target' },
          comm('MessageTimeout', 'Other'),
          { component: { name: 'NoCtrlr' }, variable: { name: 'Enabled' } },
          { component: { name: 'EVSE', evse: { id: 3 } }, variable: { name: 'Power' } },
          { component: { name: 'Connector', evse: { id: 2, connectorId: 1 } }, variable: { name: 'SupplyPhases' } },
          { component: { name: 'SecurityCtrlr' }, variable: { name: 'BasicAuthPassword' } },
        ],
      });
      expect(
        getVariableResult.map(({ attributeStatus, attributeValue }) => [attributeStatus, attributeValue]),
      ).to.deep.equal([
        ['Accepted', '300'],
        ['Accepted', '30'],
        ['NotSupportedAttributeType', undefined],
        ['UnknownVariable', undefined],
        ['UnknownComponent', undefined],
        ['UnknownComponent', undefined],
        ['Accepted', '0'],
        ['Rejected', undefined],
      ]);
      expect(getVariableResult[0]?.variable).to.deep.equal({ name: 'heartbeatinterval' });
      expect(getVariableResult[7]?.attributeStatusInfo?.reasonCode).to.equal('WriteOnly');
    });

  it('refuses more items or octets than DeviceDataCtrlr says, with a finding', async () => {
    const { ask, part, findings } = made();
    const many = Array.from({ length: 101 }, () => comm('HeartbeatInterval'));
    const error = await ask(part, 'GetVariables', { getVariableData: many }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CallError).with.property('code', 'OccurrenceConstraintViolation');
    expect(findings[0]?.[0]).to.equal('OCPP 2.1 B06.FR.16');
    const long = { component: { name: 'OCPPCommCtrlr', customData: { vendorId: 'x', text: 'y'.repeat(70_000) } } };
    const tooLong = await ask(part, 'GetVariables', {
      getVariableData: [{ ...long, variable: { name: 'HeartbeatInterval' } }],
    }).catch((thrown: unknown) => thrown);
    expect(tooLong).to.be.instanceOf(CallError).with.property('code', 'FormatViolation');
  });
});

describe('OCPP 2.x B05 SetVariables', () => {
  it('sets each item by itself, and keeps it', async () => {
    const at = made();
    const { setVariableResult } = await at.ask(at.part, 'SetVariables', {
      setVariableData: [
        { ...comm('HeartbeatInterval'), attributeValue: '120' },
        { ...comm('MessageTimeout', 'Default'), attributeValue: '5' },
        { ...comm('OfflineThreshold'), attributeValue: '-1' },
        { ...comm('OfflineThreshold'), attributeValue: '30', attributeType: 'MinSet' },
        { ...comm('Nothing'), attributeValue: '30' },
        { component: { name: 'Nothing' }, variable: { name: 'Nothing' }, attributeValue: '30' },
      ],
    });
    expect(setVariableResult.map((each) => [each.attributeStatus, each.attributeStatusInfo?.reasonCode])).to.deep.equal(
      [
        ['Accepted', undefined],
        ['Rejected', 'ReadOnly'],
        ['Rejected', 'InvalidValue'],
        ['NotSupportedAttributeType', undefined],
        ['UnknownVariable', undefined],
        ['UnknownComponent', undefined],
      ],
    );
    expect(at.variables.integer('OCPPCommCtrlr', 'HeartbeatInterval')).to.equal(120);
    expect(at.variables.integer('OCPPCommCtrlr', 'OfflineThreshold')).to.equal(60);
    await written();
    expect(await at.store.slot('variables').read()).to.deep.equal([['OCPPCommCtrlr', 'HeartbeatInterval', 0, '120']]);
  });

  it('answers RebootRequired, shows the new value, and uses it after the restart', async () => {
    const at = made();
    expect(await setOne(at, comm('NetworkConfigurationPriority'), '1,0')).to.deep.equal(['RebootRequired', undefined]);
    const { getVariableResult } = await at.ask(at.part, 'GetVariables', {
      getVariableData: [comm('NetworkConfigurationPriority')],
    });
    expect(getVariableResult[0]?.attributeValue).to.equal('1,0');
    expect(at.variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.deep.equal(['0']);
    at.variables.restarted();
    expect(at.variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.deep.equal(['1', '0']);
  });

  it('asks the checks of other parts', async () => {
    const at = made(
      {},
      {
        'OCPPCommCtrlr.ResetRetries': (value: string) =>
          value === '7' ? { reasonCode: 'InvalidValue', additionalInfo: 'not seven' } : null,
      },
    );
    expect(await setOne(at, comm('ResetRetries'), '7')).to.deep.equal(['Rejected', 'InvalidValue']);
    expect(await setOne(at, comm('ResetRetries'), '8')).to.deep.equal(['Accepted', undefined]);
  });

  it('takes an offset from UTC as the local time of a station of 2.1', async () => {
    const at = made();
    const offset = { component: { name: 'ClockCtrlr' }, variable: { name: 'TimeOffset' } };
    for (const text of ['+1:00', '+15:00', '01:00Z', ''])
      expect(await setOne(at, offset, text), text).to.deep.equal(['Rejected', 'InvalidValue']);
    expect(await setOne(at, offset, '-03:30')).to.deep.equal(['Accepted', undefined]);
    expect(localOffsetMs(at.variables)).to.equal(-12_600_000);
  });

  it('notes an attribute that stands twice (B05.FR.13)', async () => {
    const { ask, part, findings } = made({ version: 'ocpp2.0.1' });
    const twice = { ...comm('HeartbeatInterval'), attributeValue: '60' };
    await ask(part, 'SetVariables', { setVariableData: [twice, { ...twice, attributeType: 'Actual' }] });
    expect(findings.map(([clause]) => clause)).to.deep.equal(['OCPP 2.0.1 B05.FR.13']);
  });

  it('takes a password of 16 to 40 characters, and connects anew with it after the answer (A01)', async () => {
    const at = made();
    const password = { component: { name: 'SecurityCtrlr' }, variable: { name: 'BasicAuthPassword' } };
    expect(await setOne(at, password, 'short')).to.deep.equal(['Rejected', 'InvalidValue']);
    expect(await setOne(at, password, 'not printable \u00e4\u00e4\u00e4')).to.deep.equal(['Rejected', 'InvalidValue']);
    expect(at.connection.done).to.deep.equal([]);
    expect(await setOne(at, password, 'a-password-of-24-letters')).to.deep.equal(['Accepted', undefined]);
    const hex = Buffer.from('a-password-of-24-letters').toString('hex');
    expect(at.connection.done).to.deep.equal([`password of 24 octets: ${hex}`, 'reconnect']);
    // the station returns to the former one
    at.connection.password = Buffer.from('the-former-password');
    expect(await setOne(at, password, 'a-password-of-24-letters')).to.deep.equal(['Accepted', undefined]);
    expect(at.connection.done.slice(2)).to.deep.equal([`password of 24 octets: ${hex}`, 'reconnect']);
    await written();
    expect(JSON.stringify(await at.store.slot('variables').read())).not.to.contain('letters');
  });

  it('moves pings, waits between attempts, and the behaviour of the device', async () => {
    const at = made();
    await setOne(at, comm('WebSocketPingInterval'), '0');
    await setOne(at, comm('RetryBackOffWaitMinimum'), '7');
    await setOne(at, comm('RetryBackOffRepeatTimes'), '2');
    await setOne(at, comm('UnlockOnEVSideDisconnect'), 'FALSE');
    at.variables.set('OCPPCommCtrlr', 'MessageTimeout[Default]', '5');
    expect(at.connection.done).to.deep.equal(['ping 0']);
    expect(at.network.done).to.deep.equal([
      'back-off 7000+1000 ms, 8 doublings',
      'back-off 7000+1000 ms, 2 doublings',
      'time-out 5 s',
    ]);
    expect(at.device.commands).to.deep.equal([
      {
        kind: 'evse.behaviour',
        connectionTimeoutS: 60,
        authorizationTimeoutS: null,
        endOnEvDisconnect: true,
        unlockOnEvDisconnect: false,
        autoAuthorize: false,
      },
    ]);
    at.effects.stop();
    await setOne(at, comm('WebSocketPingInterval'), '10');
    expect(at.connection.done).to.have.lengthOf(1);
  });

  it('shows the time of the central system in ClockCtrlr.DateTime', () => {
    const { variables, clock } = made();
    expect(variables.text('ClockCtrlr', 'DateTime')).to.equal(new Date(clock.nowMs()).toISOString());
  });
});
