/** The test hierarchy of Modbus over TLS: a CA, a server, a client of each role, and clients that get no session or no role. */
import {
  authority,
  extendedKeyUsage,
  ia5String,
  keyUsage,
  noAuthority,
  sequenceOf,
  sunspecRole,
  utf8String,
} from './extensions.ts';
import type { CertificateExtension } from './extensions.ts';
import { localHosts } from './tree.ts';
import type { Entry } from './tree.ts';

export interface ModbusTreeOptions {
  /** names and addresses of the server besides those of this machine */
  readonly hosts: readonly string[];
  /** begin of the authorities, ms since the epoch */
  readonly nowMs: number;
}

const [fromMs, untilMs] = [Date.UTC(2026, 0, 1), Date.UTC(2045, 11, 31)];
/** Validity of a client that has expired. */
const expired = { fromMs: Date.UTC(2020, 0, 1), untilMs: Date.UTC(2021, 0, 1) };
const authorityMs = 7300 * 86_400_000;

const sign = keyUsage('sign');

type Rest = Pick<Entry, 'meaning' | 'extensions'> & Partial<Pick<Entry, 'fromMs' | 'untilMs' | 'subject'>>;

const entry = (name: string, issuer: string | null, rest: Rest): Entry => ({
  name,
  issuer,
  subject: [['CN', name]],
  fromMs,
  untilMs,
  chain: [],
  isHidden: false,
  ...rest,
});

const client = (
  name: string,
  meaning: string,
  role: Buffer | null,
  { issuer = 'ca', validity = {} }: { issuer?: string; validity?: Partial<typeof expired> } = {},
): Entry =>
  entry(name, issuer, {
    ...validity,
    meaning,
    extensions: [
      noAuthority,
      sign,
      extendedKeyUsage('clientAuth'),
      'subject_key',
      'authority_key',
      ...(role === null ? [] : [sunspecRole(role)]),
    ],
  });

/** @param options `nowMs` is rounded down to seconds, the resolution of certificates */
export function modbusTree({ hosts, nowMs }: ModbusTreeOptions): readonly Entry[] {
  const rootExtensions: readonly CertificateExtension[] = [authority(null), keyUsage('authority'), 'subject_key'];
  const root = (name: string, commonName: string, meaning: string) =>
    entry(name, null, {
      subject: [['CN', commonName]],
      fromMs: nowMs,
      untilMs: nowMs + authorityMs,
      extensions: rootExtensions,
      meaning,
    });
  const gridService = utf8String('GridServiceSunSpec');
  const readOnly = utf8String('ReadOnlySunSpec');
  return [
    root('ca', 'Test CA', 'root CA of the server and of its clients (--mb_root_cert)'),
    root('foreign-ca', 'Foreign test CA', 'another root CA, which nobody here trusts'),
    entry('server', 'ca', {
      meaning: 'the server; no role (--mb_cert, --mb_key server.key)',
      extensions: [
        noAuthority,
        sign,
        extendedKeyUsage('serverAuth'),
        'subject_key',
        'authority_key',
        { hosts: [...localHosts, ...hosts] },
      ],
    }),
    client('readonly', 'client, role ReadOnlySunSpec', readOnly),
    client('gridservice', 'client, role GridServiceSunSpec', gridService),
    client('netadmin', 'client, role NetworkAdministratorSunSpec', utf8String('NetworkAdministratorSunSpec')),
    client('superadmin', 'client, role SuperAdministratorSunSpec', utf8String('SuperAdministratorSunSpec')),
    client('bad-no-role', 'client without a role: finds the models, no more', null),
    client('bad-two-roles', 'client with two roles: as without', sequenceOf(gridService, readOnly)),
    client('bad-unknown-role', 'client with a role that SunSpec does not have: as without', utf8String('Operator')),
    client('bad-encoding', 'client with a role as IA5String: as without', ia5String('GridServiceSunSpec')),
    client('bad-expired', 'client whose certificate has expired: no session', gridService, { validity: expired }),
    client('bad-foreign', 'client of the other CA: no session', gridService, { issuer: 'foreign-ca' }),
  ];
}
