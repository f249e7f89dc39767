/** What tokens and their lists are held to. */
import type { Version2 } from '../version.ts';

/** AuthCtrlr.AdditionalInfoItemsPerMessage */
export const maxAdditionalInfo = 10;

export const listLimits = {
  /** of the list: the upper limit of LocalAuthListCtrlr.Entries */
  entries: 1000,
  /** LocalAuthListCtrlr.ItemsPerMessage */
  itemsPerMessage: 200,
  /** LocalAuthListCtrlr.BytesPerMessage: of the payload as JSON text in UTF-8 */
  bytesPerMessage: 200_000,
  /** of the list as JSON text: the upper limit of LocalAuthListCtrlr.Storage */
  bytes: 1_000_000,
} as const;

/** longest text of a token */
export const maxTokenLength: Readonly<Record<Version2, number>> = { 'ocpp2.0.1': 36, 'ocpp2.1': 255 };

const types201 = [
  'Central',
  'eMAID',
  'ISO14443',
  'ISO15693',
  'KeyCode',
  'Local',
  'MacAddress',
  'NoAuthorization',
] as const;

/** Types of tokens that readers and the central system can give. */
export const tokenTypes: Readonly<Record<Version2, readonly string[]>> = {
  'ocpp2.0.1': types201,
  'ocpp2.1': [...types201, 'DirectPayment', 'EVCCID', 'VIN'],
};
