/** TLS of Modbus and DNP3: whether the settings go together, and whether the files behind them fit. */
import { dnp3TlsPolicy } from '../../contract/dnp3-settings.ts';
import type { Issue } from '../../core/errors.ts';
import { cipherIssues, readTlsMaterial } from '../../core/tls/material.ts';
import type { TlsFile, TlsPolicy, TlsTriple } from '../../core/tls/material.ts';
import { refused } from './issues.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';

type FileKey = SettingKey & ('mb_cert' | 'mb_key' | 'mb_root_cert' | 'dnp3_cert' | 'dnp3_key' | 'dnp3_root_cert');

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
  readonly keys: TlsTriple<FileKey>;
  readonly switchedBy: 'mb_enc' | 'dnp3_enc';
  readonly policy: TlsPolicy;
}

function fileIssues({ values, originOf, io }: Gathered, { keys, switchedBy, policy }: Files, issues: Issue[]): Issue[] {
  const fileOf = (key: FileKey): TlsFile | null => {
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
  if (issues.length === 0 && areThere(files)) {
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

function areThere(files: TlsTriple<TlsFile | null>): files is TlsTriple<TlsFile> {
  return files.cert !== null && files.key !== null && files.rootCert !== null;
}
