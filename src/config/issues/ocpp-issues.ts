/** Charge points of OCPP: whether files, password and identities fit. */
import { createChargePointIds } from '../../contract/charge-point-ids.ts';
import {
  isIdOfVersion,
  isOcppId,
  ocppIdText,
  ocppPasswordOctets,
  ocppPasswordText,
} from '../../contract/ocpp-settings.ts';
import type { Issue } from '../../core/errors.ts';
import { fileReason } from '../../core/text-file.ts';
import { clientMaterial } from '../../core/tls/client-context.ts';
import type { Gathered } from '../layers/gather.ts';
import { passwordText, pemOf } from '../layers/ocpp.ts';
import type { DeviceConfig } from '../settings/app-config.ts';
import { refused, shown } from './issues.ts';

const maxPemBytes = 1024 * 1024;
type FileKey = 'ocpp_root_cert' | 'ocpp_cert' | 'ocpp_key';
type Paths = readonly (readonly [FileKey, string])[];

/** Texts of PEM files by setting, or why they cannot be had. */
function texts({ io, originOf }: Gathered, paths: Paths): Readonly<Record<string, string>> | readonly Issue[] {
  const missing = paths.filter(([, path]) => !io.isFile(path));
  if (missing.length > 0)
    return missing.map(([key, path]) => refused(originOf(key), path, 'the path of a file that exists'));
  const pemTexts: Record<string, string> = {};
  const issues = paths.flatMap(([key, path]): Issue[] => {
    try {
      pemTexts[key] = io.readFile(path, maxPemBytes);
      return [];
    } catch (error) {
      return [{ name: originOf(key), detail: `${path}: cannot be read: ${fileReason(error)}` }];
    }
  });
  return issues.length > 0 ? issues : pemTexts;
}

function pemIssues(gathered: Gathered): readonly Issue[] {
  const pem = pemOf(gathered.values);
  if (pem === null) return [];
  const clientPaths: Paths =
    pem.own === null
      ? []
      : [
          ['ocpp_cert', pem.own.cert],
          ['ocpp_key', pem.own.key],
        ];
  const paths: Paths = [['ocpp_root_cert', pem.rootCert], ...clientPaths];
  const read = texts(gathered, paths);
  if (Array.isArray(read)) return read as readonly Issue[];
  const { ocpp_root_cert: rootCert = '', ocpp_cert: cert, ocpp_key: key } = read as Readonly<Record<string, string>>;
  const result = clientMaterial(
    { rootCert, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
    'ocpp',
    {
      rootCert: 'ocpp_root_cert',
      cert: 'ocpp_cert',
      key: 'ocpp_key',
    },
  );
  if ('material' in result) return [];
  const pathOf = new Map<string, string>(paths);
  return result.issues.map(({ name, detail }) => ({
    name: gathered.originOf(name as FileKey),
    detail: `${pathOf.get(name) ?? ''}: ${detail}`,
  }));
}

function passwordIssues(gathered: Gathered): Issue[] {
  const { values, io, originOf } = gathered;
  const { ocpp_password_file: file, ocpp_password: given } = values;
  if (file === null || given !== null) return [];
  const name = originOf('ocpp_password_file');
  if (!io.isFile(file)) return [refused(name, file, 'the path of a file that exists')];
  let text: string | null;
  try {
    text = passwordText(gathered);
  } catch (error) {
    return [{ name, detail: `${file}: cannot be read: ${fileReason(error)}` }];
  }
  const fits = text !== null && ocppPasswordOctets(text, values.ocpp_version) !== null;
  return fits ? [] : [{ name, detail: `${file}: given a secret value; allowed: ${ocppPasswordText}` }];
}

/**
 * The first identity that is too long, or given twice; own ones are named by the device. The paths of `evse` have them
 * also while OCPP is off.
 */
export function chargePointIdIssues({ values, originOf }: Gathered, devices: readonly DeviceConfig[]): Issue[] {
  const stations = devices.map(({ assetType, ocpp }, at) => ({
    index: values.first_device + at,
    assetType,
    ...(ocpp !== undefined && { ocpp }),
  }));
  const idOf = createChargePointIds({ devices: stations }, values.ocpp_csid);
  const seen = new Map<string, number>();
  for (const station of stations) {
    const id = idOf(station);
    if (id === null) continue;
    const name = station.ocpp?.id === undefined ? originOf('ocpp_csid') : `ocpp.id of device ${station.index}`;
    const version = station.ocpp?.version ?? values.ocpp_version;
    if (!isOcppId(id)) return [refused(name, id, ocppIdText)];
    if (!isIdOfVersion(id, version)) return [refused(name, id, `an identity without colon, as ${version} requires`)];
    const other = seen.get(id);
    if (other !== undefined)
      return [{ name, detail: `given ${shown(id)}, which device ${other} has too; allowed: an identity of its own` }];
    seen.set(id, station.index);
  }
  return [];
}

/** Issues of files, password and identities. */
export function ocppFileIssues(gathered: Gathered): Issue[] {
  if (!gathered.values.ocpp_enable) return [];
  return [...pemIssues(gathered), ...passwordIssues(gathered)];
}
