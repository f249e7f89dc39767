/** Block N: the controller of monitors, problems of components, and readings of the meters of the device. */
import { rowsOf } from '../model.ts';
import type { Place, VariableFacts, VariableRow } from '../model.ts';
import { ratingAt } from './station.ts';

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

const monitored = { monitored: true } as const;

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
const evse = rowsOf('EVSE', { tier: 'evse', ...monitored }).readOnly;
const fiscal = rowsOf('FiscalMetering', { tier: 'evse', ...monitored }).readOnly;
/** A vehicle that tells of itself: over the communication of direct current. Without one the value is empty. */
const vehicle = rowsOf('ConnectedEV', { tier: 'evse', where: isDc, ...monitored }).readOnly;

/** A value of the supply: the mean, and where there are three phases each of them. */
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
  ...byPhase(evse, 'ACVoltage', 'V'),
  ...byPhase(evse, 'ACCurrent', 'A'),
  evse('DCVoltage', 'decimal', 0, { unit: 'V', where: isDc }),
  evse('DCCurrent', 'decimal', 0, { unit: 'A', where: isDc }),
  fiscal('EnergyImportRegister', 'decimal', 0, { unit: 'Wh' }),
  fiscal('EnergyExportRegister', 'decimal', 0, { unit: 'Wh', where: isBidirectional }),
  vehicle('Available', 'boolean', false),
  vehicle('StateOfCharge', 'decimal', '', { unit: 'Percent' }),
];
