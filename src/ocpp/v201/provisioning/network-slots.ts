/**
 * The network profiles of a station, and the one in use (B09, B10). Slot 0 holds the settings, which are the address of
 * the flags or of REST, until it is filled.
 */
import { urlOfProfile } from '../../../contract/ocpp-settings.ts';
import type { OcppSecurityProfile } from '../../../contract/ocpp-settings.ts';
import { readBy, readEach } from '../../../core/slot-values.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { Network, NetworkAccess } from '../../station/connection.ts';
import { createSaver } from '../../station/stack.ts';
import type { StationParts } from '../parts.ts';
import { networkSlots } from '../variables/rows/controllers.ts';
import { restoredProfile } from './network-profile.ts';
import type { NetworkProfile } from './network-profile.ts';

export const settingsSlot = 0;
const defaultTimeoutS = 30;

/** Where a station connects to: the profile of a slot, or the settings, also where slot 0 has a profile. */
export type Place = number | 'settings';

export type ProfileNetwork = Pick<
  Network,
  'access' | 'settings' | 'slot' | 'password' | 'hasConnected' | 'setAccess' | 'takeAddress'
>;

export interface NetworkSlots {
  /** the slot in use, or tried; 0 with the settings */
  readonly active: number;
  /** the place in use, or tried */
  readonly place: Place;
  /** The place that a slot of the priority stands for. */
  placeOf(slot: number): Place;
  at(slot: number): NetworkProfile | undefined;
  /** Null: the slot is empty. */
  securityProfileOf(slot: number): OcppSecurityProfile | null;
  hasOwnPassword(slot: number): boolean;
  fill(slot: number, profile: NetworkProfile): void;
  /** The profile in use takes the security profile of the access, which 1.6 or REST may have raised. */
  raiseActive(): void;
  /** Empties a slot; slot 0 then holds the settings again. */
  remove(slot: number): void;
  /** The next attempt to connect uses the place. */
  use(place: Place): void;
  /** True if `use` would change the connection. */
  differs(place: Place): boolean;
  /** The user has changed the target in the settings: empties slot 0 and uses the settings. */
  resetSettings(): void;
  /** false: the access is that of a profile whose slot is empty now, or has another address */
  readonly isAccessCurrent: boolean;
  load(): Promise<void>;
}

/** The access with a profile; null: without one. */
function accessOf(profile: NetworkProfile | null, { settings, password: common }: ProfileNetwork): NetworkAccess {
  if (profile === null) return settings;
  // BasicAuthPassword of SecurityCtrlr counts before the password of the settings
  const password = profile.password === null ? (common ?? settings.password) : Buffer.from(profile.password, 'utf8');
  return { url: profile.url, guarded: true, securityProfile: profile.securityProfile, password };
}

function restoredSlot(value: JsonValue): readonly [number: number, profile: NetworkProfile] | null {
  const [number, stored] = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  const profile = restoredProfile(stored);
  return profile !== null && (networkSlots as readonly unknown[]).includes(number) ? [Number(number), profile] : null;
}

export function createNetworkSlots(
  { variables, store, log }: Pick<StationParts, 'variables' | 'store' | 'log'>,
  { network }: { readonly network: ProfileNetwork },
): NetworkSlots {
  const slots = new Map<number, NetworkProfile>();
  const storeSlot = store('network-profiles');
  const saver = createSaver(storeSlot, () => [...slots].map(([number, profile]) => [number, { ...profile }]), log);
  let active: number = settingsSlot;
  /** the profile whose contents are in use; null: the settings */
  let usedProfile: NetworkProfile | null = null;
  const publish = (number: number): void => {
    variables.set('OCPPCommCtrlr', 'ActiveNetworkProfile', String(number));
    variables.set('OCPPCommCtrlr', 'MessageTimeout[Default]', String(usedProfile?.messageTimeoutS ?? defaultTimeoutS));
  };
  const contents = (place: Place): NetworkProfile | null => (place === 'settings' ? null : (slots.get(place) ?? null));
  const enter = (number: number, profile: NetworkProfile | null): void => {
    active = number;
    usedProfile = profile;
    publish(number);
  };
  /** URL with the scheme of the security profile in use */
  const raisedUrl = (url: string): string => urlOfProfile(url, network.access.securityProfile);
  // a security profile that 1.6 has raised is that of the access alone
  const isInUse = ({ url, securityProfile }: NetworkProfile): boolean =>
    raisedUrl(url) === raisedUrl(network.access.url) && securityProfile <= network.access.securityProfile;
  return {
    get active() {
      return active;
    },
    get place() {
      return usedProfile === null ? 'settings' : active;
    },
    placeOf: (number) => (number === settingsSlot && !slots.has(number) ? 'settings' : number),
    at: (number) => slots.get(number),
    securityProfileOf: (number) => {
      const profile = slots.get(number);
      // NetworkConfiguration may have begun to fill the slot without an address
      if (profile !== undefined) return profile.url === '' ? null : profile.securityProfile;
      return number === settingsSlot ? network.settings.securityProfile : null;
    },
    hasOwnPassword: (number) => slots.get(number)?.password != null,
    fill: (number, profile) => {
      slots.set(number, profile);
      saver.save();
    },
    raiseActive: () => {
      const { securityProfile } = network.access;
      if (usedProfile === null || usedProfile.securityProfile >= securityProfile) return;
      const isSlotCurrent = slots.get(active) === usedProfile;
      usedProfile = { ...usedProfile, securityProfile, url: raisedUrl(usedProfile.url) };
      if (!isSlotCurrent) return;
      slots.set(active, usedProfile);
      saver.save();
    },
    remove: (number) => {
      if (slots.delete(number)) saver.save();
    },
    use: (place) => {
      const profile = contents(place);
      const slot = place === 'settings' || profile === null ? null : place;
      network.setAccess(accessOf(profile, network), slot);
      enter(slot ?? settingsSlot, profile);
    },
    differs: (place) =>
      contents(place) !== usedProfile || (usedProfile === null ? network.slot !== null : place !== active),
    resetSettings: () => {
      if (slots.delete(settingsSlot)) saver.save();
      enter(settingsSlot, null);
    },
    get isAccessCurrent() {
      return network.slot === null || usedProfile !== null;
    },
    load: async () => {
      for (const [number, stored] of await readEach(storeSlot, readBy(restoredSlot, 'network profile'), log))
        slots.set(number, stored);
      const profile = network.slot === null ? undefined : slots.get(network.slot);
      if (network.slot !== null && profile !== undefined && isInUse(profile)) enter(network.slot, profile);
    },
  };
}
