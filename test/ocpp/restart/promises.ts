/** Calls of the central system whose acceptance promises a state, and the state that the station shows. */
import type { OcppVersion } from '../../../src/contract/ocpp.ts';
import type { RestartSite } from './site.ts';

type Json = Record<string, unknown>;

export interface AcceptedChange {
  readonly name: string;
  readonly action: string;
  /** @param n a value of the state */
  readonly request: (n: number) => Json;
  readonly isAccepted: (reply: Json) => boolean;
  /** the value that the station has */
  readonly read: (site: RestartSite) => Promise<unknown>;
  /** the value after an accepted request */
  readonly value: (n: number) => unknown;
}

const isAccepted = ({ status }: Json) => status === 'Accepted';
const later = '2030-01-01T00:00:00Z';
const ask = async (site: RestartSite, action: string, payload: Json): Promise<Json> => {
  const reply = await site.process.ask(action, payload);
  if (reply === null) throw new Error(`${action} is not answered`);
  return reply;
};

const reservedAt2 = (site: RestartSite) => {
  const inBook = site.process.stack.functions.reservations().map(({ reservationId }) => reservationId);
  const atDevice = site.process.port.connector(2).reservation?.reservationId;
  return Promise.resolve(`${inBook.join()} at ${atDevice ?? 'none'}`);
};

const operativeAt2 = (site: RestartSite) => Promise.resolve(site.process.port.connector(2).operative);

const profileLimit = (site: RestartSite) => {
  const [entry] = site.process.stack.functions.chargingProfiles();
  return Promise.resolve(entry?.profileId ?? null);
};

const promises16: readonly AcceptedChange[] = [
  {
    name: 'configuration key',
    action: 'ChangeConfiguration',
    request: (n) => ({ key: 'MeterValueSampleInterval', value: String(1 + n) }),
    isAccepted,
    value: (n) => String(1 + n),
    read: async (site) => {
      const { configurationKey } = await ask(site, 'GetConfiguration', { key: ['MeterValueSampleInterval'] });
      return (configurationKey as readonly { readonly value: string }[])[0]?.value;
    },
  },
  {
    name: 'local list',
    action: 'SendLocalList',
    request: (n) => ({
      listVersion: 1 + n,
      updateType: 'Full',
      localAuthorizationList: [{ idTag: `L${n}`, idTagInfo: { status: 'Accepted' } }],
    }),
    isAccepted,
    value: (n) => `${1 + n} L${n}`,
    read: (site) => {
      const { version, entries } = site.process.stack.functions.localList();
      return Promise.resolve(`${version} ${entries.map(({ idToken }) => idToken).join()}`);
    },
  },
  {
    name: 'charging profile',
    action: 'SetChargingProfile',
    request: (n) => ({
      connectorId: 0,
      csChargingProfiles: {
        chargingProfileId: 1 + n,
        stackLevel: 1,
        chargingProfilePurpose: 'TxDefaultProfile',
        chargingProfileKind: 'Absolute',
        chargingSchedule: {
          startSchedule: '2026-01-01T00:00:00Z',
          chargingRateUnit: 'A',
          chargingSchedulePeriod: [{ startPeriod: 0, limit: 10 + (n % 20) }],
        },
      },
    }),
    isAccepted,
    value: (n) => 1 + n,
    read: profileLimit,
  },
  {
    name: 'reservation',
    action: 'ReserveNow',
    request: () => ({ connectorId: 2, expiryDate: later, idTag: 'R', reservationId: 7 }),
    isAccepted,
    value: () => '7 at 7',
    read: reservedAt2,
  },
  {
    name: 'reservation',
    action: 'CancelReservation',
    request: () => ({ reservationId: 7 }),
    isAccepted,
    value: () => ' at none',
    read: reservedAt2,
  },
];

const availability16: AcceptedChange = {
  name: 'availability',
  action: 'ChangeAvailability',
  request: (n) => ({ connectorId: 2, type: n % 2 === 0 ? 'Operative' : 'Inoperative' }),
  isAccepted,
  value: (n) => n % 2 === 0,
  read: operativeAt2,
};

const promises2: readonly AcceptedChange[] = [
  {
    name: 'variable',
    action: 'SetVariables',
    request: (n) => ({
      setVariableData: [
        {
          component: { name: 'SampledDataCtrlr' },
          variable: { name: 'TxUpdatedInterval' },
          attributeValue: String(1 + n),
        },
      ],
    }),
    isAccepted: ({ setVariableResult }) =>
      (setVariableResult as readonly { readonly attributeStatus: string }[])[0]?.attributeStatus === 'Accepted',
    value: (n) => String(1 + n),
    read: async (site) => {
      const getVariableData = [{ component: { name: 'SampledDataCtrlr' }, variable: { name: 'TxUpdatedInterval' } }];
      const { getVariableResult } = await ask(site, 'GetVariables', { getVariableData });
      return (getVariableResult as readonly { readonly attributeValue: string }[])[0]?.attributeValue;
    },
  },
  {
    name: 'local list',
    action: 'SendLocalList',
    request: (n) => ({
      versionNumber: 1 + n,
      updateType: 'Full',
      localAuthorizationList: [{ idToken: { idToken: `L${n}`, type: 'Central' }, idTokenInfo: { status: 'Accepted' } }],
    }),
    isAccepted,
    value: (n) => `${1 + n} L${n}`,
    read: promises16[1]?.read ?? (() => Promise.resolve(null)),
  },
  {
    name: 'charging profile',
    action: 'SetChargingProfile',
    request: (n) => ({
      evseId: 0,
      chargingProfile: {
        id: 1 + n,
        stackLevel: 1,
        chargingProfilePurpose: 'ChargingStationMaxProfile',
        chargingProfileKind: 'Absolute',
        validTo: new Date(Date.UTC(2027, 0, 1)).toISOString(),
        validFrom: new Date(Date.UTC(2026, 0, 1)).toISOString(),
        chargingSchedule: [
          {
            id: 1,
            startSchedule: '2026-01-01T00:00:00Z',
            chargingRateUnit: 'A',
            chargingSchedulePeriod: [{ startPeriod: 0, limit: 10 + (n % 20) }],
          },
        ],
      },
    }),
    isAccepted,
    value: (n) => 1 + n,
    read: profileLimit,
  },
  {
    name: 'reservation',
    action: 'ReserveNow',
    request: () => ({
      id: 7,
      expiryDateTime: later,
      evseId: 2,
      idToken: { idToken: 'R', type: 'Central' },
    }),
    isAccepted,
    value: () => '7 at 7',
    read: reservedAt2,
  },
  {
    name: 'reservation',
    action: 'CancelReservation',
    request: () => ({ reservationId: 7 }),
    isAccepted,
    value: () => ' at none',
    read: reservedAt2,
  },
];

const availability2: AcceptedChange = {
  ...availability16,
  request: (n) => ({ operationalStatus: n % 2 === 0 ? 'Operative' : 'Inoperative', evse: { id: 2 } }),
};

/** Changes that the property makes, without those that exclude each other. */
export function promisesOf(version: OcppVersion): readonly AcceptedChange[] {
  return version === 'ocpp1.6j' ? promises16 : promises2;
}

export const availabilityOf = (version: OcppVersion): AcceptedChange =>
  version === 'ocpp1.6j' ? availability16 : availability2;
