/** Certificates that settings choose by name, which are not deleted meanwhile. */
import type { AppConfig } from '../config/settings/app-config.ts';
import { chosenCertificate } from '../contract/certificate-choice.ts';
import type { CertificateStore } from '../contract/certificates.ts';
import { csipPemFiles } from '../contract/csip-settings.ts';
import type { CsipSettings } from '../contract/csip-settings.ts';
import type { TlsTriple } from '../core/tls/material.ts';

type Sources = Partial<TlsTriple<string>>;

const keyEnds: TlsTriple<string> = { cert: 'cert', key: 'key', rootCert: 'root_cert' };

function csipSources(settings: CsipSettings, firstDevice: number): Sources {
  const { cert, tls } = csipPemFiles(settings, firstDevice);
  return { cert, ...tls };
}

/** Sources of the PEM texts that adapters read, by the prefix of their settings; null: switched off, or without them. */
const sourcesOf = ({ modbus, csip, ocpp, dnp3, firstDevice }: AppConfig): Readonly<Record<string, Sources | null>> => ({
  mb: modbus.tls && modbus.tls.files,
  csip: csip && csipSources(csip, firstDevice),
  ocpp: ocpp?.pem ? { rootCert: ocpp.pem.rootCert, ...ocpp.pem.own } : null,
  dnp3: dnp3 && dnp3.tls,
});

/** Names of certificates by the setting that chooses them, of adapters that are switched on. */
export function chosenCertificates(config: AppConfig): ReadonlyMap<string, string> {
  const chosen = new Map<string, string>();
  for (const [prefix, sources] of Object.entries(sourcesOf(config)))
    for (const role of ['cert', 'key', 'rootCert'] as const) {
      const name = chosenCertificate(sources?.[role] ?? '');
      if (name !== null) chosen.set(`${prefix}_${keyEnds[role]}`, name);
    }
  return chosen;
}

/** Keeps the certificates of a configuration from being deleted. @returns ends that */
export function useCertificates(certificates: Pick<CertificateStore, 'use'>, config: AppConfig): () => void {
  const ends = Array.from(chosenCertificates(config), ([setting, name]) => certificates.use(name, setting));
  return () => {
    for (const end of ends) end();
  };
}
