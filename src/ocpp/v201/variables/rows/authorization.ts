/** Tokens: authorisation, its cache, the local list, and reservations (blocks C, D and H). */
import { maxCacheBytes } from '../../../authorization/cache.ts';
import { listLimits, maxAdditionalInfo, tokenTypes } from '../../authorization/token.ts';
import type { VariableRow } from '../model.ts';

type Row = Omit<VariableRow, 'component'>;

const auth = (row: Row): VariableRow => ({ component: 'AuthCtrlr', ...row });
const cache = (row: Row): VariableRow => ({ component: 'AuthCacheCtrlr', ...row });
const list = (row: Row): VariableRow => ({ component: 'LocalAuthListCtrlr', ...row });
const reservation = (row: Row): VariableRow => ({ component: 'ReservationCtrlr', ...row });

const setting = (variable: string, initial: 'true' | 'false'): Row => ({
  variable,
  type: 'boolean',
  mutability: 'ReadWrite',
  initial,
});
const available: Row = { variable: 'Available', type: 'boolean', mutability: 'ReadOnly', initial: 'true' };
const limit = (variable: string, value: number): Row => ({
  variable,
  type: 'integer',
  mutability: 'ReadOnly',
  initial: String(value),
});

const authorization: readonly VariableRow[] = [
  // false: plugging in is enough, and every token counts
  auth(setting('Enabled', 'true')),
  auth(setting('AuthorizeRemoteStart', 'true')),
  auth(setting('LocalAuthorizeOffline', 'true')),
  auth(setting('LocalPreAuthorize', 'false')),
  auth(setting('OfflineTxForUnknownIdEnabled', 'false')),
  auth(setting('DisableRemoteAuthorization', 'false')),
  auth({ variable: 'MasterPassGroupId', type: 'string', mutability: 'ReadWrite', initial: '', max: 255 }),
  auth(limit('AdditionalInfoItemsPerMessage', maxAdditionalInfo)),
  auth({
    variable: 'SupportedIdTokenType',
    type: 'MemberList',
    mutability: 'ReadOnly',
    since: 'ocpp2.1',
    initial: tokenTypes['ocpp2.1'].join(','),
    values: tokenTypes['ocpp2.1'],
  }),
];

const authorizationCache: readonly VariableRow[] = [
  cache(available),
  cache(setting('Enabled', 'true')),
  // since the token was used last
  cache({
    variable: 'LifeTime',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: String(30 * 86_400),
    unit: 's',
    min: 1,
    max: 2_000_000_000,
  }),
  cache({
    variable: 'Policy',
    type: 'OptionList',
    mutability: 'ReadWrite',
    initial: 'LRU',
    values: ['LRU', 'LFU', 'FIFO'],
  }),
  cache({ ...limit('Storage', 0), unit: 'B', max: maxCacheBytes }),
  cache(setting('DisablePostAuthorize', 'false')),
];

const localList: readonly VariableRow[] = [
  list(available),
  list(setting('Enabled', 'true')),
  list({ ...limit('Entries', 0), max: listLimits.entries }),
  list(limit('ItemsPerMessage', listLimits.itemsPerMessage)),
  list(limit('BytesPerMessage', listLimits.bytesPerMessage)),
  list({ ...limit('Storage', 0), unit: 'B', max: listLimits.bytes }),
  list(setting('DisablePostAuthorize', 'false')),
  list({
    variable: 'SupportsExpiryDateTime',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: 'true',
    since: 'ocpp2.1',
  }),
];

const reservations: readonly VariableRow[] = [
  reservation(available),
  reservation(setting('Enabled', 'true')),
  reservation(setting('NonEvseSpecific', 'true')),
];

export const authRows: readonly VariableRow[] = [
  ...authorization,
  ...authorizationCache,
  ...localList,
  ...reservations,
];
