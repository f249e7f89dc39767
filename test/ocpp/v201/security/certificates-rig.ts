/** The certificates of a 2.x station on doubles; every request and answer fits its schema. */
import { createCertificates } from '../../../../src/ocpp/v201/security/certificates.ts';
import type { CertificateFiles } from '../../../../src/ocpp/security/keeper.ts';
import type { RootUse } from '../../../../src/ocpp/v201/security/uses.ts';
import type { Connection, Requests } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import type { Store } from '../../../../src/core/store.ts';
import { rig } from '../rig.ts';
import { settled } from '../../v16/fakes.ts';

export interface CertificateOptions extends Partial<CertificateFiles> {
  readonly version?: Version2;
  readonly profile?: 0 | 1 | 2 | 3;
  /** of an earlier process */
  readonly store?: Store;
  /** the station speaks ISO 15118; default false */
  readonly v2g?: boolean;
}

type HashData = Requests['DeleteCertificate']['certificateHashData'];

function iso15118(s: ReturnType<typeof rig>): void {
  for (const [variable, value] of [
    ['V2GCertificateInstallationEnabled', 'true'],
    ['SeccId', 'SECC-1'],
    ['OrganizationName', 'Example CPO'],
    ['CountryName', 'NL'],
  ] as const)
    s.variables.override('ISO15118Ctrlr', variable, value);
}

export async function certificatesOn(options: CertificateOptions = {}) {
  const { version = 'ocpp2.1', profile = 1, rootCert = null, ownCert = null, store, v2g = false } = options;
  const s = rig({ version });
  if (v2g) iso15118(s);
  const wildcards: boolean[] = [];
  const given: Parameters<Connection['setCertificates']>[0][] = [];
  const connection: Connection = {
    ...s.connection,
    securityProfile: profile,
    setCertificates: (pem) => given.push(pem),
  };
  // certificates are of the present
  s.clock.sync(Math.max(Date.now(), s.clock.nowMs()), s.wall.monotonicMs());
  const kept = store ?? s.store;
  const parts = { ...s.parts, connection, store: (name: string) => kept.slot(name) };
  s.line.answers.set('SignCertificate', () => ({ kind: 'result', payload: { status: 'Accepted' }, durationMs: 0 }));
  const part = createCertificates(parts, { rootCert, ownCert }, { setWildcards: (allowed) => wildcards.push(allowed) });
  await part.load?.();
  const reasonOf = (reply: { readonly statusInfo?: { readonly additionalInfo?: string } }) =>
    reply.statusInfo?.additionalInfo;
  return {
    ...s,
    store: kept,
    part,
    given,
    wildcards,
    reasonOf,
    install: (certificate: string, certificateType: RootUse = 'CSMSRootCertificate') =>
      s.ask(part, 'InstallCertificate', { certificateType, certificate }),
    ids: (...certificateType: NonNullable<Requests['GetInstalledCertificateIds']['certificateType']>) =>
      s.ask(part, 'GetInstalledCertificateIds', certificateType.length === 0 ? {} : { certificateType }),
    remove: (certificateHashData: HashData) => s.ask(part, 'DeleteCertificate', { certificateHashData }),
    signed: (certificateChain: string, more: Partial<Requests['CertificateSigned']> = {}) =>
      s.ask(part, 'CertificateSigned', { certificateChain, ...more }),
    asked: () => s.line.of('SignCertificate') as unknown as readonly Requests['SignCertificate'][],
    /** Triggers a request to sign, and waits for it: the key is made outside of the clock of the test. */
    async trigger(message: 'SignChargingStationCertificate' | 'SignV2GCertificate' = 'SignChargingStationCertificate') {
      const before = s.line.of('SignCertificate').length;
      part.triggers?.[message]?.(undefined);
      return this.untilAsked(before + 1);
    },
    async untilAsked(count: number): Promise<Requests['SignCertificate']> {
      while (s.line.of('SignCertificate').length < count) await new Promise(setImmediate);
      await settled();
      return s.line.of('SignCertificate').at(-1) as unknown as Requests['SignCertificate'];
    },
  };
}
