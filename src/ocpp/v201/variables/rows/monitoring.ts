/** Block N: the controller of monitors, problems of components, and what the meters of the device show. */
import type { Place, VariableFacts, VariableRow } from '../model.ts';

const controller = 'MonitoringCtrlr';

const monitoringCtrlr: readonly VariableRow[] = [
  { component: controller, variable: 'Available', type: 'boolean', mutability: 'ReadOnly', initial: 'true' },
  { component: controller, variable: 'Enabled', type: 'boolean', mutability: 'ReadWrite', initial: 'true' },
  ...(['SetVariableMonitoring', 'ClearVariableMonitoring'] as const).flatMap((message): readonly VariableRow[] => [
    {
      component: controller,
      variable: `ItemsPerMessage[${message}]`,
      type: 'integer',
      mutability: 'ReadOnly',
      initial: '50',
    },
    {
      component: controller,
      variable: `BytesPerMessage[${message}]`,
      type: 'integer',
      mutability: 'ReadOnly',
      initial: '32768',
    },
  ]),
  {
    component: controller,
    variable: 'OfflineQueuingSeverity',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '4',
    min: 0,
    max: 9,
  },
  {
    component: controller,
    variable: 'ActiveMonitoringBase',
    type: 'OptionList',
    mutability: 'ReadOnly',
    initial: 'FactoryDefault',
    values: ['All', 'FactoryDefault', 'HardWiredOnly'],
  },
  {
    component: controller,
    variable: 'ActiveMonitoringLevel',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: '9',
    min: 0,
    max: 9,
  },
  {
    component: controller,
    variable: 'MaxPeriodicEventStreams',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: '20',
    since: 'ocpp2.1',
  },
  {
    component: controller,
    variable: 'Hysteresis',
    type: 'decimal',
    mutability: 'ReadWrite',
    initial: '1',
    unit: 'Percent',
    min: 0,
    max: 50,
  },
];

const problems: readonly VariableRow[] = (
  [
    ['ChargingStation', 'station'],
    ['EVSE', 'evse'],
    ['Connector', 'connector'],
  ] as const
).map(([component, tier]) => ({
  component,
  tier,
  variable: 'Problem',
  type: 'boolean',
  mutability: 'ReadOnly',
  initial: 'false',
  monitored: true,
}));

type Supply = 'ac' | '3-phase' | 'dc' | 'bidirectional';

function suits({ evseIds, ratings, stationRating }: VariableFacts, { evseId }: Place, supply: Supply): boolean {
  const rating = evseId === undefined ? stationRating : ratings[evseIds.indexOf(evseId)];
  if (rating === undefined) return false;
  if (supply === 'bidirectional') return rating.bidirectional;
  return supply === '3-phase' ? rating.type === 'ac' && rating.phases === 3 : rating.type === supply;
}

interface Measured extends Pick<VariableRow, 'component' | 'tier' | 'variable' | 'unit' | 'since'> {
  /** absent: at each place of the tier */
  readonly supply?: Supply;
}

function measured({ supply, ...row }: Measured): VariableRow {
  return {
    ...row,
    type: 'decimal',
    mutability: 'ReadOnly',
    initial: (facts, place) => (supply === undefined || suits(facts, place, supply) ? '0' : null),
    monitored: true,
  };
}

/** A value of the supply: the mean, and where there are three phases each of them. */
function byPhase(row: Measured): readonly VariableRow[] {
  const phases = ['L1', 'L2', 'L3'].map(
    (phase): Measured => ({
      ...row,
      variable: `${row.variable}[${phase}]`,
      supply: '3-phase',
    }),
  );
  return [measured({ ...row, supply: 'ac' }), ...phases.map(measured)];
}

const meters: readonly VariableRow[] = [
  measured({ component: 'ElectricalFeed', variable: 'Frequency', unit: 'Hz' }),
  ...byPhase({ component: 'ElectricalFeed', variable: 'ACVoltage', unit: 'V' }),
  ...byPhase({ component: 'ElectricalFeed', variable: 'ACCurrent', unit: 'A' }),
  ...byPhase({ component: 'EVSE', tier: 'evse', variable: 'ACVoltage', unit: 'V' }),
  ...byPhase({ component: 'EVSE', tier: 'evse', variable: 'ACCurrent', unit: 'A' }),
  measured({ component: 'EVSE', tier: 'evse', variable: 'DCVoltage', unit: 'V', supply: 'dc' }),
  measured({ component: 'EVSE', tier: 'evse', variable: 'DCCurrent', unit: 'A', supply: 'dc' }),
  measured({ component: 'FiscalMetering', tier: 'evse', variable: 'EnergyImportRegister', unit: 'Wh' }),
  measured({
    component: 'FiscalMetering',
    tier: 'evse',
    variable: 'EnergyExportRegister',
    unit: 'Wh',
    supply: 'bidirectional',
  }),
];

/** A vehicle that tells of itself: over the communication of direct current. Without one the value is empty. */
const vehicles: readonly VariableRow[] = (
  [
    { variable: 'Available', type: 'boolean', value: 'false' },
    { variable: 'StateOfCharge', type: 'decimal', unit: 'Percent', value: '' },
  ] as const
).map(({ value, ...row }) => ({
  ...row,
  component: 'ConnectedEV',
  tier: 'evse',
  mutability: 'ReadOnly',
  initial: (facts, place) => (suits(facts, place, 'dc') ? value : null),
  monitored: true,
}));

export const monitoringRows: readonly VariableRow[] = [...monitoringCtrlr, ...problems, ...meters, ...vehicles];
