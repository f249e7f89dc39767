/** Rows of settings of the charge points of OCPP that conflict with others. */
import { isUrlOfProfile, needsPassword } from '../../contract/ocpp-settings.ts';
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import { securityProfileOf } from '../layers/ocpp.ts';
import type { SettingKey } from '../settings/settings.ts';
import type { Conflict, Run } from './conflict.ts';
import { shown } from './issues.ts';

const enabled = ({ values }: Run) => values.ocpp_enable;
const profileOf = ({ values }: Run) => securityProfileOf(values);

/** Why an endpoint does not go with the security profile; null: it does. @param profileName where the profile stands */
export function transportDetail(url: string, profile: OcppSecurityProfile, profileName: string): string | null {
  if (isUrlOfProfile(url, profile)) return null;
  const scheme = profile >= 2 ? 'wss' : 'ws';
  return `given ${shown(url)} with ${profileName} ${profile}; allowed: a ${scheme}:// URL, or another security profile`;
}

/** A file that a security profile needs. */
const required = (
  setting: SettingKey & ('ocpp_cert' | 'ocpp_key' | 'ocpp_root_cert'),
  from: OcppSecurityProfile,
): Conflict => ({
  setting,
  when: (run) => enabled(run) && profileOf(run) >= from && run.values[setting] === null,
  detail: ({ values, originOf }) =>
    `not given with ${originOf('ocpp_security_profile')} ${values.ocpp_security_profile}; allowed: the path of a PEM file`,
});

export const ocppConflicts: readonly Conflict[] = [
  {
    setting: 'ocpp_csms_url',
    when: (run) => enabled(run) && run.values.ocpp_csms_url === null,
    detail: ({ originOf }) =>
      `not given with ${originOf('ocpp_enable')} yes; allowed: the endpoint of a central system, for example ws://127.0.0.1:8180/ocpp`,
  },
  {
    setting: 'ocpp_csms_url',
    when: (run) => {
      const { ocpp_csms_url: url } = run.values;
      return enabled(run) && url !== null && !isUrlOfProfile(url, profileOf(run));
    },
    detail: (run) =>
      transportDetail(run.values.ocpp_csms_url ?? '', profileOf(run), run.originOf('ocpp_security_profile')) ?? '',
  },
  {
    setting: 'ocpp_password',
    when: (run) => enabled(run) && run.values.ocpp_password !== null && run.values.ocpp_password_file !== null,
    detail: ({ originOf }) => `given together with ${originOf('ocpp_password_file')}; allowed: one of the two`,
  },
  {
    setting: 'ocpp_password_file',
    when: (run) =>
      enabled(run) &&
      needsPassword(profileOf(run)) &&
      run.values.ocpp_password === null &&
      run.values.ocpp_password_file === null,
    detail: ({ values, originOf }) =>
      `not given with ${originOf('ocpp_security_profile')} ${values.ocpp_security_profile}; allowed: the ` +
      'path of a file with the password, or DERBENCH_OCPP_PASSWORD',
  },
  required('ocpp_root_cert', 2),
  required('ocpp_cert', 3),
  required('ocpp_key', 3),
];
