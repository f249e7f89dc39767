/**
 * The certificates of one station: installed, deleted, renewed and stored (white paper 1.6 and 2.x, A02, A03, M03 to
 * M05).
 */
import { createPrivateKey, webcrypto } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../contract/ocpp.ts';
import type { Logger } from '../../core/log/log.ts';
import { readEach } from '../../core/slot-values.ts';
import type { Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import { loadX509 } from '../../core/tls/x509.ts';
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
  certificateForm,
} from './certificates.ts';
import type {
  CertificateHashData,
  CertificateState,
  CertificateUses,
  OwnCertificate,
  PendingKey,
  Root,
} from './certificates.ts';

export interface SigningSubject {
  readonly commonName: string;
  /** null: none */
  readonly organization: string | null;
  /** two letters; absent: none */
  readonly country?: string | null;
  /** `CPO` for ISO 15118-2; absent: none */
  readonly domainComponent?: string;
}

/** PEM. The key is PKCS#8 and never leaves the station. */
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
  // typed, since commas, quotes and a leading `#` are syntax in a plain text
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

/** Certificates of the settings, used until the central system installs others. */
export interface CertificateFiles {
  /** PEM, one or more */
  readonly rootCert: string | null;
  /** PEM, the chain of the station; its key is in a separate file */
  readonly ownCert: string | null;
}

interface KeeperParts {
  readonly clock: RemoteClock;
  readonly store: (name: string) => Slot;
  readonly log: Pick<Logger, 'error' | 'warning'>;
  readonly connection: Pick<Connection, 'setCertificates'>;
}

/** `present`: it was installed before; `full`: the limit is reached; `why`: the reason why it is not valid. */
type Installed = 'installed' | 'present' | 'full' | { readonly why: string };
/** `last`: not removed, since no connection would be possible without it. */
type Removed = 'removed' | 'unknown' | 'last';

/** A03: the station requests a new certificate one month before its certificate expires. */
const renewBeforeMs = 30 * 86_400_000;
/** Maximum hex digits of the serial number in CertificateHashDataType, and in RFC 5280. */
const maxSerialLength = 40;

export class CertificateKeeper<RootUse extends string, OwnUse extends string> {
  readonly #parts: KeeperParts;
  readonly #uses: CertificateUses<RootUse, OwnUse>;
  readonly #saver;
  /** certificate of the settings */
  readonly #configured: OwnCertificate | null;
  #state: CertificateState<RootUse, OwnUse>;
  /** cancel the calls of `renew` */
  readonly #renewals = new Map<OwnUse, () => void>();

  constructor(parts: KeeperParts, uses: CertificateUses<RootUse, OwnUse>, { rootCert, ownCert }: CertificateFiles) {
    this.#parts = parts;
    this.#uses = uses;
    this.#configured = ownCert === null ? null : ownOf(ownCert, null);
    this.#state = {
      roots: rootCert === null ? [] : rootsOf(uses.central, rootCert),
      own: withEntry(new Map<OwnUse, OwnCertificate>(), uses.presented, this.#configured),
      pending: new Map(),
      others: [],
    };
    this.#saver = createSaver(parts.store('certificates'), () => storedCertificates(this.#state, uses), parts.log);
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
    const { store, log } = this.#parts;
    const values = await readEach(store('certificates'), certificateForm(this.#uses), log);
    const stored = restoredCertificates(values, this.#uses);
    if (stored === null) return;
    const certificate = stored.own.get(presented) ?? null;
    // a certificate without a key came from the settings of an earlier process
    const isFromCentral = certificate !== null && certificate.key !== null;
    this.#state = isFromCentral ? stored : { ...stored, own: withEntry(stored.own, presented, this.#configured) };
    this.#trust();
    if (isFromCentral) this.#show(certificate);
  }

  stop(): void {
    for (const cancel of this.#renewals.values()) cancel();
  }

  /**
   * @param pem one certificate of an authority
   * @param max maximum of installed roots
   * @param replaces true: a new root of the central system replaces the previous root, which must have issued it
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
    if (!root.certificate.ca) return { why: 'it is not a certificate of an authority' };
    if (root.certificate.serialNumber.length > maxSerialLength) return { why: 'its serial number is too long' };
    const { roots } = this.#state;
    if (roots.some((each) => isSame(each, root))) return 'present';
    const replaceable = replaces && use === this.#uses.central ? roots.filter((each) => each.use === use) : [];
    const replaced = replaceable.at(-1);
    if (replaced !== undefined && !isIssuedBy(root.certificate, replaced.certificate))
      return { why: 'the root that it replaces has not issued it' };
    // the replaced root stays as a fallback, earlier roots are removed
    const remaining = roots.filter((each) => !replaceable.slice(0, -1).includes(each));
    if (remaining.length >= max) return 'full';
    this.#set({ ...this.#state, roots: [...remaining, root] });
    if (use === this.#uses.central) this.#trust();
    return 'installed';
  }

  /** @param keepsLast true: the last root of the central system is not removed */
  remove(hashData: CertificateHashData, keepsLast: boolean): Removed {
    const { roots } = this.#state;
    const matching = roots.filter((root) => sameHashData(rootHashData(root, roots, hashData.hashAlgorithm), hashData));
    if (matching.length === 0) return 'unknown';
    const remaining = roots.filter((root) => !matching.includes(root));
    const isCentral = ({ use }: Root<RootUse>) => use === this.#uses.central;
    if (matching.some(isCentral) && !remaining.some(isCentral) && keepsLast) return 'last';
    this.#set({ ...this.#state, roots: remaining });
    if (matching.some(isCentral)) this.#trust();
    return 'removed';
  }

  removeOwn(use: OwnUse): void {
    this.#renewals.get(use)?.();
    this.#set({ ...this.#state, own: withEntry(this.#state.own, use, null) });
  }

  /** Creates a request to sign, PEM; its key then waits for the certificate. */
  async request(use: OwnUse, subject: SigningSubject, requestId: number | null = null): Promise<string> {
    const { csr, key } = await createSigningRequest(subject);
    this.#set({ ...this.#state, pending: withEntry(this.#state.pending, use, { key, requestId }) });
    return csr;
  }

  /**
   * Puts the certificate of the waiting key in force.
   * @param anchors the chain must lead to one of these roots; null: it need not lead to a root
   * @returns reason of the refusal; null: in force
   */
  adopt(
    use: OwnUse,
    pem: string,
    { maxBytes, anchors = null }: { readonly maxBytes: number; readonly anchors?: readonly X509Certificate[] | null },
  ): string | null {
    const key = this.pending(use)?.key;
    if (key === undefined) return 'no certificate was requested';
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

  /**
   * Restores the previous presented certificate after a new one has failed.
   * @param material null: that of the settings
   */
  restorePresented(material: { readonly cert: string; readonly key: string } | null): void {
    const restored = material === null ? this.#configured : ownOf(material.cert, material.key);
    this.#set({ ...this.#state, own: withEntry(this.#state.own, this.#uses.presented, restored) });
  }

  /** Calls back before a certificate of the station expires; replaces the earlier call for this use. */
  planRenewal(use: OwnUse, act: () => void): void {
    const certificate = this.own(use);
    if (certificate === null) return;
    this.#renewals.get(use)?.();
    this.#renewals.set(use, this.#parts.clock.at(renewalMs(certificate.certificate), act));
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

/** Instant of the renewal; the middle of a validity of less than a month, to avoid repeated renewals. */
function renewalMs({ validFrom, validTo }: X509Certificate): number {
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  const lifetimeMs = toMs - fromMs;
  return toMs - (lifetimeMs > renewBeforeMs ? renewBeforeMs : lifetimeMs / 2);
}

function isSame<RootUse extends string>(a: Root<RootUse>, b: Root<RootUse>): boolean {
  return a.use === b.use && a.certificate.fingerprint256 === b.certificate.fingerprint256;
}
