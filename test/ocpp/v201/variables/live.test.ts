import { expect } from 'chai';
import type { MeterSample } from '../../../../src/ocpp/station/port.ts';
import { createLiveVariables } from '../../../../src/ocpp/v201/variables/effects.ts';
import { storeRig } from './store-rig.ts';

function made(version: 'ocpp2.0.1' | 'ocpp2.1' = 'ocpp2.1') {
  const at = storeRig({ version });
  const powersW = new Map([
    [0, 3000],
    [1, 7000],
    [2, -4000],
  ]);
  const device = {
    ...at.parts.device,
    get detail() {
      return at.device.port.detail;
    },
    sample: (evseId: number) => ({ powerW: powersW.get(evseId) ?? 0 }) as MeterSample,
  };
  const off = new Set<number>();
  let changed: () => void = () => undefined;
  const part = createLiveVariables(
    { ...at.parts, device },
    {
      availability: {
        get stationInoperative() {
          return off.has(0);
        },
        operative: (evseId) => !off.has(evseId) && !off.has(0),
        onChange: (listener) => {
          changed = listener;
        },
      },
      transactions: {
        running: [{ transactionId: 'T-1' }] as never,
        at: (evseId) => (evseId === 1 ? ({ transactionId: 'T-1' } as never) : null),
      },
    },
  );
  return {
    ...at,
    part,
    switchOff: (evseId: number) => {
      off.add(evseId);
      changed();
    },
  };
}

describe('OCPP 2.x physical components', () => {
  it('follow the device, and tell listeners of each change', async () => {
    const { part, variables, device } = made();
    await part.load?.();
    const heard: string[] = [];
    variables.onAnyChange(({ placedVariable: { entry, place }, value }) => {
      heard.push(`${entry.component.name}${place.evseId ?? ''}.${entry.variable.name}=${value}`);
    });
    device.change(1, { occupancy: 'occupied', session: { chargingState: 'charging' } as never });
    expect(heard).to.deep.equal([
      'EVSE1.AvailabilityState=Occupied',
      'Connector1.AvailabilityState=Occupied',
      'EVSE1.ChargingState=Charging',
    ]);
    device.change(2, { occupancy: 'faulted' });
    expect(variables.text('ChargingStation', 'AvailabilityState')).to.equal('Occupied');
    expect(variables.text('EVSE', 'AvailabilityState', { evseId: 2 })).to.equal('Faulted');
    part.stop?.();
    device.change(2, { occupancy: 'available' });
    expect(variables.text('EVSE', 'AvailabilityState', { evseId: 2 })).to.equal('Faulted');
  });

  it('are disabled where the central system has put them out of operation', async () => {
    const { part, variables, switchOff } = made();
    await part.load?.();
    switchOff(2);
    expect(variables.boolean('EVSE', 'Enabled', { evseId: 1 })).to.equal(true);
    expect(variables.boolean('EVSE', 'Enabled', { evseId: 2 })).to.equal(false);
    expect(variables.boolean('Connector', 'Enabled', { evseId: 2, connectorId: 1 })).to.equal(false);
    switchOff(0);
    expect(variables.boolean('ChargingStation', 'Enabled')).to.equal(false);
    expect(variables.text('ChargingStation', 'AvailabilityState')).to.equal('Unavailable');
  });

  it('have powers in both directions, phases, connectors and transactions', () => {
    const { variables } = made();
    expect(variables.decimal('ChargingStation', 'Power')).to.equal(3000);
    expect(variables.decimal('EVSE', 'Power', { evseId: 1 })).to.equal(7000);
    expect(variables.decimal('EVSE', 'Power', { evseId: 2 })).to.equal(0);
    expect(variables.decimal('EVSE', 'DischargePower', { evseId: 2 })).to.equal(4000);
    expect(variables.has('EVSE', 'DischargePower', { evseId: 1 })).to.equal(false);
    expect(variables.integer('EVSE', 'SupplyPhases', { evseId: 1 })).to.equal(3);
    expect(variables.integer('EVSE', 'SupplyPhases', { evseId: 2 })).to.equal(0);
    expect(variables.text('Connector', 'ConnectorType', { evseId: 1, connectorId: 1 })).to.equal('sType2');
    expect(variables.text('EVSE', 'ActiveTransactionId', { evseId: 1 })).to.equal('T-1');
    expect(variables.text('EVSE', 'ActiveTransactionId', { evseId: 2 })).to.equal('');
    expect(variables.text('ChargingStation', 'ActiveTransactionId')).to.equal('T-1');
    const power = variables.find('EVSE', 'Power', { evseId: 1 });
    expect(power && variables.limitsOf(power)).to.deep.equal({ max: 22_000 });
  });

  it('have in 2.0.1 the names of its connectors, and none of the variables of 2.1', () => {
    const { variables, device } = made('ocpp2.0.1');
    device.change(1, { standard: 'NACS', attachedCable: true });
    expect(variables.text('Connector', 'ConnectorType', { evseId: 1, connectorId: 1 })).to.equal('cTesla');
    expect(variables.has('EVSE', 'ActiveTransactionId', { evseId: 1 })).to.equal(false);
    expect(variables.has('EVSE', 'ChargingState', { evseId: 1 })).to.equal(false);
  });
});
