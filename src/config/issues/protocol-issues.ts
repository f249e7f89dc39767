/** Issues of the settings of protocols: files, certificates, passwords and identities. */
import { basename, dirname } from 'node:path';
import { csipPemFiles } from '../../contract/csip-settings.ts';
import type { CsipPemFiles, CsipSettings } from '../../contract/csip-settings.ts';
import type { Issue } from '../../core/errors.ts';
import { fileReason } from '../../core/text-file.ts';
import { clientMaterial } from '../../core/tls/client-context.ts';
import { certificatesOf, cipherIssues, readTlsMaterial } from '../../core/tls/material.ts';
import type { TlsFile, TlsPolicy, TlsTriple } from '../../core/tls/material.ts';
import { csipOf, passwordText, pemOf } from '../layers/protocols.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';
import { refused, quoted } from './issues.ts';
import { maxPointsFileBytes, readDnp3Points } from '../../contract/dnp3-points.ts';
import { createChargePointIds } from '../../contract/charge-point-ids.ts';
import {
  versionWithoutId,
  isOcppId,
  ocppIdText,
  ocppPasswordOctets,
  ocppPasswordText,
} from '../../contract/ocpp-settings.ts';
import type { DeviceConfig } from '../settings/app-config.ts';
import { dnp3TlsPolicy } from '../../contract/dnp3-settings.ts';

const maxPemBytes = 1024 * 1024;
const maxListed = 5;
const fileKeys = { cert: 'csip_cert', key: 'csip_key', rootCert: 'csip_root_cert' } as const;
type Role = keyof typeof fileKeys;

/** The files of one connection with their roles. */
function filesOf({ cert, tls }: CsipPemFiles): readonly (readonly [Role, string])[] {
  const certFile = ['cert', cert] as const;
  return tls === null ? [certFile] : [certFile, ['key', tls.key], ['rootCert', tls.rootCert]];
}

class FileCheck {
  readonly #gathered: Gathered;
  readonly #settings: CsipSettings;
  readonly #texts = new Map<string, string>();

  constructor(gathered: Gathered, settings: CsipSettings) {
    this.#gathered = gathered;
    this.#settings = settings;
  }

  /** @param indexes indexes of the devices that have a connection each */
  issues(indexes: readonly number[]): Issue[] {
    const connections = indexes.map((index) => filesOf(csipPemFiles(this.#settings, index)));
    const places = new Map(connections.flat().map(([role, path]) => [path, role]));
    const missing = [...places].filter(([path]) => !this.#gathered.io.isFile(path));
    if (missing.length > 0) return this.#missing(missing);
    const readIssues = [...places].flatMap(([path, role]) => this.#read(path, role));
    return readIssues.length > 0 ? readIssues : this.#firstInvalid(connections);
  }

  /** The setting that names a file or its directory. */
  #nameOf(role: Role): string {
    const { kind } = this.#settings.certificates;
    const inDirectory = kind === 'test_pki' || (kind === 'per_device' && role !== 'rootCert');
    const key: SettingKey = inDirectory
      ? kind === 'test_pki'
        ? 'use_test_pki_certs'
        : 'csip_cert_dir'
      : fileKeys[role];
    return this.#gathered.values[key] === null ? flagOf(key) : this.#gathered.originOf(key);
  }

  #missing(missing: readonly (readonly [path: string, role: Role])[]): Issue[] {
    const names = new Set(missing.map(([, role]) => this.#nameOf(role)));
    return [...names].map((name) => {
      const paths = missing.flatMap(([path, role]) => (this.#nameOf(role) === name ? [path] : []));
      const [firstPath = ''] = paths;
      if (paths.length === 1) return refused(name, firstPath, 'the path of a file that exists');
      const listed = paths.slice(0, maxListed).map((path) => basename(path));
      const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
      return refused(name, dirname(firstPath), `a directory with ${listed.join(', ')}${more}`);
    });
  }

  #read(path: string, role: Role): Issue[] {
    try {
      this.#texts.set(path, this.#gathered.io.readFile(path, maxPemBytes));
      return [];
    } catch (error) {
      return [{ name: this.#nameOf(role), detail: `${path}: cannot be read: ${fileReason(error)}` }];
    }
  }

  /** The issues of the first connection with issues. */
  #firstInvalid(connections: readonly (readonly (readonly [Role, string])[])[]): Issue[] {
    for (const files of connections) {
      const paths = Object.fromEntries(files) as Partial<Record<Role, string>>;
      const issues = this.#materialIssues(paths);
      if (issues.length > 0) return issues;
    }
    return [];
  }

  #materialIssues(paths: Partial<Record<Role, string>>): Issue[] {
    const text = (role: Role) => this.#texts.get(paths[role] ?? '') ?? '';
    const issueOf = (role: Role, detail: string): Issue => ({
      name: this.#nameOf(role),
      detail: `${paths[role] ?? ''}: ${detail}`,
    });
    if (paths.key === undefined)
      return certificatesOf(text('cert')) ? [] : [issueOf('cert', 'is not a certificate in PEM')];
    const result = clientMaterial(
      { cert: text('cert'), key: text('key'), rootCert: text('rootCert') },
      this.#settings.strictCipher ? 'csip_strict' : 'csip',
      { cert: 'cert', key: 'key', rootCert: 'rootCert' },
    );
    return 'material' in result ? [] : result.issues.map(({ name, detail }) => issueOf(name as Role, detail));
  }
}

/**
 * Issues of the certificate files of all connections.
 * @param count number of devices
 */
export function csipFileIssues(gathered: Gathered, count: number): Issue[] {
  const settings = csipOf(gathered);
  if (settings === null) return [];
  const firstIndex = gathered.values.first_device;
  const hasOneConnection = settings.identity !== 'per_device' || settings.certificates.kind === 'files';
  const indexes = Array.from({ length: hasOneConnection ? 1 : count }, (_, at) => firstIndex + at);
  return new FileCheck(gathered, settings).issues(indexes);
}

/** Issues of the DNP3 point map. */
export function dnp3PointsIssues({ values, io, originOf }: Gathered): Issue[] {
  const { dnp3_points: path } = values;
  if (!values.dnp3_enable || path === null || !io.isFile(path)) return [];
  const name = originOf('dnp3_points');
  try {
    const read = readDnp3Points(io.readFile(path, maxPointsFileBytes));
    return typeof read === 'string' ? [{ name, detail: `${path}: ${read}` }] : [];
  } catch (error) {
    return [{ name, detail: `${path}: cannot be read: ${fileReason(error)}` }];
  }
}

type OcppFileKey = 'ocpp_root_cert' | 'ocpp_cert' | 'ocpp_key';
type Paths = readonly (readonly [OcppFileKey, string])[];

/** Texts of PEM files by setting, or the issues of files that cannot be read. */
function readPemTexts({ io, originOf }: Gathered, paths: Paths): Readonly<Record<string, string>> | readonly Issue[] {
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
  const pemTexts = readPemTexts(gathered, paths);
  if (Array.isArray(pemTexts)) return pemTexts as readonly Issue[];
  const {
    ocpp_root_cert: rootCert = '',
    ocpp_cert: cert,
    ocpp_key: key,
  } = pemTexts as Readonly<Record<string, string>>;
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
    name: gathered.originOf(name as OcppFileKey),
    detail: `${pathOf.get(name) ?? ''}: ${detail}`,
  }));
}

function passwordIssues(gathered: Gathered): Issue[] {
  const { values, io, originOf } = gathered;
  const { ocpp_password_file: file, ocpp_password: password } = values;
  if (file === null || password !== null) return [];
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
 * The issue of the first identity that is invalid or given twice; an identity of an entry is named by its device.
 * Checked also while OCPP is off, because the paths of `evse` have the identities.
 */
export function chargePointIdIssues({ values, originOf }: Gathered, devices: readonly DeviceConfig[]): Issue[] {
  const stations = devices.map(({ assetType, ocpp }, at) => ({
    index: values.first_device + at,
    assetType,
    ...(ocpp !== undefined && { ocpp }),
  }));
  const idOf = createChargePointIds({ devices: stations }, values.ocpp_csid);
  const deviceOfId = new Map<string, number>();
  for (const station of stations) {
    const id = idOf(station);
    if (id === null) continue;
    const name = station.ocpp?.id === undefined ? originOf('ocpp_csid') : `ocpp.id of device ${station.index}`;
    const versions = station.ocpp?.versions ?? values.ocpp_version;
    if (!isOcppId(id)) return [refused(name, id, ocppIdText)];
    const version = versionWithoutId(id, versions);
    if (version !== null) return [refused(name, id, `an identity without colon, as ${version} requires`)];
    const other = deviceOfId.get(id);
    if (other !== undefined)
      return [{ name, detail: `given ${quoted(id)}, which device ${other} has too; allowed: another identity` }];
    deviceOfId.set(id, station.index);
  }
  return [];
}

/** Issues of the certificate files and the password of OCPP. */
export function ocppFileIssues(gathered: Gathered): Issue[] {
  if (!gathered.values.ocpp_enable) return [];
  return [...pemIssues(gathered), ...passwordIssues(gathered)];
}

type TlsFileKey = SettingKey & ('mb_cert' | 'mb_key' | 'mb_root_cert' | 'dnp3_cert' | 'dnp3_key' | 'dnp3_root_cert');

/** Issues that prevent Modbus over TLS. */
export function modbusTlsIssues(gathered: Gathered): Issue[] {
  const { values, originOf } = gathered;
  if (!values.mb_enable || !values.mb_enc) return [];
  const policy = { ciphers: values.mb_ciphers, minVersion: values.mb_tls_version };
  const issues = cipherIssues(policy, { ciphers: originOf('mb_ciphers'), minVersion: originOf('mb_tls_version') });
  const keys = { cert: 'mb_cert', key: 'mb_key', rootCert: 'mb_root_cert' } as const;
  return fileIssues(gathered, { keys, switchedBy: 'mb_enc', policy }, issues);
}

/** Issues that prevent DNP3 over TLS. */
export function dnp3TlsIssues(gathered: Gathered): Issue[] {
  const { values } = gathered;
  if (!values.dnp3_enable || !values.dnp3_enc) return [];
  const keys = { cert: 'dnp3_cert', key: 'dnp3_key', rootCert: 'dnp3_root_cert' } as const;
  return fileIssues(gathered, { keys, switchedBy: 'dnp3_enc', policy: dnp3TlsPolicy }, []);
}

interface Files {
  readonly keys: TlsTriple<TlsFileKey>;
  readonly switchedBy: 'mb_enc' | 'dnp3_enc';
  readonly policy: TlsPolicy;
}

function fileIssues({ values, originOf, io }: Gathered, { keys, switchedBy, policy }: Files, issues: Issue[]): Issue[] {
  const fileOf = (key: TlsFileKey): TlsFile | null => {
    const path = values[key];
    if (path === null)
      issues.push({
        name: flagOf(key),
        detail: `not given with ${originOf(switchedBy)} yes; allowed: the path of a PEM file`,
      });
    else if (!io.isFile(path)) issues.push(refused(originOf(key), path, 'the path of a file that exists'));
    else return { name: originOf(key), path };
    return null;
  };
  const files: TlsTriple<TlsFile | null> = {
    cert: fileOf(keys.cert),
    key: fileOf(keys.key),
    rootCert: fileOf(keys.rootCert),
  };
  if (issues.length === 0 && areGiven(files)) {
    const reading = readTlsMaterial(files, policy, io.readFile);
    if ('issues' in reading) {
      const pathOf = new Map(Object.values(files).map(({ name, path }) => [name, path]));
      issues.push(
        ...reading.issues.map(({ name, detail }) => ({ name, detail: `${pathOf.get(name) ?? ''}: ${detail}` })),
      );
    }
  }
  return issues;
}

function areGiven(files: TlsTriple<TlsFile | null>): files is TlsTriple<TlsFile> {
  return files.cert !== null && files.key !== null && files.rootCert !== null;
}
