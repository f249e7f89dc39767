import { expect } from 'chai';
import { SimError } from '../../../../src/core/errors.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import type { ConnectorRating } from '../../../../src/ocpp/station/port.ts';
import type { VariableFacts, VariableRow } from '../../../../src/ocpp/v201/variables/model.ts';
import { variableRows } from '../../../../src/ocpp/v201/variables/table.ts';
import { createVariables } from '../../../../src/ocpp/v201/variables/variables.ts';
import { rig } from '../rig.ts';

const rows: readonly VariableRow[] = [
  { component: 'TxCtrlr', variable: 'EVConnectionTimeOut', type: 'integer', mutability: 'ReadWrite', initial: '60' },
  {
    component: 'OCPPCommCtrlr',
    variable: 'MessageTimeout[Default]',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '30',
    min: 1,
    max: 600,
  },
  {
    component: 'TxCtrlr',
    variable: 'TxStartPoint',
    type: 'MemberList',
    mutability: 'ReadWrite',
    initial: 'Authorized',
    values: ['Authorized', 'EVConnected'],
    reboot: true,
  },
  {
    component: 'EVSE',
    tier: 'evse',
    variable: 'Power',
    type: 'decimal',
    mutability: 'ReadOnly',
    initial: '0',
    unit: 'W',
  },
  {
    component: 'Connector',
    tier: 'connector',
    variable: 'Available',
    type: 'boolean',
    mutability: 'ReadWrite',
    initial: 'true',
  },
  {
    component: 'EVSE',
    tier: 'evse',
    variable: 'Second',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: (_, { evseId }) => (evseId === 2 ? 'true' : null),
  },
  {
    component: 'DCDERCtrlr',
    tier: 'evse',
    variable: 'MaxW',
    type: 'decimal',
    mutability: 'ReadOnly',
    initial: '1',
    since: 'ocpp2.1',
  },
];

function ratingOf(connectorId: number, type: 'ac' | 'dc'): ConnectorRating {
  return {
    connectorId,
    type,
    phases: 3,
    nominalVoltageV: 230,
    maxPowerW: 22_000,
    maxCurrentA: 32,
    bidirectional: connectorId === 2,
    supplyPhases: [1, 2, 3],
    attachedCable: false,
  };
}

function factsOf(version: VariableFacts['version'] = 'ocpp2.0.1'): VariableFacts {
  const { nameplate } = rig({ version }).device.port;
  const ratings = [ratingOf(1, 'ac'), ratingOf(2, 'dc')];
  return { version, nameplate, ratings, stationRating: ratingOf(0, 'ac'), evseIds: [1, 2], securityProfile: 1 };
}

function make(store = createMemoryStore(), version?: VariableFacts['version']) {
  return createVariables({
    facts: factsOf(version),
    rows,
    slot: store.slot('variables'),
    shared: store.slot('network-variables'),
    log: silentLogger,
  });
}

const settled = () => new Promise((done) => setImmediate(done));

describe('OCPP 2.x variables of a station', () => {
  it('finds names in any capitals, with instances and places', () => {
    const variables = make();
    expect(variables.integer('TxCtrlr', 'EVConnectionTimeOut')).to.equal(60);
    expect(variables.integer('txctrlr', 'evconnectiontimeout')).to.equal(60);
    expect(variables.integer('OCPPCommCtrlr', 'MessageTimeout[Default]')).to.equal(30);
    expect(variables.boolean('Connector', 'Available', { evseId: 2, connectorId: 1 })).to.equal(true);
    expect(variables.has('EVSE', 'Power', { evseId: 3 })).to.equal(false);
    expect(variables.has('EVSE', 'Power')).to.equal(false);
    expect(() => variables.text('EVSE', 'Power'))
      .to.throw(SimError)
      .with.property('code', 'UNKNOWN_RESOURCE');
  });

  it('tells an unknown variable from an unknown component, for each place', () => {
    const variables = make();
    const status = (name: string, variable: string, evse?: { id: number; connectorId?: number }, instance?: string) => {
      const found = variables.lookUp({
        component: { name, ...(evse !== undefined && { evse }) },
        variable: { name: variable, ...(instance !== undefined && { instance }) },
      });
      return typeof found === 'string' ? found : found.entry.row.variable;
    };
    expect(status('OCPPCommCtrlr', 'messagetimeout', undefined, 'default')).to.equal('MessageTimeout[Default]');
    expect(status('OCPPCommCtrlr', 'MessageTimeout')).to.equal('UnknownVariable');
    expect(status('OCPPComm', 'MessageTimeout')).to.equal('UnknownComponent');
    expect(status('EVSE', 'Power', { id: 1 })).to.equal('Power');
    expect(status('EVSE', 'Power', { id: 7 })).to.equal('UnknownComponent');
    expect(status('EVSE', 'Second', { id: 1 })).to.equal('UnknownVariable');
    expect(status('EVSE', 'Second', { id: 2 })).to.equal('Second');
    expect(status('Connector', 'Available', { id: 1, connectorId: 1 })).to.equal('Available');
    expect(status('Connector', 'Available', { id: 1, connectorId: 2 })).to.equal('UnknownComponent');
    expect(status('DCDERCtrlr', 'MaxW', { id: 1 })).to.equal('UnknownComponent');
  });

  it('has variables of 2.1 only there', () => {
    expect(make(undefined, 'ocpp2.1').has('DCDERCtrlr', 'MaxW', { evseId: 1 })).to.equal(true);
    expect(make(undefined, 'ocpp2.0.1').has('DCDERCtrlr', 'MaxW', { evseId: 1 })).to.equal(false);
  });

  it('holds values to type, range and list', () => {
    const variables = make();
    const accepted = (component: string, variable: string, value: string) => {
      const found = variables.find(component, variable);
      return found === undefined ? undefined : variables.accepted(found, value);
    };
    expect(accepted('OCPPCommCtrlr', 'MessageTimeout[Default]', '600')).to.equal('600');
    expect(accepted('OCPPCommCtrlr', 'MessageTimeout[Default]', '601')).to.equal(null);
    expect(accepted('OCPPCommCtrlr', 'MessageTimeout[Default]', '1.5')).to.equal(null);
    expect(accepted('TxCtrlr', 'TxStartPoint', 'EVConnected, Authorized')).to.equal('EVConnected,Authorized');
    expect(accepted('TxCtrlr', 'TxStartPoint', 'EVConnected,,Authorized')).to.equal(null);
    expect(accepted('TxCtrlr', 'TxStartPoint', 'EVConnected,EVConnected')).to.equal(null);
    expect(accepted('TxCtrlr', 'TxStartPoint', 'Parking')).to.equal(null);
  });

  it('keeps a value for the next restart, and tells of each change in force once', () => {
    const variables = make();
    const heard: unknown[] = [];
    variables.onChange('txctrlr', 'TXSTARTPOINT', (value, place) => heard.push([value, place]));
    const found = variables.find('TxCtrlr', 'TxStartPoint');
    if (found === undefined) throw new Error('no such variable');
    variables.change(found, 'EVConnected');
    expect(variables.text('TxCtrlr', 'TxStartPoint')).to.equal('Authorized');
    expect(variables.shown(found)).to.equal('EVConnected');
    expect(heard).to.deep.equal([]);
    variables.restarted();
    variables.restarted();
    expect(variables.text('TxCtrlr', 'TxStartPoint')).to.equal('EVConnected');
    expect(heard).to.deep.equal([['EVConnected', {}]]);
  });

  it('saves what was changed, and no more', async () => {
    const store = createMemoryStore();
    const variables = make(store);
    variables.set('TxCtrlr', 'EVConnectionTimeOut', '90');
    variables.set('EVSE', 'Power', '7000', { evseId: 1 });
    variables.set('Connector', 'Available', 'false', { evseId: 2, connectorId: 1 });
    await settled();
    expect(await store.slot('variables').read()).to.deep.equal([
      ['TxCtrlr', 'EVConnectionTimeOut', 0, '90'],
      ['Connector', 'Available', 2, 'false'],
    ]);
    await store.slot('variables').append(['TxCtrlr', 'EVConnectionTimeOut', 0, 'soon'], ['Nothing', 'At', 0, 'all'], 7);
    const later = make(store);
    await later.load();
    expect(later.integer('TxCtrlr', 'EVConnectionTimeOut')).to.equal(90);
    expect(later.boolean('Connector', 'Available', { evseId: 2, connectorId: 1 })).to.equal(false);
    expect(later.boolean('Connector', 'Available', { evseId: 1, connectorId: 1 })).to.equal(true);
    expect(later.decimal('EVSE', 'Power', { evseId: 1 })).to.equal(0);
  });

  it('reads what is provided whenever it is asked', () => {
    const variables = make();
    let powerW = 1000;
    variables.provide('EVSE', 'Power', ({ evseId = 0 }) => String(powerW * evseId));
    powerW = 2000;
    expect(variables.decimal('EVSE', 'Power', { evseId: 1 })).to.equal(2000);
    expect(variables.decimal('EVSE', 'Power', { evseId: 2 })).to.equal(4000);
  });
});

describe('OCPP 2.x rows of the device model', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`have initial values that they allow themselves, once each (${version})`, () => {
      const variables = createVariables({
        facts: factsOf(version),
        rows: variableRows,
        slot: createMemoryStore().slot('variables'),
        shared: createMemoryStore().slot('network-variables'),
        log: silentLogger,
      });
      const seen = new Set<string>();
      for (const found of variables.each()) {
        const { component, variable } = found.entry.row;
        const name = `${component}.${variable} ${JSON.stringify(found.place)}`.toLowerCase();
        expect(seen.has(name), `${name} stands twice`).to.equal(false);
        seen.add(name);
        const value = variables.valueOf(found);
        if (value !== '') expect(variables.accepted(found, value), `${name} = ${value}`).to.be.a('string');
      }
    });
});
