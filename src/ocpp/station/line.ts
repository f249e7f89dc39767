/**
 * Credentials and access that a station has learnt from its central systems. They belong to the station and to no
 * version: a connection needs them before a version is chosen.
 */
import { isOcppUrl, ocppSecurityProfiles } from '../../contract/ocpp-settings.ts';
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import type { Logger } from '../../core/log/log.ts';
import { readBy, readOne } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import { isSamePassword } from '../rpc/credentials.ts';
import type { Credentials } from '../rpc/credentials.ts';
import type { Link } from '../rpc/link.ts';

/** Settings of one network profile. */
export interface NetworkAccess {
  /** without the identity */
  readonly url: string;
  /** not of the settings: outbound rules apply */
  readonly guarded: boolean;
  readonly securityProfile: OcppSecurityProfile;
  /** octets of basic authentication; null: none */
  readonly password: Buffer | null;
}

interface ProfileInUse {
  readonly slot: number;
  readonly access: NetworkAccess;
}

/** State that survives a restart. */
interface Learnt {
  /** octets of basic authentication that a central system has set, or REST since; null: those of the settings count */
  readonly password: Buffer | null;
  /** without a network profile */
  readonly securityProfile: OcppSecurityProfile;
  /** network profile in use; null: none is */
  readonly profile: ProfileInUse | null;
}

interface LineStateOptions {
  readonly link: Pick<
    Link,
    'target' | 'credentials' | 'provenCredentials' | 'connects' | 'retarget' | 'setCredentials' | 'adoptCredentials'
  >;
  readonly slot: Slot;
  readonly log: Pick<Logger, 'warning'>;
  /** of the settings */
  readonly settings: Credentials;
  /** Restores the certificate of the station that was in force before a refused one; null: that of the settings. */
  readonly restoreOwn: (own: Credentials['own']) => void;
  /** The store has refused a change, which is in force but lost at a restart. */
  readonly failed: (error: unknown) => void;
}

export class LineState {
  readonly #options: LineStateOptions;
  #learnt: Learnt;
  /** access without a network profile, while one is in use */
  #settings: NetworkAccess;
  /** a user has given another address, of which network profiles have not taken note */
  #isAddressNew = false;
  /** `password` of before the one on trial, to be learnt again when it is refused; null: none is on trial */
  #former: Pick<Learnt, 'password'> | null = null;
  /** the password on trial is that of another address, which the settings may refuse without its loss */
  #isOffered = false;
  /** refused credentials leave the store for these once a connection has opened; null: none do */
  #restored: { readonly own: Credentials['own']; readonly former: Pick<Learnt, 'password'> | null } | null = null;

  constructor(options: LineStateOptions) {
    this.#options = options;
    this.#learnt = { password: null, securityProfile: options.settings.securityProfile, profile: null };
    this.#settings = this.#accessBy(options.link.provenCredentials);
  }

  /** octets of basic authentication that a central system has set, or REST since; null: those of the settings count */
  get password(): Buffer | null {
    return this.#learnt.password;
  }

  /** `password` if the next attempt to connect has it; null: it has none, or that of the settings or of a network profile */
  get passwordInForce(): Buffer | null {
    const { password } = this.#learnt;
    return isSamePassword(password, this.#options.link.credentials.password) ? password : null;
  }

  /** for the next attempt to connect */
  get access(): NetworkAccess {
    return this.#accessBy(this.#options.link.credentials);
  }

  /** the address of the flags or of REST, with the credentials that have proved themselves or were given with it */
  get settings(): NetworkAccess {
    return this.#learnt.profile === null ? this.#accessBy(this.#options.link.provenCredentials) : this.#settings;
  }

  #accessBy({ securityProfile, password }: Credentials): NetworkAccess {
    const { url, guarded } = this.#options.link.target;
    return { url, guarded, securityProfile, password };
  }

  /** true: a connection has opened since the start of the process */
  get hasConnected(): boolean {
    return this.#options.link.connects > 0;
  }

  /** slot of the network profile in use; null: none is */
  get slot(): number | null {
    return this.#learnt.profile?.slot ?? null;
  }

  /**
   * Puts in force what was learnt before the start, all but certificates and security profile; before a version is
   * loaded. A password is on trial, so that the one of the settings returns when it is refused.
   */
  async load(): Promise<void> {
    const { slot, log } = this.#options;
    const learnt = await readOne(slot, readBy(learntOf, 'state of the line'), log);
    if (learnt === null) return;
    this.#learnt = learnt;
    const { profile, password } = learnt;
    if (password !== null) this.#options.link.setCredentials({ password });
    this.#former = password && { password: null };
    if (profile !== null) this.#connectTo(profile.access);
  }

  /** Tries the learnt security profile if it is above that of the settings; after the certificates are loaded. */
  raise(): void {
    const { securityProfile, profile } = this.#learnt;
    const { link } = this.#options;
    if (profile === null && securityProfile > link.credentials.securityProfile)
      link.setCredentials({ securityProfile });
  }

  /** From the next attempt on; the former one returns when it is refused. */
  setPassword(password: Buffer): void {
    this.#options.link.setCredentials({ password });
    this.#former ??= { password: this.#learnt.password };
    this.#isOffered = false;
    this.#keepPassword(password, password);
  }

  /** A user has given a password, which replaces that of the central system. From the next attempt on, for good. */
  usePassword(password: Buffer): void {
    this.#options.link.adoptCredentials({ password });
    this.#former = null;
    this.#isOffered = false;
    this.#keepPassword(password, password);
  }

  /** From the next attempt on; the former one returns when it fails. */
  setSecurityProfile(securityProfile: OcppSecurityProfile): void {
    this.#options.link.setCredentials({ securityProfile });
    this.#keepSecurityProfile(securityProfile);
  }

  /**
   * From the next attempt on, for good. A password on trial that the access has too stays on trial.
   * @param slot of the network profile; null: the access is that of the settings, where a password that a central system
   * has set is tried before theirs
   */
  setAccess(access: NetworkAccess, slot: number | null): void {
    this.#settings = this.settings;
    this.#connectTo(access);
    this.#keep({ profile: slot === null ? null : { slot, access } });
    if (slot === null) this.#offerLearnt();
  }

  #offerLearnt(): void {
    const { link } = this.#options;
    const { password } = this.#learnt;
    if (password === null || isSamePassword(password, link.credentials.password)) return;
    link.setCredentials({ password });
    this.#isOffered = true;
  }

  /** A user has given an address: no network profile is in use. @param isOther another one than that in use */
  useSettings(isOther: boolean): void {
    this.#isAddressNew ||= isOther;
    if (this.#learnt.profile !== null) this.#keep({ profile: null });
  }

  /** Network profiles take note of another address that a user has given. @returns false: none since the last call */
  takeAddress(): boolean {
    const isNew = this.#isAddressNew;
    this.#isAddressNew = false;
    return isNew;
  }

  /** A connection has opened. */
  opened(): void {
    const { securityProfile } = this.#options.link.credentials;
    if (securityProfile !== (this.#learnt.profile?.access ?? this.#learnt).securityProfile)
      this.#keepSecurityProfile(securityProfile);
    this.#settle();
  }

  /**
   * Changed credentials have opened a connection, or were refused. Refused ones leave the store too, since a later
   * process would begin with them; only when others have opened a connection, for the central system may be away.
   */
  tried(outcome: 'proven' | 'reverted', { own }: Credentials): void {
    const former = this.#isOffered ? (this.#restored?.former ?? null) : this.#former;
    this.#restored = outcome === 'reverted' ? { own, former } : null;
    this.#former = null;
    this.#isOffered = false;
    this.#settle();
  }

  #settle(): void {
    if (this.#restored === null || !this.hasConnected) return;
    const { settings, restoreOwn, link } = this.#options;
    const { own, former } = this.#restored;
    this.#restored = null;
    if (former !== null) this.#keepPassword(former.password, link.credentials.password);
    restoreOwn(own === settings.own ? null : own);
  }

  #connectTo({ url, guarded, securityProfile, password }: NetworkAccess): void {
    const { link } = this.#options;
    link.retarget({ ...link.target, url, guarded });
    const isNew = this.#isOffered || !isSamePassword(password, link.credentials.password);
    this.#isOffered = false;
    if (isNew) this.#former = null;
    link.adoptCredentials({ securityProfile, ...(isNew && { password }) });
  }

  #keepPassword(password: Buffer | null, inForce: Buffer | null): void {
    const { profile } = this.#learnt;
    this.#keep({ password, profile: profile && { ...profile, access: { ...profile.access, password: inForce } } });
  }

  #keepSecurityProfile(securityProfile: OcppSecurityProfile): void {
    const { profile } = this.#learnt;
    if (profile === null) this.#keep({ securityProfile });
    else this.#keep({ profile: { ...profile, access: { ...profile.access, securityProfile } } });
  }

  #keep(change: Partial<Learnt>): void {
    this.#learnt = { ...this.#learnt, ...change };
    this.#options.slot.replace([storedOf(this.#learnt)]).catch(this.#options.failed);
  }
}

// The learnt state as the store has it, with octets in hexadecimal digits.

const hexOf = (octets: Buffer | null): string | null => octets?.toString('hex') ?? null;
const octetsOf = (hex: JsonValue | undefined): Buffer | null =>
  typeof hex === 'string' ? Buffer.from(hex, 'hex') : null;

/** Absent in an export without secrets. */
const isHex = (hex: JsonValue | undefined) =>
  hex === undefined || hex === null || (typeof hex === 'string' && /^([0-9a-f]{2})*$/i.test(hex));

function storedOf({ password, securityProfile, profile }: Learnt): JsonValue {
  return {
    password: hexOf(password),
    securityProfile,
    profile: profile && {
      slot: profile.slot,
      access: { ...profile.access, password: hexOf(profile.access.password) },
    },
  };
}

type JsonObject = Readonly<Record<string, JsonValue>>;

const objectOf = (value: JsonValue | undefined): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;

const profileNumber = (value: JsonValue | undefined): OcppSecurityProfile | null =>
  ocppSecurityProfiles.find((each) => each === value) ?? null;

/** Null: the value is none. */
function learntOf(value: JsonValue | undefined): Learnt | null {
  const stored = objectOf(value);
  const securityProfile = profileNumber(stored?.securityProfile);
  if (stored === null || securityProfile === null || !isHex(stored.password)) return null;
  const profile = profileInUseOf(stored.profile);
  if (profile === null && (stored.profile ?? null) !== null) return null;
  return { password: octetsOf(stored.password), securityProfile, profile };
}

function profileInUseOf(value: JsonValue | undefined): ProfileInUse | null {
  const stored = objectOf(value);
  const access = objectOf(stored?.access);
  const securityProfile = profileNumber(access?.securityProfile);
  if (stored === null || access === null || securityProfile === null) return null;
  const { slot } = stored;
  const { url, guarded, password } = access;
  if (typeof slot !== 'number' || typeof url !== 'string' || !isOcppUrl(url) || !isHex(password)) return null;
  return { slot, access: { url, guarded: guarded !== false, securityProfile, password: octetsOf(password) } };
}
