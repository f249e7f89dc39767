/** The DNP3 XML device profile of an outstation, schema version 2.12: its abilities and points. */
import { needTimeAfterS } from '../clock.ts';
import type { OutstationLimits } from '../stack/outstation/types.ts';
import { eventGroups, implementationTable, elements } from './implementation-table.ts';
import type { PointRow, PointType } from './types.ts';
import type { Element } from './implementation-table.ts';

/** Facts of one outstation in the document. */
export interface ProfileFacts {
  readonly vendor: string;
  readonly product: string;
  readonly softwareVersion: string;
  /** date of the document, `YYYY-MM-DD` */
  readonly date: string;
  readonly host: string;
  readonly port: number;
  readonly address: number;
  readonly masterAddresses: readonly number[];
  readonly unsolicited: boolean;
  readonly isTls: boolean;
  /** true: state survives the process */
  readonly isKept: boolean;
  readonly limits: OutstationLimits;
  /** served points, with the ranges that the device accepts */
  readonly points: readonly PointRow[];
}

const none: Element = {};
const setting = (capabilities: Element, currentValue: Element): Element => ({ capabilities, currentValue });
/** A setting with one possible value. */
const fixed = (value: Element): Element => setting(value, value);
const current = (value: string | number): Element => ({ currentValue: { value } });
const maxAddress = 65_519;
const addressRange: Element = { range: { minimum: 0, maximum: maxAddress } };

const classWords = ['none', 'one', 'two', 'three'] as const;

function deviceConfig({ vendor, product, softwareVersion, isKept }: ProfileFacts): Element {
  return {
    deviceFunction: fixed({ outstation: none }),
    vendorName: current(vendor),
    deviceName: current(product),
    hardwareVersion: current('none: a simulator'),
    softwareVersion: current(softwareVersion),
    documentVersionNumber: current(1),
    dnpLevelSupported: fixed({ outStation: { level2: none } }),
    supportedFunctionBlocks: setting(none, none),
    notableAdditions: fixed({
      notableAddition: [
        'Ranges, lists of indexes and specific variations in reads',
        'Unsolicited responses, assignment of classes, deadbands (g34)',
        'Analog outputs as 16-bit, 32-bit and floating-point values',
        'Frozen counters with events, device attributes, time of occurrence (g51)',
        ...(isKept ? ['Events, classes, deadbands and frozen counters are kept over a restart'] : []),
      ],
    }),
    configurationMethods: fixed({ other: { explanation: 'Command line, environment or configuration file' } }),
    connectionsSupported: fixed({ network: none }),
  };
}

function networkConfig({ host, port, isTls, masterAddresses }: ProfileFacts): Element {
  return {
    portName: current(isTls ? 'TLS listener' : 'TCP listener'),
    typeOfEndPoint: fixed({ tcpListening: none }),
    ipAddress: { currentValue: { address: host } },
    tcpConnectionEstablishment: setting(
      { allowsAll: none, other: { explanation: 'With TLS, trusted client certificates' } },
      isTls ? { other: { explanation: 'Trusted client certificates' } } : { allowsAll: none },
    ),
    tcpListenPort: setting({ range: { minimum: 1, maximum: 65_535 } }, { value: port }),
    tcpKeepAliveTimer: fixed({ other: { explanation: 'Link status is requested after 60 s of silence' } }),
    multipleMasterConnections: setting(
      { basedOnIPAddress: none, alwaysMultipleAddress: none },
      masterAddresses.length > 1 ? { other: { explanation: 'By link address' } } : { notSupported: none },
    ),
    timeSynchronization: fixed({ dnpLANProcedure: none, dnpWriteTimeProcedure: none }),
  };
}

function linkConfig({ address, masterAddresses }: ProfileFacts): Element {
  const [onlyMaster = 0] = masterAddresses;
  const isSingle = masterAddresses.length === 1;
  return {
    dataLinkAddress: setting(addressRange, { value: address }),
    sourceAddressValidation: setting(
      { alwaysSingleAddress: none, alwaysMultipleAddress: none },
      isSingle ? { alwaysSingleAddress: none } : { alwaysMultipleAddress: none },
    ),
    expectedSourceAddress: setting(
      addressRange,
      isSingle ? { value: onlyMaster } : { other: { explanation: masterAddresses.join(', ') } },
    ),
    selfAddressSupport: fixed({ no: none }),
    sendsConfirmedUserDataFrames: fixed({ never: none }),
    linkLayerConfirmTimeout: fixed({ none }),
    maxDataLinkRetries: fixed({ none }),
    maxTransmittedFrameSize: setting({ fixed: 292 }, { value: 292 }),
    maxReceivedFrameSize: setting({ fixed: 292 }, { value: 292 }),
  };
}

function applicationConfig({ limits: { fragmentBytes, controlsPerRequest } }: ProfileFacts): Element {
  const controls = setting({ fixed: controlsPerRequest }, { value: controlsPerRequest });
  return {
    maxTransmittedFragmentSize: setting({ fixed: fragmentBytes }, { value: fragmentBytes }),
    maxReceivedFragmentSize: setting({ fixed: 2048 }, { value: 2048 }),
    fragmentTimeout: fixed({ none }),
    maxObjectsInCROBControlRequest: controls,
    maxObjectsInAnalogOutputControlRequest: controls,
    supportsMixedObjectGroupsInControlRequest: fixed({ yes: none }),
    controlStatusCodesSupported: {
      capabilities: Object.fromEntries([1, 2, 3, 4, 6, 7, 8, 10, 12, 15, 17].map((code) => [`code${code}`, none])),
    },
  };
}

function outstationConfig({ limits }: ProfileFacts): Element {
  // each of the three classes has its own buffer
  const perType = 3 * limits.eventsPerKind;
  return {
    applicationLayerConfirmTimeout: setting({ fixed: limits.confirmTimeoutMs }, { value: limits.confirmTimeoutMs }),
    timeSyncRequired: setting({ periodicallyFixed: needTimeAfterS }, { periodically: needTimeAfterS }),
    deviceTroubleBit: fixed({ usedWhen: { explanation: 'The device has an alarm of severity error' } }),
    fileHandleTimeout: fixed({ notApplicable: none }),
    eventBufferOverflowBehavior: fixed({ discardOldest: none }),
    eventBufferOrganization: fixed({
      perObjectGroup: eventGroups.map((group) => ({ group: String(group), fixed: perType })),
    }),
    sendsMultiFragmentResponses: fixed({ yes: none }),
    requestsLastFragmentConfirmation: fixed({ sometimes: { explanation: 'When it has events, or after a broadcast' } }),
    configurationSignatureSupported: fixed({ notSupported: none }),
    requestsApplicationConfirmation: fixed({ eventResponses: { yes: none }, nonFinalFragments: { yes: none } }),
    supportsDNP3ClockManagement: fixed({ no: none }),
  };
}

const selectTime = ({ limits: { selectTimeoutMs } }: ProfileFacts) =>
  setting({ fixed: selectTimeoutMs / 1000 }, { value: selectTimeoutMs / 1000 });

const inputClass0 = fixed({ always: none });
const outputReports = {
  class0ResponseMode: fixed({ never: none }),
  outputCommandEventObjects: fixed({ never: none }),
};

const binaryGroups = (facts: ProfileFacts): Element => ({
  binaryInputGroup: {
    configuration: {
      defaultStaticVariation: fixed({ two: none }),
      defaultEventVariation: fixed({ two: none }),
      eventReportingMode: fixed({ allEvents: none }),
      class0ResponseMode: inputClass0,
    },
  },
  binaryOutputGroup: {
    configuration: {
      minimumPulseTime: fixed({ fixed: 0 }),
      maximumPulseTime: fixed({ fixed: 0 }),
      ...outputReports,
      defaultStaticVariation: fixed({ two: none }),
      maxTimeBetweenSelectAndOperate: selectTime(facts),
    },
  },
});

const counterGroup: Element = {
  configuration: {
    defaultCounterStaticVariation: fixed({ one: none }),
    counterClass0ResponseMode: fixed({ always: none }),
    defaultFrozenCounterStaticVariation: fixed({ one: none }),
    defaultFrozenCounterEventVariation: fixed({ five: none }),
    frozenCounterClass0ResponseMode: fixed({ always: none }),
    frozenCounterEventReportingMode: fixed({ allEvents: none }),
    counterRollOver: fixed({ thirtyTwoBits: none }),
    countersFrozen: fixed({ masterRequest: none }),
    reportValueChangeCounterEvents: fixed({ no: none }),
  },
};

const analogGroups = (facts: ProfileFacts): Element => ({
  analogInputGroup: {
    configuration: {
      defaultStaticVariation: fixed({ one: none }),
      defaultEventVariation: fixed({ one: none }),
      analogEventReportingMode: fixed({ mostRecentEventTimeValue: none }),
      analogInputClass0ResponseMode: inputClass0,
      analogDeadbandAssignments: fixed({ dnp3Protocol: none }),
      analogDeadbandAlgorithm: fixed({ simple: none }),
    },
  },
  analogOutputGroup: {
    configuration: {
      defaultStaticVariation: fixed({ one: none }),
      ...outputReports,
      maxTimeBetweenSelectAndOperate: selectTime(facts),
    },
  },
});

const groups = (facts: ProfileFacts): Element => ({ ...binaryGroups(facts), counterGroup, ...analogGroups(facts) });

const controlOperations: Readonly<Record<'BO' | 'AO', Element>> = {
  BO: Object.fromEntries(
    [
      ...['SelectOperate', 'DirectOperate', 'DirectOperateNoAck', 'PulseOn', 'PulseOff', 'LatchOn', 'LatchOff'],
      ...['Trip', 'Close'],
    ].map((name) => [`support${name}`, none]),
  ),
  AO: { supportSelectOperate: none, supportDirectOperate: none, supportDirectOperateNoAck: none },
};

function pointElement(row: PointRow): Element {
  const { type, index, name, min, max, multiplier = 1, unit } = row;
  const head = { index, name };
  const eventClass = classWords[row.class];
  const scale = { scaleFactor: multiplier, ...(unit !== undefined && unit !== 'enum' && { units: unit }) };
  switch (type) {
    case 'BI':
      return { ...head, changeEventClass: eventClass, includedInClass0Response: 'always' };
    case 'AI':
      return {
        ...head,
        changeEventClass: eventClass,
        includedInClass0Response: 'always',
        ...(min !== undefined && { minIntegerTransmittedValue: min }),
        ...(max !== undefined && { maxIntegerTransmittedValue: max }),
        ...scale,
      };
    case 'CTR':
      return {
        ...head,
        countersIncludedInClass0: 'always',
        counterEventClass: eventClass,
        frozenCounterExists: true,
        frozenCountersIncludedInClass0: 'always',
        frozenCounterEventClass: 'three',
      };
    default:
      return {
        ...head,
        changeEventClass: 'none',
        commandEventClass: 'none',
        includedInClass0Response: 'never',
        supportedControlOperations: controlOperations[type],
        ...(type === 'AO' && min !== undefined && { minTransmittedValue: min }),
        ...(type === 'AO' && max !== undefined && { maxTransmittedValue: max }),
        ...(type === 'AO' && scale),
      };
  }
}

const lists: readonly (readonly [PointType, list: string, point: string])[] = [
  ['BI', 'binaryInputPoints', 'binaryInput'],
  ['BO', 'binaryOutputPoints', 'binaryOutput'],
  ['CTR', 'counterPoints', 'counter'],
  ['AI', 'analogInputPoints', 'analogInput'],
  ['AO', 'analogOutputPoints', 'analogOutput'],
];

function pointLists({ points }: ProfileFacts): Element {
  return Object.fromEntries(
    lists.map(([type, list, point]) => [
      list,
      {
        configuration: { pointListDefinition: { fixed: none } },
        dataPoints: { [point]: points.filter((row) => row.type === type).map(pointElement) },
      },
    ]),
  );
}

/** The document as text. */
export function deviceProfileXml(facts: ProfileFacts): string {
  const { product, date, vendor, unsolicited } = facts;
  const document: Element = {
    DNP3DeviceProfileDocument: {
      '@xmlns': 'http://www.dnp.org/DNP3/DeviceProfile',
      '@schemaVersion': '2.12.00',
      documentHeader: {
        documentName: `${product}: DNP3 device profile`,
        documentDescription: 'Capabilities and present configuration, made from the running outstation',
        documentType: 'Both',
        revisionHistory: { '@version': '1', date, author: vendor, reason: 'Generated' },
      },
      referenceDevice: {
        configuration: {
          deviceConfig: deviceConfig(facts),
          networkConfig: networkConfig(facts),
          linkConfig: linkConfig(facts),
          applConfig: applicationConfig(facts),
          outstationConfig: outstationConfig(facts),
          unsolicitedConfig: {
            supportsUnsolicitedReporting: setting(
              { supported: { yes: none }, configurable: none },
              unsolicited ? { on: none } : { off: none },
            ),
          },
          outstationPerformance: {
            outstationSetsIIN14: setting(
              { atStartup: none, afterLastTimeSyncSelectable: needTimeAfterS },
              { atStartup: none, afterLastTimeSync: needTimeAfterS },
            ),
          },
        },
        database: groups(facts),
        implementationTable: { table: implementationTable(facts) },
        dataPointsList: pointLists(facts),
      },
    },
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${elements(document, '')}`;
}
