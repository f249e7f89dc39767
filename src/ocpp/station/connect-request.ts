/** Address, credentials and versions that a user gives a station over REST (POST connect). */
import { isIP } from 'node:net';
import type { OcppConnectOptions, OcppSubprotocol } from '../../contract/ocpp.ts';
import {
  isOcppUrl,
  isUrlOfProfile,
  needsPassword,
  ocppPasswordOctets,
  ocppPasswordText,
  ocppUrlOf,
  ocppUrlText,
  ocppVersionsOf,
  urlOfProfile,
  versionWithoutId,
} from '../../contract/ocpp-settings.ts';
import type { OcppVersions } from '../../contract/ocpp-settings.ts';
import { SimError } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Link } from '../rpc/link.ts';
import type { PayloadChecks } from '../rpc/model.ts';
import type { LineState } from './line.ts';
import type { VersionTable } from './spoken.ts';

const badValue = (detail: string) => new SimError('COMMAND_BAD_VALUE', detail);

/** Address and credentials of a request; what it does not give is that in use. @throws SimError COMMAND_BAD_VALUE */
function checkConnect(
  { url: requestedUrl, securityProfile, password }: OcppConnectOptions,
  versions: OcppVersions,
  { target, credentials: inForce }: Pick<Link, 'target' | 'credentials'>,
) {
  const profile = securityProfile ?? inForce.securityProfile;
  const url = requestedUrl === undefined ? urlOfProfile(target.url, profile) : ocppUrlOf(requestedUrl);
  const octets = password === undefined ? inForce.password : ocppPasswordOctets(password, versions);
  if (!isOcppUrl(url)) throw badValue(`url: allowed: ${ocppUrlText}`);
  if (!isUrlOfProfile(url, profile))
    throw badValue(`url: security profile ${profile} needs ${profile >= 2 ? 'wss' : 'ws'}`);
  if (password !== undefined && octets === null) throw badValue(`password: allowed: ${ocppPasswordText}`);
  if (needsPassword(profile) && octets === null) throw badValue(`password: security profile ${profile} needs one`);
  if (profile === 3 && inForce.own === null)
    throw badValue('security_profile: profile 3 needs a client certificate (--ocpp_cert, --ocpp_key)');
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (requestedUrl !== undefined && isIP(host) !== 0 && isRefusedTarget(host))
    throw badValue(`url: ${host} ${refusedTargetText}`);
  return { url, profile, octets };
}

/** Subprotocols that a station offers, in the order of preference. */
export function subprotocolsOf(table: VersionTable, versions: OcppVersions): readonly OcppSubprotocol[] {
  return versions.map((version) => table[version].subprotocol);
}

interface ConnectRequestsOptions {
  readonly id: string;
  /** offered until a request changes them */
  readonly versions: OcppVersions;
  readonly versionTable: VersionTable;
  readonly schemas: Pick<PayloadChecks, 'prepare'>;
  readonly link: Pick<
    Link,
    'target' | 'credentials' | 'isWanted' | 'setTarget' | 'adoptCredentials' | 'connect' | 'reconnect'
  >;
  readonly line: Pick<LineState, 'useSettings' | 'usePassword'>;
  /** called before the station leads to another central system */
  readonly retargeted: () => void;
}

/** Takes requests to connect, each as a whole or not at all. */
export class ConnectRequests {
  readonly #options: ConnectRequestsOptions;
  #versions: OcppVersions;

  constructor(options: ConnectRequestsOptions) {
    this.#options = options;
    this.#versions = options.versions;
  }

  /** offered at the next attempt */
  get versions(): OcppVersions {
    return this.#versions;
  }

  /** Connects with what the request gives, in place of a connection or an attempt. @throws SimError COMMAND_BAD_VALUE */
  connect(request: OcppConnectOptions): void {
    const { link, line, schemas, versionTable, retargeted } = this.#options;
    const versions = this.#versionsOf(request.version);
    const { url, profile, octets } = checkConnect(request, versions, link);
    const isAddressGiven = request.url !== undefined;
    // a raised profile alone leads to the same central system
    const isOther = isAddressGiven && url !== urlOfProfile(link.target.url, profile);
    if (isAddressGiven) line.useSettings(isOther);
    if (isOther) retargeted();
    this.#versions = versions;
    const subprotocols = subprotocolsOf(versionTable, versions);
    for (const subprotocol of subprotocols) schemas.prepare(subprotocol);
    const guarded = isAddressGiven || link.target.guarded;
    // an address that is given has the transport of a profile; without both the profile in use may be on trial
    const isProfileGiven = isAddressGiven || request.securityProfile !== undefined;
    link.setTarget({ ...link.target, ...(isProfileGiven && { url }), subprotocols, guarded });
    if (isProfileGiven) link.adoptCredentials({ securityProfile: profile });
    if (request.password !== undefined && octets !== null) line.usePassword(octets);
    // an attempt that is under way goes to the former one
    if (link.isWanted) link.reconnect(isOther ? 'another central system' : 'asked over REST');
    else link.connect();
  }

  /** @throws SimError COMMAND_BAD_VALUE */
  #versionsOf(version: OcppConnectOptions['version']): OcppVersions {
    if (version === undefined) return this.#versions;
    const { id } = this.#options;
    const versions = ocppVersionsOf(version);
    const withoutId = versionWithoutId(id, versions);
    if (withoutId !== null) throw badValue(`version: ${withoutId} allows no colon in an identity, as ${id} has`);
    return versions;
  }
}
