/** Issues of the settings of protocols: files, certificates, passwords and identities. */
import { basename, dirname } from 'node:path';
import { csipPemFiles } from '../../contract/csip-settings.ts';
import type { CsipPemFiles, CsipSettings } from '../../contract/csip-settings.ts';
import type { Issue } from '../../core/errors.ts';
import { fileReason } from '../../core/text-file.ts';
import { clientMaterial } from '../../core/tls/client-context.ts';
import { certificatesOf, cipherIssues, maxPemBytes, readPemFiles, readTlsMaterial } from '../../core/tls/material.ts';
import type { TlsFile, TlsPolicy, TlsTriple } from '../../core/tls/material.ts';
import type { TlsIo } from '../../core/tls/watch.ts';
import { csipOf, passwordText, pemOf } from '../layers/protocols.ts';
import { issueNameOf } from '../layers/gather.ts';
import type { Gathered } from '../layers/gather.ts';
import { pemSourceText } from '../settings/value-kinds.ts';
import type { SettingKey } from '../settings/settings.ts';
import { refused, quoted } from './issues.ts';
import { missingPem, pemReaderFor } from './pem-sources.ts';
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

const maxListed = 5;
const fileKeys = { cert: 'csip_cert', key: 'csip_key', rootCert: 'csip_root_cert' } as const;
type Role = keyof TlsTriple<unknown>;
const roleNames: TlsTriple<Role> = { cert: 'cert', key: 'key', rootCert: 'rootCert' };

type Place = readonly [role: Role, path: string];

/** The files of one connection with their roles. */
function filesOf({ cert, tls }: CsipPemFiles): readonly Place[] {
  const certFile = ['cert', cert] as const;
  return tls === null ? [certFile] : [certFile, ['key', tls.key], ['rootCert', tls.rootCert]];
}

/** One certificate may be in several roles. */
const placeKey = (role: Role, path: string) => `${role} ${path}`;

class FileCheck {
  readonly #gathered: Gathered;
  readonly #settings: CsipSettings;
  /** by role and path */
  readonly #texts = new Map<string, string>();

  constructor(gathered: Gathered, settings: CsipSettings) {
    this.#gathered = gathered;
    this.#settings = settings;
  }

  /** @param indexes indexes of the devices that have a connection each */
  issues(indexes: readonly number[]): Issue[] {
    const connections = indexes.map((index) => filesOf(csipPemFiles(this.#settings, index)));
    const { io } = this.#gathered;
    const places = [...new Map(connections.flat().map((place) => [placeKey(...place), place])).values()];
    const missing = places.filter(([role, path]) => missingPem(this.#nameOf(role), path, io) !== null);
    if (missing.length > 0) return this.#missing(missing);
    const readText = pemReaderFor(
      places.map(([, path]) => path),
      io,
    );
    if (readText === null) return [];
    const readIssues = places.flatMap((place) => this.#read(place, readText));
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
    return issueNameOf(this.#gathered, key);
  }

  #missing(missing: readonly Place[]): Issue[] {
    const names = new Set(missing.map(([role]) => this.#nameOf(role)));
    return [...names].flatMap((name) => {
      const paths = missing.flatMap(([role, path]) => (this.#nameOf(role) === name ? [path] : []));
      const [firstPath = ''] = paths;
      if (paths.length === 1) return missingPem(name, firstPath, this.#gathered.io) ?? [];
      const listed = paths.slice(0, maxListed).map((path) => basename(path));
      const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
      return refused(name, dirname(firstPath), `a directory with ${listed.join(', ')}${more}`);
    });
  }

  #read([role, path]: Place, readText: TlsIo['readText']): Issue[] {
    try {
      this.#texts.set(placeKey(role, path), readText(path, maxPemBytes, role));
      return [];
    } catch (error) {
      return [{ name: this.#nameOf(role), detail: `${path}: cannot be read: ${fileReason(error)}` }];
    }
  }

  /** The issues of the first connection with issues. */
  #firstInvalid(connections: readonly (readonly Place[])[]): Issue[] {
    for (const files of connections) {
      const paths = Object.fromEntries(files) as Partial<Record<Role, string>>;
      const issues = this.#materialIssues(paths);
      if (issues.length > 0) return issues;
    }
    return [];
  }

  #materialIssues(paths: Partial<Record<Role, string>>): Issue[] {
    const text = (role: Role) => this.#texts.get(placeKey(role, paths[role] ?? '')) ?? '';
    const issueOf = (role: Role, detail: string): Issue => ({
      name: this.#nameOf(role),
      detail: `${paths[role] ?? ''}: ${detail}`,
    });
    if (paths.key === undefined)
      return certificatesOf(text('cert')) ? [] : [issueOf('cert', 'is not a certificate in PEM')];
    const result = clientMaterial(
      { cert: text('cert'), key: text('key'), rootCert: text('rootCert') },
      this.#settings.strictCipher ? 'csip_strict' : 'csip',
      roleNames,
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

const ocppKeys = { rootCert: 'ocpp_root_cert', cert: 'ocpp_cert', key: 'ocpp_key' } as const;

function pemIssues({ values, originOf, io }: Gathered): readonly Issue[] {
  const pem = pemOf(values);
  if (pem === null) return [];
  const paths: Partial<TlsTriple<string>> = { rootCert: pem.rootCert, ...pem.own };
  const roles = (['rootCert', 'cert', 'key'] as const).filter((role) => paths[role] !== undefined);
  const pathOf = (role: Role) => paths[role] ?? '';
  const missing = roles.flatMap((role) => missingPem(originOf(ocppKeys[role]), pathOf(role), io) ?? []);
  const readText = pemReaderFor(Object.values(paths), io);
  if (missing.length > 0 || readText === null) return missing;
  const { texts, issues } = readPemFiles(
    roles.map((role) => [role, { name: role, path: pathOf(role) }]),
    readText,
  );
  const { rootCert = '', ...own } = texts;
  const result = issues.length > 0 ? { issues } : clientMaterial({ rootCert, ...own }, 'ocpp', roleNames);
  if ('material' in result) return [];
  return result.issues.map(({ name, detail }) => ({
    name: originOf(ocppKeys[name as Role]),
    detail: `${pathOf(name as Role)}: ${detail}`,
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

function fileIssues(gathered: Gathered, { keys, switchedBy, policy }: Files, issues: Issue[]): Issue[] {
  const { values, originOf, io } = gathered;
  const fileOf = (key: TlsFileKey): TlsFile | null => {
    const path = values[key];
    if (path === null) {
      issues.push({
        name: issueNameOf(gathered, key),
        detail: `not given with ${originOf(switchedBy)} yes; allowed: ${pemSourceText}`,
      });
      return null;
    }
    const missing = missingPem(originOf(key), path, io);
    if (missing) issues.push(missing);
    return missing ? null : { name: originOf(key), path };
  };
  const files: TlsTriple<TlsFile | null> = {
    cert: fileOf(keys.cert),
    key: fileOf(keys.key),
    rootCert: fileOf(keys.rootCert),
  };
  if (issues.length === 0 && areGiven(files)) {
    const { cert, key, rootCert } = files;
    const readText = pemReaderFor([cert.path, key.path, rootCert.path], io);
    const reading = readText && readTlsMaterial(files, policy, readText);
    if (reading && 'issues' in reading) {
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
