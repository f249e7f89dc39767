/** Present values of the physical components: states change with the device, powers are read when they are asked for. */
import type { EvseChargingState, EvseConnectorDetail, EvseConnectorStandard } from '../../../contract/kinds/evse.ts';
import { occupancyWords } from '../availability.ts';
import type { Availability, Part, StationParts, Transactions } from '../parts.ts';
import type { Version2 } from '../version.ts';
import type { Place } from './model.ts';
import type { availabilityStates, chargingStates } from './rows/station.ts';

type AvailabilityState = (typeof availabilityStates)[number];

interface LiveDeps {
  readonly availability: Pick<Availability, 'stationInoperative' | 'operative'> & {
    onChange(listener: () => void): unknown;
  };
  readonly transactions: Pick<Transactions, 'running' | 'at'>;
}

const chargingWords: Readonly<Record<EvseChargingState, (typeof chargingStates)[number]>> = {
  idle: 'Idle',
  ev_connected: 'EVConnected',
  charging: 'Charging',
  suspended_ev: 'SuspendedEV',
  suspended_evse: 'SuspendedEVSE',
};

/** Names of the standard for a connector with a fixed cable, and for a socket. */
const connectorTypes: Readonly<Record<EvseConnectorStandard, readonly [cable: string, socket: string]>> = {
  Type1: ['cType1', 'sType1'],
  Type2: ['cType2', 'sType2'],
  CCS1: ['cCCS1', 'cCCS1'],
  CCS2: ['cCCS2', 'cCCS2'],
  CHAdeMO: ['cG105', 'cG105'],
  NACS: ['cNACS', 'cNACS'],
  GBT: ['cGBT-DC', 'cGBT-DC'],
};

/** Names that 2.0.1 has in place of those of 2.1. */
const olderTypes: Readonly<Record<string, string>> = { cNACS: 'cTesla', 'cGBT-DC': 'cGBT' };

function connectorType({ standard, attachedCable, type }: EvseConnectorDetail, version: Version2): string {
  // the standard has no name for GB/T with alternating current
  if (standard === 'GBT' && type === 'ac') return 'Unknown';
  const [cable, socket] = connectorTypes[standard];
  const name = attachedCable ? cable : socket;
  return version === 'ocpp2.0.1' ? (olderTypes[name] ?? name) : name;
}

/** The station as a whole: what it offers at its best EVSE. */
function stationState(states: readonly AvailabilityState[], isInoperative: boolean): AvailabilityState {
  if (isInoperative && !states.includes('Occupied')) return 'Unavailable';
  const order: readonly AvailabilityState[] = ['Available', 'Occupied', 'Reserved', 'Unavailable', 'Faulted'];
  return order.find((state) => states.includes(state)) ?? 'Available';
}

/** Watts with a tenth. */
const watts = (powerW: number): string => String(Math.round(powerW * 10) / 10 + 0);

function provideMeters({ device, variables, version }: StationParts, { transactions }: LiveDeps): void {
  const at = ({ evseId = 0 }: Place): number => device.sample(evseId).powerW;
  for (const component of ['ChargingStation', 'EVSE'])
    variables.provide(component, 'Power', (place) => watts(Math.max(0, at(place))));
  for (const evseId of device.connectorIds) {
    const connector = { evseId, connectorId: 1 };
    variables.provide('Connector', 'ConnectorType', () => connectorType(device.connector(evseId), version), connector);
    if (variables.has('EVSE', 'DischargePower', { evseId }))
      variables.provide('EVSE', 'DischargePower', (place) => watts(Math.max(0, -at(place))), { evseId });
  }
  if (version === 'ocpp2.0.1') return;
  variables.provide('EVSE', 'ActiveTransactionId', ({ evseId = 0 }) => transactions.at(evseId)?.transactionId ?? '');
  variables.provide('ChargingStation', 'ActiveTransactionId', () =>
    transactions.running.map(({ transactionId }) => transactionId).join(','),
  );
}

/** States are set, not provided, so that monitors hear of each change. */
export function createLiveVariables(parts: StationParts, deps: LiveDeps): Part {
  const { device, variables, version } = parts;
  const { availability } = deps;
  const stateOf = (connector: EvseConnectorDetail): AvailabilityState => occupancyWords[connector.occupancy];
  const look = (): void => {
    const { connectors } = device.detail;
    for (const connector of connectors) {
      const evseId = connector.connectorId;
      const state = stateOf(connector);
      const isEnabled = String(availability.operative(evseId));
      for (const [component, place] of [
        ['EVSE', { evseId }],
        ['Connector', { evseId, connectorId: 1 }],
      ] as const) {
        variables.set(component, 'AvailabilityState', state, place);
        variables.set(component, 'Enabled', isEnabled, place);
      }
      if (version === 'ocpp2.1')
        variables.set('EVSE', 'ChargingState', chargingWords[connector.session?.chargingState ?? 'idle'], { evseId });
    }
    const isInoperative = availability.stationInoperative;
    variables.set('ChargingStation', 'AvailabilityState', stationState(connectors.map(stateOf), isInoperative));
    variables.set('ChargingStation', 'Enabled', String(!isInoperative));
  };
  provideMeters(parts, deps);
  availability.onChange(look);
  const end = device.onTransition(look);
  return {
    load: () => {
      look();
      return Promise.resolve();
    },
    stop: end,
  };
}
