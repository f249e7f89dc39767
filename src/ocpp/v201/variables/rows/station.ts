/** The physical components: charging station, EVSEs and their connectors. `live.ts` gives them their present values. */
import type { ConnectorRating } from '../../../station/port.ts';
import type { Place, VariableFacts, VariableRow } from '../model.ts';

export const availabilityStates = ['Available', 'Occupied', 'Reserved', 'Unavailable', 'Faulted'] as const;

/** B07, 3.3.5 of the standard names them in the same words as TransactionEvent. */
export const chargingStates = ['Idle', 'EVConnected', 'Charging', 'SuspendedEV', 'SuspendedEVSE'] as const;

type Columns = Omit<VariableRow, 'component' | 'tier' | 'mutability'>;

const of =
  (component: string, tier: NonNullable<VariableRow['tier']>) =>
  (row: Columns): VariableRow => ({ component, tier, mutability: 'ReadOnly', ...row });

const station = of('ChargingStation', 'station');
const evse = of('EVSE', 'evse');
const connector = of('Connector', 'connector');

function ratingAt({ ratings, evseIds, stationRating }: VariableFacts, { evseId }: Place): ConnectorRating {
  return evseId === undefined ? stationRating : (ratings[evseIds.indexOf(evseId)] ?? stationRating);
}

/** Alternating phases; 0: direct current. */
const phasesAt = (facts: VariableFacts, place: Place): string => {
  const { type, phases } = ratingAt(facts, place);
  return String(type === 'dc' ? 0 : phases);
};

const maxPowerAt = (facts: VariableFacts, place: Place): number => ratingAt(facts, place).maxPowerW;

/** Of every component that can be in or out of operation; `monitoring.ts` has what is a problem of them. */
const states: readonly Columns[] = [
  {
    variable: 'AvailabilityState',
    type: 'OptionList',
    initial: 'Available',
    values: availabilityStates,
    monitored: true,
  },
  { variable: 'Available', type: 'boolean', initial: 'true' },
  { variable: 'Enabled', type: 'boolean', initial: 'true', monitored: true },
  { variable: 'SupplyPhases', type: 'integer', initial: phasesAt, monitored: true },
];

const power: Columns = {
  variable: 'Power',
  type: 'decimal',
  initial: '0',
  unit: 'W',
  max: maxPowerAt,
  monitored: true,
};

const nameplate: readonly Columns[] = [
  { variable: 'Model', type: 'string', initial: (facts) => facts.nameplate.model },
  { variable: 'VendorName', type: 'string', initial: (facts) => facts.nameplate.vendor },
  { variable: 'SerialNumber', type: 'string', initial: (facts) => facts.nameplate.serialNumber },
  { variable: 'FirmwareVersion', type: 'string', initial: (facts) => facts.nameplate.firmwareVersion },
];

const transaction: Columns = {
  variable: 'ActiveTransactionId',
  type: 'string',
  initial: '',
  since: 'ocpp2.1',
  monitored: true,
};

export const stationRows: readonly VariableRow[] = [
  ...[...states, power, ...nameplate, transaction].map(station),
  ...[...states, power, transaction].map(evse),
  evse({
    variable: 'DischargePower',
    type: 'decimal',
    initial: (facts, place) => (ratingAt(facts, place).bidirectional ? '0' : null),
    unit: 'W',
    max: maxPowerAt,
    since: 'ocpp2.1',
    monitored: true,
  }),
  evse({
    variable: 'ChargingState',
    type: 'OptionList',
    initial: 'Idle',
    values: chargingStates,
    since: 'ocpp2.1',
    monitored: true,
  }),
  ...states.map(connector),
  connector({ variable: 'ConnectorType', type: 'string', initial: 'Unknown' }),
  connector({
    variable: 'ChargeProtocol',
    type: 'string',
    initial: (facts, place) => (ratingAt(facts, place).type === 'dc' ? 'ISO15118' : 'CPPWM'),
  }),
];
