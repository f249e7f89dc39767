import { formats, languages, maxMessages, priorities, states } from '../../display-message/message.ts';
import type { VariableRow } from '../model.ts';

const display = { component: 'DisplayMessageCtrlr' } as const;
const tariff = { component: 'TariffCostCtrlr' } as const;
const new21 = { since: 'ocpp2.1' } as const;

const supported = (of: readonly string[]) => ({ initial: of.join(','), values: of });

const displayMessageRows: readonly VariableRow[] = [
  { ...display, variable: 'Available', type: 'boolean', mutability: 'ReadOnly', initial: 'true' },
  // while it is off the displays show nothing, and messages are refused
  { ...display, variable: 'Enabled', type: 'boolean', mutability: 'ReadWrite', initial: 'true' },
  { ...display, variable: 'DisplayMessages', type: 'integer', mutability: 'ReadOnly', initial: '0', max: maxMessages },
  {
    ...display,
    variable: 'SupportedFormats',
    type: 'MemberList',
    mutability: 'ReadOnly',
    initial: ({ version }) => formats[version].join(','),
    values: ({ version }) => formats[version],
  },
  { ...display, variable: 'SupportedPriorities', type: 'MemberList', mutability: 'ReadOnly', ...supported(priorities) },
  {
    ...display,
    ...new21,
    variable: 'SupportedStates',
    type: 'MemberList',
    mutability: 'ReadOnly',
    ...supported(states['ocpp2.1']),
  },
  // of a message in several languages, where the driver has none of his own
  {
    ...display,
    ...new21,
    variable: 'Language',
    type: 'OptionList',
    mutability: 'ReadWrite',
    initial: languages[0],
    values: languages,
  },
];

/** Strategies for a tariff of a driver that the station cannot use (I08). */
const failedTariffRules = ['Deauthorize', 'UseDefaultTariff', 'CentralCost'] as const;

/** price elements of one dimension of a tariff */
const maxElements = 20;

const tariffRows: readonly VariableRow[] = [
  { ...tariff, variable: 'Available[Tariff]', type: 'boolean', mutability: 'ReadOnly', initial: 'true' },
  { ...tariff, variable: 'Available[Cost]', type: 'boolean', mutability: 'ReadOnly', initial: 'true' },
  // off: texts about tariffs are not shown; of 2.1 also no tariff is taken
  { ...tariff, variable: 'Enabled[Tariff]', type: 'boolean', mutability: 'ReadWrite', initial: 'true' },
  // off: costs are not shown; of 2.1 also not calculated
  { ...tariff, variable: 'Enabled[Cost]', type: 'boolean', mutability: 'ReadWrite', initial: 'true' },
  { ...tariff, variable: 'Currency', type: 'string', mutability: 'ReadWrite', initial: 'EUR', max: 3 },
  { ...tariff, variable: 'TariffFallbackMessage', type: 'string', mutability: 'ReadWrite', initial: '', max: 255 },
  { ...tariff, variable: 'TotalCostFallbackMessage', type: 'string', mutability: 'ReadWrite', initial: '', max: 255 },
];

const localCostRows: readonly VariableRow[] = [
  {
    ...tariff,
    ...new21,
    variable: 'OfflineTariffFallbackMessage',
    type: 'string',
    mutability: 'ReadWrite',
    initial: '',
    max: 255,
  },
  { ...tariff, ...new21, variable: 'Enabled[RunningCost]', type: 'boolean', mutability: 'ReadWrite', initial: 'false' },
  {
    ...tariff,
    ...new21,
    variable: 'Interval[Tariff]',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '10',
    unit: 's',
    min: 1,
    max: 3600,
  },
  {
    ...tariff,
    ...new21,
    variable: 'Interval[Cost]',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 1,
    max: 86_400,
  },
  {
    ...tariff,
    ...new21,
    variable: 'MaxElements[Tariff]',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: String(maxElements),
  },
  {
    ...tariff,
    ...new21,
    variable: 'ConditionsSupported[Tariff]',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: 'true',
  },
  {
    ...tariff,
    ...new21,
    variable: 'HandleFailedTariff[Tariff]',
    type: 'OptionList',
    mutability: 'ReadWrite',
    initial: 'UseDefaultTariff',
    values: failedTariffRules,
  },
  // a tariff of a driver could not be used; it ends with the next one that can
  {
    ...tariff,
    ...new21,
    variable: 'Problem',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: 'false',
    monitored: true,
  },
];

export const displayRows: readonly VariableRow[] = [...displayMessageRows, ...tariffRows, ...localCostRows];
