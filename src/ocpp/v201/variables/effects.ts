/**
 * Effects of general variables on the device and the connection (all others are read by their parts), and present
 * values of the physical components: states change with the device, powers are read on request.
 */
import type { Network } from '../../station/connection.ts';
import { stamp } from '../parts.ts';
import type { StationParts, Availability, Part, Transactions } from '../parts.ts';
import type { Variables, Place } from './model.ts';
import type { EvseChargingState, EvseConnectorDetail, EvseConnectorStandard } from '../../../contract/kinds/evse.ts';
import { occupancyWords } from '../availability.ts';
import type { Version2 } from '../../station/stack.ts';
import type { availabilityStates, chargingStates } from './rows/components.ts';

interface EffectOptions extends Pick<StationParts, 'device' | 'connection' | 'variables' | 'clock' | 'releases'> {
  readonly network: Pick<Network, 'setBackOff' | 'setMessageTimeout'>;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
}

interface VariableEffects {
  /** Applies the values at the start. */
  apply(): void;
  stop(): void;
}

/** Key of the attempts to set the behaviour. */
const behaviourAct = 'behaviour';

const behaviourVariables = [
  ['TxCtrlr', 'EVConnectionTimeOut'],
  ['TxCtrlr', 'StopTxOnEVSideDisconnect'],
  ['OCPPCommCtrlr', 'UnlockOnEVSideDisconnect'],
] as const;

const backOffVariables = ['RetryBackOffWaitMinimum', 'RetryBackOffRandomRange', 'RetryBackOffRepeatTimes'] as const;

function behaviourOf(variables: Variables, autoAuthorize: boolean) {
  return {
    kind: 'evse.behaviour',
    connectionTimeoutS: variables.integer('TxCtrlr', 'EVConnectionTimeOut'),
    // no limit: EVConnectionTimeOut applies to the cable alone (E03)
    authorizationTimeoutS: null,
    endOnEvDisconnect: variables.boolean('TxCtrlr', 'StopTxOnEVSideDisconnect'),
    unlockOnEvDisconnect: variables.boolean('OCPPCommCtrlr', 'UnlockOnEVSideDisconnect'),
    autoAuthorize,
  } as const;
}

function backOffOf(variables: Variables) {
  const [waitMinimumS, randomRangeS, repeatTimes] = [
    variables.integer('OCPPCommCtrlr', 'RetryBackOffWaitMinimum'),
    variables.integer('OCPPCommCtrlr', 'RetryBackOffRandomRange'),
    variables.integer('OCPPCommCtrlr', 'RetryBackOffRepeatTimes'),
  ];
  return { waitMinimumMs: waitMinimumS * 1000, randomRangeMs: randomRangeS * 1000, repeatTimes };
}

export function createVariableEffects(options: EffectOptions): VariableEffects {
  const { device, connection, variables, clock, releases, network, autoAuthorize } = options;
  // also in place of the behaviour that another version has set
  const behave = (): void => {
    releases.insist(behaviourAct, 'variables have no effect at the device', () => {
      device.command(behaviourOf(variables, autoAuthorize));
    });
  };
  const setPassword = (text: string): void => {
    if (text !== '') connection.setPassword(Buffer.from(text, 'utf8'));
  };
  const setPings = (): void => {
    connection.setPingInterval(variables.integer('OCPPCommCtrlr', 'WebSocketPingInterval'));
  };
  const setBackOff = (): void => {
    network.setBackOff(backOffOf(variables));
  };
  const setTimeout = (): void => {
    network.setMessageTimeout(variables.integer('OCPPCommCtrlr', 'MessageTimeout[Default]'));
  };
  const ends = [
    ...behaviourVariables.map(([component, variable]) => variables.onChange(component, variable, behave)),
    ...backOffVariables.map((variable) => variables.onChange('OCPPCommCtrlr', variable, setBackOff)),
    variables.onChange('OCPPCommCtrlr', 'WebSocketPingInterval', setPings),
    variables.onChange('OCPPCommCtrlr', 'MessageTimeout[Default]', setTimeout),
    variables.onChange('SecurityCtrlr', 'BasicAuthPassword', setPassword),
  ];
  // the password belongs to the station, which keeps it: the next connection needs it before a version is chosen
  variables.provide('SecurityCtrlr', 'BasicAuthPassword', () => connection.password?.toString('utf8') ?? '');
  variables.provide('ClockCtrlr', 'DateTime', () => stamp(clock.nowMs()));
  return {
    apply: () => {
      behave();
      setPings();
      setBackOff();
      setTimeout();
    },
    stop: () => {
      releases.end(behaviourAct);
      for (const end of ends) end();
    },
  };
}

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

/** Names of 2.0.1 where they differ from those of 2.1. */
const olderTypes: Readonly<Record<string, string>> = { cNACS: 'cTesla', 'cGBT-DC': 'cGBT' };

function connectorType({ standard, attachedCable, type }: EvseConnectorDetail, version: Version2): string {
  // the standard has no name for GB/T with alternating current
  if (standard === 'GBT' && type === 'ac') return 'Unknown';
  const [cable, socket] = connectorTypes[standard];
  const name = attachedCable ? cable : socket;
  return version === 'ocpp2.0.1' ? (olderTypes[name] ?? name) : name;
}

/** The state of the station: the best state of its EVSEs. */
function stationState(states: readonly AvailabilityState[], isInoperative: boolean): AvailabilityState {
  if (isInoperative && !states.includes('Occupied')) return 'Unavailable';
  const order: readonly AvailabilityState[] = ['Available', 'Occupied', 'Reserved', 'Unavailable', 'Faulted'];
  return order.find((state) => states.includes(state)) ?? 'Available';
}

/** A power in watts as text, to 0.1 W. */
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

/** States are set, not provided, so that monitors see each change. */
export function createLiveVariables(parts: StationParts, deps: LiveDeps): Part {
  const { device, variables, version } = parts;
  const { availability } = deps;
  const stateOf = (connector: EvseConnectorDetail): AvailabilityState => occupancyWords[connector.occupancy];
  const setStates = (): void => {
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
  availability.onChange(setStates);
  const end = device.onTransition(setStates);
  return {
    load: () => {
      setStates();
      return Promise.resolve();
    },
    stop: end,
  };
}
