/** Issues of addresses of peers that requests set: no connection is made to some of them. */
import type { Issue } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Gathered } from '../layers/gather.ts';
import { csipAddressKeys } from '../layers/protocols.ts';
import type { SettingKey } from '../settings/settings.ts';

/** The host of a URL without the brackets of IPv6; empty: no URL. */
const hostOf = (url: string | null): string => (url === null ? '' : new URL(url).hostname.replace(/^\[|\]$/g, ''));

/** Names are checked when they are resolved. */
export function outboundIssues({ values, requested, originOf }: Gathered): Issue[] {
  const check = (host: string, keys: readonly SettingKey[]): Issue[] => {
    const key = keys.find((each) => requested.has(each));
    return key !== undefined && isRefusedTarget(host)
      ? [{ name: originOf(key), detail: `${host} ${refusedTargetText}` }]
      : [];
  };
  return [...check(values.csip_server_ip, csipAddressKeys), ...check(hostOf(values.ocpp_csms_url), ['ocpp_csms_url'])];
}
