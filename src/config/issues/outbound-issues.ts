/** Issues of addresses of peers that requests set: no connection is made to some of them. */
import type { Issue } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Gathered } from '../layers/gather.ts';
import { hostOf } from '../profile/device-entry.ts';
import { csipAddressKeys } from '../layers/protocols.ts';
import type { SettingKey } from '../settings/settings.ts';

/** Names are checked when they are resolved. */
export function outboundIssues({ values, requested, originOf }: Gathered): Issue[] {
  const check = (host: string, keys: readonly SettingKey[]): Issue[] => {
    const key = keys.find((each) => requested.has(each));
    return key !== undefined && isRefusedTarget(host)
      ? [{ name: originOf(key), detail: `${host} ${refusedTargetText}` }]
      : [];
  };
  const { ocpp_csms_url: url } = values;
  return [
    ...check(values.csip_server_ip, csipAddressKeys),
    ...check(url === null ? '' : hostOf(url), ['ocpp_csms_url']),
  ];
}
