/** The test hierarchy of IEEE 2030.5 (6.11): SERCA, MCA, MICA, a server, clients, and chains that a server has to refuse. */
import {
  authority,
  extendedKeyUsage,
  hardwareModule,
  hardwareNameConstraint,
  keyUsage,
  noAuthority,
  policies,
  policyMapping,
} from './extensions.ts';
import type { CertificateExtension } from './extensions.ts';
import { localHosts } from './tree.ts';
import type { Entry } from './tree.ts';

export interface CsipTreeOptions {
  /** number of devices */
  readonly devices: number;
  /** names and addresses of the server besides those of this machine */
  readonly hosts: readonly string[];
}

const fromMs = Date.UTC(2026, 0, 1);
/** The time that stands for "no end" (RFC 5280 4.1.2.5). */
const neverMs = Date.UTC(9999, 11, 31, 23, 59, 59);
/** Policies of 6.11.7: arc 1.3.6.1.4.1.40732.1, generic device. */
const genericDevice = '1.3.6.1.4.1.40732.1.1';
const anyPolicy = '2.5.29.32.0';
/** Arc for examples. */
const hardwareType = '2.999.1';
const otherPolicy = '2.999.2';

const signAndAgree = keyUsage('signAndAgree');
const device = policies(genericDevice);

const organisation = (name: string): Entry['subject'] => [
  ['CN', name],
  ['O', 'derbench tests'],
];

type Rest = Pick<Entry, 'subject' | 'extensions' | 'meaning'> & Partial<Pick<Entry, 'chain' | 'isHidden'>>;

const entry = (name: string, issuer: string | null, rest: Rest): Entry => ({
  name,
  issuer,
  fromMs,
  untilMs: neverMs,
  chain: [],
  isHidden: false,
  ...rest,
});

/** A CA that issues devices directly. @param special extensions before the policies, and behind them */
function issuingAuthority(
  name: string,
  issuer: string,
  commonName: string,
  rest: { meaning: string; isHidden?: boolean },
  special: { readonly before?: CertificateExtension; readonly behind?: CertificateExtension } = {},
): Entry {
  return entry(name, issuer, {
    ...rest,
    subject: organisation(commonName),
    extensions: [
      authority(0),
      keyUsage('authority'),
      ...(special.before ? [special.before] : []),
      device,
      ...(special.behind ? [special.behind] : []),
      'subject_key',
      'authority_key',
    ],
  });
}

/** A device has no subject and no end; its name is its hardware module (6.11.8.3). */
function deviceEntry(name: string, issuer: string | null, chain: readonly string[], meaning: string): Entry {
  const keyIds: readonly CertificateExtension[] = issuer === null ? ['subject_key'] : ['authority_key', 'subject_key'];
  return entry(name, issuer, {
    subject: [],
    extensions: [signAndAgree, device, hardwareModule(hardwareType, name), ...keyIds],
    chain,
    meaning,
  });
}

const hidden = { meaning: 'issuer of a bad chain', isHidden: true };

/** Issuers that 6.11 does not permit, and the chains of COMM-004 of the CSIP test procedures. */
function comm004(): readonly Entry[] {
  return [
    issuingAuthority('mica3', 'root', 'Test MICA below the root', { meaning: 'issuing CA directly below the root' }),
    deviceEntry('comm_004a', 'root', [], 'device of a chain of 2: root and device'),
    deviceEntry('comm_004b', 'mica3', ['mica3'], 'device of a chain of 3: root, MICA, device'),
    deviceEntry('comm_004c', 'mica', ['mica', 'mca'], 'device of a chain of 4: root, MCA, MICA, device'),
    issuingAuthority('mica_usage', 'mca', 'Test MICA with extended key usage', hidden, {
      before: extendedKeyUsage('codeSigning', true),
    }),
    deviceEntry('comm_004d', 'mica_usage', ['mica_usage', 'mca'], 'bad: the MICA has an extended key usage'),
    issuingAuthority('mica_names', 'mca', 'Test MICA with name constraints', hidden, {
      before: hardwareNameConstraint,
    }),
    deviceEntry('comm_004e', 'mica_names', ['mica_names', 'mca'], 'bad: the MICA has name constraints'),
    issuingAuthority('mica_mapping', 'mca', 'Test MICA with policy mappings', hidden, {
      behind: policyMapping(genericDevice, otherPolicy),
    }),
    deviceEntry(
      'comm_004f',
      'mica_mapping',
      ['mica_mapping', 'mca'],
      'bad: the MICA has policy mappings (openssl looks at them only with a policy)',
    ),
    deviceEntry('comm_004g', null, [], 'bad: a device that has signed itself'),
  ];
}

export function csipTree({ devices, hosts }: CsipTreeOptions): readonly Entry[] {
  const leaf = [noAuthority, signAndAgree, device];
  return [
    entry('root', null, {
      subject: organisation('Test SERCA'),
      extensions: [authority(null), keyUsage('authority'), 'subject_key'],
      meaning: 'SERCA, the root that servers and clients trust (--csip_root_cert)',
    }),
    entry('mca', 'root', {
      subject: organisation('Test MCA'),
      extensions: [authority(1), keyUsage('authority'), policies(anyPolicy), 'subject_key', 'authority_key'],
      meaning: 'CA of the maker, below the root',
    }),
    issuingAuthority('mica', 'mca', 'Test MICA', { meaning: 'issuing CA of the maker, below the MCA' }),
    entry('server', 'mica', {
      subject: organisation('Test server'),
      extensions: [...leaf, { hosts: [...localHosts, ...hosts] }, 'subject_key', 'authority_key'],
      chain: ['mica', 'mca'],
      meaning: 'the server of utility or test bench',
    }),
    entry('aggregator', 'mica', {
      subject: organisation('Test aggregator'),
      extensions: [...leaf, 'subject_key', 'authority_key'],
      chain: ['mica', 'mca'],
      meaning: 'an aggregator (--csip_identity aggregator)',
    }),
    ...Array.from({ length: devices }, (_, index) =>
      deviceEntry(`device${index}`, 'mica', ['mica', 'mca'], 'a device: no subject, no end, hardwareModuleName'),
    ),
    ...comm004(),
  ];
}
