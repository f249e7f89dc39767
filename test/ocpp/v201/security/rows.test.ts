import { expect } from 'chai';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import { securityRows } from '../../../../src/ocpp/v201/variables/rows/controllers.ts';
import type { VariableFacts } from '../../../../src/ocpp/v201/variables/model.ts';
import { createVariables } from '../../../../src/ocpp/v201/variables/variables.ts';

function variablesOf(type: 'ac' | 'dc', bidirectional = false) {
  const rating = {
    connectorId: 1,
    type,
    phases: 3,
    nominalVoltageV: 230,
    maxPowerW: 22_000,
    maxCurrentA: 32,
    bidirectional,
    supplyPhases: [1, 2, 3],
    attachedCable: false,
  } as const;
  const facts: VariableFacts = {
    version: 'ocpp2.0.1',
    nameplate: { vendor: 'V'.repeat(80), model: 'Model', serialNumber: null, firmwareVersion: '1.0' },
    evseIds: [1],
    ratings: [rating],
    stationRating: { ...rating, connectorId: 0 },
    securityProfile: 2,
  };
  return createVariables({
    facts,
    rows: securityRows,
    slot: createMemoryStore().slot('variables'),
    shared: createMemoryStore().slot('network-variables'),
    log: silentLogger,
  });
}

describe('OCPP 2.x variables of security', () => {
  it('what the standard requires of SecurityCtrlr, with values of the station', () => {
    const variables = variablesOf('ac');
    expect(variables.text('SecurityCtrlr', 'SecurityProfile')).to.equal('2');
    expect(variables.text('SecurityCtrlr', 'CertificateEntries')).to.equal('0');
    expect(variables.text('SecurityCtrlr', 'OrganizationName')).to.equal('V'.repeat(64));
    expect(variables.boolean('ChargingStation', 'AllowNewSessionsPendingFirmwareUpdate')).to.equal(false);
  });

  it('certificates for vehicles only where a connector speaks ISO 15118', () => {
    const enabled = ['ISO15118Ctrlr', 'V2GCertificateInstallationEnabled'] as const;
    expect(variablesOf('ac').has(...enabled)).to.equal(false);
    for (const variables of [variablesOf('dc'), variablesOf('ac', true)]) {
      expect(variables.boolean(...enabled)).to.equal(true);
      expect(variables.text('ISO15118Ctrlr', 'SeccId')).to.equal('Model');
      // no vehicle of the simulator has a contract certificate
      expect(variables.boolean('ISO15118Ctrlr', 'ContractCertificateInstallationEnabled')).to.equal(false);
    }
  });
});
