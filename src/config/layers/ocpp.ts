/** The charge points of OCPP, from the values in force. */
import { ocppPasswordOctets, ocppSecurityProfiles } from '../../contract/ocpp-settings.ts';
import type { OcppPemFiles, OcppSecurityProfile, OcppSettings } from '../../contract/ocpp-settings.ts';
import type { DeviceConfig } from '../settings/app-config.ts';
import type { Values } from '../settings/settings.ts';
import type { Gathered } from './gather.ts';

const maxPasswordFileBytes = 4096;

/** The security profile of the settings. */
export function securityProfileOf({ ocpp_security_profile: given }: Values): OcppSecurityProfile {
  return ocppSecurityProfiles.find((profile) => profile === given) ?? 0;
}

/**
 * The password as it was given, or as its file has it; null: none.
 * @throws Error with the reason when the file cannot be read
 */
export function passwordText({
  values: { ocpp_password: given, ocpp_password_file: file },
  io,
}: Gathered): string | null {
  if (given !== null || file === null) return given;
  return io.readFile(file, maxPasswordFileBytes).replace(/\r?\n$/, '');
}

/** Also of a profile that sends none: the key SecurityProfile and REST may raise it while the process runs. */
function passwordOf(gathered: Gathered): Buffer | null {
  const text = passwordText(gathered);
  return text === null ? null : ocppPasswordOctets(text, gathered.values.ocpp_version);
}

/** null: no PEM files. Like the password they apply to a profile that is raised later. */
export function pemOf({ ocpp_root_cert: rootCert, ocpp_cert: cert, ocpp_key: key }: Values): OcppPemFiles | null {
  if (rootCert === null) return null;
  return { rootCert, own: cert !== null && key !== null ? { cert, key } : null };
}

/** Null: it is off. Call it only when nothing is wrong. */
export function ocppOf(gathered: Gathered): OcppSettings | null {
  const { values: v } = gathered;
  const { ocpp_csms_url: url } = v;
  if (!v.ocpp_enable || url === null) return null;
  return {
    id: v.ocpp_csid,
    version: v.ocpp_version,
    url,
    securityProfile: securityProfileOf(v),
    password: passwordOf(gathered),
    pem: pemOf(v),
    autoAuthorize: v.ocpp_auto_authorize,
  };
}

const certificateKeys = ['ocpp_root_cert', 'ocpp_cert', 'ocpp_key'] as const;

/** Lines for the log about certificate settings that can never count without the others. */
export function ocppUnused(v: Values): readonly string[] {
  const pem = pemOf(v);
  if (!v.ocpp_enable || pem?.own != null) return [];
  return (['ocpp_cert', 'ocpp_key'] as const)
    .filter((key) => v[key] !== null)
    .map((key) => {
      const missing = certificateKeys.filter((other) => v[other] === null).join(' and ');
      return `${key} is given and has no effect without ${missing}`;
    });
}

/** Log lines about risks, and about settings without effect. */
export function ocppNotices(
  { values: v, layers }: Pick<Gathered, 'values' | 'layers'>,
  devices: readonly DeviceConfig[],
): readonly string[] {
  if (!v.ocpp_enable) return [];
  const lines: string[] = [];
  if (layers.flags.has('ocpp_password'))
    lines.push(
      'ocpp_password is given on the command line, where other users of this machine can see it; ' +
        'ocpp_password_file and DERBENCH_OCPP_PASSWORD hide it',
    );
  if (securityProfileOf(v) === 1)
    lines.push('with ocpp_security_profile 1 the password of OCPP goes over the network in clear');
  if (!devices.some(({ assetType }) => assetType === 'evse'))
    lines.push('ocpp_enable is yes, but no EVSE is simulated: there is no charge point until one is added');
  return lines;
}
