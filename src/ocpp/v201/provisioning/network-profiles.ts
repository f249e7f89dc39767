/** SetNetworkProfile (B09), and the way from one profile to the next (B10, A05). */
import type { OcppSecurityProfile } from '../../../contract/ocpp-settings.ts';
import type { Network, NetworkAccess } from '../../station/connection.ts';
import { createSaver } from '../../station/stack.ts';
import type { Handler, Part, StationParts } from '../parts.ts';
import type { Refusal, VariableCheck, VariableChecks } from '../variables/handlers.ts';
import { members } from '../variables/model.ts';
import { networkSlots } from '../variables/rows/controllers.ts';
import {
  downgradeRefusal,
  isInterface,
  isPassword,
  isProfileUrl,
  isSecurityProfile,
  profileIssue,
  profileOf,
  restoredProfile,
  transportIssue,
} from './network-profile.ts';
import type { NetworkProfile, ProfileContext } from './network-profile.ts';

// The network profiles of a station, and the one in use. Slot 0 holds the settings until it is filled.

const settingsSlot = 0;
const defaultTimeoutS = 30;

interface NetworkSlots {
  /** the slot in use, or tried */
  readonly active: number;
  at(slot: number): NetworkProfile | undefined;
  /** Null: the slot is empty. */
  securityProfileOf(slot: number): OcppSecurityProfile | null;
  hasOwnPassword(slot: number): boolean;
  fill(slot: number, profile: NetworkProfile): void;
  /** Empties a slot; slot 0 then holds the settings again. */
  remove(slot: number): void;
  /** The next attempt to connect uses the slot. */
  use(slot: number): void;
  /** True if `use` would change the connection. */
  differs(slot: number): boolean;
  /** The user has changed the target in the settings: empties slot 0 and uses the settings. */
  resetSettings(): void;
  load(): Promise<void>;
}

type UsedNetwork = Pick<Network, 'access' | 'settings' | 'slot' | 'password' | 'isOpen' | 'setAccess'>;

/** The access with a profile; null: without one. */
function accessOf(profile: NetworkProfile | null, { settings, password: common }: UsedNetwork): NetworkAccess {
  const text = profile?.password ?? null;
  // BasicAuthPassword of SecurityCtrlr counts before the password of the settings
  const password = text === null ? (common ?? settings.password) : Buffer.from(text, 'utf8');
  if (profile === null) return { ...settings, password };
  return { url: profile.url, guarded: true, securityProfile: profile.securityProfile, password };
}

function createNetworkSlots(
  { variables, store, log }: Pick<StationParts, 'variables' | 'store' | 'log'>,
  { network }: { readonly network: UsedNetwork },
): NetworkSlots {
  const slots = new Map<number, NetworkProfile>();
  const storeSlot = store('network-profiles');
  const saver = createSaver(storeSlot, () => [...slots].map(([number, profile]) => [number, { ...profile }]), log);
  let active: number = network.slot ?? settingsSlot;
  /** the profile whose contents are in use; null: the settings */
  let usedProfile: NetworkProfile | null = null;
  const publish = (number: number): void => {
    variables.set('OCPPCommCtrlr', 'ActiveNetworkProfile', String(number));
    variables.set('OCPPCommCtrlr', 'MessageTimeout[Default]', String(usedProfile?.messageTimeoutS ?? defaultTimeoutS));
  };
  const contents = (number: number): NetworkProfile | null => slots.get(number) ?? null;
  return {
    get active() {
      return active;
    },
    at: (number) => slots.get(number),
    securityProfileOf: (number) => {
      const profile = slots.get(number);
      // NetworkConfiguration may have begun to fill the slot without an address
      if (profile !== undefined) return profile.url === '' ? null : profile.securityProfile;
      if (number !== settingsSlot) return null;
      return network.settings.securityProfile;
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
      active = number;
      usedProfile = contents(number);
      network.setAccess(accessOf(usedProfile, network), usedProfile === null ? null : number);
      publish(number);
    },
    differs: (number) => number !== active || contents(number) !== usedProfile,
    resetSettings: () => {
      if (slots.delete(settingsSlot)) saver.save();
      active = settingsSlot;
      usedProfile = null;
      publish(settingsSlot);
    },
    load: async () => {
      for (const entry of await storeSlot.read()) {
        const [number, stored] = Array.isArray(entry) ? (entry as readonly (typeof entry)[]) : [];
        const profile = restoredProfile(stored);
        if (profile !== null && (networkSlots as readonly unknown[]).includes(number))
          slots.set(Number(number), profile);
      }
      if (network.slot === null) return;
      usedProfile = contents(active);
      publish(active);
    },
  };
}

// NetworkConfiguration of 2.1 (B09.FR.10): the slots as variables, which the central system may set one by one.

interface ConfigurationDeps {
  readonly slots: NetworkSlots;
  readonly access: () => NetworkAccess;
  readonly context: () => Pick<ProfileContext, 'securityProfile' | 'mayLower'>;
}

type Variables = Pick<StationParts, 'variables' | 'version'>;

/** Value of one variable of a profile. */
interface Member {
  readonly read: (profile: NetworkProfile) => string;
  readonly write: (profile: NetworkProfile, value: string) => NetworkProfile;
  /** null: the value is allowed */
  readonly issue: (value: string, deps: ConfigurationDeps) => Refusal | null;
}

const invalid = (additionalInfo: string): Refusal => ({ reasonCode: 'InvalidNetworkConf', additionalInfo });

const memberTable: Readonly<Record<string, Member>> = {
  OcppCsmsUrl: {
    read: ({ url }) => url,
    write: (profile, url) => ({ ...profile, url: url.replace(/\/+$/, '') }),
    issue: (url) => (isProfileUrl(url) ? null : invalid('not a ws or wss URL to which a connection can be made')),
  },
  SecurityProfile: {
    read: ({ securityProfile }) => String(securityProfile),
    write: (profile, value) => {
      const securityProfile = Number(value);
      return isSecurityProfile(securityProfile) ? { ...profile, securityProfile } : profile;
    },
    // B09.FR.35
    issue: (value, { context }) => downgradeRefusal(Number(value), context()),
  },
  MessageTimeout: {
    read: ({ messageTimeoutS }) => String(messageTimeoutS),
    write: (profile, value) => ({ ...profile, messageTimeoutS: Number(value) }),
    issue: () => null,
  },
  OcppInterface: {
    read: ({ ocppInterface }) => ocppInterface,
    write: (profile, value) => (isInterface(value) ? { ...profile, ocppInterface: value } : profile),
    issue: () => null,
  },
  BasicAuthPassword: {
    read: ({ password }) => password ?? '',
    write: (profile, password) => ({ ...profile, password }),
    issue: (value) => (isPassword(value) ? null : invalid('16 to 64 printable ASCII characters')),
  },
};

const componentOf = (slot: number): string => `NetworkConfiguration[${slot}]`;

/** Check of a variable of a slot: a slot that a connection may use cannot change (B09.FR.22). */
function checkOf(slot: number, { issue }: Member, { variables }: Variables, deps: ConfigurationDeps): VariableCheck {
  return (value) => {
    const order = variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority');
    if (slot === deps.slots.active || order.includes(String(slot)))
      return {
        reasonCode: 'PriorityNetworkConf',
        additionalInfo: `slot ${slot} is in use, or in NetworkConfigurationPriority`,
      };
    return issue(value, deps);
  };
}

interface NetworkConfiguration {
  readonly checks: VariableChecks;
  stop(): void;
}

function createNetworkConfiguration(parts: Variables, deps: ConfigurationDeps): NetworkConfiguration {
  const { variables, version } = parts;
  const { slots } = deps;
  if (version === 'ocpp2.0.1') return { checks: {}, stop: () => undefined };
  /** contents of an empty slot */
  const draft = (slot: number): NetworkProfile => {
    const { url, securityProfile } = deps.access();
    const isSettings = slot === 0 && slots.active === 0;
    return {
      url: isSettings ? url : '',
      securityProfile,
      messageTimeoutS: 30,
      ocppInterface: 'Any',
      password: null,
    };
  };
  const checks: Record<string, VariableCheck> = {};
  const ends: (() => void)[] = [];
  for (const slot of networkSlots)
    for (const [name, member] of Object.entries(memberTable)) {
      const component = componentOf(slot);
      const profile = (): NetworkProfile => slots.at(slot) ?? draft(slot);
      variables.provide(component, name, () => member.read(profile()));
      checks[`${component}.${name}`] = checkOf(slot, member, parts, deps);
      ends.push(
        variables.onChange(component, name, (value) => {
          slots.fill(slot, member.write(profile(), value));
        }),
      );
    }
  return {
    checks,
    stop: () => {
      for (const end of ends) end();
    },
  };
}

interface NetworkProfilesDeps {
  readonly network: UsedNetwork;
  /** true: the station has the password or certificates that a security profile needs */
  readonly ready: (profile: 1 | 2 | 3) => boolean;
  /**
   * The next connection leads to another central system, which knows nothing of the station yet (B10.FR.10); not called
   * for a restart, which begins with a BootNotification anyway.
   */
  readonly retargeted: () => void;
}

interface NetworkProfiles extends Part {
  readonly handlers: { readonly SetNetworkProfile: Handler<'SetNetworkProfile'> };
  /** checks of values that SetVariables writes */
  readonly checks: VariableChecks;
  /** Called after the variables are loaded. */
  load(): Promise<void>;
  /** The station restarts with its planned values: uses the first profile of NetworkConfigurationPriority. */
  restarted(): void;
  opened(): void;
  /** An attempt to connect has failed. */
  failed(): void;
  /** The user has set another target over REST. */
  targetSet(): void;
  stop(): void;
}

type Parts = Pick<StationParts, 'id' | 'version' | 'variables' | 'store' | 'log' | 'registration' | 'security'>;

/** AllowSecurityProfileDowngrade; false in 2.0.1, which does not have it. */
const mayLower = ({ variables }: Pick<Parts, 'variables'>): boolean =>
  variables.has('SecurityCtrlr', 'AllowSecurityProfileDowngrade') &&
  variables.boolean('SecurityCtrlr', 'AllowSecurityProfileDowngrade');

/** Check that NetworkConfigurationPriority lists usable profiles only (A05.FR.02 to FR.04, B09.FR.34). */
function priorityCheck(parts: Parts, { network, ready }: NetworkProfilesDeps, slots: NetworkSlots): VariableCheck {
  const issueOf = (slot: number): Refusal | null => {
    const profile = slots.securityProfileOf(slot);
    if (profile === null)
      return { reasonCode: 'InvalidNetworkConf', additionalInfo: `configuration slot ${slot} is empty` };
    const filled = slots.at(slot);
    const issue = filled === undefined ? null : transportIssue(filled);
    if (issue !== null) return { reasonCode: 'InvalidNetworkConf', additionalInfo: `slot ${slot}: ${issue}` };
    const { securityProfile } = network.access;
    const downgrade = downgradeRefusal(profile, { securityProfile, mayLower: mayLower(parts) });
    if (downgrade !== null || profile === 0 || ready(profile)) return downgrade;
    if (profile === 1 && slots.hasOwnPassword(slot)) return null;
    return {
      reasonCode: 'InvalidNetworkConf',
      additionalInfo: `slot ${slot}: certificates or password of security profile ${profile} are missing`,
    };
  };
  return (value) => {
    for (const slot of members(value)) {
      const issue = issueOf(Number(slot));
      if (issue !== null) return issue;
    }
    return null;
  };
}

/** The filled slots of NetworkConfigurationPriority; slot 0 if there is none. */
function orderOf({ variables }: Parts, slots: NetworkSlots): readonly number[] {
  const order = variables
    .list('OCPPCommCtrlr', 'NetworkConfigurationPriority')
    .map(Number)
    .filter((slot) => slots.securityProfileOf(slot) !== null);
  return order.length === 0 ? [0] : order;
}

/** A05.FR.06: once a connection with a higher profile works, lower ones are removed. */
function dropLower(parts: Parts, { network }: NetworkProfilesDeps, slots: NetworkSlots): void {
  const { variables, log } = parts;
  const context = { securityProfile: network.access.securityProfile, mayLower: mayLower(parts) };
  const isLower = (slot: number): boolean => {
    const profile = slots.securityProfileOf(slot);
    return profile !== null && downgradeRefusal(profile, context) !== null;
  };
  const lowerSlots = networkSlots.filter(isLower);
  const order = variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority').map(Number);
  const remaining = order.filter((slot) => !isLower(slot));
  for (const slot of lowerSlots) slots.remove(slot);
  if (remaining.length === order.length || remaining.length === 0) return;
  variables.set('OCPPCommCtrlr', 'NetworkConfigurationPriority', remaining.join(','));
  log.info(`network profiles below security profile ${context.securityProfile} are removed: ${lowerSlots.join(', ')}`);
}

function setHandler(parts: Parts, { network }: NetworkProfilesDeps, slots: NetworkSlots): Handler<'SetNetworkProfile'> {
  const { id: identity, version, security } = parts;
  return ({ configurationSlot: slot, connectionData }) => {
    const { securityProfile } = network.access;
    const context = { version, identity, securityProfile, mayLower: mayLower(parts) };
    const issue = profileIssue(slot, connectionData, context);
    if (issue !== null) return { status: 'Rejected', statusInfo: issue };
    slots.fill(slot, profileOf(connectionData));
    security.raise('ReconfigurationOfSecurityParameters', `network profile in slot ${slot}`);
    return { status: 'Accepted' };
  };
}

export function createNetworkProfiles(parts: Parts, deps: NetworkProfilesDeps): NetworkProfiles {
  const { variables, log, registration } = parts;
  const slots = createNetworkSlots(parts, deps);
  let failures = 0;
  const configuration = createNetworkConfiguration(parts, {
    slots,
    access: () => deps.network.access,
    context: () => ({ securityProfile: deps.network.access.securityProfile, mayLower: mayLower(parts) }),
  });
  const use = (slot: number): void => {
    failures = 0;
    slots.use(slot);
    log.info(`network profile ${slot} is used from the next connection on`);
  };
  const ends = [
    registration.onAccepted(() => {
      dropLower(parts, deps, slots);
    }),
    // B09.FR.27: a password set in SecurityCtrlr replaces the one of the profile in use
    variables.onChange('SecurityCtrlr', 'BasicAuthPassword', () => {
      const profile = slots.at(slots.active);
      if (profile !== undefined && profile.password !== null) slots.fill(slots.active, { ...profile, password: null });
    }),
  ];
  return {
    handlers: { SetNetworkProfile: setHandler(parts, deps, slots) },
    checks: {
      ...configuration.checks,
      'OCPPCommCtrlr.NetworkConfigurationPriority': priorityCheck(parts, deps, slots),
    },
    load: async () => {
      await slots.load();
      const [preferred = 0] = orderOf(parts, slots);
      // a version that begins on an open connection leaves the profile in use as it is
      if (!deps.network.isOpen && slots.differs(preferred)) slots.use(preferred);
    },
    restarted: () => {
      const [preferred = 0] = orderOf(parts, slots);
      if (slots.differs(preferred)) use(preferred);
    },
    opened: () => {
      failures = 0;
    },
    failed: () => {
      failures += 1;
      const order = orderOf(parts, slots);
      const next = order[(order.indexOf(slots.active) + 1) % order.length];
      if (next === undefined || !slots.differs(next)) return;
      if (failures < variables.integer('OCPPCommCtrlr', 'NetworkProfileConnectionAttempts')) return;
      use(next);
      deps.retargeted();
    },
    targetSet: () => {
      failures = 0;
      slots.resetSettings();
    },
    stop: () => {
      configuration.stop();
      for (const end of ends) end();
    },
  };
}
