/** SetNetworkProfile (B09), and the way from one profile to the next (B10, A05). */
import type { Network } from '../../station/network.ts';
import type { Handler, Part, StationParts } from '../parts.ts';
import type { Refusal, VariableCheck, VariableChecks } from '../variables/checks.ts';
import { networkSlots } from '../variables/rows/comm.ts';
import { members } from '../variables/values.ts';
import { createNetworkConfiguration } from './configuration.ts';
import { downgradeOf, profileIssue, profileOf, transportIssue } from './profile.ts';
import { createNetworkSlots } from './slots.ts';
import type { NetworkSlots } from './slots.ts';

export interface NetworkProfilesDeps {
  readonly network: Pick<Network, 'access' | 'setAccess'>;
  /** whether password or certificates of a security profile are there */
  readonly ready: (profile: 1 | 2 | 3) => boolean;
  /**
   * The next connection leads to another central system, which knows nothing of the station yet (B10.FR.10); not called
   * for a restart, which begins with a BootNotification anyway.
   */
  readonly retargeted: () => void;
}

export interface NetworkProfiles extends Part {
  readonly handlers: { readonly SetNetworkProfile: Handler<'SetNetworkProfile'> };
  /** for SetVariables */
  readonly checks: VariableChecks;
  /** After the variables. */
  load(): Promise<void>;
  /** The station restarts, and values that waited for it are in force: the first profile of the priority counts. */
  restarted(): void;
  opened(): void;
  /** An attempt to connect has failed. */
  failed(): void;
  /** The user has set another target over REST. */
  targetSet(): void;
  stop(): void;
}

type Parts = Pick<StationParts, 'id' | 'version' | 'variables' | 'store' | 'log' | 'registration' | 'security'>;

/** 2.0.1 has no such variable. */
const mayLower = ({ variables }: Pick<Parts, 'variables'>): boolean =>
  variables.has('SecurityCtrlr', 'AllowSecurityProfileDowngrade') &&
  variables.boolean('SecurityCtrlr', 'AllowSecurityProfileDowngrade');

/** NetworkConfigurationPriority names profiles that can be used (A05.FR.02 to FR.04, B09.FR.34). */
function priorityCheck(parts: Parts, { network, ready }: NetworkProfilesDeps, slots: NetworkSlots): VariableCheck {
  const issueOf = (slot: number): Refusal | null => {
    const profile = slots.securityProfileOf(slot);
    if (profile === null)
      return { reasonCode: 'InvalidNetworkConf', additionalInfo: `configuration slot ${slot} is empty` };
    const filled = slots.at(slot);
    const issue = filled === undefined ? null : transportIssue(filled);
    if (issue !== null) return { reasonCode: 'InvalidNetworkConf', additionalInfo: `slot ${slot}: ${issue}` };
    const { securityProfile } = network.access;
    const lower = downgradeOf(profile, { securityProfile, mayLower: mayLower(parts) });
    if (lower !== null || profile === 0 || ready(profile)) return lower;
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

/** The slots of NetworkConfigurationPriority that are filled. */
function orderOf({ variables }: Parts, slots: NetworkSlots): readonly number[] {
  const order = variables
    .list('OCPPCommCtrlr', 'NetworkConfigurationPriority')
    .map(Number)
    .filter((slot) => slots.securityProfileOf(slot) !== null);
  return order.length === 0 ? [0] : order;
}

/** A05.FR.06: a higher security profile that works takes the lower ones with it. */
function dropLower(parts: Parts, { network }: NetworkProfilesDeps, slots: NetworkSlots): void {
  const { variables, log } = parts;
  const context = { securityProfile: network.access.securityProfile, mayLower: mayLower(parts) };
  const isLower = (slot: number): boolean => {
    const profile = slots.securityProfileOf(slot);
    return profile !== null && downgradeOf(profile, context) !== null;
  };
  const lower = networkSlots.filter(isLower);
  const order = variables.list('OCPPCommCtrlr', 'NetworkConfigurationPriority').map(Number);
  const rest = order.filter((slot) => !isLower(slot));
  for (const slot of lower) slots.remove(slot);
  if (rest.length === order.length || rest.length === 0) return;
  variables.set('OCPPCommCtrlr', 'NetworkConfigurationPriority', rest.join(','));
  log.info(`network profiles below security profile ${context.securityProfile} are given up: ${lower.join(', ')}`);
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
    // B09.FR.27: the central system has set the password that counts
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
      const [first = 0] = orderOf(parts, slots);
      if (slots.differs(first)) slots.use(first);
    },
    restarted: () => {
      const [first = 0] = orderOf(parts, slots);
      if (slots.differs(first)) use(first);
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
