/** The client of IEEE 2030.5: whether its settings go together, and whether the certificate files behind them fit. */
import { basename, dirname } from 'node:path';
import { csipPemFiles } from '../../contract/csip-settings.ts';
import type { CsipPemFiles, CsipSettings } from '../../contract/csip-settings.ts';
import type { Issue } from '../../core/errors.ts';
import { fileReason } from '../../core/text-file.ts';
import { clientMaterial } from '../../core/tls/client-context.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import { csipOf } from '../layers/csip.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';
import { refused } from './issues.ts';

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

  /** @param indexes devices that have a connection of their own */
  issues(indexes: readonly number[]): Issue[] {
    const connections = indexes.map((index) => filesOf(csipPemFiles(this.#settings, index)));
    const places = new Map(connections.flat().map(([role, path]) => [path, role]));
    const missing = [...places].filter(([path]) => !this.#gathered.io.isFile(path));
    if (missing.length > 0) return this.#missing(missing);
    const unread = [...places].flatMap(([path, role]) => this.#read(path, role));
    return unread.length > 0 ? unread : this.#firstWrong(connections);
  }

  /** The setting that leads to a file. */
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
      const [first = ''] = paths;
      if (paths.length === 1) return refused(name, first, 'the path of a file that exists');
      const listed = paths.slice(0, maxListed).map((path) => basename(path));
      const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
      return refused(name, dirname(first), `a directory with ${listed.join(', ')}${more}`);
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

  /** The issues of the first connection that has some. */
  #firstWrong(connections: readonly (readonly (readonly [Role, string])[])[]): Issue[] {
    for (const files of connections) {
      const paths = Object.fromEntries(files) as Partial<Record<Role, string>>;
      const issues = this.#wrong(paths);
      if (issues.length > 0) return issues;
    }
    return [];
  }

  #wrong(paths: Partial<Record<Role, string>>): Issue[] {
    const text = (role: Role) => this.#texts.get(paths[role] ?? '') ?? '';
    const inWords = (role: Role, detail: string): Issue => ({
      name: this.#nameOf(role),
      detail: `${paths[role] ?? ''}: ${detail}`,
    });
    if (paths.key === undefined)
      return certificatesOf(text('cert')) ? [] : [inWords('cert', 'is not a certificate in PEM')];
    const result = clientMaterial(
      { cert: text('cert'), key: text('key'), rootCert: text('rootCert') },
      this.#settings.strictCipher ? 'csip_strict' : 'csip',
      { cert: 'cert', key: 'key', rootCert: 'rootCert' },
    );
    return 'material' in result ? [] : result.issues.map(({ name, detail }) => inWords(name as Role, detail));
  }
}

/**
 * Issues of the certificate files of all connections.
 * @param count number of devices
 */
export function csipFileIssues(gathered: Gathered, count: number): Issue[] {
  const settings = csipOf(gathered);
  if (settings === null) return [];
  const first = gathered.values.first_device;
  const one = settings.identity !== 'per_device' || settings.certificates.kind === 'files';
  const indexes = Array.from({ length: one ? 1 : count }, (_, at) => first + at);
  return new FileCheck(gathered, settings).issues(indexes);
}
