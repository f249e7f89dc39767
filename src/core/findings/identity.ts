/** Identity of a peer, and conditions that its connection may lack. */

export const findingProtocols = ['modbus', 'csip', 'ocpp', 'dnp3', 'common'] as const;
export type FindingProtocol = (typeof findingProtocols)[number];

/** Conditions without which a rule cannot be judged. */
export const ruleNeeds = ['tls', 'tcp', 'sunspec', 'unsolicited', 'subscriptions', 'csip_aus', 'wall_clock'] as const;
export type RuleNeed = (typeof ruleNeeds)[number];

/** Identity of the other side. */
export interface PeerIdentity {
  readonly protocol: Exclude<FindingProtocol, 'common'>;
  /** address without port, path of a line, origin of a server, `link address@address` of a DNP3 master */
  readonly address: string;
  /** SHA-256 of its certificate, hex; absent: none */
  readonly certificate?: string;
}
