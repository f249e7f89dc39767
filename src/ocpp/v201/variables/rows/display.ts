/** DisplayMessageCtrlr (O) and TariffCostCtrlr (I). */
import { formats, languages, maxMessages, priorities, states } from '../../display-message/message.ts';
import { rowsOf } from '../model.ts';
import type { VariableRow } from '../model.ts';

/** Strategies for a tariff of a driver that the station cannot use (I08). */
const failedTariffRules = ['Deauthorize', 'UseDefaultTariff', 'CentralCost'] as const;
/** price elements of one dimension of a tariff */
const maxElements = 20;
const states21 = states['ocpp2.1'];

const display = rowsOf('DisplayMessageCtrlr');
const display21 = rowsOf('DisplayMessageCtrlr', { since: 'ocpp2.1' });
const tariff = rowsOf('TariffCostCtrlr');
const tariff21 = rowsOf('TariffCostCtrlr', { since: 'ocpp2.1' });

export const displayRows: readonly VariableRow[] = [
  display.readOnly('Available', 'boolean', true),
  // while it is off the displays show nothing, and messages are refused
  display.readWrite('Enabled', 'boolean', true),
  display.readOnly('DisplayMessages', 'integer', 0, { max: maxMessages }),
  display.readOnly('SupportedFormats', 'MemberList', ({ version }) => formats[version].join(','), {
    values: ({ version }) => formats[version],
  }),
  display.readOnly('SupportedPriorities', 'MemberList', priorities.join(','), { values: priorities }),
  display21.readOnly('SupportedStates', 'MemberList', states21.join(','), { values: states21 }),
  // of a message in several languages, where the driver has none of his own
  display21.readWrite('Language', 'OptionList', languages[0], { values: languages }),

  tariff.readOnly('Available[Tariff]', 'boolean', true),
  tariff.readOnly('Available[Cost]', 'boolean', true),
  // off: texts about tariffs are not shown; of 2.1 also no tariff is taken
  tariff.readWrite('Enabled[Tariff]', 'boolean', true),
  // off: costs are not shown; of 2.1 also not calculated
  tariff.readWrite('Enabled[Cost]', 'boolean', true),
  tariff.readWrite('Currency', 'string', 'EUR', { max: 3 }),
  tariff.readWrite('TariffFallbackMessage', 'string', '', { max: 255 }),
  tariff.readWrite('TotalCostFallbackMessage', 'string', '', { max: 255 }),
  tariff21.readWrite('OfflineTariffFallbackMessage', 'string', '', { max: 255 }),
  tariff21.readWrite('Enabled[RunningCost]', 'boolean', false),
  tariff21.readWrite('Interval[Tariff]', 'integer', 10, { unit: 's', min: 1, max: 3600 }),
  tariff21.readWrite('Interval[Cost]', 'integer', 60, { unit: 's', min: 1, max: 86_400 }),
  tariff21.readOnly('MaxElements[Tariff]', 'integer', maxElements),
  tariff21.readOnly('ConditionsSupported[Tariff]', 'boolean', true),
  tariff21.readWrite('HandleFailedTariff[Tariff]', 'OptionList', 'UseDefaultTariff', { values: failedTariffRules }),
  // a tariff of a driver could not be used; it ends with the next one that can
  tariff21.readOnly('Problem', 'boolean', false, { monitored: true }),
];
