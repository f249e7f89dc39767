import { expect } from 'chai';
import type { OcppConfiguration } from '../../../../src/contract/ocpp.ts';
import { SimError } from '../../../../src/core/errors.ts';
import { createVariableView } from '../../../../src/ocpp/v201/variables/handlers.ts';
import { storeRig } from './store-rig.ts';

function made() {
  const at = storeRig();
  return { ...at, view: createVariableView(at.parts, at.variables, {}) };
}

function entries(configuration: OcppConfiguration) {
  return configuration.kind === 'variables' ? configuration.variables : [];
}

const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return error instanceof SimError ? error.code : String(error);
  }
  return 'done';
};

describe('OCPP 2.x configuration over REST', () => {
  it('shows variables with their place, and no secret', () => {
    const { view, variables } = made();
    variables.set('SecurityCtrlr', 'BasicAuthPassword', 'a-password-of-24-letters');
    expect(entries(view.configuration())).to.have.lengthOf([...variables.each()].length);
    expect(entries(view.configuration('ocppcommctrlr.messagetimeout'))).to.deep.equal([
      {
        component: 'OCPPCommCtrlr',
        variable: 'MessageTimeout',
        attribute: 'Actual',
        value: '30',
        mutability: 'ReadOnly',
        evseId: null,
        connectorId: null,
        instance: 'Default',
        rebootRequired: false,
      },
    ]);
    expect(
      entries(view.configuration('Connector.ConnectorType')).map((each) => [each.evseId, each.connectorId]),
    ).to.deep.equal([
      [1, 1],
      [2, 1],
    ]);
    expect(entries(view.configuration('SecurityCtrlr.BasicAuthPassword'))[0]?.value).to.equal(null);
    expect(JSON.stringify(view.configuration())).not.to.include('a-password-of-24-letters');
    expect(code(() => view.configuration('Nothing'))).to.equal('UNKNOWN_RESOURCE');
  });

  it('changes without the rights of the central system what is set', () => {
    const { view, variables, clock } = made();
    const change = { component: 'DeviceDataCtrlr', name: 'ItemsPerMessage', instance: 'GetVariables', value: '5' };
    expect(entries(view.setConfiguration(change))[0]?.value).to.equal('5');
    expect(variables.integer('DeviceDataCtrlr', 'ItemsPerMessage[GetVariables]')).to.equal(5);
    expect(variables.text('OCPPCommCtrlr', 'ExternalConfigChangeDate')).to.equal(new Date(clock.nowMs()).toISOString());
    const priority = { component: 'OCPPCommCtrlr', name: 'NetworkConfigurationPriority', value: '1' };
    expect(entries(view.setConfiguration(priority))[0]).to.deep.include({ value: '1', rebootRequired: true });
    expect(variables.text('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.equal('0');
  });

  it('refuses what there is not, does not fit, or is measured', () => {
    const { view, variables } = made();
    const set = (component: string, name: string, value: string, more = {}) =>
      code(() => view.setConfiguration({ component, name, value, ...more }));
    expect(set('Nothing', 'Enabled', 'true')).to.equal('UNKNOWN_RESOURCE');
    expect(set('EVSE', 'Power', '5')).to.equal('UNKNOWN_RESOURCE');
    expect(set('OCPPCommCtrlr', 'HeartbeatInterval', 'soon')).to.equal('COMMAND_BAD_VALUE');
    expect(set('OCPPCommCtrlr', 'HeartbeatInterval', '60', { attribute: 'Target' })).to.equal('COMMAND_BAD_VALUE');
    variables.provide('EVSE', 'Power', () => '7');
    expect(set('EVSE', 'Power', '5', { evseId: 1 })).to.equal('COMMAND_BAD_VALUE');
    expect(set('OCPPCommCtrlr', 'HeartbeatInterval', '60')).to.equal('done');
  });

  it('connects anew after a change of the password', () => {
    const { view, connection } = made();
    view.setConfiguration({ component: 'SecurityCtrlr', name: 'BasicAuthPassword', value: 'a-password-of-24-letters' });
    expect(connection.done).to.deep.equal(['reconnect']);
  });
});
