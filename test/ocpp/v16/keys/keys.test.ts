import { silentLogger } from '../../../../src/core/log/log.ts';
import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/core/store.ts';
import type { Slot } from '../../../../src/core/store.ts';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import { createKeys } from '../../../../src/ocpp/v16/keys/keys.ts';
import type { KeySet } from '../../../../src/ocpp/v16/keys/keys.ts';
import { keyTable, normalValue } from '../../../../src/ocpp/v16/keys/table.ts';
import { SimError } from '../../../../src/core/errors.ts';

const facts = {
  connectorIds: [1, 2],
  securityProfile: 1,
  threePhase: true,
  fileTransferProtocols: ['HTTP', 'HTTPS'],
} as const;

function keysOn(slot: Slot = createMemoryStore().slot('keys')): KeySet {
  return createKeys({
    facts,
    log: silentLogger,
    slot,
    failed: (error) => {
      throw error;
    },
    checks: { SecurityProfile: (value) => Number(value) > 1 },
  });
}

/** OCPP 1.6 chapter 9, and chapter 2 of the white paper */
const standard = {
  Core: `AllowOfflineTxForUnknownId AuthorizationCacheEnabled AuthorizeRemoteTxRequests BlinkRepeat
    ClockAlignedDataInterval ConnectionTimeOut ConnectorPhaseRotation ConnectorPhaseRotationMaxLength
    GetConfigurationMaxKeys HeartbeatInterval LightIntensity LocalAuthorizeOffline LocalPreAuthorize
    MaxEnergyOnInvalidId MeterValuesAlignedData MeterValuesAlignedDataMaxLength MeterValuesSampledData
    MeterValuesSampledDataMaxLength MeterValueSampleInterval MinimumStatusDuration NumberOfConnectors ResetRetries
    StopTransactionOnEVSideDisconnect StopTransactionOnInvalidId StopTxnAlignedData StopTxnAlignedDataMaxLength
    StopTxnSampledData StopTxnSampledDataMaxLength SupportedFeatureProfiles SupportedFeatureProfilesMaxLength
    TransactionMessageAttempts TransactionMessageRetryInterval UnlockConnectorOnEVSideDisconnect
    WebSocketPingInterval`,
  others: `LocalAuthListEnabled LocalAuthListMaxLength SendLocalListMaxLength ReserveConnectorZeroSupported
    ChargeProfileMaxStackLevel ChargingScheduleAllowedChargingRateUnit ChargingScheduleMaxPeriods
    ConnectorSwitch3to1PhaseSupported MaxChargingProfilesInstalled AuthorizationKey CertificateSignedMaxChainSize
    CertificateStoreMaxLength CpoName SecurityProfile AdditionalRootCertificateCheck SupportedFileTransferProtocols`,
};

describe('OCPP 1.6 configuration keys (chapter 9, white paper chapter 2)', () => {
  it('has every standard key once, with a default that its own kind allows', () => {
    const names = `${standard.Core} ${standard.others}`.split(/\s+/).sort();
    expect(keyTable.map(({ name }) => name).sort()).to.deep.equal(names);
    for (const { name, kind, initial, effect } of keyTable) {
      const value = typeof initial === 'string' ? initial : initial(facts);
      if (name !== 'AuthorizationKey') expect(normalValue(kind, value), name).to.equal(value);
      expect(effect, name).to.match(/\w/);
    }
  });

  it('9.1: keys that the standard makes read-only, and no other', () => {
    const readOnly = keyTable.filter(({ access }) => access === 'R').map(({ name }) => name);
    for (const name of readOnly)
      expect(name).to.match(
        /MaxLength$|^Number|^Supported|MaxKeys$|Supported$|MaxStackLevel|RateUnit|MaxPeriods|Installed|Check$|ChainSize/,
      );
    expect(readOnly).to.have.lengthOf(21);
  });

  it('5.8 GetConfiguration: all keys without a list, unknown ones by name, write-only ones without a value', () => {
    const keys = keysOn();
    const all = keys.get({});
    expect(all.unknownKey).to.equal(undefined);
    expect(all.configurationKey).to.have.lengthOf(keyTable.length);
    expect(all.configurationKey?.find(({ key }) => key === 'AuthorizationKey')).to.deep.equal({
      key: 'AuthorizationKey',
      readonly: false,
    });
    expect(keys.get({ key: ['numberofconnectors', 'Nope', 'NumberOfConnectors'] })).to.deep.equal({
      configurationKey: [{ key: 'NumberOfConnectors', readonly: true, value: '2' }],
      unknownKey: ['Nope'],
    });
    expect(keys.get({ key: ['Nope'] })).to.deep.equal({ unknownKey: ['Nope'] });
    expect(keys.get({ key: [] })).to.deep.equal(all);
  });

  it('9.1 refuses a GetConfiguration of more keys than GetConfigurationMaxKeys', () => {
    const key = Array.from({ length: 101 }, (_, n) => `K${n}`);
    expect(() => keysOn().get({ key }))
      .to.throw(CallError)
      .with.property('code', 'OccurenceConstraintViolation');
  });

  const changes: readonly (readonly [key: string, value: string, status: string, kept?: string])[] = [
    ['Nope', '1', 'NotSupported'],
    ['NumberOfConnectors', '3', 'Rejected'],
    ['heartbeatinterval', '60', 'Accepted', '60'],
    ['HeartbeatInterval', '-1', 'Rejected'],
    ['HeartbeatInterval', '1.5', 'Rejected'],
    ['HeartbeatInterval', '', 'Rejected'],
    ['HeartbeatInterval', '99999999999', 'Rejected'],
    ['WebSocketPingInterval', '-5', 'Rejected'],
    ['WebSocketPingInterval', '0', 'Accepted', '0'],
    ['LocalPreAuthorize', 'TRUE', 'Accepted', 'true'],
    ['LocalPreAuthorize', 'yes', 'Rejected'],
    ['MeterValuesSampledData', 'SoC, Voltage.L1,Frequency', 'Accepted', 'SoC,Voltage.L1,Frequency'],
    ['MeterValuesSampledData', '', 'Accepted', ''],
    ['MeterValuesSampledData', 'SoC,Nonsense', 'Rejected'],
    ['MeterValuesSampledData', 'SoC,,Voltage', 'Rejected'],
    ['MeterValuesSampledData', 'SoC,SoC', 'Rejected'],
    ['MeterValuesSampledData', 'Temperature', 'Rejected'],
    ['MeterValuesSampledData', 'SoC.L1', 'Rejected'],
    ['ConnectorPhaseRotation', '0.RST,1.TSR', 'RebootRequired', '0.RST,1.TSR'],
    ['ConnectorPhaseRotation', '0.RST,1.RST,2.RST,3.RST', 'Rejected'],
    ['ConnectorPhaseRotation', '1.ABC', 'Rejected'],
    ['AuthorizationKey', 'ab'.repeat(16), 'Accepted'],
    ['AuthorizationKey', 'ab'.repeat(15), 'Rejected'],
    ['AuthorizationKey', 'ab'.repeat(21), 'Rejected'],
    ['AuthorizationKey', 'zz'.repeat(16), 'Rejected'],
    ['SecurityProfile', '2', 'Accepted', '2'],
    ['SecurityProfile', '1', 'Rejected'],
    ['SecurityProfile', '4', 'Rejected'],
    ['TransactionMessageAttempts', '0', 'Rejected'],
  ];
  for (const [key, value, status, kept] of changes)
    it(`5.3 ChangeConfiguration ${key}=${value.slice(0, 30)}: ${status}`, () => {
      const keys = keysOn();
      const before = keys.get({});
      expect(keys.change({ key, value })).to.deep.equal({ status });
      if (kept !== undefined) expect(keys.get({ key: [key] }).configurationKey?.[0]?.value).to.equal(kept);
      if (status === 'Rejected' || status === 'NotSupported') expect(keys.get({})).to.deep.equal(before);
    });

  it('tells listeners a change once, none that changes nothing, and none after they have ended', () => {
    const keys = keysOn();
    const heard: string[] = [];
    const end = keys.onChange('HeartbeatInterval', (value) => heard.push(value));
    keys.change({ key: 'HeartbeatInterval', value: '60' });
    keys.change({ key: 'HeartbeatInterval', value: '060' });
    keys.set('HeartbeatInterval', '70');
    keys.setLocal('HeartbeatInterval', '80');
    end();
    keys.set('HeartbeatInterval', '90');
    expect(heard).to.deep.equal(['60', '70', '80']);
    expect(keys.integer('HeartbeatInterval')).to.equal(90);
  });

  it('RebootRequired: shown at once, in force after the restart', () => {
    const keys = keysOn();
    keys.change({ key: 'ConnectorPhaseRotation', value: '1.TSR' });
    expect(keys.list('ConnectorPhaseRotation')).to.deep.equal(['0.RST', '1.RST', '2.RST']);
    expect(keys.get({ key: ['ConnectorPhaseRotation'] }).configurationKey?.[0]?.value).to.equal('1.TSR');
    keys.restarted();
    expect(keys.list('ConnectorPhaseRotation')).to.deep.equal(['1.TSR']);
  });

  it('changed values survive a restart, also those that waited for it', async () => {
    const slot = createMemoryStore().slot('keys');
    const before = keysOn(slot);
    before.change({ key: 'HeartbeatInterval', value: '17' });
    before.change({ key: 'ConnectorPhaseRotation', value: '1.TSR' });
    before.set('SecurityProfile', '3');
    const after = keysOn(slot);
    await after.load();
    expect(after.integer('HeartbeatInterval')).to.equal(17);
    expect(after.text('ConnectorPhaseRotation')).to.equal('1.TSR');
    expect(after.integer('SecurityProfile')).to.equal(3);
    expect(after.boolean('StopTransactionOnInvalidId')).to.equal(true);
  });

  it('a local change has no rights to keep to, but a kind; secrets are never shown', () => {
    const keys = keysOn();
    keys.setLocal('SupportedFeatureProfiles', 'Core');
    expect(keys.list('SupportedFeatureProfiles')).to.deep.equal(['Core']);
    const secret = 'AB'.repeat(18);
    keys.setLocal('AuthorizationKey', secret);
    expect(JSON.stringify([keys.view(), keys.get({})])).not.to.contain(secret);
    expect(keys.view('authorizationkey')).to.deep.equal({
      kind: 'keys',
      keys: [{ key: 'AuthorizationKey', value: null, readonly: false, rebootRequired: false }],
    });
    expect(() => {
      keys.setLocal('AuthorizationKey', 'S3CR3T');
    })
      .to.throw(SimError)
      .with.property('message')
      .that.does.not.contain('S3CR3T');
    expect(() => keys.view('Nope'))
      .to.throw(SimError)
      .with.property('code', 'UNKNOWN_RESOURCE');
  });
});
