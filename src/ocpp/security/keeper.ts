/** The certificates of one station: installed, deleted, renewed and kept (white paper 1.6 and 2.x, A02, A03, M03 to M05). */
import { createPrivateKey, webcrypto } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import type X509 from '@peculiar/x509';
import type { OcppCertificateEntry } from '../../contract/ocpp.ts';
import { lazily } from '../../core/lazy.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import type { Connection } from '../station/connection.ts';
import { createSaver } from '../station/stack.ts';
import {
  anchorIssue,
  chainIssue,
  entriesOf,
  isIssuedBy,
  restoredCertificates,
  ownOf,
  rootHashData,
  rootsOf,
  sameHashData,
  storedCertificates,
  validityIssue,
  withEntry,
} from './certificates.ts';
import type {
  CertificateHashData,
  CertificateState,
  CertificateUses,
  OwnCertificate,
  PendingKey,
  Root,
} from './certificates.ts';

// Requests to sign a certificate (PKCS#10, RFC 2986). The library behind them is loaded with the first one.

const require = createRequire(import.meta.url);
const loadX509 = lazily(() => {
  // the library declares its parts with it
  require('reflect-metadata');
  return require('@peculiar/x509') as typeof X509;
});

export interface SigningSubject {
  readonly commonName: string;
  /** null: none */
  readonly organization: string | null;
  /** two letters; absent: none */
  readonly country?: string | null;
  /** of ISO 15118-2: `CPO`; absent: none */
  readonly domainComponent?: string;
}

/** PEM. The key is PKCS#8, for the store alone. */
interface SigningRequest {
  readonly csr: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A new P-256 key and the request that it signs (white paper 1.6, A00.FR.510 and A02). */
export async function createSigningRequest({
  commonName,
  organization,
  country = null,
  domainComponent,
}: SigningSubject): Promise<SigningRequest> {
  const { Name, Pkcs10CertificateRequestGenerator, PemConverter } = await loadX509();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  // typed: in a plain text commas, quotes and a leading `#` have a meaning
  const text = (utf8String: string) => [{ utf8String }];
  const name = new Name([
    { CN: text(commonName) },
    ...(organization === null ? [] : [{ O: text(organization) }]),
    ...(country === null ? [] : [{ C: [{ printableString: country }] }]),
    ...(domainComponent === undefined ? [] : [{ DC: [{ ia5String: domainComponent }] }]),
  ]);
  const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { csr: `${request.toString('pem')}\n`, key: `${PemConverter.encode(key, 'PRIVATE KEY')}\n` };
}

/** Certificates of the settings; they count until the central system installs others. */
export interface CertificateFiles {
  /** PEM, one or more */
  readonly rootCert: string | null;
  /** PEM, the chain of the station; its key stays in its file */
  readonly ownCert: string | null;
}

interface KeeperParts {
  readonly clock: RemoteClock;
  readonly store: (name: string) => Slot;
  readonly log: Pick<Logger, 'error'>;
  readonly connection: Pick<Connection, 'setCertificates'>;
}

/** `present`: it was there before; `full`: the limit is reached; else why it is not valid. */
type Installed = 'installed' | 'present' | 'full' | { readonly why: string };
/** `last`: without it no connection would come about again. */
type Removed = 'removed' | 'unknown' | 'last';

/** A03: the station asks for a new certificate one month before the end of its own. */
const renewBeforeMs = 30 * 86_400_000;
/** of the serial number in CertificateHashDataType; RFC 5280 permits no more either */
const maxSerialLength = 40;

export class CertificateKeeper<RootUse extends string, OwnUse extends string> {
  readonly #parts: KeeperParts;
  readonly #uses: CertificateUses<RootUse, OwnUse>;
  readonly #saver;
  /** certificate of the settings */
  readonly #configured: OwnCertificate | null;
  #state: CertificateState<RootUse, OwnUse>;
  readonly #waits = new Map<OwnUse, () => void>();

  constructor(parts: KeeperParts, uses: CertificateUses<RootUse, OwnUse>, { rootCert, ownCert }: CertificateFiles) {
    this.#parts = parts;
    this.#uses = uses;
    this.#configured = ownCert === null ? null : ownOf(ownCert, null);
    this.#state = {
      roots: rootCert === null ? [] : rootsOf(uses.central, rootCert),
      own: withEntry(new Map<OwnUse, OwnCertificate>(), uses.presented, this.#configured),
      pending: new Map(),
    };
    this.#saver = createSaver(parts.store('certificates'), () => storedCertificates(this.#state), parts.log);
  }

  get entries(): readonly OcppCertificateEntry[] {
    return entriesOf(this.#state);
  }

  get installed(): readonly Root<RootUse>[] {
    return this.#state.roots;
  }

  roots(use: RootUse): readonly X509Certificate[] {
    return this.#state.roots.filter((root) => root.use === use).map(({ certificate }) => certificate);
  }

  own(use: OwnUse): OwnCertificate | null {
    return this.#state.own.get(use) ?? null;
  }

  pending(use: OwnUse): PendingKey | null {
    return this.#state.pending.get(use) ?? null;
  }

  async load(): Promise<void> {
    const { presented } = this.#uses;
    const stored = restoredCertificates(await this.#parts.store('certificates').read(), this.#uses);
    if (stored === null) return;
    const certificate = stored.own.get(presented) ?? null;
    // without a key it was that of the settings of an earlier process
    const isOfCentral = certificate !== null && certificate.key !== null;
    this.#state = isOfCentral ? stored : { ...stored, own: withEntry(stored.own, presented, this.#configured) };
    this.#trust();
    if (isOfCentral) this.#show(certificate);
  }

  stop(): void {
    for (const end of this.#waits.values()) end();
  }

  /**
   * @param pem one certificate of an authority
   * @param max roots at a time
   * @param replaces the new root of the central system takes the place of the one before, which has issued it
   *   (AdditionalRootCertificateCheck)
   */
  install(
    use: RootUse,
    pem: string,
    { max, replaces }: { readonly max: number; readonly replaces: boolean },
  ): Installed {
    const [root, ...more] = rootsOf(use, pem);
    if (root === undefined || more.length > 0) return { why: 'the text is not one certificate in PEM form' };
    const issue = validityIssue(root.certificate, this.#parts.clock.nowMs());
    if (issue !== null) return { why: issue };
    if (!root.certificate.ca) return { why: 'it is no certificate of an authority' };
    if (root.certificate.serialNumber.length > maxSerialLength) return { why: 'its serial number is too long' };
    const { roots } = this.#state;
    if (roots.some((each) => isSame(each, root))) return 'present';
    const others = replaces && use === this.#uses.central ? roots.filter((each) => each.use === use) : [];
    const replaced = others.at(-1);
    if (replaced !== undefined && !isIssuedBy(root.certificate, replaced.certificate))
      return { why: 'the root that it replaces has not issued it' };
    // the one before stays to fall back on, those before it go
    const remaining = roots.filter((each) => !others.slice(0, -1).includes(each));
    if (remaining.length >= max) return 'full';
    this.#set({ ...this.#state, roots: [...remaining, root] });
    if (use === this.#uses.central) this.#trust();
    return 'installed';
  }

  /** @param keepsLast the last root of the central system stays */
  remove(wanted: CertificateHashData, keepsLast: boolean): Removed {
    const { roots } = this.#state;
    const matching = roots.filter((root) => sameHashData(rootHashData(root, roots, wanted.hashAlgorithm), wanted));
    if (matching.length === 0) return 'unknown';
    const left = roots.filter((root) => !matching.includes(root));
    const isCentral = ({ use }: Root<RootUse>) => use === this.#uses.central;
    if (matching.some(isCentral) && !left.some(isCentral) && keepsLast) return 'last';
    this.#set({ ...this.#state, roots: left });
    if (matching.some(isCentral)) this.#trust();
    return 'removed';
  }

  removeOwn(use: OwnUse): void {
    this.#waits.get(use)?.();
    this.#set({ ...this.#state, own: withEntry(this.#state.own, use, null) });
  }

  /** A request to sign, PEM, whose key waits for the certificate from now on. */
  async request(use: OwnUse, subject: SigningSubject, requestId: number | null = null): Promise<string> {
    const { csr, key } = await createSigningRequest(subject);
    this.#set({ ...this.#state, pending: withEntry(this.#state.pending, use, { key, requestId }) });
    return csr;
  }

  /**
   * Puts the certificate in force that the waiting key has got.
   * @param anchors roots to one of which it must lead; null: it need not lead to a root
   * @returns why it cannot be; null: it is
   */
  adopt(
    use: OwnUse,
    pem: string,
    { maxBytes, anchors = null }: { readonly maxBytes: number; readonly anchors?: readonly X509Certificate[] | null },
  ): string | null {
    const key = this.pending(use)?.key;
    if (key === undefined) return 'no certificate was asked for';
    if (Buffer.byteLength(pem) > maxBytes) return 'the chain is too long';
    const chain = certificatesOf(pem);
    const ownCertificate = ownOf(pem, key);
    if (chain === null || ownCertificate === null) return 'the chain is not in PEM form';
    if (!ownCertificate.certificate.checkPrivateKey(createPrivateKey(key))) return 'it is for another key';
    const nowMs = this.#parts.clock.nowMs();
    const issue = anchors === null ? chainIssue(chain, nowMs) : anchorIssue(chain, anchors, nowMs);
    if (issue !== null) return issue;
    const { pending } = this.#state;
    this.#set({
      ...this.#state,
      own: withEntry(this.#state.own, use, ownCertificate),
      pending: withEntry(pending, use, null),
    });
    if (use === this.#uses.presented) this.#show(ownCertificate);
    return null;
  }

  /** Restores the previous presented certificate after a new one has failed; null: that of the settings. */
  restoreShown(material: { readonly cert: string; readonly key: string } | null): void {
    const restored = material === null ? this.#configured : ownOf(material.cert, material.key);
    this.#set({ ...this.#state, own: withEntry(this.#state.own, this.#uses.presented, restored) });
  }

  /** Calls back a month before the end of an own certificate; it takes the place of the call for the one before. */
  renew(use: OwnUse, act: () => void): void {
    const certificate = this.own(use);
    if (certificate === null) return;
    this.#waits.get(use)?.();
    this.#waits.set(use, this.#parts.clock.at(renewalMs(certificate.certificate), act));
  }

  #set(state: CertificateState<RootUse, OwnUse>): void {
    this.#state = state;
    this.#saver.save();
  }

  #show({ pem: cert, key }: OwnCertificate): void {
    if (key !== null) this.#parts.connection.setCertificates({ own: { cert, key } });
  }

  #trust(): void {
    const pem = this.#state.roots.filter(({ use }) => use === this.#uses.central).map((root) => root.pem);
    this.#parts.connection.setCertificates({ rootCert: pem.length === 0 ? null : pem.join('') });
  }
}

/** Instant of the renewal; for a certificate valid for less than a month the middle, or it would be renewed repeatedly. */
function renewalMs({ validFrom, validTo }: X509Certificate): number {
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  const lifetimeMs = toMs - fromMs;
  return toMs - (lifetimeMs > renewBeforeMs ? renewBeforeMs : lifetimeMs / 2);
}

function isSame<RootUse extends string>(a: Root<RootUse>, b: Root<RootUse>): boolean {
  return a.use === b.use && a.certificate.fingerprint256 === b.certificate.fingerprint256;
}
