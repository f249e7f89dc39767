/** TLS of Modbus: whether the settings go together, and whether the files behind them fit. */
import type { Issue } from '../../core/errors.ts';
import { cipherIssues, readTlsMaterial } from '../../core/tls/material.ts';
import type { TlsFile, TlsTriple } from '../../core/tls/material.ts';
import { refused } from './issues.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';

/** Issues that prevent Modbus over TLS. */
export function modbusTlsIssues({ values, originOf, io }: Gathered): Issue[] {
  if (!values.mb_enable || !values.mb_enc) return [];
  const policy = { ciphers: values.mb_ciphers, minVersion: values.mb_tls_version };
  const issues = cipherIssues(policy, { ciphers: originOf('mb_ciphers'), minVersion: originOf('mb_tls_version') });
  const fileOf = (key: SettingKey & ('mb_cert' | 'mb_key' | 'mb_root_cert')): TlsFile | null => {
    const path = values[key];
    if (path === null)
      issues.push({
        name: flagOf(key),
        detail: `not given with ${originOf('mb_enc')} yes; allowed: the path of a PEM file`,
      });
    else if (!io.isFile(path)) issues.push(refused(originOf(key), path, 'the path of a file that exists'));
    else return { name: originOf(key), path };
    return null;
  };
  const files: TlsTriple<TlsFile | null> = {
    cert: fileOf('mb_cert'),
    key: fileOf('mb_key'),
    rootCert: fileOf('mb_root_cert'),
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
