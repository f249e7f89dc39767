/** SetNetworkProfile (B09), and the way from one profile to the next (B10, A05). */
import type { NetworkAccess } from '../../station/connection.ts';
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
  transportIssue,
} from './network-profile.ts';
import type { NetworkProfile, ProfileContext } from './network-profile.ts';
import { createNetworkSlots, settingsSlot } from './network-slots.ts';
import type { NetworkSlots, Place, ProfileNetwork } from './network-slots.ts';

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
  readonly network: ProfileNetwork;
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
  /** An attempt to connect has failed. @param isReverted the former credentials are tried at the same address at once */
  failed(isReverted: boolean): void;
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

const priorityOf = ({ variables }: Pick<Parts, 'variables'>): readonly number[] =>
  variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority').map(Number);

/**
 * The places that are tried in turn: those of the priority, and the settings as the last resort, so that the address of
 * the user is reached whatever the central system has set. A lower security profile is no resort (A05), so that none
 * remains where the filled slots of the priority are gone.
 */
function turnOf(
  parts: Parts,
  { network }: Pick<NetworkProfilesDeps, 'network'>,
  slots: NetworkSlots,
): readonly Place[] {
  const order = priorityOf(parts)
    .filter((slot) => slots.securityProfileOf(slot) !== null)
    .map((slot) => slots.placeOf(slot));
  if (order.includes('settings')) return order;
  const context = { securityProfile: network.access.securityProfile, mayLower: mayLower(parts) };
  const isLower = downgradeRefusal(network.settings.securityProfile, context) !== null;
  return isLower ? order : [...order, 'settings' as const];
}

/** The address of the user comes first, before what the central system has set. */
function preferSettings({ variables }: Pick<Parts, 'variables'>): void {
  const others = priorityOf({ variables }).filter((slot) => slot !== settingsSlot);
  variables.set('OCPPCommCtrlr', 'NetworkConfigurationPriority', [settingsSlot, ...others].join(','));
}

/** A05.FR.06: once a connection with a higher profile works, lower ones are removed. */
function dropLower(parts: Parts, { network }: NetworkProfilesDeps, slots: NetworkSlots): void {
  const { variables, log } = parts;
  const context = { securityProfile: network.access.securityProfile, mayLower: mayLower(parts) };
  slots.raiseActive();
  const isLower = (slot: number): boolean => {
    const profile = slots.securityProfileOf(slot);
    return profile !== null && downgradeRefusal(profile, context) !== null;
  };
  const lowerSlots = networkSlots.filter(isLower);
  const order = priorityOf(parts);
  const upper = order.filter((slot) => !isLower(slot));
  const remaining = upper.length === 0 ? [slots.active] : upper;
  for (const slot of lowerSlots) slots.remove(slot);
  if (upper.length === order.length) return;
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
  const use = (place: Place): void => {
    failures = 0;
    slots.use(place);
    const name = place === 'settings' ? 'the address of the settings' : `network profile ${place}`;
    log.info(`${name} is used from the next connection on`);
  };
  const preferAddress = (): void => {
    failures = 0;
    slots.resetSettings();
    preferSettings(parts);
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
      if (deps.network.takeAddress()) preferAddress();
      // a version that takes over goes on with the address in use; the priority counts from the next restart or failure on
      if (deps.network.hasConnected && slots.isAccessCurrent) return;
      const [preferred] = turnOf(parts, deps, slots);
      if (preferred !== undefined && slots.differs(preferred)) slots.use(preferred);
    },
    restarted: () => {
      const [preferred] = turnOf(parts, deps, slots);
      if (preferred !== undefined && slots.differs(preferred)) use(preferred);
    },
    opened: () => {
      failures = 0;
    },
    failed: (isReverted) => {
      if (isReverted) return;
      failures += 1;
      const turn = turnOf(parts, deps, slots);
      const next = turn[(turn.indexOf(slots.place) + 1) % turn.length];
      if (next === undefined || !slots.differs(next)) return;
      if (failures < variables.integer('OCPPCommCtrlr', 'NetworkProfileConnectionAttempts')) return;
      use(next);
      deps.retargeted();
    },
    targetSet: () => {
      deps.network.takeAddress();
      preferAddress();
    },
    stop: () => {
      configuration.stop();
      for (const end of ends) end();
    },
  };
}
