/** Versions and ciphers offered by the clients of each protocol in a TLS handshake. */
import { DEFAULT_CIPHERS } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';
import { withCcm8InForce } from './material.ts';

export const clientPolicies = ['csip', 'csip_strict', 'ocpp', 'sunspec'] as const;
export type ClientPolicy = (typeof clientPolicies)[number];

type Offer = Pick<SecureContextOptions, 'minVersion' | 'maxVersion' | 'ciphers'>;

/** The suite that IEEE 2030.5 and Secure SunSpec Modbus require, which runtimes do not offer by default. */
const ccm8 = 'ECDHE-ECDSA-AES128-CCM8';
/** The level that takes CCM8 in every OpenSSL. It also takes weak keys, so it is for protocols that need the suite. */
const anyStrength = '@SECLEVEL=0';

/** IEEE 2030.5 6.7: TLS 1.2 alone, since with TLS 1.3 on offer the required suite would never be used. */
const only12 = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

/** OCPP 2.x part 2, A00; those with ECDHE_RSA are for central systems with an RSA key that give forward secrecy. */
const ocppSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
];

export const clientOffers: Readonly<Record<ClientPolicy, Offer>> = {
  // many head-ends offer GCM alone
  csip: { ...only12, ciphers: `${ccm8}:ECDHE-ECDSA-AES128-GCM-SHA256:${anyStrength}` },
  csip_strict: { ...only12, ciphers: `${ccm8}:${anyStrength}` },
  ocpp: { minVersion: 'TLSv1.2', ciphers: ocppSuites.join(':') },
  sunspec: { minVersion: 'TLSv1.2', ciphers: withCcm8InForce(`${DEFAULT_CIPHERS}:${ccm8}`) },
};
