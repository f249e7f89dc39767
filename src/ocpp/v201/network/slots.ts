/** The network profiles of a station, and which of them it uses. Slot 0 holds the settings until it is filled. */
import type { OcppSecurityProfile } from '../../../contract/ocpp-settings.ts';
import { createSaver } from '../../station/saver.ts';
import type { Network, NetworkAccess } from '../../station/network.ts';
import type { StationParts } from '../parts.ts';
import { networkSlots } from '../variables/rows/comm.ts';
import { restoredProfile } from './profile.ts';
import type { NetworkProfile } from './profile.ts';

const settingsSlot = 0;
const defaultTimeoutS = 30;

export interface NetworkSlotsDeps {
  readonly network: Pick<Network, 'access' | 'setAccess'>;
}

export interface NetworkSlots {
  /** in use, or tried */
  readonly active: number;
  at(slot: number): NetworkProfile | undefined;
  /** Null: it is empty. */
  securityProfileOf(slot: number): OcppSecurityProfile | null;
  hasOwnPassword(slot: number): boolean;
  fill(slot: number, profile: NetworkProfile): void;
  /** What the settings hold cannot be removed. */
  remove(slot: number): void;
  /** The next attempt to connect uses it. */
  use(slot: number): void;
  /** Whether `use` would change the connection. */
  differs(slot: number): boolean;
  /** The user has set another target: that of the settings. */
  resetSettings(): void;
  load(): Promise<void>;
}

/** @param common BasicAuthPassword of SecurityCtrlr; empty: the password of the settings */
function accessOf(profile: NetworkProfile | null, settings: NetworkAccess, common: string): NetworkAccess {
  const text = profile?.password ?? common;
  const password = text === '' ? settings.password : Buffer.from(text, 'utf8');
  if (profile === null) return { ...settings, password };
  return { url: profile.url, guarded: true, securityProfile: profile.securityProfile, password };
}

export function createNetworkSlots(
  { variables, store, log }: Pick<StationParts, 'variables' | 'store' | 'log'>,
  { network }: NetworkSlotsDeps,
): NetworkSlots {
  const slots = new Map<number, NetworkProfile>();
  const slot = store('network-profiles');
  const saver = createSaver(slot, () => [...slots].map(([number, profile]) => [number, { ...profile }]), log);
  let settings: NetworkAccess = network.access;
  let active: number = settingsSlot;
  /** the profile whose contents are in use; null: the settings */
  let used: NetworkProfile | null = null;
  const show = (number: number): void => {
    variables.set('OCPPCommCtrlr', 'ActiveNetworkProfile', String(number));
    variables.set('OCPPCommCtrlr', 'MessageTimeout[Default]', String(used?.messageTimeoutS ?? defaultTimeoutS));
  };
  const contents = (number: number): NetworkProfile | null => slots.get(number) ?? null;
  return {
    get active() {
      return active;
    },
    at: (number) => slots.get(number),
    securityProfileOf: (number) => {
      const profile = slots.get(number);
      // NetworkConfiguration may have begun to fill it without an address
      if (profile !== undefined) return profile.url === '' ? null : profile.securityProfile;
      if (number !== settingsSlot) return null;
      return used === null ? network.access.securityProfile : settings.securityProfile;
    },
    hasOwnPassword: (number) => slots.get(number)?.password != null,
    fill: (number, profile) => {
      slots.set(number, profile);
      saver.save();
    },
    remove: (number) => {
      if (slots.delete(number)) saver.save();
    },
    use: (number) => {
      // what has become of the settings meanwhile, by trials of credentials, is what they are
      if (used === null) settings = network.access;
      active = number;
      used = contents(number);
      network.setAccess(accessOf(used, settings, variables.text('SecurityCtrlr', 'BasicAuthPassword')));
      show(number);
    },
    differs: (number) => number !== active || contents(number) !== used,
    resetSettings: () => {
      if (slots.delete(settingsSlot)) saver.save();
      active = settingsSlot;
      used = null;
      show(settingsSlot);
    },
    load: async () => {
      for (const entry of await slot.read()) {
        const [number, kept] = Array.isArray(entry) ? (entry as readonly (typeof entry)[]) : [];
        const profile = restoredProfile(kept);
        if (profile !== null && (networkSlots as readonly unknown[]).includes(number))
          slots.set(Number(number), profile);
      }
    },
  };
}
