/**
 * The physical components: charging station, EVSEs and connectors, with their problems and meters, and MonitoringCtrlr
 * (block N). `effects.ts` sets states and provides powers of the components.
 */
import type { ConnectorRating } from '../../../station/port.ts';
import { rowsOf } from '../model.ts';
import type { Place, VariableFacts, VariableRow } from '../model.ts';

export const availabilityStates = ['Available', 'Occupied', 'Reserved', 'Unavailable', 'Faulted'] as const;

/** Values of ChargingState, as in TransactionEvent (B07, 3.3.5). */
export const chargingStates = ['Idle', 'EVConnected', 'Charging', 'SuspendedEV', 'SuspendedEVSE'] as const;

const station = rowsOf('ChargingStation').readOnly;
const evse = rowsOf('EVSE', { tier: 'evse' }).readOnly;
const connector = rowsOf('Connector', { tier: 'connector' }).readOnly;

export function ratingAt({ ratings, evseIds, stationRating }: VariableFacts, { evseId }: Place): ConnectorRating {
  return evseId === undefined ? stationRating : (ratings[evseIds.indexOf(evseId)] ?? stationRating);
}

/** Number of AC phases; 0: DC. */
const phasesAt = (facts: VariableFacts, place: Place): string => {
  const { type, phases } = ratingAt(facts, place);
  return String(type === 'dc' ? 0 : phases);
};

const monitored = { monitored: true } as const;
const monitored21 = { monitored: true, since: 'ocpp2.1' } as const;
const power = { unit: 'W', max: (facts: VariableFacts, place: Place) => ratingAt(facts, place).maxPowerW };

/** State rows of a component; `problems` has the rows for Problem. */
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

const controller = rowsOf('MonitoringCtrlr');

const monitoringCtrlr: readonly VariableRow[] = [
  controller.readOnly('Available', 'boolean', true),
  controller.readWrite('Enabled', 'boolean', true),
  ...['SetVariableMonitoring', 'ClearVariableMonitoring'].flatMap((message) => [
    controller.readOnly(`ItemsPerMessage[${message}]`, 'integer', 50),
    controller.readOnly(`BytesPerMessage[${message}]`, 'integer', 32_768),
  ]),
  controller.readWrite('OfflineQueuingSeverity', 'integer', 4, { min: 0, max: 9 }),
  controller.readOnly('ActiveMonitoringBase', 'OptionList', 'FactoryDefault', {
    values: ['All', 'FactoryDefault', 'HardWiredOnly'],
  }),
  controller.readOnly('ActiveMonitoringLevel', 'integer', 9, { min: 0, max: 9 }),
  controller.readOnly('MaxPeriodicEventStreams', 'integer', 20, { since: 'ocpp2.1' }),
  controller.readWrite('Hysteresis', 'decimal', 1, { unit: 'Percent', min: 0, max: 50 }),
];

const problems: readonly VariableRow[] = [
  rowsOf('ChargingStation', { tier: 'station' }).readOnly('Problem', 'boolean', false, monitored),
  rowsOf('EVSE', { tier: 'evse' }).readOnly('Problem', 'boolean', false, monitored),
  rowsOf('Connector', { tier: 'connector' }).readOnly('Problem', 'boolean', false, monitored),
];

const isAc = (facts: VariableFacts, place: Place) => ratingAt(facts, place).type === 'ac';
const isDc = (facts: VariableFacts, place: Place) => ratingAt(facts, place).type === 'dc';
const isThreePhase = (facts: VariableFacts, place: Place) => isAc(facts, place) && ratingAt(facts, place).phases === 3;
const isBidirectional = (facts: VariableFacts, place: Place) => ratingAt(facts, place).bidirectional;

const feed = rowsOf('ElectricalFeed', monitored).readOnly;
const measuredEvse = rowsOf('EVSE', { tier: 'evse', ...monitored }).readOnly;
const fiscal = rowsOf('FiscalMetering', { tier: 'evse', ...monitored }).readOnly;
/** The vehicle at a DC EVSE, known by its communication; StateOfCharge is empty without a vehicle. */
const vehicle = rowsOf('ConnectedEV', { tier: 'evse', where: isDc, ...monitored }).readOnly;

/** Rows of a value of the AC supply: the mean and, with three phases, each phase. */
const byPhase = (row: typeof feed, variable: string, unit: string): readonly VariableRow[] => [
  row(variable, 'decimal', 0, { unit, where: isAc }),
  ...['L1', 'L2', 'L3'].map((phase) => row(`${variable}[${phase}]`, 'decimal', 0, { unit, where: isThreePhase })),
];

export const monitoringRows: readonly VariableRow[] = [
  ...monitoringCtrlr,
  ...problems,
  feed('Frequency', 'decimal', 0, { unit: 'Hz' }),
  ...byPhase(feed, 'ACVoltage', 'V'),
  ...byPhase(feed, 'ACCurrent', 'A'),
  ...byPhase(measuredEvse, 'ACVoltage', 'V'),
  ...byPhase(measuredEvse, 'ACCurrent', 'A'),
  measuredEvse('DCVoltage', 'decimal', 0, { unit: 'V', where: isDc }),
  measuredEvse('DCCurrent', 'decimal', 0, { unit: 'A', where: isDc }),
  fiscal('EnergyImportRegister', 'decimal', 0, { unit: 'Wh' }),
  fiscal('EnergyExportRegister', 'decimal', 0, { unit: 'Wh', where: isBidirectional }),
  vehicle('Available', 'boolean', false),
  vehicle('StateOfCharge', 'decimal', '', { unit: 'Percent' }),
];
