/** Requests to sign certificates of the station (SignCertificate, A02), and their repetition. */
import { errorText } from '../../../core/errors.ts';
import { rootHashData } from '../../security/certificates.ts';
import type { SigningSubject } from '../../security/keeper.ts';
import type { Requests, StationParts } from '../parts.ts';
import { ownUses } from './uses.ts';
import type { Keeper, OwnUse } from './uses.ts';

export interface Signing {
  /** True if a certificate of this use can be requested: by OrganizationName or V2GCertificateInstallationEnabled. */
  can(use: OwnUse): boolean;
  /** Sends SignCertificate now, and ends the wait of an earlier request. */
  begin(use: OwnUse, options?: { readonly triggered?: boolean }): Promise<void>;
  /** The certificate was received: cancels further requests. */
  done(use: OwnUse): void;
  stop(): void;
}

/** maximum length of `serialNumber` in BootNotification */
const serialLength = 25;

const isV2g = (use: OwnUse) => use === 'V2GCertificate';

/** country code of ISO 3166-1 for a certificate; null: the text is not one */
const countryOf = (text: string) => (/^[A-Z]{2}$/.test(text) ? text : null);

function subjectOf({ variables, device, id }: StationParts, use: OwnUse): SigningSubject {
  if (isV2g(use))
    return {
      commonName: variables.text('ISO15118Ctrlr', 'SeccId'),
      organization: variables.text('ISO15118Ctrlr', 'OrganizationName') || null,
      country: countryOf(variables.text('ISO15118Ctrlr', 'CountryName')),
      // ISO 15118-2 requires it in certificates of charging stations
      domainComponent: 'CPO',
    };
  return {
    // as in BootNotification
    commonName: device.nameplate.serialNumber?.slice(0, serialLength) ?? id,
    organization: variables.text('SecurityCtrlr', 'OrganizationName') || null,
  };
}

/** The newest root of ISO 15118 shows the central system which authority is to sign (2.1). */
function rootOf({ version }: StationParts, use: OwnUse, { installed }: Keeper) {
  const root = installed.filter((each) => each.use === 'V2GRootCertificate').at(-1);
  if (version !== 'ocpp2.1' || !isV2g(use) || root === undefined) return {};
  return { hashRootCertificate: rootHashData(root, installed) };
}

export function createSigning(parts: StationParts, keeper: Keeper): Signing {
  const { variables, version, random, calls, later, log, device } = parts;
  const waits = new Map<OwnUse, () => void>();
  const end = (use: OwnUse) => {
    waits.get(use)?.();
    waits.delete(use);
  };
  const send = async (use: OwnUse, triggered: boolean): Promise<boolean> => {
    const requestId = version === 'ocpp2.1' ? Math.floor(random.next() * 2 ** 31) : null;
    const csr = await keeper.request(use, subjectOf(parts, use), requestId);
    const request: Requests['SignCertificate'] = {
      csr,
      certificateType: use,
      ...(requestId !== null && { requestId }),
      ...rootOf(parts, use, keeper),
    };
    const outcome = await calls.send('SignCertificate', request, { triggered });
    if (outcome.kind !== 'result') log.warning('the request to sign a certificate failed', device.deviceIndex);
    else if (outcome.payload.status === 'Rejected')
      log.warning('the central system rejects the request to sign a certificate', device.deviceIndex);
    return outcome.kind !== 'result' || outcome.payload.status === 'Accepted';
  };
  /** @param repeats number of earlier requests. A02.FR.17 to FR.19: each wait is twice the one before */
  const attempt = async (use: OwnUse, triggered: boolean, repeats: number): Promise<void> => {
    end(use);
    const ending = new AbortController();
    waits.set(use, () => {
      ending.abort();
    });
    try {
      const isOpen = await send(use, triggered);
      if (ending.signal.aborted || !isOpen || keeper.pending(use) === null) return;
    } catch (error) {
      log.error(`no request to sign a certificate could be made: ${errorText(error)}`, device.deviceIndex);
      return;
    }
    if (repeats >= variables.integer('SecurityCtrlr', 'CertSigningRepeatTimes')) return;
    const waitS = variables.integer('SecurityCtrlr', 'CertSigningWaitMinimum') * 2 ** repeats;
    waits.set(
      use,
      later(waitS * 1000, () => void attempt(use, false, repeats + 1)),
    );
  };
  return {
    can: (use) => {
      if (!isV2g(use)) return variables.text('SecurityCtrlr', 'OrganizationName') !== '';
      const enabled = ['ISO15118Ctrlr', 'V2GCertificateInstallationEnabled'] as const;
      return variables.has(...enabled) && variables.boolean(...enabled);
    },
    begin: (use, { triggered = false } = {}) => attempt(use, triggered, 0),
    done: end,
    stop: () => {
      for (const use of ownUses) end(use);
    },
  };
}
