/** The physical components: charging station, EVSEs and their connectors. `live.ts` gives them their present values. */
import type { ConnectorRating } from '../../../station/port.ts';
import { rowsOf } from '../model.ts';
import type { Place, VariableFacts, VariableRow } from '../model.ts';

export const availabilityStates = ['Available', 'Occupied', 'Reserved', 'Unavailable', 'Faulted'] as const;

/** B07, 3.3.5 of the standard names them in the same words as TransactionEvent. */
export const chargingStates = ['Idle', 'EVConnected', 'Charging', 'SuspendedEV', 'SuspendedEVSE'] as const;

const station = rowsOf('ChargingStation').readOnly;
const evse = rowsOf('EVSE', { tier: 'evse' }).readOnly;
const connector = rowsOf('Connector', { tier: 'connector' }).readOnly;

export function ratingAt({ ratings, evseIds, stationRating }: VariableFacts, { evseId }: Place): ConnectorRating {
  return evseId === undefined ? stationRating : (ratings[evseIds.indexOf(evseId)] ?? stationRating);
}

/** Alternating phases; 0: direct current. */
const phasesAt = (facts: VariableFacts, place: Place): string => {
  const { type, phases } = ratingAt(facts, place);
  return String(type === 'dc' ? 0 : phases);
};

const monitored = { monitored: true } as const;
const monitored21 = { monitored: true, since: 'ocpp2.1' } as const;
const power = { unit: 'W', max: (facts: VariableFacts, place: Place) => ratingAt(facts, place).maxPowerW };

/** Of every component that can be in or out of operation; `monitoring.ts` has the problems of them. */
const states = (row: typeof station): readonly VariableRow[] => [
  row('AvailabilityState', 'OptionList', 'Available', { values: availabilityStates, ...monitored }),
  row('Available', 'boolean', true),
  row('Enabled', 'boolean', true, monitored),
  row('SupplyPhases', 'integer', phasesAt, monitored),
];

export const stationRows: readonly VariableRow[] = [
  ...states(station),
  station('Power', 'decimal', 0, { ...power, ...monitored }),
  station('Model', 'string', ({ nameplate }) => nameplate.model),
  station('VendorName', 'string', ({ nameplate }) => nameplate.vendor),
  station('SerialNumber', 'string', ({ nameplate }) => nameplate.serialNumber),
  station('FirmwareVersion', 'string', ({ nameplate }) => nameplate.firmwareVersion),
  station('ActiveTransactionId', 'string', '', monitored21),

  ...states(evse),
  evse('Power', 'decimal', 0, { ...power, ...monitored }),
  evse('ActiveTransactionId', 'string', '', monitored21),
  evse('DischargePower', 'decimal', 0, {
    ...power,
    ...monitored21,
    where: (facts, place) => ratingAt(facts, place).bidirectional,
  }),
  evse('ChargingState', 'OptionList', 'Idle', { values: chargingStates, ...monitored21 }),

  ...states(connector),
  connector('ConnectorType', 'string', 'Unknown'),
  connector('ChargeProtocol', 'string', (facts, place) =>
    ratingAt(facts, place).type === 'dc' ? 'ISO15118' : 'CPPWM',
  ),
];
