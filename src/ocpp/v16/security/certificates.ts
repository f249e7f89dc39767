/** Certificates of a 1.6 station (white paper 1.6, use cases A02, A03, M03 to M05). */
import { createPrivateKey } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../../contract/ocpp.ts';
import { errorText } from '../../../core/errors.ts';
import { certificatesOf } from '../../../core/tls/material.ts';
import { chainIssue, isIssuedBy, validityIssue } from '../../pki/chain.ts';
import { createSigningRequest } from '../../pki/csr.ts';
import { sameHashData } from '../../pki/hash-data.ts';
import type { After, CallOptions } from '../../rpc/model.ts';
import type { Handlers, Part, Replies, Requests, StationParts } from '../parts.ts';
import { createSaver } from '../../station/saver.ts';
import type { CertificateState, OwnCertificate, Root, RootUse } from './certificate-store.ts';
import {
  entriesOf,
  loadCertificates,
  noCertificates,
  ownOf,
  rootHashData,
  rootsOf,
  storedCertificates,
} from './certificate-store.ts';

export interface CertificateFiles {
  /** PEM, one or more */
  readonly rootCert: string | null;
  /** PEM, the chain of the station; its key stays in its file */
  readonly ownCert: string | null;
}

export interface Certificates extends Part {
  readonly handlers: Handlers;
  readonly entries: readonly OcppCertificateEntry[];
  roots(use: RootUse): readonly X509Certificate[];
  /** The own certificate as it is in force, after another one has failed. Null: that of the settings. */
  restoreOwn(own: { readonly cert: string; readonly key: string } | null): void;
  /** CpoName is set: without it there is no request to sign (A02) */
  readonly canSign: boolean;
  /** SignCertificate with a new key: by ExtendedTriggerMessage SignChargePointCertificate, and before the expiry. */
  sign(options?: CallOptions & { readonly triggered?: boolean }): Promise<void>;
}

/** A03: the station asks for a new certificate one month before the end of its own. */
const renewBeforeMs = 30 * 86_400_000;
/** CiString40 of CertificateHashDataType; RFC 5280 permits no more either */
const maxSerialLength = 40;
/** CiString25 of chargePointSerialNumber */
const serialLength = 25;

/** @param initial certificates of the flags; they count until the central system installs others */
export function createCertificates(parts: StationParts, initial: CertificateFiles): Certificates {
  return new CertificatePart(parts, initial);
}

class CertificatePart implements Certificates {
  readonly handlers: Handlers;
  readonly #parts: StationParts;
  readonly #saver;
  readonly #ends: (() => void)[];
  /** of the flags */
  readonly #given: OwnCertificate | null;
  #state: CertificateState;
  #endWait: (() => void) | null = null;

  constructor(parts: StationParts, { rootCert, ownCert }: CertificateFiles) {
    this.#parts = parts;
    this.#given = ownCert === null ? null : ownOf(ownCert, null);
    this.#state = {
      ...noCertificates,
      roots: rootCert === null ? [] : rootsOf('CentralSystemRootCertificate', rootCert),
      own: this.#given,
    };
    this.#saver = createSaver(parts.store('certificates'), () => storedCertificates(this.#state), parts.log);
    this.#ends = [
      parts.registration.onAccepted(() => {
        this.#renew();
      }),
    ];
    this.handlers = {
      InstallCertificate: (request) => ({ status: this.#install(request) }),
      GetInstalledCertificateIds: (request) => this.#ids(request),
      DeleteCertificate: (request) => ({ status: this.#delete(request) }),
      CertificateSigned: (request, after) => ({ status: this.#signed(request, after) }),
    };
  }

  get entries(): readonly OcppCertificateEntry[] {
    return entriesOf(this.#state);
  }

  get canSign(): boolean {
    return this.#parts.keys.text('CpoName') !== '';
  }

  roots(use: RootUse): readonly X509Certificate[] {
    return this.#state.roots.filter((root) => root.use === use).map(({ certificate }) => certificate);
  }

  async load(): Promise<void> {
    const kept = await loadCertificates(this.#parts.store('certificates'));
    if (kept === null) return;
    const { own } = kept;
    // without a key it was that of the flags of an earlier process
    const isOfCentral = own !== null && own.key !== null;
    this.#state = isOfCentral ? kept : { ...kept, own: this.#given };
    this.#useRoots();
    if (isOfCentral) this.#use({ cert: own.pem, key: own.key });
  }

  restoreOwn(own: { readonly cert: string; readonly key: string } | null): void {
    this.#set({ ...this.#state, own: own === null ? this.#given : ownOf(own.cert, own.key) });
  }

  stop(): void {
    for (const end of this.#ends) end();
    this.#endWait?.();
  }

  async sign(options: CallOptions & { readonly triggered?: boolean } = {}): Promise<void> {
    const { keys, device, id, log, calls } = this.#parts;
    try {
      const { csr, key } = await createSigningRequest({
        // as BootNotification tells it
        commonName: device.nameplate.serialNumber?.slice(0, serialLength) ?? id,
        organization: keys.text('CpoName') || null,
      });
      this.#set({ ...this.#state, pendingKey: key });
      const outcome = await calls.send('SignCertificate', { csr }, options);
      if (outcome.kind !== 'result') log.warning('the request to sign a certificate got no answer', device.deviceIndex);
      else if (outcome.payload.status === 'Rejected')
        log.warning('the central system rejects the request to sign a certificate', device.deviceIndex);
    } catch (error) {
      log.error(`no request to sign a certificate could be made: ${errorText(error)}`, device.deviceIndex);
    }
  }

  #set(state: CertificateState): void {
    this.#state = state;
    this.#saver.save();
  }

  #use(own: { readonly cert: string; readonly key: string }): void {
    this.#parts.connection.setCertificates({ own });
  }

  #useRoots(): void {
    const pem = this.#state.roots.filter(({ use }) => use === 'CentralSystemRootCertificate').map((root) => root.pem);
    this.#parts.connection.setCertificates({ rootCert: pem.length === 0 ? null : pem.join('') });
  }

  /** Once per connection, and for a new certificate: asks for the next one before its end. */
  #renew(): void {
    const { own } = this.#state;
    if (own === null || !this.canSign) return;
    this.#endWait?.();
    this.#endWait = this.#parts.clock.at(Date.parse(own.certificate.validTo) - renewBeforeMs, () => {
      void this.sign();
    });
  }

  #install({
    certificateType: use,
    certificate: pem,
  }: Requests['InstallCertificate']): Replies['InstallCertificate']['status'] {
    const { clock, keys, security } = this.#parts;
    const refuse = (why: string) => {
      if (use === 'CentralSystemRootCertificate') security.raise('InvalidCentralSystemCertificate', why);
      return 'Rejected' as const;
    };
    const [root, ...more] = rootsOf(use, pem);
    if (root === undefined || more.length > 0) return refuse('the text is not one certificate in PEM form');
    const issue = validityIssue(root.certificate, clock.nowMs());
    if (issue !== null) return refuse(issue);
    if (!root.certificate.ca) return refuse('it is no certificate of an authority');
    if (root.certificate.serialNumber.length > maxSerialLength) return refuse('its serial number is too long');
    const { roots } = this.#state;
    if (roots.some((each) => isSame(each, root))) return 'Accepted';
    const replaces = use === 'CentralSystemRootCertificate' && keys.boolean('AdditionalRootCertificateCheck');
    const others = replaces ? roots.filter((each) => each.use === use) : [];
    const replaced = others.at(-1);
    if (replaced !== undefined && !isIssuedBy(root.certificate, replaced.certificate))
      return refuse('the root that it replaces has not issued it');
    // the one before stays to fall back on, those before it go
    const remaining = roots.filter((each) => !others.slice(0, -1).includes(each));
    if (remaining.length >= keys.integer('CertificateStoreMaxLength')) return 'Rejected';
    this.#set({ ...this.#state, roots: [...remaining, root] });
    if (use === 'CentralSystemRootCertificate') this.#useRoots();
    security.raise('ReconfigurationOfSecurityParameters', `${use} installed`);
    return 'Accepted';
  }

  #ids({ certificateType: use }: Requests['GetInstalledCertificateIds']): Replies['GetInstalledCertificateIds'] {
    const { roots } = this.#state;
    const found = roots.filter((root) => root.use === use).map((root) => rootHashData(root, roots));
    return found.length === 0 ? { status: 'NotFound' } : { status: 'Accepted', certificateHashData: found };
  }

  #delete({ certificateHashData: wanted }: Requests['DeleteCertificate']): Replies['DeleteCertificate']['status'] {
    const { roots } = this.#state;
    const found = roots.filter((root) => sameHashData(rootHashData(root, roots, wanted.hashAlgorithm), wanted));
    if (found.length === 0) return 'NotFound';
    const left = roots.filter((root) => !found.includes(root));
    const isCentral = ({ use }: Root) => use === 'CentralSystemRootCertificate';
    // without any root no connection of profiles 2 and 3 would come about again
    if (found.some(isCentral) && !left.some(isCentral) && this.#parts.connection.securityProfile >= 2) return 'Failed';
    this.#set({ ...this.#state, roots: left });
    if (found.some(isCentral)) this.#useRoots();
    this.#parts.security.raise('ReconfigurationOfSecurityParameters', 'root certificate deleted');
    return 'Accepted';
  }

  #signed({ certificateChain }: Requests['CertificateSigned'], after: After): Replies['CertificateSigned']['status'] {
    const { security, connection } = this.#parts;
    const key = this.#state.pendingKey;
    const own = key === null ? 'no certificate was asked for' : this.#checked(certificateChain, key);
    if (typeof own === 'string' || key === null) {
      security.raise('InvalidChargePointCertificate', typeof own === 'string' ? own : '');
      return 'Rejected';
    }
    this.#set({ ...this.#state, own, pendingKey: null });
    this.#use({ cert: certificateChain, key });
    this.#renew();
    security.raise('ReconfigurationOfSecurityParameters', 'certificate of the charge point replaced');
    if (connection.securityProfile === 3)
      after(() => {
        connection.reconnect('a new certificate of the charge point');
      });
    return 'Accepted';
  }

  /** The certificate of a chain for the key that waits, or what is wrong with it. */
  #checked(pem: string, key: string) {
    const { keys, clock } = this.#parts;
    if (Buffer.byteLength(pem) > keys.integer('CertificateSignedMaxChainSize')) return 'the chain is too long';
    const chain = certificatesOf(pem);
    const [leaf] = chain ?? [];
    const own = ownOf(pem, key);
    if (chain === null || leaf === undefined || own === null) return 'the chain is not in PEM form';
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'it is for another key';
    return chainIssue(chain, clock.nowMs()) ?? own;
  }
}

function isSame(a: Root, b: Root): boolean {
  return a.use === b.use && a.certificate.fingerprint256 === b.certificate.fingerprint256;
}
