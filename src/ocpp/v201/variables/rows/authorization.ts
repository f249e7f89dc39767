/** Tokens: authorisation, its cache, the local list, and reservations (blocks C, D and H). */
import { maxCacheBytes } from '../../../authorization/cache.ts';
import { listLimits, maxAdditionalInfo, tokenTypes } from '../../authorization/token.ts';
import { rowsOf } from '../model.ts';
import type { VariableRow } from '../model.ts';

const auth = rowsOf('AuthCtrlr');
const cache = rowsOf('AuthCacheCtrlr');
const list = rowsOf('LocalAuthListCtrlr');
const reservation = rowsOf('ReservationCtrlr');
const types = tokenTypes['ocpp2.1'];

export const authRows: readonly VariableRow[] = [
  // false: plugging in is enough, and every token counts
  auth.readWrite('Enabled', 'boolean', true),
  auth.readWrite('AuthorizeRemoteStart', 'boolean', true),
  auth.readWrite('LocalAuthorizeOffline', 'boolean', true),
  auth.readWrite('LocalPreAuthorize', 'boolean', false),
  auth.readWrite('OfflineTxForUnknownIdEnabled', 'boolean', false),
  auth.readWrite('DisableRemoteAuthorization', 'boolean', false),
  auth.readWrite('MasterPassGroupId', 'string', '', { max: 255 }),
  auth.readOnly('AdditionalInfoItemsPerMessage', 'integer', maxAdditionalInfo),
  auth.readOnly('SupportedIdTokenType', 'MemberList', types.join(','), { values: types, since: 'ocpp2.1' }),

  cache.readOnly('Available', 'boolean', true),
  cache.readWrite('Enabled', 'boolean', true),
  // since the token was used last
  cache.readWrite('LifeTime', 'integer', 30 * 86_400, { unit: 's', min: 1, max: 2_000_000_000 }),
  cache.readWrite('Policy', 'OptionList', 'LRU', { values: ['LRU', 'LFU', 'FIFO'] }),
  cache.readOnly('Storage', 'integer', 0, { unit: 'B', max: maxCacheBytes }),
  cache.readWrite('DisablePostAuthorize', 'boolean', false),

  list.readOnly('Available', 'boolean', true),
  list.readWrite('Enabled', 'boolean', true),
  list.readOnly('Entries', 'integer', 0, { max: listLimits.entries }),
  list.readOnly('ItemsPerMessage', 'integer', listLimits.itemsPerMessage),
  list.readOnly('BytesPerMessage', 'integer', listLimits.bytesPerMessage),
  list.readOnly('Storage', 'integer', 0, { unit: 'B', max: listLimits.bytes }),
  list.readWrite('DisablePostAuthorize', 'boolean', false),
  list.readOnly('SupportsExpiryDateTime', 'boolean', true, { since: 'ocpp2.1' }),

  reservation.readOnly('Available', 'boolean', true),
  reservation.readWrite('Enabled', 'boolean', true),
  reservation.readWrite('NonEvseSpecific', 'boolean', true),
];
