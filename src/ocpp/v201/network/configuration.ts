/** NetworkConfiguration of 2.1 (B09.FR.10): the slots as variables, which the central system may set one by one. */
import type { StationParts } from '../parts.ts';
import type { Refusal, VariableCheck, VariableChecks } from '../variables/checks.ts';
import { networkSlots } from '../variables/rows/comm.ts';
import type { NetworkAccess } from '../../station/network.ts';
import { downgradeOf, isInterface, isPassword, isProfileUrl, isSecurityProfile } from './profile.ts';
import type { NetworkProfile, ProfileContext } from './profile.ts';
import type { NetworkSlots } from './slots.ts';

export interface ConfigurationDeps {
  readonly slots: NetworkSlots;
  readonly access: () => NetworkAccess;
  readonly context: () => Pick<ProfileContext, 'securityProfile' | 'mayLower'>;
}

type Variables = Pick<StationParts, 'variables' | 'version'>;

/** What one variable is of a profile. */
interface Member {
  readonly read: (profile: NetworkProfile) => string;
  readonly write: (profile: NetworkProfile, value: string) => NetworkProfile;
  /** null: it may be so */
  readonly issue: (value: string, deps: ConfigurationDeps) => Refusal | null;
}

const invalid = (additionalInfo: string): Refusal => ({ reasonCode: 'InvalidNetworkConf', additionalInfo });

const memberTable: Readonly<Record<string, Member>> = {
  OcppCsmsUrl: {
    read: ({ url }) => url,
    write: (profile, url) => ({ ...profile, url: url.replace(/\/+$/, '') }),
    issue: (url) => (isProfileUrl(url) ? null : invalid('no ws or wss URL that a connection is made to')),
  },
  SecurityProfile: {
    read: ({ securityProfile }) => String(securityProfile),
    write: (profile, value) => {
      const securityProfile = Number(value);
      return isSecurityProfile(securityProfile) ? { ...profile, securityProfile } : profile;
    },
    // B09.FR.35
    issue: (value, { context }) => downgradeOf(Number(value), context()),
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

/** B09.FR.22: a slot that a connection may use stays as it is. */
function checkOf(slot: number, { issue }: Member, { variables }: Variables, deps: ConfigurationDeps): VariableCheck {
  return (value) => {
    const order = variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority');
    if (slot === deps.slots.active || order.includes(String(slot)))
      return { reasonCode: 'PriorityNetworkConf', additionalInfo: `slot ${slot} is in NetworkConfigurationPriority` };
    return issue(value, deps);
  };
}

export interface NetworkConfiguration {
  readonly checks: VariableChecks;
  stop(): void;
}

export function createNetworkConfiguration(parts: Variables, deps: ConfigurationDeps): NetworkConfiguration {
  const { variables, version } = parts;
  const { slots } = deps;
  if (version === 'ocpp2.0.1') return { checks: {}, stop: () => undefined };
  /** of a slot that nothing has filled yet */
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
